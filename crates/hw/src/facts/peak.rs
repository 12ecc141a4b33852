//! Peak rates.

use crate::{Chip, GfxLevel, VramType};

/// The units of a GPU and their clocks, as the kernel reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Generation.
    pub level: GfxLevel,
    /// Chip.
    pub chip: Chip,
    /// Shader engines with a compute unit.
    pub engines: u32,
    /// Shader engines, fused-off ones included.
    pub engines_made: u32,
    /// Shader arrays of an engine.
    pub arrays_per_engine: u32,
    /// Compute units in use.
    pub compute_units: u32,
    /// Render backends in use.
    pub render_backends: u32,
    /// Highest shader clock, MHz; 0 when unknown.
    pub engine_mhz: u32,
    /// Highest memory clock, MHz, before the factor of transfers; 0 when unknown.
    pub memory_mhz: u32,
    /// Width of the memory bus, bits.
    pub memory_bits: u32,
    /// Kind of memory chips.
    pub memory: VramType,
}

/// The peak rates of a GPU. A rate by second is 0 where the clock is unknown, and `None` where no driver states the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// Shader engines in use.
    pub shader_engines: u32,
    /// SIMDs of a compute unit.
    pub simds_per_unit: u32,
    /// Lanes of a SIMD.
    pub lanes_per_simd: u32,
    /// Pairs of compute units (GFX10 and later).
    pub workgroup_processors: Option<u32>,
    /// Render backends of the second generation are used as such.
    pub rbplus: bool,
    /// Single-precision operations each clock.
    pub flops_per_clock: u64,
    /// Single-precision operations, billions a second.
    pub gflops: u64,
    /// Pixels that render backends write each clock.
    pub rop_pixels_per_clock: u64,
    /// The same, millions a second.
    pub rop_mpixels_per_s: u64,
    /// Primitives each clock.
    pub primitives_per_clock: Option<u64>,
    /// Primitives that are tested and thrown away each clock.
    pub culled_primitives_per_clock: Option<u64>,
    /// Primitives, millions a second.
    pub primitives_mtris_per_s: Option<u64>,
    /// Pixels that are rasterized each clock.
    pub raster_pixels_per_clock: Option<u64>,
    /// The same, millions a second.
    pub raster_mpixels_per_s: Option<u64>,
    /// Bandwidth of the memory bus, GB/s, rounded up.
    pub memory_gb_per_s: u64,
}

impl Units {
    /// Returns `true` if render backends of the second generation are used as such: they write twice the pixels. Vega10 and
    /// Navi10 have them too and do not use them.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `rbplus_allowed`.
    pub const fn rbplus(&self) -> bool {
        let early = matches!(
            self.chip,
            Chip::CHIP_STONEY | Chip::CHIP_VEGA12 | Chip::CHIP_RAVEN | Chip::CHIP_RAVEN2 | Chip::CHIP_RENOIR
        );
        early || self.level as u8 >= GfxLevel::Gfx10_3 as u8
    }

    /// Returns the data transfers in one cycle of the memory clock that the kernel reports; 0 for unknown memory.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_memory_ops_per_clock`.
    pub const fn transfers_per_clock(&self) -> u64 {
        match self.memory {
            VramType::DDR2 | VramType::DDR3 | VramType::DDR4 | VramType::LPDDR4 | VramType::HBM => 2,
            VramType::DDR5 | VramType::LPDDR5 | VramType::GDDR5 => 4,
            VramType::GDDR6 => 16,
            _ => 0,
        }
    }

    /// Returns the peak rates.
    ///
    /// Operations and bandwidth are those that RADV prints. Primitives and rasterized pixels are published for RDNA 1: a
    /// geometry processor and a rasterizer of 16 pixels for each shader array, and two primitives culled for each drawn. For
    /// GCN one of each an engine is carried over from there, which no driver states; after RDNA 1 nothing is known.
    pub fn peaks(&self) -> Peaks {
        let mhz = u64::from(self.engine_mhz);
        let (simds_per_unit, lanes_per_simd) = if self.level >= GfxLevel::Gfx10 { (2, 32) } else { (4, 16) };
        // From GFX11 on two operations can be paired.
        let per_unit: u64 = if self.level >= GfxLevel::Gfx11 { 256 } else { 128 };
        let flops_per_clock = u64::from(self.compute_units) * per_unit;
        let rop_pixels_per_clock = u64::from(self.render_backends) * if self.rbplus() { 8 } else { 4 };
        let front_ends = match self.level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => Some(u64::from(self.engines)),
            GfxLevel::Gfx10 => Some(u64::from(self.engines) * u64::from(self.arrays_per_engine)),
            _ => None,
        };
        let culled = if self.level == GfxLevel::Gfx10 { 2 } else { 1 };
        let rate = u64::from(self.memory_mhz) * self.transfers_per_clock() * u64::from(self.memory_bits) / 8;
        Peaks {
            shader_engines: self.engines,
            simds_per_unit,
            lanes_per_simd,
            workgroup_processors: (self.level >= GfxLevel::Gfx10).then_some(self.compute_units / 2),
            rbplus: self.rbplus(),
            flops_per_clock,
            gflops: flops_per_clock.saturating_mul(mhz) / 1000,
            rop_pixels_per_clock,
            rop_mpixels_per_s: rop_pixels_per_clock.saturating_mul(mhz),
            primitives_per_clock: front_ends,
            culled_primitives_per_clock: front_ends.map(|count| count * culled),
            primitives_mtris_per_s: front_ends.map(|count| count.saturating_mul(mhz)),
            raster_pixels_per_clock: front_ends.map(|count| count * 16),
            raster_mpixels_per_s: front_ends.map(|count| (count * 16).saturating_mul(mhz)),
            memory_gb_per_s: rate.div_ceil(1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_5700_xt_at_1905_mhz_has_the_published_figures() {
        let units = Units {
            level: GfxLevel::Gfx10,
            chip: Chip::CHIP_NAVI10,
            engines: 2,
            engines_made: 2,
            arrays_per_engine: 2,
            compute_units: 40,
            render_backends: 16,
            engine_mhz: 1905,
            memory_mhz: 875,
            memory_bits: 256,
            memory: VramType::GDDR6,
        };
        let peaks = units.peaks();
        assert_eq!((peaks.flops_per_clock, peaks.gflops), (5120, 9753));
        assert_eq!(peaks.culled_primitives_per_clock.map(|culled| culled * 1905), Some(15_240));
        assert_eq!((peaks.primitives_mtris_per_s, peaks.raster_mpixels_per_s), (Some(7620), Some(121_920)));
        assert_eq!(peaks.memory_gb_per_s, 448);
    }

    #[test]
    fn rates_beyond_32_bits_are_not_cut() {
        let units = Units {
            level: GfxLevel::Gfx10,
            chip: Chip::CHIP_NAVI10,
            engines: u32::MAX,
            engines_made: u32::MAX,
            arrays_per_engine: 1 << 20,
            compute_units: u32::MAX,
            render_backends: u32::MAX,
            engine_mhz: 1000,
            memory_mhz: u32::MAX,
            memory_bits: 512,
            memory: VramType::GDDR6,
        };
        let (peaks, most) = (units.peaks(), u64::from(u32::MAX));
        assert_eq!((peaks.flops_per_clock, peaks.gflops), (128 * most, 128 * most));
        assert_eq!((peaks.rop_pixels_per_clock, peaks.rop_mpixels_per_s), (4 * most, 4000 * most));
        assert_eq!(peaks.primitives_per_clock, Some(most << 20));
        assert_eq!(peaks.culled_primitives_per_clock, Some(most << 21));
        assert_eq!(peaks.primitives_mtris_per_s, Some((most << 20) * 1000));
        assert_eq!(peaks.raster_pixels_per_clock, Some(most << 24));
        assert_eq!(peaks.raster_mpixels_per_s, Some((most << 24).saturating_mul(1000)));
        assert_eq!(peaks.memory_gb_per_s, (most * 16 * 512 / 8).div_ceil(1000));
    }

    #[test]
    fn rates_beyond_rdna_1_are_unknown_and_not_guessed() {
        for level in [GfxLevel::Gfx10_3, GfxLevel::Gfx11, GfxLevel::Gfx11_5, GfxLevel::Gfx12] {
            let units = Units {
                level,
                chip: Chip::CHIP_NAVI21,
                engines: u32::MAX,
                engines_made: u32::MAX,
                arrays_per_engine: u32::MAX,
                compute_units: u32::MAX,
                render_backends: u32::MAX,
                engine_mhz: u32::MAX,
                memory_mhz: u32::MAX,
                memory_bits: 512,
                memory: VramType::GDDR6,
            };
            let peaks = units.peaks();
            assert_eq!((peaks.primitives_per_clock, peaks.raster_pixels_per_clock), (None, None), "{level}");
        }
    }
}
