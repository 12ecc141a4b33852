//! Sizes of caches, and of the areas to which the command processor saves registers.

use super::{Chip, DevInfo, GfxLevel};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Sizes of the GPU's caches in bytes. The kernel reports them for GFX11 and later; for earlier generations they come from
/// tables by chip.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let caches = device.info().caches;
/// assert_eq!((caches.vector, caches.shader_array), (16 << 10, Some(128 << 10)));
/// assert_eq!((caches.l2, caches.infinity), (4 << 20, Some(128 << 20)));
/// assert_eq!(caches.scalar, None); // the kernel does not report it for this generation
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// Size of a compute unit's vector cache: L0 on GFX10 and later, L1 before.
    pub vector: u64,
    /// Size of the scalar data cache; `None` if unknown.
    pub scalar: Option<u64>,
    /// Size of the instruction cache; `None` if unknown.
    pub instruction: Option<u64>,
    /// Number of scalar and instruction caches in a work-group processor; `None` if unknown.
    pub scalar_per_wgp: Option<u32>,
    /// Size of the L1 that a shader array shares; `None` before GFX10.
    pub shader_array: Option<u64>,
    /// Size of L2, all slices together.
    pub l2: u64,
    /// Size of the Infinity Cache; `None` if the chip has none.
    pub infinity: Option<u64>,
}

/// Returns a size; `None` if the kernel reported 0.
fn known(size: u64) -> Option<u64> {
    (size != 0).then_some(size)
}

impl CacheSizes {
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`.
    pub(super) fn new(dev: &DevInfo, level: GfxLevel, chip: Chip, l2_slices: u32, has_dedicated_vram: bool) -> Self {
        let kib = |size: u32| known(u64::from(size) * KIB);
        let is_gfx11 = level >= GfxLevel::Gfx11;
        let slices = u64::from(l2_slices);
        let infinity = match known(dev.mall_size) {
            None if level >= GfxLevel::Gfx10_3 && has_dedicated_vram => {
                let per_slice = if matches!(chip, Chip::CHIP_NAVI21 | Chip::CHIP_NAVI22) { 8 } else { 4 };
                known(slices * per_slice * MIB)
            }
            answered => answered,
        };
        Self {
            vector: kib(dev.tcp_cache_size).unwrap_or(if is_gfx11 { 32 * KIB } else { 16 * KIB }),
            scalar: kib(dev.sqc_data_cache_size),
            instruction: kib(dev.sqc_inst_cache_size),
            scalar_per_wgp: (dev.num_sqc_per_wgp != 0).then_some(dev.num_sqc_per_wgp),
            shader_array: match level {
                GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => kib(dev.gl1c_cache_size).or(Some(128 * KIB)),
                _ if is_gfx11 => kib(dev.gl1c_cache_size).or(Some(256 * KIB)),
                _ => None,
            },
            l2: kib(dev.gl2c_cache_size).unwrap_or(slices * l2_slice(chip)),
            infinity,
        }
    }
}

/// Returns the size of a slice of L2, in bytes.
const fn l2_slice(chip: Chip) -> u64 {
    match chip {
        Chip::CHIP_TAHITI
        | Chip::CHIP_PITCAIRN
        | Chip::CHIP_OLAND
        | Chip::CHIP_HAWAII
        | Chip::CHIP_KABINI
        | Chip::CHIP_TONGA
        | Chip::CHIP_STONEY
        | Chip::CHIP_RAVEN2 => 64 * KIB,
        Chip::CHIP_VERDE
        | Chip::CHIP_HAINAN
        | Chip::CHIP_BONAIRE
        | Chip::CHIP_KAVERI
        | Chip::CHIP_ICELAND
        | Chip::CHIP_CARRIZO
        | Chip::CHIP_FIJI
        | Chip::CHIP_POLARIS12
        | Chip::CHIP_VEGAM
        | Chip::CHIP_GFX1036 => 128 * KIB,
        Chip::CHIP_REMBRANDT | Chip::CHIP_GFX1103_R1 | Chip::CHIP_GFX1103_R1X => 512 * KIB,
        _ => 256 * KIB,
    }
}

/// Sizes of the memory areas in which the command processor of GFX11 saves registers and contexts. A driver can provide them with
/// each submission (`AMDGPU_CHUNK_ID_CP_GFX_SHADOW`).
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// assert_eq!(device.info().shadow, None); // not needed on GFX10.3
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowAreas {
    /// Size of the register area, in bytes.
    pub size: u32,
    /// Alignment of the register area, in bytes.
    pub alignment: u32,
    /// Size of the context save area (CSA), in bytes.
    pub csa_size: u32,
    /// Alignment of the context save area, in bytes.
    pub csa_alignment: u32,
}

impl ShadowAreas {
    /// Returns the sizes; `None` if the kernel reports none.
    pub(super) fn new(dev: &DevInfo) -> Option<Self> {
        let &DevInfo { shadow_size: size, shadow_alignment: alignment, csa_size, csa_alignment, .. } = dev;
        (size != 0).then_some(Self { size, alignment, csa_size, csa_alignment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_goes_before_the_tables() {
        let mut dev = DevInfo::ZEROED;
        let of = |dev: &DevInfo, level, chip, is_card| CacheSizes::new(dev, level, chip, 8, is_card);
        let silent = of(&dev, GfxLevel::Gfx10_3, Chip::CHIP_NAVI22, true);
        assert_eq!((silent.infinity, silent.l2), (Some(64 * MIB), 2 * MIB));
        assert_eq!(of(&dev, GfxLevel::Gfx10_3, Chip::CHIP_NAVI23, true).infinity, Some(32 * MIB));
        assert_eq!(of(&dev, GfxLevel::Gfx10_3, Chip::CHIP_REMBRANDT, false).infinity, None);
        assert_eq!(of(&dev, GfxLevel::Gfx10_3, Chip::CHIP_REMBRANDT, false).l2, 4 * MIB);
        assert_eq!(of(&dev, GfxLevel::Gfx11, Chip::CHIP_GFX1100, true).vector, 32 * KIB);
        assert_eq!(of(&dev, GfxLevel::Gfx9, Chip::CHIP_VEGA10, true).shader_array, None);
        (dev.tcp_cache_size, dev.gl1c_cache_size, dev.gl2c_cache_size) = (1, 2, 3);
        (dev.sqc_data_cache_size, dev.sqc_inst_cache_size, dev.num_sqc_per_wgp) = (4, 5, 6);
        dev.mall_size = 7;
        let expected = CacheSizes {
            vector: KIB,
            scalar: Some(4 * KIB),
            instruction: Some(5 * KIB),
            scalar_per_wgp: Some(6),
            shader_array: Some(2 * KIB),
            l2: 3 * KIB,
            infinity: Some(7),
        };
        assert_eq!(of(&dev, GfxLevel::Gfx11, Chip::CHIP_GFX1100, true), expected);
    }

    #[test]
    fn areas_are_told_where_there_are_some() {
        let dev =
            DevInfo { shadow_size: 4096, shadow_alignment: 256, csa_size: 64, csa_alignment: 32, ..DevInfo::ZEROED };
        let areas = ShadowAreas { size: 4096, alignment: 256, csa_size: 64, csa_alignment: 32 };
        assert_eq!((ShadowAreas::new(&dev), ShadowAreas::new(&DevInfo::ZEROED)), (Some(areas), None));
    }
}
