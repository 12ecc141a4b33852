//! One incident of a GPU: what happened, in the order in which it happened.

use super::{
    kernel::{Kernel, RingKind},
    line::{Bus, Stamp},
    message::Process,
};
use crate::Coredump;

/// The place of a line: the index of its input, and its number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The index of the input.
    pub(crate) input: usize,
    /// The number of the line.
    pub(crate) line: u64,
}

/// A ring that timed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RingTimeOut {
    /// The name of the ring.
    pub(crate) ring: String,
    /// The last job that was done and the last one that was submitted; `None` where the line does not tell.
    pub(crate) jobs: Option<(u32, u32)>,
    /// The process of the job; `None` where no line tells.
    pub(crate) process: Option<Process>,
    /// `true` if killing the waves sufficed.
    pub(crate) is_soft_recovered: bool,
    /// The time.
    pub(crate) stamp: Option<Stamp>,
    /// The line.
    pub(crate) place: Place,
}

impl RingTimeOut {
    /// Returns the kind of the ring.
    pub(crate) fn kind(&self) -> RingKind {
        RingKind::of(&self.ring)
    }

    /// Returns the number of jobs that were submitted and not done. The numbers of jobs have 32 bits and begin anew.
    pub(crate) fn outstanding(&self) -> Option<u32> {
        self.jobs.map(|(signaled, emitted)| emitted.wrapping_sub(signaled))
    }

    /// Returns the job that the ring worked on.
    pub(crate) fn running(&self) -> Option<u32> {
        let is_any = self.outstanding().is_some_and(|outstanding| outstanding > 0);
        self.jobs.filter(|_| is_any).map(|(signaled, _)| signaled.wrapping_add(1))
    }
}

/// The layout of the status of a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusLayout {
    /// GFX6 to GFX8.
    Old,
    /// GFX9.
    Gfx9,
    /// GFX10 and later.
    Gfx10,
}

/// A page fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageFault {
    /// The hub.
    pub(crate) hub: String,
    /// The address space; 0 is the kernel's.
    pub(crate) vmid: Option<u8>,
    /// The process address space ID.
    pub(crate) pasid: Option<u32>,
    /// The process, as the line names it.
    pub(crate) process: Option<Process>,
    /// The address, with bit 47 extended.
    pub(crate) address: Option<u64>,
    /// The status register; `None` if no line has it.
    pub(crate) status: Option<(u32, StatusLayout)>,
    /// The name of the client, as the kernel prints it.
    pub(crate) client: Option<String>,
    /// `true` if the access waits until the page is mapped.
    pub(crate) is_retry: bool,
    /// `true` if a reset had begun before.
    pub(crate) is_after_reset: bool,
    /// The number of lines about the same access.
    pub(crate) count: u64,
    /// The time.
    pub(crate) stamp: Option<Stamp>,
    /// The line.
    pub(crate) place: Place,
}

/// A kind of event that is not a time-out, a fault or a step of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    TooHot,
    PowerOff,
    Unreachable,
    AllOnes,
    Bridge,
    HardwareError,
    KernelBug,
    Smu,
    Psp,
    Mes,
    Illegal,
    Firmware,
    NotStarted,
    NoMemory,
    NotPinned,
    Refused,
    LostInterrupt,
    DisplayWaits,
    DisplayFirmware,
    KfdStuck,
    Waits,
    Killed,
    RecoveryDisabled,
    PartFailed,
    CheckFailed,
    Program,
}

impl Kind {
    /// Returns the name in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TooHot => "too-hot",
            Self::PowerOff => "power-off",
            Self::Unreachable => "unreachable",
            Self::AllOnes => "all-ones",
            Self::Bridge => "bridge",
            Self::HardwareError => "hardware-error",
            Self::KernelBug => "kernel-bug",
            Self::Smu => "smu",
            Self::Psp => "psp",
            Self::Mes => "mes",
            Self::Illegal => "illegal",
            Self::Firmware => "firmware",
            Self::NotStarted => "not-started",
            Self::NoMemory => "no-memory",
            Self::NotPinned => "not-pinned",
            Self::Refused => "refused",
            Self::LostInterrupt => "lost-interrupt",
            Self::DisplayWaits => "display-waits",
            Self::DisplayFirmware => "display-firmware",
            Self::KfdStuck => "kfd-stuck",
            Self::Waits => "waits",
            Self::Killed => "killed",
            Self::RecoveryDisabled => "recovery-disabled",
            Self::PartFailed => "part-failed",
            Self::CheckFailed => "check-failed",
            Self::Program => "program",
        }
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The kind.
    pub(crate) kind: Kind,
    /// The details, for people.
    pub(crate) text: String,
    /// A number that the kind defines: an error, or a message.
    pub(crate) number: Option<i64>,
    /// `true` if a ring had timed out or a reset had begun before.
    pub(crate) is_after: bool,
    /// The number of such lines.
    pub(crate) count: u64,
    /// The time.
    pub(crate) stamp: Option<Stamp>,
    /// The line.
    pub(crate) place: Place,
}

/// A step of a reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The kind of reset or recovery.
    pub(crate) text: String,
    /// `true` if it succeeded; `None` if that does not apply or is not known.
    pub(crate) is_done: Option<bool>,
    /// The time.
    pub(crate) stamp: Option<Stamp>,
    /// The time of its result.
    pub(crate) end: Option<Stamp>,
    /// The line.
    pub(crate) place: Place,
}

/// The end of an incident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// The inputs do not tell.
    #[default]
    Unknown,
    /// The waves of the job were killed.
    Soft,
    /// The ring was reset.
    Ring,
    /// The whole GPU was reset.
    Full,
    /// The device works again; whether the ring or the whole GPU was reset is not told.
    Recovered,
    /// The reset failed.
    Failed,
    /// The card was removed, and the driver let go of it.
    Removed,
    /// The kernel gave the device up and leaves its recovery to user space.
    Wedged,
    /// The kernel does not recover the GPU.
    Disabled,
    /// The machine is powered off.
    PowerOff,
}

/// The memory at an address of interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// A description.
    pub(crate) text: String,
    /// `true` if the memory was freed before the access.
    pub(crate) is_freed: bool,
}

/// The work that hung, as programs and dumps tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// The packet at which the command processor was, and what tells it.
    pub(crate) packet: Option<String>,
    /// The instruction at which waves were.
    pub(crate) shader: Option<String>,
    /// The memory at the address of the fault.
    pub(crate) buffer: Option<Buffer>,
    /// The application, as it names itself.
    pub(crate) application: Option<String>,
    /// The file with the commands that hung.
    pub(crate) saved: Option<String>,
    /// The state of RADV's context: guilty or innocent.
    pub(crate) guilt: Option<&'static str>,
}

/// An incident.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incident {
    /// The GPU; `None` if no line names it.
    pub(crate) gpu: Option<Bus>,
    /// The kernel.
    pub(crate) kernel: Kernel,
    /// The rings that timed out, in order.
    pub(crate) rings: Vec<RingTimeOut>,
    /// The page faults, in order.
    pub(crate) faults: Vec<PageFault>,
    /// The index of the fault that the following lines describe.
    pub(crate) described: Option<usize>,
    /// The other events, in order.
    pub(crate) events: Vec<Event>,
    /// The steps of the reset, in order.
    pub(crate) steps: Vec<Step>,
    /// The way of resetting the GPU.
    pub(crate) method: Option<&'static str>,
    /// The reason of the reset, as the kernel numbers them.
    pub(crate) source: Option<u32>,
    /// `true` if the kernel said that VRAM is lost.
    pub(crate) is_vram_lost: bool,
    /// The resets since boot.
    pub(crate) reset_count: Option<u32>,
    /// The error of the reset.
    pub(crate) reset_error: Option<i32>,
    /// The end.
    pub(crate) end: End,
    /// `true` if user space was told that the device is wedged and works again.
    pub(crate) is_wedged: bool,
    /// The ways of recovery that the event for user space offers where the device does not work.
    pub(crate) recovery: Option<String>,
    /// The process that the event for user space names.
    pub(crate) wedged_process: Option<Process>,
    /// The dump of the kernel.
    pub(crate) coredump: Option<Coredump>,
    /// The work.
    pub(crate) work: Work,
    /// `true` if the kernel wrote a dump.
    pub(crate) has_dump: bool,
    /// Incidents of the same kind that follow, which are not kept.
    pub(crate) repeats: u64,
    /// The end of an earlier incident after which the GPU did not work any more.
    pub(crate) after_failure: Option<Place>,
    /// The time of the first line.
    pub(crate) start: Option<Stamp>,
    /// The time of the last line that belongs to the incident itself.
    pub(crate) last: Option<Stamp>,
    /// The first line.
    pub(crate) place: Option<Place>,
    /// The last line.
    pub(crate) last_place: Option<Place>,
}

impl Incident {
    /// Returns `true` if a ring timed out or a reset has begun.
    pub(crate) fn is_hang(&self) -> bool {
        !self.rings.is_empty() || !self.steps.is_empty()
    }

    /// Returns `true` if a program reported a hang and no line of the kernel tells of it.
    pub(crate) fn is_reported_alone(&self) -> bool {
        self.of(Kind::Program).next().is_some() && !self.is_hang() && self.end == End::Unknown
    }

    /// Returns `true` if parts of the GPU did not start again and no work hung: a card is reset at resume as well.
    pub(crate) fn is_resume_alone(&self) -> bool {
        let is_method = |step: &Step| self.method.is_some_and(|method| step.text == format!("{method} reset"));
        self.of(Kind::PartFailed).next().is_some()
            && self.rings.is_empty()
            && self.end == End::Unknown
            && self.steps.iter().all(is_method)
    }

    /// Returns `true` if files of firmware were missing, and nothing else is known.
    pub(crate) fn is_firmware_alone(&self) -> bool {
        let is_firmware = |event: &Event| event.kind == Kind::Firmware;
        !self.events.is_empty() && self.events.iter().all(is_firmware) && self.faults.is_empty() && !self.is_hang()
    }

    /// Returns the ring that timed out first.
    pub(crate) fn ring(&self) -> Option<&RingTimeOut> {
        self.rings.first()
    }

    /// Returns the events of a kind.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.kind == kind)
    }

    /// Returns the first event of a kind before any ring timed out.
    pub(crate) fn before(&self, kind: Kind) -> Option<&Event> {
        self.of(kind).find(|event| !event.is_after)
    }

    /// Returns the process whose job or access it was; `None` if no input tells.
    pub(crate) fn process(&self) -> Option<&Process> {
        let of_ring = self.rings.iter().find_map(|ring| ring.process.as_ref());
        let of_fault =
            || self.faults.iter().find(|fault| !fault.is_after_reset).and_then(|fault| fault.process.as_ref());
        of_ring.or(self.wedged_process.as_ref()).or_else(of_fault)
    }

    /// Returns the page fault that came before the reset.
    pub(crate) fn lead_fault(&self) -> Option<&PageFault> {
        self.faults.iter().find(|fault| !fault.is_after_reset && fault.vmid != Some(0))
    }

    /// Returns whether the contents of VRAM are lost; `None` if the inputs do not tell.
    pub(crate) fn vram_lost(&self) -> Option<bool> {
        match self.method {
            _ if self.is_vram_lost => Some(true),
            Some("MODE1" | "BACO" | "PCI config" | "link") => Some(true),
            Some("MODE2") => Some(false),
            _ if matches!(self.end, End::Soft | End::Ring) => Some(false),
            _ => None,
        }
    }
}
