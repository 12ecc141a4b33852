//! The encoding of an RFC of 2018 that was never merged: tiling parameters of GFX6 to GFX8, swizzle modes of GFX9.
//!
//! The encoding has no vendor byte, so a caller must know that a value uses it. Its successor, AMD_FMT_MOD, is
//! [`Modifier`](super::Modifier). Source: the patch to `amdgpu_drm.h` on the dri-devel list, 2018.

use thiserror::Error;

/// A chip, with its number in the RFC. A layout without DCC that several chips share has the number of the first of these chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of chips")]
pub enum ChipGeneration {
    Tahiti = 0,
    Pitcairn = 1,
    Verde = 2,
    Oland = 3,
    Hainan = 4,
    Bonaire = 5,
    Kaveri = 6,
    Kabini = 7,
    Hawaii = 8,
    Mullins = 9,
    Topaz = 10,
    Tonga = 11,
    Fiji = 12,
    Carrizo = 13,
    Stoney = 14,
    Polaris10 = 15,
    Polaris11 = 16,
    Polaris12 = 17,
    VegaM = 18,
    Vega10 = 19,
    Vega12 = 20,
    Vega20 = 21,
    Raven = 22,
}

impl ChipGeneration {
    /// All chips, ordered by number.
    pub const ALL: [Self; 23] = [
        Self::Tahiti,
        Self::Pitcairn,
        Self::Verde,
        Self::Oland,
        Self::Hainan,
        Self::Bonaire,
        Self::Kaveri,
        Self::Kabini,
        Self::Hawaii,
        Self::Mullins,
        Self::Topaz,
        Self::Tonga,
        Self::Fiji,
        Self::Carrizo,
        Self::Stoney,
        Self::Polaris10,
        Self::Polaris11,
        Self::Polaris12,
        Self::VegaM,
        Self::Vega10,
        Self::Vega12,
        Self::Vega20,
        Self::Raven,
    ];

    /// Returns `true` if the chip belongs to GFX9.
    pub const fn is_gfx9(self) -> bool {
        self as u8 >= Self::Vega10 as u8
    }
}

/// The order of elements in a micro tile. The RFC's numbers differ from the register's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MicroTile {
    /// The element order of depth images.
    Depth = 0,
    /// The element order that the display engine can read.
    Displayable = 1,
    /// The thin element order.
    Thin = 2,
    /// The thick element order (GFX6).
    Thick = 3,
    /// The rotated element order (GFX7 and GFX8).
    Rotated = 4,
}

/// The macro tile parameters of a plane, in the codes of the register: logarithms, for the number of banks minus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Banks {
    /// The base-2 logarithm of the bank width.
    pub width: u8,
    /// The base-2 logarithm of the bank height.
    pub height: u8,
    /// The base-2 logarithm of the macro tile aspect.
    pub aspect: u8,
    /// The base-2 logarithm of the number of banks, minus one.
    pub count: u8,
}

/// The tiling of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// The tile modes of GFX6 to GFX8.
    Legacy {
        /// The ARRAY_MODE field of the register: 2 and 3 for micro tiles only, larger values for macro tiles.
        array_mode: u8,
        /// The PIPE_CONFIG field of the register.
        pipe_config: u8,
        /// The TILE_SPLIT field of the register, for multisampled images.
        tile_split: u8,
        /// The order of elements in a micro tile.
        micro: MicroTile,
        /// The macro tile parameters of up to three planes.
        banks: [Banks; 3],
    },
    /// The swizzle modes of GFX9.
    Gfx9 {
        /// The number of the swizzle mode.
        mode: u8,
    },
}

/// A layout in the encoding of the RFC of 2018.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rfc2018 {
    /// The chip whose tiling the layout uses.
    pub chip: ChipGeneration,
    /// `true` if the image has DCC. A third plane then records which blocks are compressed.
    pub dcc: bool,
    /// The tiling parameters.
    pub tiling: Tiling,
}

/// An error of decoding or encoding a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rfc2018Error {
    /// Bits above the 48 that the RFC defines are set.
    #[error("{0:#x} has bits above the 48 of this encoding")]
    HighBits(u64),
    /// The RFC does not define this chip.
    #[error("no chip {0}")]
    Chip(u8),
    /// The RFC does not define this order of elements.
    #[error("no micro tile mode {0}")]
    MicroTile(u8),
    /// The layout is linear, which is DRM_FORMAT_MOD_LINEAR instead.
    #[error("array or swizzle mode {0} is linear")]
    Linear(u8),
    /// A field is set that the chip's tiling does not have, or its value is too large.
    #[error("{field} is {value} where it must be at most {most}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The value of the field.
        value: u64,
        /// The largest valid value.
        most: u64,
    },
}

const COMPRESSION: u32 = 39;
const CHIP: u32 = 40;
/// The mask of COMPRESSION and CHIP_GEN.
const COMMON: u64 = 0x1ff << COMPRESSION;
/// The first bit of the macro tile parameters of each plane.
const PLANES: [u32; 3] = [15, 23, 31];

const fn get(value: u64, low: u32, bits: u32) -> u8 {
    (value >> low & ((1 << bits) - 1)) as u8
}

fn fits(field: &'static str, value: u8, most: u8) -> Result<u64, Rfc2018Error> {
    let (value, most) = (u64::from(value), u64::from(most));
    if value > most { Err(Rfc2018Error::Field { field, value, most }) } else { Ok(value) }
}

impl Rfc2018 {
    /// Decodes a value that is known to use this encoding.
    ///
    /// # Errors
    ///
    /// [`Rfc2018Error`] if the RFC does not define the value.
    pub fn decode(value: u64) -> Result<Self, Rfc2018Error> {
        if value >> 48 != 0 {
            return Err(Rfc2018Error::HighBits(value));
        }
        let number = get(value, CHIP, 8);
        let chip = ChipGeneration::ALL.get(usize::from(number)).copied().ok_or(Rfc2018Error::Chip(number))?;
        let dcc = get(value, COMPRESSION, 1) == 1;
        if chip.is_gfx9() {
            let rest = value & !COMMON & !0x1f;
            if rest != 0 {
                return Err(Rfc2018Error::Field { field: "the part of GFX6 to GFX8", value: rest, most: 0 });
            }
            let mode = get(value, 0, 5);
            return if mode == 0 {
                Err(Rfc2018Error::Linear(0))
            } else {
                Ok(Self { chip, dcc, tiling: Tiling::Gfx9 { mode } })
            };
        }
        let array_mode = get(value, 0, 4);
        if array_mode < 2 {
            return Err(Rfc2018Error::Linear(array_mode));
        }
        let micro = match get(value, 12, 3) {
            0 => MicroTile::Depth,
            1 => MicroTile::Displayable,
            2 => MicroTile::Thin,
            3 => MicroTile::Thick,
            4 => MicroTile::Rotated,
            other => return Err(Rfc2018Error::MicroTile(other)),
        };
        let banks = PLANES.map(|low| Banks {
            width: get(value, low, 2),
            height: get(value, low + 2, 2),
            aspect: get(value, low + 4, 2),
            count: get(value, low + 6, 2),
        });
        let (pipe_config, tile_split) = (get(value, 4, 5), get(value, 9, 3));
        fits("TILE_SPLIT", tile_split, 6)?;
        if array_mode < 4 && (tile_split != 0 || banks != [Banks::default(); 3]) {
            let most = 0;
            return Err(Rfc2018Error::Field {
                field: "the part of macro tiles",
                value: value & !COMMON & !0x71ff,
                most,
            });
        }
        Ok(Self { chip, dcc, tiling: Tiling::Legacy { array_mode, pipe_config, tile_split, micro, banks } })
    }

    /// Returns the encoded layout, without a vendor byte.
    ///
    /// # Errors
    ///
    /// [`Rfc2018Error`] if the encoding cannot express the layout.
    pub fn encode(&self) -> Result<u64, Rfc2018Error> {
        let common = u64::from(self.chip as u8) << CHIP | u64::from(self.dcc) << COMPRESSION;
        let own = match self.tiling {
            Tiling::Gfx9 { mode } => {
                if !self.chip.is_gfx9() {
                    let value = mode.into();
                    return Err(Rfc2018Error::Field { field: "SWIZZLE_MODE", value, most: 0 });
                }
                fits("SWIZZLE_MODE", mode, 31)?
            }
            Tiling::Legacy { array_mode, pipe_config, tile_split, micro, banks } => {
                if self.chip.is_gfx9() {
                    let value = array_mode.into();
                    return Err(Rfc2018Error::Field { field: "ARRAY_MODE", value, most: 0 });
                }
                let mut all = fits("ARRAY_MODE", array_mode, 15)?
                    | fits("PIPE_CONFIG", pipe_config, 31)? << 4
                    | fits("TILE_SPLIT", tile_split, 6)? << 9
                    | u64::from(micro as u8) << 12;
                for (low, plane) in PLANES.into_iter().zip(banks) {
                    all |= fits("BANK_WIDTH", plane.width, 3)? << low
                        | fits("BANK_HEIGHT", plane.height, 3)? << (low + 2)
                        | fits("MACRO_TILE_ASPECT", plane.aspect, 3)? << (low + 4)
                        | fits("NUM_BANKS", plane.count, 3)? << (low + 6);
                }
                all
            }
        };
        // Decoding rejects the values that must not be encoded: linear layouts and superfluous macro tile parameters.
        Self::decode(common | own).map(|_| common | own)
    }

    /// Returns the number of memory planes. With DCC, the DCC data and a block of 64 bytes that records which blocks are compressed
    /// are additional planes.
    pub const fn planes(&self) -> u32 {
        if self.dcc { 3 } else { 1 }
    }
}
