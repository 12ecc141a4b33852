//! Scratch memory of waves.

use super::sizes::KIB;
use crate::winsys::{Chip, GfxLevel, GpuInfo, Ip};

/// Limits of scratch memory: the number of waves that use it at once, and the unit of a wave's part.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let scratch = device.info().scratch();
/// // A shader that spills 40 bytes in each of its 64 lanes:
/// let for_wave = (40 * 64_u64).next_multiple_of(scratch.wave_granularity);
/// assert_eq!((scratch.waves, for_wave), (1920, 3 << 10));
/// let for_all = for_wave * u64::from(scratch.waves); // size of the BO in bytes
/// assert_eq!(for_all, 5760 << 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchLimits {
    /// Maximum number of waves that need scratch memory at once: 32 for each compute unit, but at least the waves of
    /// one work-group.
    pub waves: u32,
    /// Value of the field WAVES of a TMPRING_SIZE register for this number of waves; on GFX11 and later it counts the waves of one
    /// engine.
    pub waves_field: u32,
    /// Unit of a wave's scratch size, and of the field WAVESIZE of a TMPRING_SIZE register, in bytes.
    pub wave_granularity: u64,
    /// `true` if dedicated registers hold the scratch address, `false` if the driver passes it to the shader in a user
    /// register.
    pub has_base_registers: bool,
}

impl ScratchLimits {
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`; `src/amd/vulkan/radv_queue.c`,
    /// `radv_emit_graphics_scratch`.
    fn new(info: &GpuInfo) -> Self {
        const OF_UNIT: u32 = 32;
        // 1024 invocations of 32 lanes.
        const OF_WORKGROUP: u32 = 32;
        let is_gfx11 = info.gfx_level >= GfxLevel::Gfx11;
        let arrays = info.shader.arrays_per_engine * info.units().engines;
        let waves = (OF_UNIT * info.shader.least_units_per_array * arrays).max(OF_WORKGROUP);
        let is_compute_only = info.ring_count(Ip::Gfx) == 0 && info.chip == Chip::CHIP_GFX940;
        Self {
            waves,
            waves_field: if is_gfx11 { waves / info.shader.max_engines.max(1) } else { waves },
            wave_granularity: if is_gfx11 { 256 } else { KIB },
            has_base_registers: is_gfx11 || is_compute_only,
        }
    }
}

impl GpuInfo {
    /// Returns the limits of scratch memory.
    pub fn scratch(&self) -> ScratchLimits {
        ScratchLimits::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn waves_are_of_the_smallest_array_and_counted_for_an_engine_from_gfx11_on() {
        let of_level = |level| {
            let scratch = of(level, Chip::CHIP_UNKNOWN).scratch();
            (scratch.waves, scratch.waves_field, scratch.wave_granularity, scratch.has_base_registers)
        };
        // Three of four engines are active, with two arrays of ten units each.
        assert_eq!(of_level(GfxLevel::Gfx10_3), (1920, 1920, 1024, false));
        assert_eq!(of_level(GfxLevel::Gfx11), (1920, 480, 256, true));
        assert_eq!(of_level(GfxLevel::Gfx10), (2560, 2560, 1024, false), "dead engines are not known before");
        let mut tiny = of(GfxLevel::Gfx10_3, Chip::CHIP_UNKNOWN);
        tiny.shader.least_units_per_array = 0;
        assert_eq!(tiny.scratch().waves, 32, "one work-group has room");
    }
}
