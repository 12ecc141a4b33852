//! Facts of a GPU that images are laid out with.

use amdgpu_surface::{
    Chip, ChipRegisters, Reported,
    modifier::{FormatClass, ListOptions, Modifier, ModifierList},
};
use amdgpu_winsys::{
    heaps::MemoryPropertyFlags,
    winsys::{GpuInfo, Ip},
};

use crate::objects::Gpu;

/// Returns the facts of a chip that layouts depend on; `None` for a chip that has none.
pub(crate) fn chip(info: &GpuInfo) -> Option<Chip> {
    let registers = ChipRegisters::reported(&Reported {
        level: info.gfx_level,
        family_id: info.family as u32,
        external_rev: info.external_revision,
        chip_rev: info.chip_revision,
        gb_addr_config: info.tiling.gb_addr_config,
        tile_modes: info.tiling.tile_modes,
        macrotile_modes: info.tiling.macro_tile_modes,
        enabled_rb_mask: info.shader.render_backend_mask,
        render_backends: info.shader.render_backends,
        compute_units: info.shader.compute_units,
        drm_minor: info.driver.minor.cast_unsigned(),
        has_graphics: info.ring_count(Ip::Gfx) > 0,
        is_apu: !info.has_dedicated_vram,
    });
    Chip::new(&registers).ok()
}

impl Gpu {
    /// Returns the modifiers of a format, by the size of its texel in bytes, best first; all have one plane, for none is compressed.
    pub(crate) fn modifiers(&self, bytes: u32) -> Vec<u64> {
        let class = FormatClass { bits: bytes * 8, compressed: false, depth_stencil: false, planes: 1 };
        let plain = ListOptions { dcc: false, retile: false };
        let list = self.tiles.as_ref().map(|chip| ModifierList::new(chip, class, plain));
        let all = list.iter().flat_map(|list| list.as_slice().iter().copied().map(Modifier::encode));
        all.collect()
    }

    /// Returns those of some memory types that the CPU sees.
    pub(crate) fn host_types(&self, types: u32) -> u32 {
        let all = self.memory.properties().types().iter().zip(0..);
        let unseen = all.filter(|(kind, _)| !kind.properties.contains(MemoryPropertyFlags::HOST_VISIBLE));
        unseen.fold(types, |types, (_, index)| types & !(1 << index))
    }
}
