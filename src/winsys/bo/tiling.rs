//! The tiling word of a BO's metadata, which describes the layout of an image.
//!
//! The kernel stores the word and reads it only for the display and for one check on GFX6 to GFX8. There are three layouts,
//! depending on the generation. Every word can be decoded; encoding the result gives the same word, except for bits that
//! the generation does not define.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`, the `AMDGPU_TILING_*` fields; their use: Mesa 25.0.7
//! `src/amd/common/ac_surface.c`, `ac_surface_apply_bo_metadata` and `ac_surface_compute_bo_metadata`.

use crate::winsys::GfxLevel;

/// A bit field: `width` bits, starting at bit `lowest`.
#[derive(Clone, Copy)]
struct Bits {
    lowest: u32,
    width: u32,
}

impl Bits {
    const fn new(highest: u32, lowest: u32) -> Self {
        Self { lowest, width: highest - lowest + 1 }
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (u64::BITS - self.width)
    }

    const fn get(self, word: u64) -> u64 {
        word >> self.lowest & self.mask()
    }

    /// Returns the value shifted to the field's position; `None` if it is too large.
    fn put(self, value: u64) -> Option<u64> {
        (value <= self.mask()).then_some(value << self.lowest)
    }
}

/// The error for a value that is too large for its field of the tiling word.
///
/// ```
/// use amdgpu_winsys::winsys::{GfxLevel, LegacyTiling, Tiling};
///
/// let Tiling::Legacy(tiling) = Tiling::decode(GfxLevel::Gfx8, 0) else { return };
/// let error = Tiling::Legacy(LegacyTiling { tile_split: 9, ..tiling }).encode().unwrap_err();
/// assert_eq!((error.field, error.value, error.bits), ("tile_split", 9, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {value:#x} does not fit its {bits} bits")]
pub struct TilingFieldError {
    /// The name of the field.
    pub field: &'static str,
    /// The value that is too large.
    pub value: u64,
    /// The width of the field in bits.
    pub bits: u32,
}

/// Defines a structure from a generation's fields, with its decoder, its encoder and the mask of known bits.
macro_rules! tiling {
    ($(#[$docs:meta])* pub struct $name:ident { $($(#[$field_docs:meta])* $field:ident: $type:ty = $highest:literal, $lowest:literal;)* }) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name {
            $($(#[$field_docs])* pub $field: $type,)*
        }

        impl $name {
            /// The bits of the word that belong to a field.
            pub const KNOWN: u64 = 0 $(| Bits::new($highest, $lowest).mask() << $lowest)*;

            /// Decodes a tiling word. Bits outside of [`KNOWN`](Self::KNOWN) are dropped.
            pub fn decode(word: u64) -> Self {
                Self { $($field: Raw::of(Bits::new($highest, $lowest).get(word)),)* }
            }

            /// Encodes the tiling word.
            ///
            /// # Errors
            ///
            /// [`TilingFieldError`] for the first value that is too large for its field.
            pub fn encode(self) -> Result<u64, TilingFieldError> {
                let mut word = 0;
                $(
                    let (bits, value) = (Bits::new($highest, $lowest), self.$field.raw());
                    let field = stringify!($field);
                    word |= bits.put(value).ok_or(TilingFieldError { field, value, bits: bits.width })?;
                )*
                Ok(word)
            }
        }
    };
}

/// The conversion of a field's type from and to bits.
trait Raw {
    fn of(bits: u64) -> Self;
    fn raw(self) -> u64;
}

impl Raw for u32 {
    fn of(bits: u64) -> Self {
        bits as Self
    }
    fn raw(self) -> u64 {
        self.into()
    }
}

impl Raw for bool {
    fn of(bits: u64) -> Self {
        bits != 0
    }
    fn raw(self) -> u64 {
        self.into()
    }
}

tiling! {
    /// The tiling word of GFX6 to GFX8: macro and micro tiles across pipes and banks, with the values of the GB_TILE_MODE
    /// registers.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::LegacyTiling;
    ///
    /// let thin = LegacyTiling { array_mode: 4, tile_split: 4, micro_tile_mode: 1, ..LegacyTiling::default() };
    /// assert_eq!((thin.encode(), thin.tile_split_bytes()), (Ok(0x1804), 1024));
    /// assert_eq!(LegacyTiling::decode(0x1804), thin);
    /// ```
    pub struct LegacyTiling {
        /// Array mode: 1 linear, 2 micro tiles, 4 macro tiles.
        array_mode: u32 = 3, 0;
        /// The pipe configuration.
        pipe_config: u32 = 8, 4;
        /// The tile split, 0 to 6: 64 bytes shifted left by this value. The kernel refuses 7.
        tile_split: u32 = 11, 9;
        /// Micro tile mode: 0 display, 1 thin, 2 depth, 3 rotated, 4 thick.
        micro_tile_mode: u32 = 14, 12;
        /// log2 of the bank width.
        bank_width_log2: u32 = 16, 15;
        /// log2 of the bank height.
        bank_height_log2: u32 = 18, 17;
        /// log2 of the macro tile's aspect ratio.
        macro_tile_aspect_log2: u32 = 20, 19;
        /// log2 of the number of banks, minus 1.
        banks_log2_minus_1: u32 = 22, 21;
    }
}

tiling! {
    /// The tiling word of GFX9 to GFX11.5: a swizzle mode and the parameters of the display's DCC metadata.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::SwizzleTiling;
    ///
    /// let shown = SwizzleTiling { swizzle_mode: 27, scanout: true, ..SwizzleTiling::default() };
    /// assert_eq!(shown.encode(), Ok(1 << 63 | 27));
    /// let too_large = SwizzleTiling { swizzle_mode: 32, ..shown };
    /// assert_eq!(too_large.encode().map_err(|error| error.field), Err("swizzle_mode"));
    /// ```
    pub struct SwizzleTiling {
        /// The address library's swizzle mode; 0 is linear.
        swizzle_mode: u32 = 4, 0;
        /// Offset of the display's DCC metadata from the start of the image, in units of 256 bytes; 0 if there is none.
        dcc_offset_256b: u32 = 28, 5;
        /// Row pitch of the display's DCC metadata in elements, minus 1.
        dcc_pitch_max: u32 = 42, 29;
        /// `true` if blocks of 64 bytes are compressed independently.
        dcc_independent_64b: bool = 43, 43;
        /// `true` if blocks of 128 bytes are compressed independently.
        dcc_independent_128b: bool = 44, 44;
        /// The largest compressed block: 64 bytes shifted left by this value.
        dcc_max_compressed_block: u32 = 46, 45;
        /// `true` if the display engine can scan out the image.
        scanout: bool = 63, 63;
    }
}

tiling! {
    /// The tiling word of a GFX12 BO, with the parameters of its compression.
    ///
    /// A BO created with GFX12_DCC needs this word set: the kernel uses this format when it moves the BO, and a wrong format
    /// compresses raw data.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::Gfx12Tiling;
    ///
    /// let word = Gfx12Tiling::RAW_MEMORY.encode()?; // for memory that holds no image
    /// assert_eq!(Gfx12Tiling::decode(word), Gfx12Tiling::RAW_MEMORY);
    /// # Ok::<(), amdgpu_winsys::winsys::TilingFieldError>(())
    /// ```
    pub struct Gfx12Tiling {
        /// The swizzle mode; 0 is linear.
        swizzle_mode: u32 = 2, 0;
        /// The largest compressed block: 0 is 64 bytes, 1 is 128 bytes, 2 is 256 bytes.
        dcc_max_compressed_block: u32 = 4, 3;
        /// The number type of the format, for DCC.
        dcc_number_type: u32 = 7, 5;
        /// The data format, for DCC.
        dcc_data_format: u32 = 13, 8;
        /// `true` if writes leave the memory uncompressed, as memory without a single format needs.
        dcc_write_compress_disable: bool = 14, 14;
        /// `true` if the display engine can scan out the image.
        scanout: bool = 63, 63;
    }
}

impl LegacyTiling {
    /// Returns the tile split in bytes, 64 to 4096. If the field has an undefined value (7 or above), returns 1024 like RADV.
    ///
    /// Source: Mesa 25.0.7 `ac_surface.c`, `eg_tile_split`.
    pub const fn tile_split_bytes(self) -> u32 {
        if self.tile_split <= 6 { 64 << self.tile_split } else { 1024 }
    }
}

impl Gfx12Tiling {
    /// The tiling word for memory that is not an image of a single format. The kernel must not compress such memory when it moves
    /// the BO.
    ///
    /// Source: Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`.
    pub const RAW_MEMORY: Self = Self {
        swizzle_mode: 0,
        dcc_max_compressed_block: 0,
        dcc_number_type: 0,
        dcc_data_format: 0,
        dcc_write_compress_disable: true,
        scanout: false,
    };
}

/// The decoded tiling word of a generation.
///
/// ```
/// use amdgpu_winsys::winsys::{GfxLevel, SwizzleTiling, Tiling};
///
/// // The tiling word of an imported BO:
/// let tiling = Tiling::decode(GfxLevel::Gfx10, 0x1b);
/// assert!(matches!(tiling, Tiling::Swizzle(SwizzleTiling { swizzle_mode: 27, .. })));
/// assert_eq!((tiling.encode(), tiling.is_scanout()), (Ok(0x1b), false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// The tiling word of GFX6 to GFX8.
    Legacy(LegacyTiling),
    /// The tiling word of GFX9 to GFX11.5.
    Swizzle(SwizzleTiling),
    /// The tiling word of GFX12.
    Gfx12(Gfx12Tiling),
}

impl Tiling {
    /// Decodes the tiling word of a chip of the generation `level`. Every word can be decoded.
    pub fn decode(level: GfxLevel, word: u64) -> Self {
        match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => Self::Legacy(LegacyTiling::decode(word)),
            GfxLevel::Gfx12 => Self::Gfx12(Gfx12Tiling::decode(word)),
            _ => Self::Swizzle(SwizzleTiling::decode(word)),
        }
    }

    /// Encodes the tiling word.
    ///
    /// # Errors
    ///
    /// [`TilingFieldError`] for the first value that is too large for its field.
    pub fn encode(self) -> Result<u64, TilingFieldError> {
        match self {
            Self::Legacy(tiling) => tiling.encode(),
            Self::Swizzle(tiling) => tiling.encode(),
            Self::Gfx12(tiling) => tiling.encode(),
        }
    }

    /// Returns `true` if the display engine can scan out the image. On GFX6 to GFX8 this is the display micro tile mode.
    pub const fn is_scanout(self) -> bool {
        match self {
            Self::Legacy(tiling) => tiling.micro_tile_mode == 0,
            Self::Swizzle(tiling) => tiling.scanout,
            Self::Gfx12(tiling) => tiling.scanout,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(level: GfxLevel) -> u64 {
        match Tiling::decode(level, 0) {
            Tiling::Legacy(_) => LegacyTiling::KNOWN,
            Tiling::Swizzle(_) => SwizzleTiling::KNOWN,
            Tiling::Gfx12(_) => Gfx12Tiling::KNOWN,
        }
    }

    proptest! {
        #[test]
        fn any_word_read_and_written_again_is_itself_in_the_known_bits(word: u64) {
            for level in GfxLevel::ALL {
                let tiling = Tiling::decode(level, word);
                prop_assert_eq!(tiling.encode(), Ok(word & known(level)), "{}", level);
                prop_assert_eq!(Tiling::decode(level, word & known(level)), tiling);
            }
        }
    }

    #[test]
    fn a_word_is_read_in_the_terms_of_its_generation() {
        for level in GfxLevel::ALL {
            let kind = match Tiling::decode(level, 1) {
                Tiling::Legacy(_) => level < GfxLevel::Gfx9,
                Tiling::Swizzle(_) => (GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&level),
                Tiling::Gfx12(_) => level >= GfxLevel::Gfx12,
            };
            assert!(kind, "{level}");
        }
    }

    #[test]
    fn the_fields_are_where_the_header_has_them() {
        assert_eq!((LegacyTiling::KNOWN, Gfx12Tiling::KNOWN), (0x7f_ffff, 1 << 63 | 0x7fff));
        assert_eq!(SwizzleTiling::KNOWN, 1 << 63 | 0x7fff_ffff_ffff);
        let legacy =
            LegacyTiling { array_mode: 4, pipe_config: 12, tile_split: 4, micro_tile_mode: 1, ..Default::default() };
        assert_eq!(legacy.encode(), Ok(4 | 12 << 4 | 4 << 9 | 1 << 12));
        let swizzle = SwizzleTiling {
            swizzle_mode: 27,
            dcc_offset_256b: 1,
            dcc_pitch_max: 2,
            dcc_independent_64b: true,
            scanout: true,
            ..Default::default()
        };
        assert_eq!(swizzle.encode(), Ok(0x1b | 1 << 5 | 2 << 29 | 1 << 43 | 1 << 63));
        assert_eq!(Gfx12Tiling::RAW_MEMORY.encode(), Ok(1 << 14));
    }

    #[test]
    fn a_value_without_room_is_named_and_never_cut() {
        let tiling = SwizzleTiling { swizzle_mode: 32, ..Default::default() };
        let error = tiling.encode().unwrap_err();
        assert_eq!(error, TilingFieldError { field: "swizzle_mode", value: 32, bits: 5 });
        assert_eq!(error.to_string(), "swizzle_mode 0x20 does not fit its 5 bits");
    }

    #[test]
    fn a_tile_split_that_means_nothing_is_read_as_1024() {
        let split = |tile_split| LegacyTiling { tile_split, ..Default::default() }.tile_split_bytes();
        assert_eq!((split(0), split(6), split(7)), (64, 4096, 1024));
    }

    #[test]
    fn the_display_can_show_what_says_so() {
        for level in GfxLevel::ALL {
            let is_legacy = level < GfxLevel::Gfx9;
            let is_scanout = |word| Tiling::decode(level, word).is_scanout();
            assert_eq!([0, 1 << 63].map(is_scanout), if is_legacy { [true; 2] } else { [false, true] }, "{level}");
            // Micro tiles that are thin, or of depth, or rotated.
            let others = [1, 2, 3, 4].map(|mode| is_scanout(mode << 12));
            assert_eq!(others, [false; 4], "{level}");
        }
    }
}
