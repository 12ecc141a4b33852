//! The windows of the register space through which SET packets write.

use crate::pm4::opcode;
use amdgpu_hw::GfxLevel;

/// A window of the register space, with a SET packet of its own.
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
    /// Global state of GFX6.
    Config,
    /// Shader state.
    Sh,
    /// State of draws.
    Context,
    /// Global state from GFX7 on.
    Uconfig,
}

impl Aperture {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Config, Self::Sh, Self::Context, Self::Uconfig];

    /// Where it begins and ends, in bytes; `None` where the generation has none.
    #[inline]
    pub fn bytes(self, level: GfxLevel) -> Option<std::ops::Range<u32>> {
        match self {
            Self::Config => Some(0x8000..0xb000),
            Self::Sh => Some(0xb000..0xc000),
            Self::Context => Some(0x2_8000..0x2_9000),
            Self::Uconfig => (level >= GfxLevel::Gfx7).then_some(0x3_0000..0x4_0000),
        }
    }

    /// The one that a byte offset lies in.
    #[inline]
    pub fn of(offset: u32, level: GfxLevel) -> Option<Self> {
        Self::ALL.into_iter().find(|aperture| aperture.bytes(level).is_some_and(|bytes| bytes.contains(&offset)))
    }

    /// The opcode of its SET packet.
    pub const fn opcode(self) -> u8 {
        match self {
            Self::Config => opcode::SET_CONFIG_REG,
            Self::Sh => opcode::SET_SH_REG,
            Self::Context => opcode::SET_CONTEXT_REG,
            Self::Uconfig => opcode::SET_UCONFIG_REG,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Sh => "sh",
            Self::Context => "context",
            Self::Uconfig => "uconfig",
        }
    }

    /// The one that a packet of this name writes to: SET_*, LOAD_* and the pairs.
    pub(crate) fn of_packet(name: &str) -> Option<Self> {
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
