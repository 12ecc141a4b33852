//! The parameter cache between geometry and pixel shaders.

use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Size of the parameter cache, which drivers program from GFX9 to GFX11.5.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let cache = device.info().parameter_cache().ok_or("not programmed")?;
/// // Geometry may run ahead of pixels by a quarter of the cache, which is programmed in GE_PC_ALLOC.
/// assert_eq!((cache.lines, cache.lines / 4), (1024, 256));
/// assert_eq!(cache.batch_allocations, 341); // for PA_SC_BINNER_CNTL_1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterCache {
    /// Number of lines of the parameter cache.
    pub lines: u32,
    /// Maximum number of allocations in a batch of the binning rasterizer.
    pub batch_allocations: u32,
}

impl ParameterCache {
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: `pc_lines`, `pbb_max_alloc_count`.
    fn new(info: &GpuInfo) -> Option<Self> {
        let lines = match info.gfx_level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx12 => return None,
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => 1024,
            GfxLevel::Gfx9 | GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => lines_of(info.chip)?,
        };
        let batch_allocations = match info.gfx_level {
            GfxLevel::Gfx9 => (lines / (4 * info.shader.max_engines.max(1))).min(128),
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => lines / 3,
            _ => 16,
        };
        Some(Self { lines, batch_allocations })
    }
}

impl GpuInfo {
    /// Returns the size of the parameter cache; `None` on generations that do not program it and on chips without graphics.
    pub fn parameter_cache(&self) -> Option<ParameterCache> {
        ParameterCache::new(self)
    }
}

const fn lines_of(chip: Chip) -> Option<u32> {
    Some(match chip {
        Chip::CHIP_VEGA10 | Chip::CHIP_VEGA12 | Chip::CHIP_VEGA20 => 2048,
        Chip::CHIP_RAVEN
        | Chip::CHIP_RAVEN2
        | Chip::CHIP_RENOIR
        | Chip::CHIP_NAVI10
        | Chip::CHIP_NAVI12
        | Chip::CHIP_NAVI21
        | Chip::CHIP_NAVI22
        | Chip::CHIP_NAVI23 => 1024,
        Chip::CHIP_NAVI14 | Chip::CHIP_NAVI24 => 512,
        Chip::CHIP_VANGOGH | Chip::CHIP_REMBRANDT | Chip::CHIP_GFX1036 => 256,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn lines_go_by_chip_and_batches_by_generation() {
        let of = |level, chip| of(level, chip).parameter_cache().map(|cache| (cache.lines, cache.batch_allocations));
        assert_eq!(of(GfxLevel::Gfx9, Chip::CHIP_VEGA20), Some((2048, 128)));
        assert_eq!(of(GfxLevel::Gfx9, Chip::CHIP_RAVEN2), Some((1024, 64)), "of four engines");
        assert_eq!(of(GfxLevel::Gfx10, Chip::CHIP_NAVI14), Some((512, 170)));
        assert_eq!(of(GfxLevel::Gfx10_3, Chip::CHIP_REMBRANDT), Some((256, 85)));
        assert_eq!(of(GfxLevel::Gfx11_5, Chip::CHIP_GFX1150), Some((1024, 16)));
        assert_eq!(of(GfxLevel::Gfx9, Chip::CHIP_ARCTURUS), None, "without graphics");
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx8, GfxLevel::Gfx12] {
            assert_eq!(of(level, Chip::CHIP_VEGA10), None, "{level}");
        }
    }
}
