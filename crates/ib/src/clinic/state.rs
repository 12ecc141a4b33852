//! The state after an incident, in words.

use super::{
    incident::{End, Event, Incident, Kind},
    rules::{Class, cause},
};

/// The state after an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The name in JSON.
    pub(crate) name: &'static str,
    /// The state in a sentence.
    pub(crate) text: String,
}

impl Incident {
    /// Returns the state after the incident.
    pub(crate) fn state(&self) -> State {
        let vram = match self.vram_lost() {
            Some(true) => "VRAM was lost",
            Some(false) => "VRAM was kept",
            None => "whether VRAM was kept is not told",
        };
        let why = match self.method {
            Some(method) if !self.is_vram_lost && self.vram_lost() == Some(true) => {
                format!(" ({method} reset of a card)")
            }
            _ => String::new(),
        };
        let is_without_hang = !self.is_hang();
        let of = |name, text: &str| State { name, text: text.to_owned() };
        match self.end {
            End::PowerOff => of("powering-off", "the driver powers the machine off"),
            End::Soft => of(
                "recovered-soft",
                "recovered: only the waves of the job were killed; VRAM was kept, other programs go on; the context is guilty",
            ),
            End::Ring => of(
                "recovered-ring",
                "recovered: only this ring was reset; VRAM was kept, other programs keep their contexts",
            ),
            End::Recovered => State {
                name: "recovered",
                text: format!("recovered by a reset; whether of a ring or of the whole GPU is not told; {vram}{why}"),
            },
            End::Full => State {
                name: if self.vram_lost() == Some(true) { "recovered-vram-lost" } else { "recovered-full" },
                text: format!(
                    "recovered by a reset of the whole GPU; {vram}{why}; programs with work in flight{} must create their devices again",
                    if self.vram_lost() == Some(true) { " or data in VRAM" } else { "" }
                ),
            },
            End::Failed => {
                let error = self.reset_error.map(|error| format!(" (error {error})")).unwrap_or_default();
                // Tests fail while a hung engine is stopped; what does not come back is the part that is of interest.
                let is_resume = |part: &&Event| part.text.starts_with("resume of ");
                let part = self.of(Kind::PartFailed).find(is_resume).or_else(|| self.of(Kind::PartFailed).next());
                let part = part.map(|part| format!(": {}", part.text)).unwrap_or_default();
                State {
                    name: "failed",
                    text: format!(
                        "not recovered{error}{part}; the GPU is unusable until the machine is restarted (better: powered off and on)"
                    ),
                }
            }
            End::Removed => of(
                "removed",
                "the driver let go of the GPU: programs lost it; it starts anew when the card is back (for an external box: plug it in again)",
            ),
            End::Wedged => State { name: "wedged", text: wedged(self.recovery.as_deref()) },
            End::Unknown if self.recovery.is_some() => of(
                "unknown",
                "the event about a wedged device names no way of recovery (its value is empty): whether the device works is not told",
            ),
            End::Unknown if self.is_reported_alone() => of(
                "unfinished",
                "a program reported a hang, and the inputs have no line of the kernel about it: whether the GPU recovered is not told",
            ),
            End::Disabled => of(
                "disabled",
                "not recovered: GPU recovery is disabled (amdgpu.gpu_recovery=0, or an old chip); rings stay hung until a restart",
            ),
            End::Unknown if is_without_hang && self.of(Kind::NotStarted).next().is_some() => {
                of("not-started", "the driver does not drive this GPU")
            }
            End::Unknown if self.is_resume_alone() || is_without_hang && self.of(Kind::PartFailed).next().is_some() => {
                of(
                    "failed",
                    "a part of the GPU did not start; what needs it does not work until the machine is restarted",
                )
            }
            End::Unknown if is_without_hang => match cause(self).class {
                Class::FirmwareMissing => of("unknown", "the inputs do not tell whether the driver started"),
                Class::OutOfMemory => of(
                    "refused",
                    "nothing hangs; the submission was refused, which Vulkan programs see as a lost device",
                ),
                Class::PageFault | Class::KernelFault if self.faults.iter().all(|fault| fault.address.is_none()) => {
                    of("unfinished", "the inputs end within the report of the page fault: what followed is not told")
                }
                Class::PageFault | Class::KernelFault => of(
                    "continues",
                    "no ring timed out in these inputs: reads give 0, writes are dropped, and the program goes on",
                ),
                Class::LostInterrupt => of("continues", "the work goes on"),
                Class::KernelBug => of(
                    "failed",
                    "a thread of the kernel ended in the middle of its work; what it held stays locked until a restart",
                ),
                _ => of("unknown", "the inputs do not tell"),
            },
            End::Unknown if self.method.is_some() => State {
                name: "unfinished",
                text: format!("a reset of the whole GPU is under way; the inputs end before its result; {vram}{why}"),
            },
            End::Unknown => of("unfinished", "the inputs end before the result of the recovery"),
        }
    }
}

/// Returns the state of a device that user space has to recover.
///
/// Source: Linux `Documentation/gpu/drm-uapi.rst`, "Device Wedging".
fn wedged(methods: Option<&str>) -> String {
    let way = |method| match method {
        "rebind" => "unbind the driver from the device and bind it again (rebind)".to_owned(),
        "bus-reset" => {
            "unbind the driver, reset the device on its bus, and bind the driver again (bus-reset)".to_owned()
        }
        "vendor-specific" => "what the vendor documents for the device (vendor-specific)".to_owned(),
        "unknown" => "none that the kernel knows; a restart of the machine may help (unknown)".to_owned(),
        other => other.to_owned(),
    };
    let head = "not recovered: the device is wedged, and its programs have lost it";
    match methods {
        Some(methods) => {
            let ways: Vec<_> = methods.split(',').map(str::trim).filter(|part| !part.is_empty()).map(way).collect();
            format!("{head}; ways of recovery that the kernel offers: {}", ways.join(", or "))
        }
        None => format!("{head}; the event for user space (WEDGED=) names the ways of recovery"),
    }
}
