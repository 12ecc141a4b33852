//! Rings for tessellation.

use super::sizes::KIB;
use crate::winsys::{Chip, GfxLevel, GpuInfo};

/// Sizes of the rings for tessellation: factors for the tessellator, and off-chip buffers for the control points of
/// work-groups.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let rings = device.info().tessellation_rings();
/// assert_eq!((rings.buffer, rings.buffers, rings.most_buffers), (32 << 10, 320, 512));
/// assert_eq!((rings.factors(), rings.off_chip()), (240 << 10, 10 << 20)); // bytes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TessellationRings {
    /// Size of the off-chip buffer of a work-group, in bytes.
    pub buffer: u64,
    /// Number of off-chip buffers: four for each compute unit, up to the chip's maximum.
    pub buffers: u32,
    /// Maximum number of off-chip buffers that the chip supports without triggering hardware bugs.
    pub most_buffers: u32,
    /// Value of the field OFFCHIP_BUFFERING of VGT_HS_OFFCHIP_PARAM for [`buffers`](Self::buffers). On GFX8 and
    /// later, the field holds the number of buffers minus 1; on GFX11 and later, it counts the buffers of one shader engine.
    pub buffering_field: u32,
}

impl TessellationRings {
    /// Size in bytes of the factors for each off-chip buffer.
    const FACTORS_OF_BUFFER: u64 = 768;

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_get_hs_info`, for the limits of chips. It allocates the
    /// maximum; Mesa 26.2.6 and this function allocate as much as the compute units can use.
    fn new(info: &GpuInfo) -> Self {
        let engines = info.shader.max_engines;
        let most_buffers = match info.gfx_level {
            GfxLevel::Gfx6 => (63 * engines).min(126),
            GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => (buffers_of_engine(info.chip) * engines).min(508),
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => 128 * engines,
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => 256 * engines,
        };
        let units = info.shader.most_units_per_array * info.shader.arrays_per_engine * engines;
        let buffers = (4 * units).min(most_buffers);
        Self {
            // Hawaii mixes buffers up if there are more than 256 of the larger size.
            buffer: if info.chip == Chip::CHIP_HAWAII { 16 * KIB } else { 32 * KIB },
            buffers,
            most_buffers,
            buffering_field: match info.gfx_level {
                GfxLevel::Gfx6 | GfxLevel::Gfx7 => buffers,
                GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => (buffers / engines.max(1)).saturating_sub(1),
                _ => buffers.saturating_sub(1),
            },
        }
    }

    /// Returns the size of the ring of factors, in bytes.
    pub fn factors(self) -> u64 {
        u64::from(self.buffers) * Self::FACTORS_OF_BUFFER
    }

    /// Returns the size of the off-chip ring, in bytes.
    pub fn off_chip(self) -> u64 {
        u64::from(self.buffers) * self.buffer
    }
}

impl GpuInfo {
    /// Returns the sizes of the rings for tessellation.
    pub fn tessellation_rings(&self) -> TessellationRings {
        TessellationRings::new(self)
    }
}

const fn buffers_of_engine(chip: Chip) -> u32 {
    match chip {
        Chip::CHIP_CARRIZO | Chip::CHIP_STONEY => 63,
        Chip::CHIP_VEGA12 | Chip::CHIP_VEGA20 => 128,
        _ => 127,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn a_chip_takes_so_many_buffers_and_no_more_are_made() {
        let of = |level, chip, engines| {
            let mut info = of(level, chip);
            info.shader.max_engines = engines;
            let rings = info.tessellation_rings();
            (rings.most_buffers, rings.buffers, rings.buffering_field)
        };
        // Arrays of ten units, two arrays in each engine.
        assert_eq!(of(GfxLevel::Gfx6, Chip::CHIP_TAHITI, 2), (126, 126, 126));
        assert_eq!(of(GfxLevel::Gfx6, Chip::CHIP_VERDE, 1), (63, 63, 63));
        assert_eq!(of(GfxLevel::Gfx7, Chip::CHIP_HAWAII, 4), (508, 320, 320));
        assert_eq!(of(GfxLevel::Gfx8, Chip::CHIP_CARRIZO, 1), (63, 63, 62));
        assert_eq!(of(GfxLevel::Gfx8, Chip::CHIP_FIJI, 4), (508, 320, 319));
        assert_eq!(of(GfxLevel::Gfx9, Chip::CHIP_VEGA20, 1), (128, 80, 79));
        assert_eq!(of(GfxLevel::Gfx9, Chip::CHIP_VEGA10, 1), (127, 80, 79));
        assert_eq!(of(GfxLevel::Gfx10_3, Chip::CHIP_NAVI21, 4), (512, 320, 319));
        assert_eq!(of(GfxLevel::Gfx11, Chip::CHIP_GFX1100, 6), (1536, 480, 79), "of an engine");
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn hawaii_has_buffers_of_half_the_size() {
        let size = |chip| of(GfxLevel::Gfx7, chip).tessellation_rings().buffer;
        assert_eq!((size(Chip::CHIP_HAWAII), size(Chip::CHIP_BONAIRE)), (16 << 10, 32 << 10));
    }
}
