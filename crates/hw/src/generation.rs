//! Graphics IP generations.

use std::fmt;

/// A graphics IP generation. Later generations compare greater.
///
/// It is determined by the version of the GFX IP block, or of the COMPUTE block on chips without graphics, never by the family.
/// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GfxLevel {
    /// GCN 1 (Southern Islands).
    Gfx6,
    /// GCN 2 (Sea Islands).
    Gfx7,
    /// GCN 3 and 4 (Volcanic Islands, Polaris).
    Gfx8,
    /// GCN 5 (Vega) and CDNA.
    Gfx9,
    /// RDNA 1.
    Gfx10,
    /// RDNA 2.
    Gfx10_3,
    /// RDNA 3.
    Gfx11,
    /// RDNA 3.5.
    Gfx11_5,
    /// RDNA 4.
    Gfx12,
}

impl GfxLevel {
    /// All generations, oldest first.
    pub const ALL: [Self; 9] = [
        Self::Gfx6,
        Self::Gfx7,
        Self::Gfx8,
        Self::Gfx9,
        Self::Gfx10,
        Self::Gfx10_3,
        Self::Gfx11,
        Self::Gfx11_5,
        Self::Gfx12,
    ];

    /// Returns `true` if the command processor reads and writes memory without L2: IBs, indirect arguments, conditions, CP DMA and
    /// its stores. GFX6 to GFX8 and, again, GFX12, where the command processor is connected to the memory behind L2.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `cp_dma_use_L2` and `cp_sdma_ge_use_system_memory_scope`.
    pub const fn command_processor_bypasses_l2(self) -> bool {
        matches!(self, Self::Gfx6 | Self::Gfx7 | Self::Gfx8 | Self::Gfx12)
    }

    /// Returns `true` if indices are fetched without L2: GFX6, GFX7 and GFX12.
    ///
    /// Source: Mesa 25.0.7 `src/gallium/drivers/radeonsi/si_barrier.c`, `si_memory_barrier`, and
    /// `src/amd/common/ac_gpu_info.c`, `cp_sdma_ge_use_system_memory_scope`.
    pub const fn index_fetch_bypasses_l2(self) -> bool {
        matches!(self, Self::Gfx6 | Self::Gfx7 | Self::Gfx12)
    }

    /// Returns Mesa's name of the generation, such as `GFX10_3`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx6 => "GFX6",
            Self::Gfx7 => "GFX7",
            Self::Gfx8 => "GFX8",
            Self::Gfx9 => "GFX9",
            Self::Gfx10 => "GFX10",
            Self::Gfx10_3 => "GFX10_3",
            Self::Gfx11 => "GFX11",
            Self::Gfx11_5 => "GFX11_5",
            Self::Gfx12 => "GFX12",
        }
    }
}

impl GfxLevel {
    /// Returns the generation for a version of the GFX block, or of the COMPUTE block on chips without graphics; `None` if no known
    /// chip has this version.
    pub const fn of_version(major: u32, minor: u32) -> Option<Self> {
        Some(match (major, minor) {
            (12, 0) => Self::Gfx12,
            (11, 5) => Self::Gfx11_5,
            (11, 0) => Self::Gfx11,
            (10, 3) => Self::Gfx10_3,
            (10, 1) => Self::Gfx10,
            (9, _) => Self::Gfx9,
            (8, _) => Self::Gfx8,
            (7, _) => Self::Gfx7,
            (6, _) => Self::Gfx6,
            _ => return None,
        })
    }
}

impl fmt::Display for GfxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
