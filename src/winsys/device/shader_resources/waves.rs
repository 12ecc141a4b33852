//! Limits of waves and of their registers on a SIMD.

use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Limits of waves and of their registers on a SIMD.
///
/// Vector registers are counted for waves of 64 lanes; a wave of 32 lanes takes half.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let waves = device.info().waves();
/// assert_eq!((waves.per_simd, waves.simds_per_unit), (16, 2));
/// // A SIMD runs 5 waves of a shader with 96 vector registers:
/// let taken = 96_u32.next_multiple_of(waves.vgpr_granularity);
/// assert_eq!((waves.vgprs_per_simd / taken).min(waves.per_simd), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveLimits {
    /// Maximum number of waves on a SIMD.
    pub per_simd: u32,
    /// Number of SIMDs in a compute unit.
    pub simds_per_unit: u32,
    /// Number of scalar registers of a SIMD.
    pub sgprs_per_simd: u32,
    /// Allocation unit of scalar registers, and the minimum of a wave.
    pub sgpr_granularity: u32,
    /// Maximum number of scalar registers of a wave.
    pub most_sgprs: u32,
    /// Number of vector registers of a SIMD.
    pub vgprs_per_simd: u32,
    /// Allocation unit of vector registers, and the minimum of a wave.
    pub vgpr_granularity: u32,
    /// Maximum number of vector registers of a wave.
    pub most_vgprs: u32,
}

impl WaveLimits {
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`; Mesa 26.2.6 if the two differ for a chip.
    fn new(info: &GpuInfo) -> Self {
        let (level, chip) = (info.gfx_level, info.chip);
        let per_simd = match level {
            GfxLevel::Gfx10 => 20,
            _ if level >= GfxLevel::Gfx10_3 => 16,
            _ if is_polaris(chip) => 8,
            _ => 10,
        };
        // Scalar registers of a SIMD, their allocation unit, and the maximum of a wave.
        let (sgprs_per_simd, sgpr_granularity, most_sgprs) = match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 => (512, 8, 104),
            // These chips initialize registers wrongly unless each wave has the same number.
            GfxLevel::Gfx8 if matches!(chip, Chip::CHIP_TONGA | Chip::CHIP_ICELAND) => (800, 96, 96),
            GfxLevel::Gfx8 | GfxLevel::Gfx9 => (800, 16, 102),
            // Each wave gets every register that instructions can address.
            _ => (108 * per_simd, 108, 108),
        };
        let vgprs_per_simd = vgprs_per_simd(info);
        let is_mi200 = matches!(chip, Chip::CHIP_ALDEBARAN | Chip::CHIP_GFX940);
        Self {
            per_simd,
            simds_per_unit: if level >= GfxLevel::Gfx10 { 2 } else { 4 },
            sgprs_per_simd,
            sgpr_granularity,
            most_sgprs,
            vgprs_per_simd,
            vgpr_granularity: match level {
                _ if level >= GfxLevel::Gfx10_3 => vgprs_per_simd / 64,
                _ if is_mi200 => 8,
                _ => 4,
            },
            most_vgprs: if is_mi200 { 512 } else { 256 },
        }
    }
}

impl GpuInfo {
    /// Returns the limits of waves and of their registers on a SIMD.
    pub fn waves(&self) -> WaveLimits {
        WaveLimits::new(self)
    }
}

const fn is_polaris(chip: Chip) -> bool {
    matches!(chip, Chip::CHIP_POLARIS10 | Chip::CHIP_POLARIS11 | Chip::CHIP_POLARIS12 | Chip::CHIP_VEGAM)
}

/// Returns the number of vector registers for 64 lanes. From GFX10 on the kernel counts registers of 32 lanes; without its
/// answer, tables are used.
fn vgprs_per_simd(info: &GpuInfo) -> u32 {
    let is_wide = info.gfx_level >= GfxLevel::Gfx10;
    let has_many = info.gfx_level == GfxLevel::Gfx12
        || matches!(info.chip, Chip::CHIP_GFX1100 | Chip::CHIP_GFX1101 | Chip::CHIP_GFX1151);
    match info.shader.vector_registers {
        Some(answered) if is_wide => answered / 2,
        Some(answered) => answered,
        None if has_many => 768,
        None if is_wide => 512,
        None => 256,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn waves_of_a_simd_go_by_generation_and_are_fewer_on_polaris() {
        let waves = |level, chip| of(level, chip).waves().per_simd;
        let by_level = GfxLevel::ALL.map(|level| waves(level, Chip::CHIP_UNKNOWN));
        assert_eq!(by_level, [10, 10, 10, 10, 20, 16, 16, 16, 16]);
        for chip in [Chip::CHIP_POLARIS10, Chip::CHIP_POLARIS11, Chip::CHIP_POLARIS12, Chip::CHIP_VEGAM] {
            assert_eq!(waves(GfxLevel::Gfx8, chip), 8, "{chip:?}");
        }
        assert_eq!(waves(GfxLevel::Gfx8, Chip::CHIP_FIJI), 10);
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn scalar_registers_come_in_the_steps_of_the_generation() {
        let scalars = |level, chip| {
            let waves = of(level, chip).waves();
            (waves.sgprs_per_simd, waves.sgpr_granularity, waves.most_sgprs)
        };
        assert_eq!(scalars(GfxLevel::Gfx7, Chip::CHIP_HAWAII), (512, 8, 104));
        assert_eq!(scalars(GfxLevel::Gfx8, Chip::CHIP_FIJI), (800, 16, 102));
        assert_eq!(scalars(GfxLevel::Gfx8, Chip::CHIP_TONGA), (800, 96, 96));
        assert_eq!(scalars(GfxLevel::Gfx8, Chip::CHIP_ICELAND), (800, 96, 96));
        assert_eq!(scalars(GfxLevel::Gfx10, Chip::CHIP_NAVI14), (108 * 20, 108, 108));
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn vector_registers_are_as_answered_and_else_by_chip() {
        use GfxLevel::{Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
        let vectors = |level, chip, vector_registers| {
            let mut info = of(level, chip);
            info.shader.vector_registers = vector_registers;
            let waves = info.waves();
            (waves.vgprs_per_simd, waves.vgpr_granularity, waves.most_vgprs)
        };
        assert_eq!(vectors(Gfx11, Chip::CHIP_GFX1102, Some(1536)), (768, 12, 256), "the answer goes first");
        assert_eq!(vectors(Gfx9, Chip::CHIP_VEGA10, Some(128)), (128, 4, 256));
        assert_eq!(vectors(Gfx9, Chip::CHIP_VEGA10, None), (256, 4, 256));
        assert_eq!(vectors(Gfx9, Chip::CHIP_ALDEBARAN, None), (256, 8, 512));
        assert_eq!(vectors(Gfx10, Chip::CHIP_NAVI10, None), (512, 4, 256));
        assert_eq!(vectors(Gfx10_3, Chip::CHIP_NAVI24, None), (512, 8, 256));
        for (level, chip) in [
            (Gfx11, Chip::CHIP_GFX1100),
            (Gfx11, Chip::CHIP_GFX1101),
            (Gfx11_5, Chip::CHIP_GFX1151),
            (Gfx12, Chip::CHIP_GFX1201),
        ] {
            assert_eq!(vectors(level, chip, None), (768, 12, 256), "{chip:?}");
        }
        assert_eq!(vectors(Gfx11_5, Chip::CHIP_GFX1150, None), (512, 8, 256));
    }
}
