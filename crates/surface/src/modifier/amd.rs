//! The fields of AMD's format modifiers (AMD_FMT_MOD). Source: `drm_fourcc.h`.

use thiserror::Error;

/// AMD's vendor byte.
const VENDOR: u64 = 0x02;

/// The invalid modifier (DRM_FORMAT_MOD_INVALID).
const INVALID: u64 = 0x00ff_ffff_ffff_ffff;

/// The tile version of a modifier: the generation that defines its swizzle modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TileVersion {
    /// The swizzle modes of GFX9.
    Gfx9 = 1,
    /// The swizzle modes of GFX10.
    Gfx10 = 2,
    /// The swizzle modes of GFX10.3.
    Gfx10RbPlus = 3,
    /// The swizzle modes of GFX11.
    Gfx11 = 4,
    /// The swizzle modes of GFX12.
    Gfx12 = 5,
}

/// The size of the largest compressed DCC block. The discriminants are the hardware's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MaxBlock {
    /// Blocks of at most 64 bytes.
    #[default]
    B64 = 0,
    /// Blocks of at most 128 bytes.
    B128 = 1,
    /// Blocks of at most 256 bytes.
    B256 = 2,
}

impl MaxBlock {
    /// Returns the size for a hardware number; `None` for numbers above 2.
    pub const fn new(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::B64),
            1 => Some(Self::B128),
            2 => Some(Self::B256),
            _ => None,
        }
    }
}

/// The DCC fields of a modifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent bits of a modifier")]
pub struct DccModifier {
    /// `true` if there is a second DCC in the order that the display reads.
    pub retile: bool,
    /// `true` if DCC is aligned to pipes. Never set together with `retile`.
    pub pipe_align: bool,
    /// `true` if the 64-byte parts of a block are compressed independently.
    pub independent_64b: bool,
    /// `true` if the 128-byte parts of a block are compressed independently.
    pub independent_128b: bool,
    /// The size of the largest compressed block.
    pub max_block: MaxBlock,
    /// `true` if clear colours may be encoded as constants.
    pub constant_encode: bool,
}

/// The fields of AMD's modifier of a tiled layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AmdModifier {
    /// The tile version, which defines the meaning of [`tile`](Self::tile).
    pub version: TileVersion,
    /// The swizzle mode's number in the tile version.
    pub tile: u8,
    /// The DCC fields; `None` without compression.
    pub dcc: Option<DccModifier>,
    /// The number of bits of the pipe XOR.
    pub pipe_xor_bits: u8,
    /// The number of bits of the bank XOR (GFX9).
    pub bank_xor_bits: u8,
    /// The base-2 logarithm of the number of packers (GFX10.3, GFX11).
    pub packers: u8,
    /// The base-2 logarithm of the number of render backends (GFX9 with DCC).
    pub rb: u8,
    /// The base-2 logarithm of the number of pipes (GFX9 with DCC).
    pub pipe: u8,
}

/// A decoded format modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// The linear layout (DRM_FORMAT_MOD_LINEAR).
    Linear,
    /// A tiled layout of AMD.
    Amd(AmdModifier),
}

/// An error of decoding a format modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ModifierError {
    /// The value is DRM_FORMAT_MOD_INVALID.
    #[error("the modifier that names nothing")]
    Invalid,
    /// The modifier belongs to another vendor.
    #[error("a modifier of vendor {vendor:#x}")]
    Vendor {
        /// The vendor byte of the modifier (bits 63..56).
        vendor: u8,
    },
    /// A field has an undefined value.
    #[error("modifier {modifier:#x}: {field} is {value}")]
    Field {
        /// The 64-bit value of the modifier.
        modifier: u64,
        /// The field's name, as in `drm_fourcc.h`.
        field: &'static str,
        /// The field's value.
        value: u64,
    },
}

const fn get(value: u64, low: u32, bits: u32) -> u64 {
    value >> low & ((1 << bits) - 1)
}

impl Modifier {
    /// Decodes a modifier.
    ///
    /// # Errors
    /// [`ModifierError`] if the modifier belongs to another vendor, is invalid, or has undefined or contradictory fields.
    pub const fn decode(modifier: u64) -> Result<Self, ModifierError> {
        if modifier == 0 {
            return Ok(Self::Linear);
        }
        if modifier == INVALID {
            return Err(ModifierError::Invalid);
        }
        let vendor = modifier >> 56;
        if vendor != VENDOR {
            return Err(ModifierError::Vendor { vendor: vendor as u8 });
        }
        match AmdModifier::decode(modifier) {
            Ok(amd) => Ok(Self::Amd(amd)),
            Err(error) => Err(error),
        }
    }

    /// Returns the 64-bit value of the modifier.
    pub const fn encode(self) -> u64 {
        match self {
            Self::Linear => 0,
            Self::Amd(amd) => amd.encode(),
        }
    }

    /// Returns the DCC fields of the modifier; `None` without compression.
    pub const fn dcc(self) -> Option<DccModifier> {
        match self {
            Self::Linear => None,
            Self::Amd(amd) => amd.dcc,
        }
    }

    /// Returns the swizzle mode's number in the modifier's tile version; 0 for linear images.
    pub const fn tile(self) -> u8 {
        match self {
            Self::Linear => 0,
            Self::Amd(amd) => amd.tile,
        }
    }
}

impl AmdModifier {
    /// Creates a modifier without compression and XOR bits.
    pub const fn new(version: TileVersion, tile: u8) -> Self {
        Self { version, tile, dcc: None, pipe_xor_bits: 0, bank_xor_bits: 0, packers: 0, rb: 0, pipe: 0 }
    }

    const fn decode(modifier: u64) -> Result<Self, ModifierError> {
        let version = match get(modifier, 0, 8) {
            1 => TileVersion::Gfx9,
            2 => TileVersion::Gfx10,
            3 => TileVersion::Gfx10RbPlus,
            4 => TileVersion::Gfx11,
            5 => TileVersion::Gfx12,
            value => return Err(ModifierError::Field { modifier, field: "TILE_VERSION", value }),
        };
        let tile = get(modifier, 8, 5);
        if matches!(version, TileVersion::Gfx12) && tile > 7 {
            return Err(ModifierError::Field { modifier, field: "TILE", value: tile });
        }
        let reserved = get(modifier, 36, 20);
        if reserved != 0 {
            return Err(ModifierError::Field { modifier, field: "reserved bits 55:36", value: reserved });
        }
        let settings = get(modifier, 14, 7);
        let dcc = if get(modifier, 13, 1) == 1 {
            let Some(max_block) = MaxBlock::new(get(modifier, 18, 2)) else {
                return Err(ModifierError::Field { modifier, field: "DCC_MAX_COMPRESSED_BLOCK", value: 3 });
            };
            let dcc = DccModifier {
                retile: get(modifier, 14, 1) == 1,
                pipe_align: get(modifier, 15, 1) == 1,
                independent_64b: get(modifier, 16, 1) == 1,
                independent_128b: get(modifier, 17, 1) == 1,
                max_block,
                constant_encode: get(modifier, 20, 1) == 1,
            };
            if dcc.retile && dcc.pipe_align {
                return Err(ModifierError::Field { modifier, field: "DCC_PIPE_ALIGN beside DCC_RETILE", value: 1 });
            }
            Some(dcc)
        } else if settings != 0 {
            return Err(ModifierError::Field { modifier, field: "DCC settings without DCC", value: settings });
        } else {
            None
        };
        Ok(Self {
            version,
            tile: tile as u8,
            dcc,
            pipe_xor_bits: get(modifier, 21, 3) as u8,
            bank_xor_bits: get(modifier, 24, 3) as u8,
            packers: get(modifier, 27, 3) as u8,
            rb: get(modifier, 30, 3) as u8,
            pipe: get(modifier, 33, 3) as u8,
        })
    }

    /// Returns the 64-bit value of the modifier. Fields are truncated to their width.
    pub const fn encode(self) -> u64 {
        let mut value = VENDOR << 56 | self.version as u64 | ((self.tile & 31) as u64) << 8;
        if let Some(dcc) = self.dcc {
            value |= 1 << 13
                | (dcc.retile as u64) << 14
                | (dcc.pipe_align as u64) << 15
                | (dcc.independent_64b as u64) << 16
                | (dcc.independent_128b as u64) << 17
                | (dcc.max_block as u64) << 18
                | (dcc.constant_encode as u64) << 20;
        }
        value
            | ((self.pipe_xor_bits & 7) as u64) << 21
            | ((self.bank_xor_bits & 7) as u64) << 24
            | ((self.packers & 7) as u64) << 27
            | ((self.rb & 7) as u64) << 30
            | ((self.pipe & 7) as u64) << 33
    }
}
