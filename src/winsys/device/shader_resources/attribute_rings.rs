//! Rings for the attributes, positions and primitives of geometry.

use super::sizes::{KIB, MIB};
use crate::winsys::{GfxLevel, GpuInfo};

/// Sizes and offsets of the rings in memory that geometry shaders write on GFX11 and later: attributes, followed on GFX12 by
/// positions and primitives. All are in one BO.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi31").ok_or("no such chip")?))?;
/// let rings = device.info().attribute_rings().ok_or("geometry keeps attributes on the chip")?;
/// assert_eq!(rings.attributes_per_engine, 1408 << 10); // bytes
/// assert_eq!(rings.total, 6 * rings.attributes_per_engine); // size of the BO
/// assert_eq!(rings.positions_per_engine, 0); // this generation has no position ring
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeRings {
    /// Size of the attribute ring of a shader engine, in bytes.
    pub attributes_per_engine: u64,
    /// Size of a position ring, in bytes; 0 before GFX12. There is one for each pair of a writing and a reading engine.
    pub positions_per_engine: u64,
    /// Size of a primitive ring, in bytes; 0 before GFX12. There is one for each pair of a writing and a reading engine.
    pub primitives_per_engine: u64,
    /// Offset of the position rings from the start of the attribute rings, in bytes.
    pub positions_offset: u64,
    /// Offset of the primitive rings from the start of the attribute rings, in bytes.
    pub primitives_offset: u64,
    /// Size of all rings together, in bytes.
    pub total: u64,
}

impl AttributeRings {
    /// The hardware's unit of ring sizes, in bytes.
    const UNIT: u64 = 64 * KIB;

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`, from `attribute_ring_size_per_se` on.
    fn new(info: &GpuInfo) -> Option<Self> {
        const EXPORTS: (u64, u64) = (16384, 16368);
        let level = info.gfx_level;
        if level < GfxLevel::Gfx11 {
            return None;
        }
        let is_gfx12 = level >= GfxLevel::Gfx12;
        let attributes = match info.caches.infinity {
            _ if is_gfx12 => MIB,
            Some(_) => 1400 * KIB,
            None if info.caches.l2 >= 2 * MIB => 768 * KIB,
            None => info.caches.l2 / 2,
        };
        // 16 bytes for each position, 4 for each primitive.
        let (positions, primitives) = if is_gfx12 { (EXPORTS.0 * 16, EXPORTS.1 * 4) } else { (0, 0) };
        let engines = u64::from(info.shader.max_engines);
        let of_pairs = |bytes: u64| (bytes * engines * engines).next_multiple_of(Self::UNIT);
        let attributes_per_engine = attributes.next_multiple_of(Self::UNIT);
        let positions_offset = attributes_per_engine * engines;
        let primitives_offset = positions_offset + of_pairs(positions);
        Some(Self {
            attributes_per_engine,
            positions_per_engine: positions,
            primitives_per_engine: primitives,
            positions_offset,
            primitives_offset,
            total: primitives_offset + of_pairs(primitives),
        })
    }
}

impl GpuInfo {
    /// Returns the sizes of the rings of attributes, positions and primitives; `None` before GFX11.
    pub fn attribute_rings(&self) -> Option<AttributeRings> {
        AttributeRings::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};
    use crate::winsys::Chip;

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn attributes_are_sized_by_the_last_cache() {
        let of = |infinity, l2| {
            let mut info = of(GfxLevel::Gfx11, Chip::CHIP_GFX1103_R1);
            (info.caches.infinity, info.caches.l2, info.shader.max_engines) = (infinity, l2, 1);
            info.attribute_rings().unwrap().attributes_per_engine
        };
        assert_eq!(of(Some(1), 0), 1408 * KIB);
        assert_eq!(of(None, 2 * MIB), 768 * KIB);
        assert_eq!(of(None, 2 * MIB - 1), MIB);
        assert_eq!(of(None, 256 * KIB), 128 * KIB);
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn positions_and_primitives_lie_behind_the_attributes_on_gfx12() {
        let mut info = of(GfxLevel::Gfx12, Chip::CHIP_GFX1201);
        info.shader.max_engines = 4;
        let rings = info.attribute_rings().unwrap();
        assert_eq!(rings.attributes_per_engine, MIB);
        assert_eq!((rings.positions_per_engine, rings.primitives_per_engine), (256 * KIB, 65472));
        assert_eq!((rings.positions_offset, rings.primitives_offset), (4 * MIB, 8 * MIB));
        assert_eq!(rings.total, 9 * MIB);
        assert_eq!(of(GfxLevel::Gfx10_3, Chip::CHIP_NAVI21).attribute_rings(), None);
    }
}
