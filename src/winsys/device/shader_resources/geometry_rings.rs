//! Rings between the stages of geometry shaders without NGG.

use super::sizes::MIB;
use crate::winsys::{GfxLevel, GpuInfo};

/// Sizing rules for the rings of geometry shaders without NGG: ESGS from GFX6 to GFX8 (later generations use the LDS), and GSVS,
/// which feeds the copy shader.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("polaris10").ok_or("no such chip")?))?;
/// let rings = device.info().geometry_rings().ok_or("no such stages")?;
/// // Triangles with vertices of 16 dwords; each emits at most 12 vertices of 32 bytes.
/// assert_eq!(rings.esgs(16, 3), Some(3 << 20));
/// assert_eq!(rings.gsvs(12 * 32), 6 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeometryRings {
    /// Unit of ring sizes, in bytes.
    pub alignment: u64,
    /// Maximum size of a ring, in bytes.
    pub most: u64,
    /// Number of waves of the geometry stage that run at once.
    pub waves: u32,
    /// Number of vertices that are reused between primitives; the ESGS ring has room for at least this many.
    pub reused_vertices: u32,
    /// `true` if ES writes to a ring instead of the LDS.
    pub has_esgs: bool,
}

impl GeometryRings {
    const LANES: u64 = 64;

    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_shader_info.c`, `radv_init_legacy_gs_ring_info`.
    fn new(info: &GpuInfo) -> Option<Self> {
        // A thousandth of a MiB below 64 MiB, in units of 256 bytes.
        const MOST_OF_ENGINE: u64 = (64 * MIB - MIB / 1000 - 1) & !255;
        let engines = info.shader.max_engines;
        (info.gfx_level < GfxLevel::Gfx11).then_some(Self {
            alignment: 256 * u64::from(engines),
            most: MOST_OF_ENGINE * u64::from(engines),
            waves: 32 * engines,
            reused_vertices: if info.gfx_level >= GfxLevel::Gfx8 { 32 } else { 16 } * engines,
            has_esgs: info.gfx_level <= GfxLevel::Gfx8,
        })
    }

    /// Returns the recommended size of the ESGS ring in bytes, for vertices of `item_dwords` dwords and primitives of
    /// `vertices` vertices; `None` if the generation has no such ring.
    pub fn esgs(self, item_dwords: u32, vertices: u32) -> Option<u64> {
        let item = 4 * u64::from(item_dwords);
        let least = item * u64::from(self.reused_vertices) * Self::LANES;
        let good = self.in_flight().saturating_mul(item).saturating_mul(vertices.into());
        self.has_esgs.then(|| self.aligned(good.max(least)))
    }

    /// Returns the recommended size of the GSVS ring in bytes, for invocations that emit at most `emitted` bytes.
    pub fn gsvs(self, emitted: u32) -> u64 {
        self.aligned(self.in_flight() * u64::from(emitted))
    }

    /// Returns the number of invocations in two rounds of all waves.
    fn in_flight(self) -> u64 {
        2 * u64::from(self.waves) * Self::LANES
    }

    fn aligned(self, bytes: u64) -> u64 {
        bytes.min(self.most).next_multiple_of(self.alignment.max(1)).min(self.most)
    }
}

impl GpuInfo {
    /// Returns the sizing rules for the rings of geometry shaders without NGG; `None` on GFX11 and later, where all geometry uses
    /// NGG.
    pub fn geometry_rings(&self) -> Option<GeometryRings> {
        GeometryRings::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::of, *};
    use crate::winsys::Chip;

    fn rings(level: GfxLevel, engines: u32) -> Option<GeometryRings> {
        let mut info = of(level, Chip::CHIP_UNKNOWN);
        info.shader.max_engines = engines;
        info.geometry_rings()
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn vertices_of_es_are_in_memory_up_to_gfx8_and_stages_end_with_gfx10_3() {
        let of = |level| rings(level, 2).map(|rings| (rings.reused_vertices, rings.esgs(1, 1).is_some()));
        assert_eq!(of(GfxLevel::Gfx7), Some((32, true)));
        assert_eq!(of(GfxLevel::Gfx8), Some((64, true)));
        assert_eq!(of(GfxLevel::Gfx9), Some((64, false)));
        assert_eq!(of(GfxLevel::Gfx10_3), Some((64, false)));
        assert_eq!(of(GfxLevel::Gfx11), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn sizes_are_multiples_between_the_least_and_the_most() {
        let rings = rings(GfxLevel::Gfx8, 3).unwrap();
        // 63.999 MiB for each engine, rounded down to a multiple of 256.
        assert_eq!((rings.alignment, rings.most, rings.waves), (768, 3 * 67_107_584, 96));
        assert_eq!(rings.esgs(8, 0), Some(8 * 4 * 96 * 64), "room for the vertices in use");
        assert_eq!(rings.esgs(8, 6), Some(2 * 96 * 64 * 8 * 4 * 6));
        assert_eq!(rings.gsvs(1), (2 * 96 * 64_u64).next_multiple_of(768));
        assert_eq!((rings.esgs(u32::MAX, u32::MAX), rings.gsvs(u32::MAX)), (Some(rings.most), rings.most));
    }
}
