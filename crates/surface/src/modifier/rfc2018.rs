//! The encoding of a proposal of 2018, which was never merged: tiling parameters of GFX6 to GFX8, swizzle modes of GFX9.
//!
//! It has no vendor byte of its own, so a value must be known to be of this encoding. Its successor, AMD_FMT_MOD, is
//! [`Modifier`](super::Modifier). Source: the patch to `amdgpu_drm.h` on the dri-devel list, 2018.

use thiserror::Error;

/// The chips that the proposal numbers. Layouts without DCC name the first of a group that shares them.
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
    /// Every chip, by number.
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

    /// Returns `true` for chips of GFX9.
    pub const fn is_gfx9(self) -> bool {
        self as u8 >= Self::Vega10 as u8
    }
}

/// The order of elements in a micro tile, numbered as the proposal does: not as the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MicroTile {
    /// For depth.
    Depth = 0,
    /// For the display.
    Displayable = 1,
    /// Thin.
    Thin = 2,
    /// Thick (GFX6).
    Thick = 3,
    /// Rotated (GFX7 and GFX8).
    Rotated = 4,
}

/// Banks of a plane's macro tiles, in the register's codes: exponents, of the banks less one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Banks {
    /// Exponent of the bank width.
    pub width: u8,
    /// Exponent of the bank height.
    pub height: u8,
    /// Exponent of the macro tile aspect.
    pub aspect: u8,
    /// Exponent of the number of banks, less one.
    pub count: u8,
}

/// The tiling of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// GFX6 to GFX8.
    Legacy {
        /// ARRAY_MODE of the register: 2 and 3 for micro tiles alone, more for macro tiles.
        array_mode: u8,
        /// PIPE_CONFIG of the register.
        pipe_config: u8,
        /// TILE_SPLIT of the register, for several samples.
        tile_split: u8,
        /// The order of elements.
        micro: MicroTile,
        /// Banks of up to three planes.
        banks: [Banks; 3],
    },
    /// GFX9.
    Gfx9 {
        /// Swizzle mode.
        mode: u8,
    },
}

/// A layout in the encoding of 2018.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rfc2018 {
    /// The chip.
    pub chip: ChipGeneration,
    /// DCC, with a third plane that says what is compressed.
    pub dcc: bool,
    /// Tiling.
    pub tiling: Tiling,
}

/// A value that is no layout of the encoding of 2018.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rfc2018Error {
    /// Bits above the 48 that the proposal defines.
    #[error("{0:#x} has bits above the 48 of this encoding")]
    HighBits(u64),
    /// A chip that the proposal does not number.
    #[error("no chip {0}")]
    Chip(u8),
    /// An order of elements that the proposal does not number.
    #[error("no micro tile mode {0}")]
    MicroTile(u8),
    /// A linear layout, for which DRM_FORMAT_MOD_LINEAR is.
    #[error("array or swizzle mode {0} is linear")]
    Linear(u8),
    /// A field that the tiling of the chip does not have, or a number beyond its field.
    #[error("{field} is {value} where it must be at most {most}")]
    Field {
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
        /// The largest value.
        most: u64,
    },
}

const COMPRESSION: u32 = 39;
const CHIP: u32 = 40;
/// Bits of COMPRESSION and CHIP_GEN.
const COMMON: u64 = 0x1ff << COMPRESSION;
/// The first bit of each plane's banks.
const PLANES: [u32; 3] = [15, 23, 31];

const fn get(value: u64, low: u32, bits: u32) -> u8 {
    (value >> low & ((1 << bits) - 1)) as u8
}

fn fits(field: &'static str, value: u8, most: u8) -> Result<u64, Rfc2018Error> {
    let (value, most) = (u64::from(value), u64::from(most));
    if value > most { Err(Rfc2018Error::Field { field, value, most }) } else { Ok(value) }
}

impl Rfc2018 {
    /// Decodes a value that is known to be of this encoding.
    ///
    /// # Errors
    ///
    /// [`Rfc2018Error`] for values that the proposal gives no meaning.
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

    /// Returns the value of the layout, without a vendor byte.
    ///
    /// # Errors
    ///
    /// [`Rfc2018Error`] for a layout that the proposal cannot say.
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
        // What encodes is what decodes: linear layouts and stray macro tiles are refused there.
        Self::decode(common | own).map(|_| common | own)
    }

    /// Returns the planes in memory: with DCC also its bytes, and a block of 64 bytes that says what is compressed.
    pub const fn planes(&self) -> u32 {
        if self.dcc { 3 } else { 1 }
    }
}
