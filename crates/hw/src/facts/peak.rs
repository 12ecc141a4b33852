//! Peak rates of a GPU.

use crate::{Chip, GfxLevel, VramType};

/// The units of a GPU and their clocks, as the kernel reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// The graphics IP generation of the GPU.
    pub level: GfxLevel,
    /// The chip, which decides whether RB+ is used.
    pub chip: Chip,
    /// Number of shader engines that have at least one active compute unit.
    pub engines: u32,
    /// Number of shader engines, including disabled ones.
    pub engines_made: u32,
    /// Number of shader arrays in each shader engine.
    pub arrays_per_engine: u32,
    /// Number of active compute units.
    pub compute_units: u32,
    /// Number of active render backends.
    pub render_backends: u32,
    /// Highest shader clock in MHz; 0 if unknown.
    pub engine_mhz: u32,
    /// Highest memory clock in MHz, not multiplied by the transfers per clock; 0 if unknown.
    pub memory_mhz: u32,
    /// Width of the memory bus in bits.
    pub memory_bits: u32,
    /// Type of the video memory.
    pub memory: VramType,
}

/// The peak rates of a GPU. Rates per second are 0 if the clock is unknown. Rates that no driver documents are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// Number of active shader engines.
    pub shader_engines: u32,
    /// Number of SIMDs in each compute unit.
    pub simds_per_unit: u32,
    /// Number of lanes in each SIMD.
    pub lanes_per_simd: u32,
    /// Number of workgroup processors, which are pairs of compute units; `None` before GFX10.
    pub workgroup_processors: Option<u32>,
    /// `true` if the render backends work as RB+, see [`Units::rbplus`].
    pub rbplus: bool,
    /// Single-precision floating-point operations per clock.
    pub flops_per_clock: u64,
    /// Single-precision floating-point operations, in billions per second.
    pub gflops: u64,
    /// Pixels that all render backends write per clock.
    pub rop_pixels_per_clock: u64,
    /// Pixels that all render backends write, in millions per second.
    pub rop_mpixels_per_s: u64,
    /// Number of primitives drawn per clock; `None` if unknown.
    pub primitives_per_clock: Option<u64>,
    /// Number of primitives culled per clock; `None` if unknown.
    pub culled_primitives_per_clock: Option<u64>,
    /// Primitives drawn, in millions per second.
    pub primitives_mtris_per_s: Option<u64>,
    /// Number of pixels rasterized per clock; `None` if unknown.
    pub raster_pixels_per_clock: Option<u64>,
    /// Pixels rasterized, in millions per second.
    pub raster_mpixels_per_s: Option<u64>,
    /// Bandwidth of the memory bus in GB/s, rounded up.
    pub memory_gb_per_s: u64,
}

impl Units {
    /// Returns `true` if the render backends work as RB+, which doubles the pixels per clock. Vega10 and Navi10 have RB+ too, but
    /// drivers do not enable it.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `rbplus_allowed`.
    pub const fn rbplus(&self) -> bool {
        let early = matches!(
            self.chip,
            Chip::CHIP_STONEY | Chip::CHIP_VEGA12 | Chip::CHIP_RAVEN | Chip::CHIP_RAVEN2 | Chip::CHIP_RENOIR
        );
        early || self.level as u8 >= GfxLevel::Gfx10_3 as u8
    }

    /// Returns the number of data transfers per cycle of the reported memory clock; 0 for unknown memory.
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

    /// Returns the peak rates of the GPU.
    ///
    /// Operations and bandwidth are the values that RADV prints. Primitives and rasterized pixels are published for RDNA 1: one
    /// geometry processor and one rasterizer of 16 pixels per shader array, with two primitives culled for each drawn. For GCN the
    /// same is assumed per shader engine, with one primitive culled for each drawn, which no driver documents. After RDNA 1 these
    /// rates are unknown.
    pub fn peaks(&self) -> Peaks {
        let mhz = u64::from(self.engine_mhz);
        let (simds_per_unit, lanes_per_simd) = if self.level >= GfxLevel::Gfx10 { (2, 32) } else { (4, 16) };
        // GFX11 and later can execute two operations per lane.
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
