//! Derivation of a chip's properties from the kernel's answers.

use amdgpu_hw::GfxLevel;

use crate::chip::{ChipRegisters, Family};

/// The kernel's answers about a chip, from `amdgpu_device_info` and `READ_MMR_REG` queries.
#[derive(Clone, Copy, Debug)]
pub struct Reported {
    /// The generation of the graphics IP.
    pub level: GfxLevel,
    /// The family ID, such as 0x8f for Navi.
    pub family_id: u32,
    /// The external revision, which distinguishes the chips of a family.
    pub external_rev: u32,
    /// The chip revision (stepping).
    pub chip_rev: u32,
    /// The value of register GB_ADDR_CONFIG.
    pub gb_addr_config: u32,
    /// The values of registers GB_TILE_MODE0 to 31 (GFX6-8); zero on other generations.
    pub tile_modes: [u32; 32],
    /// The values of registers GB_MACROTILE_MODE0 to 15 (GFX7-8); zero on other generations.
    pub macrotile_modes: [u32; 16],
    /// A mask of the enabled render backends.
    pub enabled_rb_mask: u64,
    /// The number of render backends, as the kernel reports it.
    pub render_backends: u32,
    /// The number of enabled compute units.
    pub compute_units: u32,
    /// The minor version of the kernel's DRM interface.
    pub drm_minor: u32,
    /// `true` if the chip has a graphics queue.
    pub has_graphics: bool,
    /// `true` if the chip is an APU (`AMDGPU_IDS_FLAGS_FUSION`).
    pub is_apu: bool,
}

impl ChipRegisters {
    /// Returns the properties that layouts depend on, including those derived from the kernel's answers.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`.
    #[must_use]
    pub fn reported(kernel: &Reported) -> Self {
        let level = kernel.level;
        let family = Family::identify(kernel.family_id, kernel.external_rev);
        let gfx9_apu = level == GfxLevel::Gfx9 && kernel.is_apu && kernel.drm_minor >= 31;
        let unaligned = gfx9_apu && kernel.render_backends == 1;
        let retile = match level {
            GfxLevel::Gfx9 => gfx9_apu && !unaligned && kernel.compute_units > 4,
            GfxLevel::Gfx10_3 => kernel.compute_units > 4,
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => kernel.compute_units >= 4,
            _ => false,
        };
        // Arcturus and Aldebaran, which have no graphics queue, are revisions of Vega's family below 0x46.
        let has_image_opcodes = kernel.has_graphics || (kernel.family_id == 0x8d && kernel.external_rev < 0x46);
        Self {
            level,
            family_id: kernel.family_id,
            external_rev: kernel.external_rev,
            chip_rev: kernel.chip_rev,
            gb_addr_config: kernel.gb_addr_config,
            tile_modes: kernel.tile_modes,
            macrotile_modes: kernel.macrotile_modes,
            render_backends: kernel.render_backends,
            enabled_rb_mask: kernel.enabled_rb_mask,
            compute_units: kernel.compute_units,
            drm_minor: kernel.drm_minor,
            has_graphics: kernel.has_graphics,
            has_image_opcodes,
            has_dedicated_vram: !kernel.is_apu,
            has_dcc_constant_encode: level >= GfxLevel::Gfx10 || matches!(family, Family::Raven2 | Family::Renoir),
            has_tc_compatible_htile: (GfxLevel::Gfx8..GfxLevel::Gfx12).contains(&level)
                && !matches!(family, Family::Tonga | Family::Iceland),
            display_dcc_unaligned: unaligned,
            display_dcc_retile: retile,
            gfx12_display_dcc: level >= GfxLevel::Gfx12 && kernel.drm_minor >= 58,
        }
    }
}
