//! Facts about the kernel: its release, and the time that jobs may run.
//!
//! Source: Linux `amdgpu_device.c`, `amdgpu_device_get_job_timeout_settings`: 10 seconds, and 60 seconds on compute rings, up to
//! 6.18; 2 seconds on all rings from 7.0 on. It changed in 6.19 or 7.0.

use std::fmt;

/// A release of Linux: major and minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(pub(crate) u32, pub(crate) u32);

impl Release {
    /// Parses the start of a version such as `6.19.8-zen1`.
    pub(crate) fn parse(version: &str) -> Option<Self> {
        let mut parts = version.trim().split(|letter: char| !letter.is_ascii_digit());
        Some(Self(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The kinds of rings that have a time-out of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RingKind {
    Graphics,
    Compute,
    Copy,
    Video,
    /// A ring of the scheduler itself, or of an engine that is newer than this program.
    Other,
}

impl RingKind {
    /// Returns the kind of a ring by its name.
    pub(crate) fn of(ring: &str) -> Self {
        match ring {
            _ if ring.starts_with("gfx") => Self::Graphics,
            _ if ring.starts_with("comp") => Self::Compute,
            _ if ring.starts_with("sdma") || ring.starts_with("page") => Self::Copy,
            _ if ["uvd", "vce", "vcn", "jpeg", "vpe"].iter().any(|engine| ring.starts_with(engine)) => Self::Video,
            _ => Self::Other,
        }
    }

    /// Returns the name for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Graphics => "graphics",
            Self::Compute => "compute",
            Self::Copy => "copy engine",
            Self::Video => "video",
            Self::Other => "other",
        }
    }
}

/// The kernel, as the inputs tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// The release, where an input states it.
    pub(crate) release: Option<Release>,
    /// The text of the parameter `lockup_timeout`, where an input states it.
    pub(crate) lockup_timeout: Option<String>,
    /// The first release that writes lines as the log has them.
    pub(crate) at_least: Option<Release>,
    /// The last release that writes lines as the log has them.
    pub(crate) at_most: Option<Release>,
}

/// The time that a job may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeOut {
    /// The milliseconds; `None` if the inputs fit several values, or jobs may run for ever.
    pub(crate) milliseconds: Option<u64>,
    /// `true` if no input states it.
    pub(crate) is_assumed: bool,
    /// The source of the value.
    pub(crate) basis: String,
}

impl Kernel {
    /// Adds what the form of a line tells.
    pub(crate) fn narrow(&mut self, at_least: Option<Release>, at_most: Option<Release>) {
        self.at_least = self.at_least.max(at_least);
        self.at_most = match (self.at_most, at_most) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
    }

    /// Adds the parameters of the kernel.
    pub(crate) fn parameters(&mut self, line: &str) {
        if let Some(value) = line.split_whitespace().find_map(|word| word.strip_prefix("amdgpu.lockup_timeout=")) {
            self.lockup_timeout = Some(value.chars().take(64).collect());
        }
    }

    /// Returns `true` if the kernel certainly writes no line about the process of its own jobs (`amdgpu_vm_print_task_info`).
    pub(crate) fn leaves_out_own_jobs(&self) -> bool {
        self.release.or(self.at_least).is_some_and(|release| release >= Release(6, 15))
    }

    /// Returns `true` if jobs certainly may run for 2 seconds alone.
    pub(crate) fn is_short(&self, kind: RingKind) -> bool {
        self.time_out(kind).milliseconds.is_some_and(|milliseconds| milliseconds <= 2000)
    }

    /// Returns the time that jobs may run on rings of a kind.
    pub(crate) fn time_out(&self, kind: RingKind) -> TimeOut {
        let old = if kind == RingKind::Compute { 60_000 } else { 10_000 };
        let (default, is_assumed, basis) = match (self.release, self.at_least, self.at_most) {
            (Some(release), ..) if release >= Release(7, 0) => {
                (Some(2000), false, format!("default of Linux {release} for all rings"))
            }
            (Some(release), ..) if release <= Release(6, 18) => {
                (Some(old), false, format!("default of Linux {release} for {} rings", kind.name()))
            }
            (Some(release), ..) => (None, true, format!("Linux {release} has 2 s, or as before {} s", old / 1000)),
            (None, _, Some(last)) if last <= Release(6, 18) => {
                let basis =
                    format!("default for {} rings up to Linux 6.18, as the form of the lines tells", kind.name());
                (Some(old), true, basis)
            }
            (None, Some(first), _) if first >= Release(6, 19) => {
                let basis = format!(
                    "default for all rings from Linux 7.0 on, which writes such lines; older kernels have {} s here",
                    old / 1000
                );
                (Some(2000), true, basis)
            }
            _ => {
                let basis = format!("2 s from Linux 7.0 on, {} s up to 6.18; no input tells the release", old / 1000);
                (None, true, basis)
            }
        };
        let Some(text) = &self.lockup_timeout else {
            return TimeOut { milliseconds: default, is_assumed, basis };
        };
        match self.given(text, kind) {
            Some(Given::Milliseconds(milliseconds)) => TimeOut {
                milliseconds: Some(milliseconds),
                is_assumed: false,
                basis: format!("amdgpu.lockup_timeout={text}"),
            },
            Some(Given::Never) => TimeOut {
                milliseconds: None,
                is_assumed: false,
                basis: format!("none: amdgpu.lockup_timeout={text} lets jobs run for ever"),
            },
            None => TimeOut { milliseconds: default, is_assumed, basis },
        }
    }

    /// Returns what the parameter says about a kind of rings; `None` if the default stays.
    fn given(&self, text: &str, kind: RingKind) -> Option<Given> {
        let parts: Vec<_> = text.split(',').map(str::trim).collect();
        let is_single = parts.iter().skip(1).all(|part| part.is_empty());
        let is_new = self.release.or(self.at_least).is_some_and(|release| release >= Release(7, 0));
        let index = match kind {
            // A single number leaves compute rings out before 7.0.
            RingKind::Compute if is_single && !is_new => return None,
            _ if is_single => 0,
            RingKind::Graphics => 0,
            RingKind::Compute => 1,
            RingKind::Copy => 2,
            // `amdgpu_fence_driver_init_ring` and `amdgpu_device_init_schedulers` give all others the time of video rings.
            RingKind::Video | RingKind::Other => 3,
        };
        match parts.get(index)?.parse::<i64>().ok()? {
            0 => None,
            number => Some(u64::try_from(number).map_or(Given::Never, Given::Milliseconds)),
        }
    }
}

enum Given {
    Milliseconds(u64),
    Never,
}

impl TimeOut {
    /// Returns the text for people.
    pub(crate) fn text(&self) -> String {
        let assumed = if self.is_assumed { "assumed: " } else { "" };
        match self.milliseconds {
            Some(milliseconds) if milliseconds % 1000 == 0 => {
                format!("{} s ({assumed}{})", milliseconds / 1000, self.basis)
            }
            Some(milliseconds) => format!("{milliseconds} ms ({assumed}{})", self.basis),
            None if self.is_assumed => format!("unknown ({})", self.basis),
            None => self.basis.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(release: &str, parameter: Option<&str>, kind: RingKind) -> Option<u64> {
        let lockup_timeout = parameter.map(str::to_owned);
        Kernel { release: Release::parse(release), lockup_timeout, ..Kernel::default() }.time_out(kind).milliseconds
    }

    #[test]
    fn the_default_depends_on_the_release_and_the_ring() {
        use RingKind::{Compute, Copy, Graphics, Video};
        for kind in [Graphics, Compute, Copy, Video] {
            assert_eq!(milliseconds("7.2.13-1", None, kind), Some(2000));
            assert_eq!(milliseconds("6.19.8", None, kind), None);
            let old = if kind == Compute { 60_000 } else { 10_000 };
            assert_eq!(milliseconds("6.12.0-generic", None, kind), Some(old));
        }
        assert!(Kernel::default().time_out(Graphics).is_assumed);
    }

    #[test]
    fn the_parameter_is_read_as_the_kernel_reads_it() {
        use RingKind::{Compute, Copy, Graphics};
        assert_eq!(milliseconds("6.12", Some("5000"), Graphics), Some(5000));
        assert_eq!(milliseconds("6.12", Some("5000"), Compute), Some(60_000));
        assert_eq!(milliseconds("7.2", Some("5000"), Compute), Some(5000));
        assert_eq!(milliseconds("7.2", Some("5000,0,7000"), Compute), Some(2000));
        assert_eq!(milliseconds("7.2", Some("5000,0,7000"), Copy), Some(7000));
        assert_eq!(milliseconds("7.2", Some("-1"), Graphics), None);
        assert_eq!(milliseconds("7.2", Some("soon"), Graphics), Some(2000));
    }
}
