//! The local data share.

use super::sizes::KIB;
use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Limits of the local data share (LDS), the memory that the waves of a work-group share.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let lds = device.info().lds();
/// let shader = 5000_u64; // bytes that a shader uses
/// assert!(shader <= lds.per_workgroup);
/// assert_eq!(shader.div_ceil(lds.encode_granularity), 10); // for the field LDS_SIZE of a PGM_RSRC2 register
/// assert_eq!(shader.next_multiple_of(lds.alloc_granularity), 5120); // bytes that the hardware allocates
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LdsLimits {
    /// Maximum allocation of a work-group, in bytes.
    pub per_workgroup: u64,
    /// LDS size in bytes of a compute unit or, on GFX10 and later, of a work-group processor.
    pub per_processor: u64,
    /// Unit of the register field LDS_SIZE, in bytes.
    pub encode_granularity: u64,
    /// Unit of the hardware's allocations, in bytes.
    pub alloc_granularity: u64,
    /// Number of banks, each one dword wide.
    pub banks: u32,
}

impl LdsLimits {
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`. From GFX10 on, its size for a work-group is
    /// that of a whole processor; Mesa 26.2.6 has the size that instructions can address, which is used here.
    fn new(info: &GpuInfo) -> Self {
        let level = info.gfx_level;
        let encode_granularity = if level >= GfxLevel::Gfx7 { 512 } else { 256 };
        Self {
            per_workgroup: if level >= GfxLevel::Gfx7 { 64 * KIB } else { 32 * KIB },
            per_processor: if level >= GfxLevel::Gfx10 { 128 * KIB } else { 64 * KIB },
            encode_granularity,
            alloc_granularity: if level >= GfxLevel::Gfx10_3 { KIB } else { encode_granularity },
            banks: if matches!(info.chip, Chip::CHIP_KABINI | Chip::CHIP_STONEY) { 16 } else { 32 },
        }
    }
}

impl GpuInfo {
    /// Returns the limits of the local data share.
    pub fn lds(&self) -> LdsLimits {
        LdsLimits::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn sizes_and_units_grow_with_the_generation() {
        let of_level = |level| {
            let lds = of(level, Chip::CHIP_UNKNOWN).lds();
            (lds.per_workgroup >> 10, lds.per_processor >> 10, lds.encode_granularity, lds.alloc_granularity)
        };
        assert_eq!(of_level(GfxLevel::Gfx6), (32, 64, 256, 256));
        assert_eq!(of_level(GfxLevel::Gfx7), (64, 64, 512, 512));
        assert_eq!(of_level(GfxLevel::Gfx9), (64, 64, 512, 512));
        assert_eq!(of_level(GfxLevel::Gfx10), (64, 128, 512, 512));
        assert_eq!(of_level(GfxLevel::Gfx10_3), (64, 128, 512, 1024));
        assert_eq!(of_level(GfxLevel::Gfx12), (64, 128, 512, 1024));
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn two_small_chips_have_half_the_banks() {
        let banks = |level, chip| of(level, chip).lds().banks;
        assert_eq!(banks(GfxLevel::Gfx7, Chip::CHIP_KABINI), 16);
        assert_eq!(banks(GfxLevel::Gfx8, Chip::CHIP_STONEY), 16);
        assert_eq!(banks(GfxLevel::Gfx8, Chip::CHIP_CARRIZO), 32);
    }
}
