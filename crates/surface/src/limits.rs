//! The largest alignments of a chip, and the modes that its display can scan out.
//!
//! Reference: addrlib's `HwlComputeMaxBaseAlignments` and `HwlComputeMaxMetaBaseAlignments`.

use amdgpu_hw::GfxLevel;

use crate::addr1;
use crate::addr2::{self, meta};
use crate::chip::{Chip, Family};

/// Alignments, in bytes, that suffice for every image on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxAlignments {
    /// The alignment that suffices for the texels of every image.
    pub base: u32,
    /// The alignment that suffices for the metadata of every image.
    pub metadata: u32,
}

impl Chip {
    /// Returns alignments that suffice for every image on the chip.
    pub fn max_alignments(&self) -> MaxAlignments {
        match self.level() {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
                let (base, metadata) = addr1::max_alignments(self);
                MaxAlignments { base, metadata }
            }
            GfxLevel::Gfx9 => MaxAlignments { base: 0x1_0000, metadata: self.max_metadata_9() },
            GfxLevel::Gfx12 => MaxAlignments { base: 0x4_0000, metadata: 0x4_0000 },
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => {
                let variable = if self.level() == GfxLevel::Gfx10_3 { 1 << (14 + self.config.pipes) } else { 0 };
                MaxAlignments { base: 0x1_0000.max(variable), metadata: meta::max_block(self) }
            }
            _ => MaxAlignments { base: 0x4_0000, metadata: meta::max_block(self) },
        }
    }

    /// Returns a mask of the swizzle modes that the display can scan out with elements of `bits` bits (GFX9-11).
    pub fn display_modes(&self, bits: u32) -> u32 {
        addr2::display_modes(self, bits)
    }

    fn max_metadata_9(&self) -> u32 {
        let config = &self.config;
        let pipes = 1u32 << (config.pipes + config.shader_engines).min(5);
        let rbs_log2 = config.shader_engines + config.rbs_per_engine;
        let rbs = 1u32 << rbs_log2;
        let block = 4 << (rbs_log2 + 10);
        let spread = pipes * rbs * 256 * if pipes > 2 { pipes / 2 } else { 1 };
        // HTILE is aligned to a swizzle block at least, and on chips with the fix of its cache lines to one for each pipe.
        let mut htile = block.max(spread).max(0x1_0000);
        if !matches!(self.family, Family::Vega10 | Family::Raven | Family::Raven2) {
            htile *= pipes;
        }
        let parallel = pipes > 1 || rbs > 1;
        let thick = if parallel { (rbs * 0x4_0000).min(0x1_0000 * 128) } else { 0x1_0000 };
        let samples = (pipes * rbs * 256 * (8 >> config.compressed_fragments)).max(0x1_0000);
        htile.max(thick).max(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::ChipRegisters;

    /// The answers of addrlib (Mesa 22.3.6 and 25.0.7, `AddrGetMaxMetaAlignments`) for GB_ADDR_CONFIG of Vega 10, of Raven, and made
    /// up ones.
    #[test]
    fn metadata_of_gfx9_is_aligned_to_a_swizzle_block_and_with_the_fix_to_one_for_each_pipe() {
        for (family, rev, config, metadata) in [
            (0x8d, 0x01, 0x2a11_4042, 4 << 20),
            (0x8d, 0x14, 0x2410_4041, 2 << 20),
            (0x8d, 0x28, 0x2a11_4042, 8 << 20),
            (0x8d, 0x28, 0x2201_4042, 256 << 10),
            (0x8d, 0x28, 0x0000_0000, 64 << 10),
            (0x8d, 0x28, 0x0000_0044, 1 << 20),
            (0x8e, 0x01, 0x2400_0042, 512 << 10),
            (0x8e, 0x82, 0x2601_3041, 512 << 10),
            (0x8e, 0x91, 0x2601_3041, 512 << 10),
            (0x8e, 0x91, 0x0808_0003, 4 << 20),
        ] {
            let chip = Chip::new(&ChipRegisters::new(GfxLevel::Gfx9, family, rev, config)).unwrap();
            let wanted = MaxAlignments { base: 0x1_0000, metadata };
            assert_eq!(chip.max_alignments(), wanted, "{family:#x} {rev:#x} {config:#x}");
        }
    }
}
