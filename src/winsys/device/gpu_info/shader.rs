//! Shader engines, compute units, render backends and the L2 cache.

use amdgpu_hw::num::index;

use super::{DriverVersion, Error, GfxLevel, Result};
use crate::{uapi::DevInfo, winsys::InvalidReply};

/// The numbers of shader engines, compute units, render backends and L2 slices of a GPU.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let shader = device.info().shader;
/// assert_eq!((shader.engines, shader.max_engines, shader.arrays_per_engine), (3, 4, 2)); // one engine is fused off
/// assert_eq!(shader.render_backend_mask.count_ones(), shader.render_backends);
/// assert!(shader.render_backends <= shader.max_render_backends && shader.l2_line == 128);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderArray {
    /// Number of shader engines, including fused-off ones.
    pub max_engines: u32,
    /// Number of shader engines with at least one compute unit.
    pub engines: u32,
    /// Number of shader arrays in each engine.
    pub arrays_per_engine: u32,
    /// Number of compute units in use.
    pub compute_units: u32,
    /// Masks of the compute units in use, as the kernel has them: array A of engine E is at `[E % 4][A + E / 4 * 2]`.
    pub unit_masks: [[u32; 4]; 4],
    /// Number of compute units in a shader array, including fused-off ones.
    pub max_units_per_array: u32,
    /// Number of compute units in the smallest shader array, derived from the total; a multiple of 2 on GFX10 and later.
    pub least_units_per_array: u32,
    /// Number of compute units in the largest shader array, derived from the total; a multiple of 2 on GFX10 and later.
    pub most_units_per_array: u32,
    /// Number of vector registers of a SIMD, for waves of 32 lanes on GFX10 and later, and of 64 lanes before; `None` if the kernel
    /// does not report it (before DRM 3.45).
    pub vector_registers: Option<u32>,
    /// Number of render backends in use.
    pub render_backends: u32,
    /// Number of render backends, including fused-off ones.
    pub max_render_backends: u32,
    /// Mask of the render backends in use.
    pub render_backend_mask: u64,
    /// Number of L2 slices, including fused-off ones.
    pub max_l2_slices: u32,
    /// Number of L2 slices in use, which is the number of memory channels.
    pub l2_slices: u32,
    /// Size of an L2 cache line in bytes.
    pub l2_line: u32,
    /// `true` if the render backends must be flushed before L2 sees their writes.
    pub l2_incoherent_with_render_backends: bool,
}

/// The kernel's bitmaps have room for 4 x 4 arrays; engines beyond the fourth use the columns of the unused arrays.
const MOST_ENGINES: u32 = 8;
const MOST_ARRAYS: u32 = 2;

impl ShaderArray {
    pub(super) fn new(dev: &DevInfo, driver: DriverVersion, gfx_level: GfxLevel) -> Result<Self> {
        let limit = |field, value: u32, most: u32| {
            if value == 0 || value > most {
                let reason = "beyond the arrays of DEV_INFO, or zero";
                return Err(Error::InvalidReply(InvalidReply { field, value: value.into(), reason }));
            }
            Ok(value)
        };
        let max_engines = limit("num_shader_engines", dev.num_shader_engines, MOST_ENGINES)?;
        let arrays_per_engine = limit("num_shader_arrays_per_engine", dev.num_shader_arrays_per_engine, MOST_ARRAYS)?;
        let units = |engine: u32| {
            let of = |array| dev.cu_bitmap[index(engine % 4)][index(array + engine / 4 * 2)].count_ones();
            (0..arrays_per_engine).map(of).sum::<u32>()
        };
        let mut render_backend_mask =
            u64::from(dev.enabled_rb_pipes_mask_hi) << 32 | u64::from(dev.enabled_rb_pipes_mask);
        if gfx_level >= GfxLevel::Gfx12 {
            // The kernel's mask includes the backends of engines without compute units.
            let per_engine = (dev.num_rb_pipes / max_engines).min(u64::BITS);
            let own = |engine: u32| (0..per_engine).filter_map(move |at| 1_u64.checked_shl(engine * per_engine + at));
            let dead = (0..max_engines).filter(|&engine| units(engine) == 0).flat_map(own);
            render_backend_mask &= !dead.fold(0, |mask, bit| mask | bit);
        }
        let l2_slices = l2_slices(dev, driver, gfx_level)?;
        let engines = (0..max_engines).filter(|&engine| units(engine) != 0).count() as u32;
        let compute_units: u32 = (0..max_engines).map(units).sum();
        // Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: `max_good_cu_per_sa`. From GFX10 on
        // units are fused off in pairs.
        let pair = if gfx_level >= GfxLevel::Gfx10 { 2 } else { 1 };
        let counted = if gfx_level >= GfxLevel::Gfx10_3 && max_engines > 1 { engines } else { max_engines };
        let pairs = counted.max(1) * arrays_per_engine * pair;
        Ok(Self {
            max_engines,
            engines,
            arrays_per_engine,
            compute_units,
            unit_masks: dev.cu_bitmap,
            max_units_per_array: dev.num_cu_per_sh,
            least_units_per_array: compute_units / pairs * pair,
            most_units_per_array: compute_units.div_ceil(pairs) * pair,
            vector_registers: (driver.minor >= 45 && dev.num_shader_visible_vgprs != 0)
                .then_some(dev.num_shader_visible_vgprs),
            render_backends: render_backend_mask.count_ones(),
            max_render_backends: dev.num_rb_pipes,
            render_backend_mask,
            max_l2_slices: dev.num_tcc_blocks,
            l2_slices,
            l2_line: match gfx_level {
                GfxLevel::Gfx12 => 256,
                GfxLevel::Gfx10 | GfxLevel::Gfx10_3 | GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => 128,
                _ => 64,
            },
            // RADV's code also intends to exclude chips with as many backends as slices, but tests this before it has
            // counted the backends. Its result is kept, because it only flushes too often.
            l2_incoherent_with_render_backends: gfx_level < GfxLevel::Gfx12 && !l2_slices.is_power_of_two(),
        })
    }
}

/// Returns the number of L2 slices in use. Fused-off slices are reported from GFX10 and DRM 3.35 on.
fn l2_slices(dev: &DevInfo, driver: DriverVersion, gfx_level: GfxLevel) -> Result<u32> {
    if gfx_level < GfxLevel::Gfx10 || driver.minor < 35 {
        return Ok(dev.num_tcc_blocks);
    }
    let disabled = dev.tcc_disabled_mask.count_ones();
    let reason = "disables more L2 slices than there are";
    dev.num_tcc_blocks.checked_sub(disabled).ok_or(Error::InvalidReply(InvalidReply {
        field: "tcc_disabled_mask",
        value: dev.tcc_disabled_mask,
        reason,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: the kernel's mask of GFX12.
    #[test]
    fn backends_of_an_engine_without_compute_units_are_not_counted_on_gfx12() {
        let mut dev = DevInfo { num_shader_engines: 4, num_shader_arrays_per_engine: 2, ..DevInfo::ZEROED };
        (dev.num_rb_pipes, dev.enabled_rb_pipes_mask, dev.num_tcc_blocks) = (16, 0xffff, 16);
        for engine in [0, 1, 3] {
            dev.cu_bitmap[engine] = [0xff, 0xff, 0, 0];
        }
        let driver = DriverVersion { major: 3, minor: 60, patch: 0 };
        let of = |level| {
            let found = ShaderArray::new(&dev, driver, level).unwrap();
            (found.engines, found.compute_units, found.render_backends, found.render_backend_mask)
        };
        assert_eq!(of(GfxLevel::Gfx12), (3, 48, 12, 0xf0ff));
        assert_eq!(of(GfxLevel::Gfx11), (3, 48, 16, 0xffff), "other masks have no dead backends");
    }

    /// Returns the largest configuration that DEV_INFO can describe, with a different number of units in each array.
    fn largest() -> DevInfo {
        let mut dev = DevInfo { num_shader_engines: 8, num_shader_arrays_per_engine: 2, ..DevInfo::ZEROED };
        for engine in 0..8 {
            for array in 0..2 {
                // Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`: engines beyond the fourth use the columns of the unused
                // arrays.
                dev.cu_bitmap[engine % 4][array + engine / 4 * 2] = (1 << (1 + 2 * engine + array)) - 1;
            }
        }
        (dev.num_rb_pipes, dev.num_tcc_blocks) = (32, 24);
        dev
    }

    fn driver(minor: i32) -> DriverVersion {
        DriverVersion { major: 3, minor, patch: 0 }
    }

    #[test]
    fn eight_engines_of_two_arrays_are_counted_and_more_are_refused() {
        let of = |change: &dyn Fn(&mut DevInfo)| {
            let mut dev = largest();
            change(&mut dev);
            let invalid = |error| match error {
                Error::InvalidReply(InvalidReply { field, value, .. }) => (field, value),
                other => panic!("{other:?}"),
            };
            let found = ShaderArray::new(&dev, driver(60), GfxLevel::Gfx11).map_err(invalid);
            found.map(|found| (found.max_engines, found.engines, found.compute_units))
        };
        assert_eq!(of(&|_| ()), Ok((8, 8, (1..=16).sum())));
        assert_eq!(of(&|dev| dev.cu_bitmap[1][2..].fill(0)), Ok((8, 7, (1..=16).sum::<u32>() - 11 - 12)));
        assert_eq!(of(&|dev| dev.num_shader_engines = 5), Ok((5, 5, (1..=10).sum())));
        assert_eq!(
            of(&|dev| dev.num_shader_arrays_per_engine = 1),
            Ok((8, 8, (0..8).map(|engine| 1 + 2 * engine).sum()))
        );
        assert_eq!(of(&|dev| dev.num_shader_engines = 9), Err(("num_shader_engines", 9)));
        assert_eq!(of(&|dev| dev.num_shader_engines = 0), Err(("num_shader_engines", 0)));
        assert_eq!(of(&|dev| dev.num_shader_arrays_per_engine = 3), Err(("num_shader_arrays_per_engine", 3)));
        assert_eq!(of(&|dev| dev.num_shader_arrays_per_engine = 0), Err(("num_shader_arrays_per_engine", 0)));
    }

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: `min_good_cu_per_sa`, `max_good_cu_per_sa`.
    #[test]
    fn units_of_an_array_are_an_average_in_whole_pairs_from_gfx10_on() {
        let of = |units: u32, level| {
            let mut dev = DevInfo { num_shader_engines: 2, num_shader_arrays_per_engine: 1, ..DevInfo::ZEROED };
            dev.cu_bitmap[0][0] = (1 << units) - 1;
            dev.num_tcc_blocks = 1;
            let found = ShaderArray::new(&dev, driver(60), level).unwrap();
            (found.least_units_per_array, found.most_units_per_array)
        };
        assert_eq!(of(9, GfxLevel::Gfx9), (4, 5));
        assert_eq!(of(10, GfxLevel::Gfx10), (4, 6));
        assert_eq!(of(10, GfxLevel::Gfx10_3), (10, 10), "one of two engines is dead");
        assert_eq!(of(0, GfxLevel::Gfx11), (0, 0));
    }

    #[test]
    fn vector_registers_are_known_from_minor_45_on() {
        let dev = DevInfo { num_shader_visible_vgprs: 1536, ..largest() };
        let of = |dev: &DevInfo, minor| ShaderArray::new(dev, driver(minor), GfxLevel::Gfx11).unwrap().vector_registers;
        assert_eq!((of(&dev, 44), of(&dev, 45), of(&largest(), 60)), (None, Some(1536), None));
    }

    #[test]
    fn backends_beyond_the_thirty_second_have_a_mask_of_their_own() {
        let dev = DevInfo { enabled_rb_pipes_mask: 0x8000_0001, enabled_rb_pipes_mask_hi: 0x8000_0003, ..largest() };
        let found = ShaderArray::new(&dev, driver(60), GfxLevel::Gfx11).unwrap();
        assert_eq!((found.render_backend_mask, found.render_backends), (0x8000_0003_8000_0001, 5));
        assert_eq!(found.max_render_backends, 32);
    }

    #[test]
    fn slices_of_the_second_cache_are_those_of_the_generation() {
        let of = |level, minor, disabled| {
            let dev = DevInfo { tcc_disabled_mask: disabled, ..largest() };
            let found = ShaderArray::new(&dev, driver(minor), level);
            found.map(|found| (found.l2_slices, found.l2_line, found.l2_incoherent_with_render_backends))
        };
        // 24 slices, of which 8 are fused off if the driver reports it.
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx8, GfxLevel::Gfx9] {
            for minor in [34, 35, 60] {
                assert_eq!(of(level, minor, 0xff), Ok((24, 64, true)), "{level} {minor}");
            }
        }
        for level in [GfxLevel::Gfx10, GfxLevel::Gfx10_3, GfxLevel::Gfx11, GfxLevel::Gfx11_5] {
            assert_eq!(of(level, 34, 0xff), Ok((24, 128, true)), "{level}");
            assert_eq!(of(level, 35, 0xff), Ok((16, 128, false)), "{level}");
            assert_eq!(of(level, 36, 1), Ok((23, 128, true)), "{level}");
        }
        assert_eq!(of(GfxLevel::Gfx12, 60, 1), Ok((23, 256, false)));
        let refused = of(GfxLevel::Gfx10, 35, 0x1ff_ffff).unwrap_err();
        assert!(
            matches!(refused, Error::InvalidReply(InvalidReply { field: "tcc_disabled_mask", value: 0x1ff_ffff, .. })),
            "{refused:?}"
        );
    }
}
