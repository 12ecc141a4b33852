//! The chip, as layouts see it: decoded once from what the kernel reports.

use amdgpu_hw::GfxLevel;
use thiserror::Error;

/// The kernel's facts about a chip that layouts depend on.
///
/// Sources: the kernel's `amdgpu_device_info` and `READ_MMR_REG` queries; Mesa's `ac_gpu_info.c` for the last group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a chip")]
pub struct ChipRegisters {
    /// Generation of the graphics IP.
    pub level: GfxLevel,
    /// Family number, such as 0x8f for Navi.
    pub family_id: u32,
    /// External revision, which distinguishes the chips of a family.
    pub external_rev: u32,
    /// Stepping.
    pub chip_rev: u32,
    /// Register GB_ADDR_CONFIG.
    pub gb_addr_config: u32,
    /// Registers GB_TILE_MODE0 to 31 (GFX6-8), else zero.
    pub tile_modes: [u32; 32],
    /// Registers GB_MACROTILE_MODE0 to 15 (GFX7-8), else zero.
    pub macrotile_modes: [u32; 16],
    /// Render backends that are not fused off, over all shader engines.
    pub render_backends: u32,
    /// One bit for each of them, by number.
    pub enabled_rb_mask: u64,
    /// Compute units that are not fused off.
    pub compute_units: u32,
    /// Minor version of the kernel's interface.
    pub drm_minor: u32,
    /// The chip has a graphics queue.
    pub has_graphics: bool,
    /// The chip has image instructions.
    pub has_image_opcodes: bool,
    /// The chip has memory of its own.
    pub has_dedicated_vram: bool,
    /// DCC can encode constants, which modifiers name.
    pub has_dcc_constant_encode: bool,
    /// HTILE that the texture units read.
    pub has_tc_compatible_htile: bool,
    /// The display reads DCC only when it is neither pipe- nor RB-aligned (`use_display_dcc_unaligned`).
    pub display_dcc_unaligned: bool,
    /// The display reads a second, retiled DCC (`use_display_dcc_with_retile_blit`).
    pub display_dcc_retile: bool,
    /// GFX12: the display reads DCC.
    pub gfx12_display_dcc: bool,
}

impl ChipRegisters {
    /// Returns a chip of which nothing is known but its generation and numbers.
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

/// A register value that no chip has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChipError {
    /// GB_ADDR_CONFIG with a field out of range.
    #[error("GB_ADDR_CONFIG {value:#x}: {field} is {found}")]
    AddrConfig {
        /// The register's value.
        value: u32,
        /// The field's name.
        field: &'static str,
        /// The field's value.
        found: u32,
    },
}

/// GB_ADDR_CONFIG, decoded; counts as exponents of two.
///
/// Source: Mesa `amdgfxregs.h`, `R_0098F8_GB_ADDR_CONFIG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddrConfig {
    /// Pipes.
    pub pipes: u32,
    /// Bytes that lie in one pipe before the next one.
    pub interleave: u32,
    /// Fragments that compression knows.
    pub compressed_fragments: u32,
    /// Packers (GFX10.3 and later).
    pub packers: u32,
    /// Banks (GFX9).
    pub banks: u32,
    /// Shader engines (GFX6-9).
    pub shader_engines: u32,
    /// Render backends per shader engine (GFX9).
    pub rbs_per_engine: u32,
    /// Bytes of a DRAM row (GFX6-8).
    pub row_bytes: u32,
}

const fn field(value: u32, low: u32, bits: u32) -> u32 {
    value >> low & ((1 << bits) - 1)
}

impl AddrConfig {
    /// Decodes the register.
    ///
    /// # Errors
    /// [`ChipError::AddrConfig`] for counts that no chip has, and that no layout is defined for.
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
        // The tables hold P = 2..=32 packers with one to four pipes for each, and small chips with few packers.
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

/// A chip, decoded and checked. Every layout starts with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    pub(crate) info: ChipRegisters,
    pub(crate) config: AddrConfig,
    pub(crate) family: Family,
}

/// The chips that differ from their generation.
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
    /// Source: Mesa `amdgpu_asic_addr.h` (the ranges of external revisions).
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
    /// Decodes what the kernel reports.
    ///
    /// # Errors
    /// [`ChipError`] when GB_ADDR_CONFIG has a value that no layout is defined for.
    pub fn new(info: &ChipRegisters) -> Result<Self, ChipError> {
        Ok(Self {
            info: *info,
            config: AddrConfig::decode(info.level, info.gb_addr_config)?,
            family: Family::identify(info.family_id, info.external_rev),
        })
    }

    /// Returns the generation.
    pub const fn level(&self) -> GfxLevel {
        self.info.level
    }

    /// Returns the decoded GB_ADDR_CONFIG.
    pub const fn addr_config(&self) -> AddrConfig {
        self.config
    }

    /// Returns the facts that the chip was made from.
    pub const fn registers(&self) -> &ChipRegisters {
        &self.info
    }
}
