//! The windows of the register space through which SET packets write.

use core::ops::Range;

use amdgpu_hw::GfxLevel;

use crate::{Register, RegisterSet, at};

/// A window of the register space. Each aperture has its own SET packet.
///
/// | aperture | bytes             | packet           | holds                                                        |
/// |----------|-------------------|------------------|--------------------------------------------------------------|
/// | config   | 0x8000..0xb000    | SET_CONFIG_REG   | the driver's global state on GFX6, privileged later          |
/// | sh       | 0xb000..0xc000    | SET_SH_REG       | shader programs and COMPUTE_*                                |
/// | context  | 0x28000..0x29000  | SET_CONTEXT_REG  | state of draws; a write behind a draw rolls the context      |
/// | uconfig  | 0x30000..0x40000  | SET_UCONFIG_REG  | from GFX7 on: global state and counters                      |
///
/// Source: Linux 6.12 `sid.h`, `cikd.h`, `soc15d.h`, `PACKET3_SET_*_REG_START` and `_END`; Mesa 25.0.7
/// `src/amd/common/sid.h`, `CIK_UCONFIG_REG_END`, for the end of uconfig, where the kernel's number would leave the
/// counters out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aperture {
    /// Global state of GFX6; privileged on later generations.
    Config,
    /// Shader state: shader programs and the COMPUTE_* registers.
    Sh,
    /// State of draws.
    Context,
    /// Global state of GFX7 and later, and counters.
    Uconfig,
}

impl Aperture {
    /// All apertures, in ascending order of their offsets.
    pub const ALL: [Self; 4] = [Self::Config, Self::Sh, Self::Context, Self::Uconfig];

    /// Returns the range of byte offsets that the aperture covers; `None` if the generation does not have the aperture.
    #[inline]
    pub fn bytes(self, level: GfxLevel) -> Option<Range<u32>> {
        match self {
            Self::Config => Some(0x8000..0xb000),
            Self::Sh => Some(0xb000..0xc000),
            Self::Context => Some(0x2_8000..0x2_9000),
            Self::Uconfig => (level >= GfxLevel::Gfx7).then_some(0x3_0000..0x4_0000),
        }
    }

    /// Returns the aperture that contains a byte offset; `None` if no aperture does.
    #[inline]
    pub fn of(offset: u32, level: GfxLevel) -> Option<Self> {
        Self::ALL.into_iter().find(|aperture| aperture.bytes(level).is_some_and(|bytes| bytes.contains(&offset)))
    }

    /// Returns the register at a dword index relative to the start of the aperture, as in SET packets; `None` if there is no
    /// register.
    pub fn at(self, index: u32, set: impl Into<RegisterSet>) -> Option<Register> {
        let set = set.into();
        let bytes = self.bytes(set.level())?;
        let offset = bytes.start.checked_add(index.checked_mul(4)?)?;
        bytes.contains(&offset).then(|| at(offset, set)).flatten()
    }

    /// Returns the opcode of the SET packet that writes to the aperture.
    pub const fn opcode(self) -> u8 {
        match self {
            Self::Config => 0x68,
            Self::Sh => 0x76,
            Self::Context => 0x69,
            Self::Uconfig => 0x79,
        }
    }

    /// Returns the name of the aperture in lower case, such as `uconfig`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Sh => "sh",
            Self::Context => "context",
            Self::Uconfig => "uconfig",
        }
    }

    /// Returns the aperture that a packet with this name writes to, such as SET_CONTEXT_REG or LOAD_SH_REG; `None` for other
    /// packets.
    pub fn of_packet(name: &str) -> Option<Self> {
        let has = |part| name.contains(part);
        match () {
            () if has("_UCONFIG_REG") => Some(Self::Uconfig),
            () if has("_CONTEXT_REG") => Some(Self::Context),
            () if has("_CONFIG_REG") => Some(Self::Config),
            () if has("_SH_REG") => Some(Self::Sh),
            () => None,
        }
    }
}
