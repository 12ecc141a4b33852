//! The properties of a chip that determine layouts, decoded from the kernel's reports.

use amdgpu_hw::GfxLevel;
use thiserror::Error;

/// The properties of a chip that layouts depend on, as reported by the kernel.
///
/// Sources: the kernel's `amdgpu_device_info` and `READ_MMR_REG` queries; Mesa's `ac_gpu_info.c` for the last group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a chip")]
pub struct ChipRegisters {
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
    /// The number of enabled render backends in all shader engines.
    pub render_backends: u32,
    /// A mask of the enabled render backends.
    pub enabled_rb_mask: u64,
    /// The number of enabled compute units.
    pub compute_units: u32,
    /// The minor version of the kernel's DRM interface.
    pub drm_minor: u32,
    /// `true` if the chip has a graphics queue.
    pub has_graphics: bool,
    /// `true` if the chip has image instructions.
    pub has_image_opcodes: bool,
    /// `true` if the chip has dedicated VRAM.
    pub has_dedicated_vram: bool,
    /// `true` if DCC can encode constant colours. Modifiers have a bit for this.
    pub has_dcc_constant_encode: bool,
    /// `true` if the texture units can read HTILE.
    pub has_tc_compatible_htile: bool,
    /// `true` if the display reads DCC only if DCC is neither pipe- nor RB-aligned (`use_display_dcc_unaligned`).
    pub display_dcc_unaligned: bool,
    /// `true` if the display reads a second DCC, which a retile blit keeps up to date (`use_display_dcc_with_retile_blit`).
    pub display_dcc_retile: bool,
    /// `true` if the display reads DCC (GFX12).
    pub gfx12_display_dcc: bool,
}

impl ChipRegisters {
    /// Creates the properties of a chip from its generation and IDs alone; all other properties have defaults.
    pub const fn new(level: GfxLevel, family_id: u32, external_rev: u32, gb_addr_config: u32) -> Self {
        Self {
            level,
            family_id,
            external_rev,
            chip_rev: 0,
            gb_addr_config,
            tile_modes: [0; 32],
            macrotile_modes: [0; 16],
            render_backends: 1,
            enabled_rb_mask: 1,
            compute_units: 1,
            drm_minor: 54,
            has_graphics: true,
            has_image_opcodes: true,
            has_dedicated_vram: false,
            has_dcc_constant_encode: false,
            has_tc_compatible_htile: false,
            display_dcc_unaligned: false,
            display_dcc_retile: false,
            gfx12_display_dcc: false,
        }
    }
}

/// An error of decoding a chip's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChipError {
    /// A field of GB_ADDR_CONFIG is out of range.
    #[error("GB_ADDR_CONFIG {value:#x}: {field} is {found}")]
    AddrConfig {
        /// The value of the whole register.
        value: u32,
        /// The name of the field that is out of range.
        field: &'static str,
        /// The value of the field, which no chip has.
        found: u32,
    },
}

/// The fields of GB_ADDR_CONFIG. All are logarithms.
///
/// Source: Mesa `amdgfxregs.h`, `R_0098F8_GB_ADDR_CONFIG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddrConfig {
    /// The base-2 logarithm of the number of pipes.
    pub pipes: u32,
    /// The base-2 logarithm of the pipe interleave in bytes: the contiguous bytes in one pipe.
    pub interleave: u32,
    /// The base-2 logarithm of the maximum number of compressed fragments.
    pub compressed_fragments: u32,
    /// The base-2 logarithm of the number of packers (GFX10.3 and later).
    pub packers: u32,
    /// The base-2 logarithm of the number of banks (GFX9).
    pub banks: u32,
    /// The base-2 logarithm of the number of shader engines (GFX6-9).
    pub shader_engines: u32,
    /// The base-2 logarithm of the number of render backends of a shader engine (GFX9).
    pub rbs_per_engine: u32,
    /// The base-2 logarithm of the size of a DRAM row in bytes (GFX6-8).
    pub row_bytes: u32,
}

const fn field(value: u32, low: u32, bits: u32) -> u32 {
    value >> low & ((1 << bits) - 1)
}

impl AddrConfig {
    /// Decodes the value of the register.
    ///
    /// # Errors
    /// [`ChipError::AddrConfig`] if a count is larger than on any chip, so that no layout is defined for it.
    pub fn decode(level: GfxLevel, value: u32) -> Result<Self, ChipError> {
        let new = level >= GfxLevel::Gfx9;
        let refuse = |field, found| Err(ChipError::AddrConfig { value, field, found });
        let pipes = field(value, 0, 3);
        let interleave = 8 + if new { field(value, 3, 3) } else { field(value, 4, 3) };
        if pipes > 6 || (level < GfxLevel::Gfx9 && pipes > 4) {
            return refuse("NUM_PIPES", pipes);
        }
        if interleave != 8 {
            return refuse("PIPE_INTERLEAVE_SIZE", interleave - 8);
        }
        let packers = if level >= GfxLevel::Gfx10_3 { field(value, 8, 3) } else { 0 };
        // The tables have entries for 2 to 32 packers with one to four pipes each, and for small chips with few packers.
        if level >= GfxLevel::Gfx10_3
            && level < GfxLevel::Gfx12
            && (packers > 5
                || packers > pipes.max(1)
                || (packers >= 2 && pipes > packers + 2)
                || (packers < 2 && pipes > 3))
        {
            return refuse("NUM_PKRS", packers);
        }
        let banks = if level == GfxLevel::Gfx9 { field(value, 12, 3) } else { 0 };
        if banks > 4 {
            return refuse("NUM_BANKS", banks);
        }
        let shader_engines = match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => field(value, 12, 2),
            GfxLevel::Gfx9 => field(value, 19, 2),
            _ => 0,
        };
        let rbs_per_engine = if level == GfxLevel::Gfx9 { field(value, 26, 2) } else { 0 };
        if rbs_per_engine > 2 {
            return refuse("NUM_RB_PER_SE", rbs_per_engine);
        }
        let row = field(value, 28, 2);
        if level < GfxLevel::Gfx9 && row > 2 {
            return refuse("ROW_SIZE", row);
        }
        Ok(Self {
            pipes,
            interleave,
            compressed_fragments: field(value, 6, 2),
            packers,
            banks,
            shader_engines,
            rbs_per_engine,
            row_bytes: 1024 << row,
        })
    }
}

/// A chip whose properties have been decoded and validated. All layouts are computed for a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    pub(crate) info: ChipRegisters,
    pub(crate) config: AddrConfig,
    pub(crate) family: Family,
}

/// The chips whose layouts differ from the rest of their generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Other,
    Tahiti,
    Bonaire,
    Hawaii,
    Iceland,
    Tonga,
    Fiji,
    Stoney,
    VegaM,
    Vega10,
    Vega12,
    Vega20,
    Raven,
    Raven2,
    Renoir,
    Navi10,
    Navi12,
    Navi14,
    Phoenix,
}

impl Family {
    /// Returns the chip of a family ID and external revision. Source: Mesa `amdgpu_asic_addr.h` (the ranges of external revisions).
    pub(crate) fn identify(family_id: u32, rev: u32) -> Self {
        match (family_id, rev) {
            (0x6e, 0x05..0x15) => Self::Tahiti,
            (0x78, 0x14..0x28) => Self::Bonaire,
            (0x78, 0x28..0x3c) => Self::Hawaii,
            (0x82, 0x01..0x14) => Self::Iceland,
            (0x82, 0x14..0x28) => Self::Tonga,
            (0x82, 0x3c..0x50) => Self::Fiji,
            (0x82, 0x6e..0xff) => Self::VegaM,
            (0x87, 0x61..0xff) => Self::Stoney,
            (0x8d, 0x01..0x14) => Self::Vega10,
            (0x8d, 0x14..0x28) => Self::Vega12,
            (0x8d, 0x28..0xff) => Self::Vega20,
            (0x8e, 0x01..0x81) => Self::Raven,
            (0x8e, 0x81..0x91) => Self::Raven2,
            (0x8e, 0x91..0xff) => Self::Renoir,
            (0x8f, 0x01..0x0a) => Self::Navi10,
            (0x8f, 0x0a..0x14) => Self::Navi12,
            (0x8f, 0x14..0x28) => Self::Navi14,
            (0x94, _) => Self::Phoenix,
            _ => Self::Other,
        }
    }
}

impl Chip {
    /// Decodes the properties that the kernel reports.
    ///
    /// # Errors
    /// [`ChipError`] if GB_ADDR_CONFIG has a value for which no layout is defined.
    pub fn new(info: &ChipRegisters) -> Result<Self, ChipError> {
        Ok(Self {
            info: *info,
            config: AddrConfig::decode(info.level, info.gb_addr_config)?,
            family: Family::identify(info.family_id, info.external_rev),
        })
    }

    /// Returns `true` for Stoney, which differs from the other chips of GFX8 in more than layouts.
    pub const fn is_stoney(&self) -> bool {
        matches!(self.family, Family::Stoney)
    }

    /// Returns the generation of the chip.
    pub const fn level(&self) -> GfxLevel {
        self.info.level
    }

    /// Returns the decoded fields of GB_ADDR_CONFIG.
    pub const fn addr_config(&self) -> AddrConfig {
        self.config
    }

    /// Returns the properties that the chip was created from.
    pub const fn registers(&self) -> &ChipRegisters {
        &self.info
    }
}
