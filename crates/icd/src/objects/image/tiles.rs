//! Facts of a GPU that images are laid out with.

use amdgpu_surface::{Chip, ChipRegisters, Reported};
use amdgpu_winsys::winsys::{GpuInfo, Ip};

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
