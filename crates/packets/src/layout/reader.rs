//! The engines that read packets.

use crate::Target;
use crate::pm4;
use crate::sdma::Version;
use amdgpu_hw::GfxLevel;

/// A reader of packets: an engine of a generation or version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A graphics or compute ring.
    Ring(pm4::Target),
    /// The constant engine of a graphics ring.
    Constant(GfxLevel),
    /// The kernel's interface queue.
    Interface(GfxLevel),
    /// A copy engine.
    Copy(Version),
}

impl From<pm4::Target> for Reader {
    fn from(target: pm4::Target) -> Self {
        Self::Ring(target)
    }
}

impl From<Version> for Reader {
    fn from(version: Version) -> Self {
        Self::Copy(version)
    }
}

impl From<Target> for Reader {
    fn from(target: Target) -> Self {
        match target {
            Target::Pm4(target) => Self::Ring(target),
            Target::Sdma(version) => Self::Copy(version),
        }
    }
}

impl Reader {
    #[inline]
    pub(super) const fn level(self) -> u8 {
        match self {
            Self::Ring(target) => target.level as u8,
            Self::Constant(level) | Self::Interface(level) => level as u8,
            Self::Copy(version) => version as u8,
        }
    }

    /// Returns the target for error messages.
    pub const fn target(self) -> Target {
        match self {
            Self::Ring(target) => Target::Pm4(target),
            Self::Constant(level) => Target::Pm4(pm4::Target::gfx(level)),
            Self::Interface(level) => Target::Pm4(pm4::Target::compute(level)),
            Self::Copy(version) => Target::Sdma(version),
        }
    }
}
