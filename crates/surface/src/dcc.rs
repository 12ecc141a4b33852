//! The meaning of the bytes of DCC, each of which describes 256 bytes of pixels.

use crate::GfxLevel;

/// The state of the pixels that a byte of DCC describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DccCode {
    /// The pixels lie in memory.
    Plain,
    /// Every pixel has channels at the ends of their ranges: 0, or 1 (of integers the largest value).
    Extremes {
        /// `true` if the channels without a bit of their own are 1.
        main: bool,
        /// `true` if the channel with a bit of its own is 1: alpha, in the highest or the lowest channel.
        extra: bool,
    },
    /// Every bit of every pixel has this value.
    Bits(bool),
    /// Every pixel has the low bits of this value: a word that is repeated.
    Repeated(u128),
    /// The bits of the highest channel have this value, and all others the opposite one.
    HighestChannel(bool),
    /// Every pixel is like the first one of the block.
    First,
    /// Every pixel has the colour in the clear registers of the colour block, which no other block of the chip reads.
    Registers,
    /// The pixels are compressed, or the generation does not have the code.
    Other,
}

impl DccCode {
    /// The byte that tells of pixels in memory, on all generations.
    pub const PLAIN: u8 = 0xff;

    /// Returns the meaning of a byte on a generation from GFX8 to GFX11.5.
    ///
    /// Sources: Mesa's `radv_meta_clear.c` (`RADV_DCC_*`, `gfx8_get_fast_clear_parameters` and `gfx11_get_fast_clear_parameters`) and
    /// `radv_image.c` (`radv_image_use_comp_to_single`, for the first generation of [`First`](Self::First)).
    #[must_use]
    pub const fn of(level: GfxLevel, byte: u8) -> Self {
        let is_gfx11 = level as u32 >= GfxLevel::Gfx11 as u32;
        let has_first = level as u32 >= GfxLevel::Gfx10 as u32;
        match byte {
            Self::PLAIN => Self::Plain,
            0x00 => Self::Bits(false),
            0x01 if is_gfx11 => Self::First,
            0x02 if is_gfx11 => Self::Bits(true),
            0x04 if is_gfx11 => Self::Repeated(0x3c00_3c00_3c00_3c00_3c00_3c00_3c00_3c00),
            0x06 if is_gfx11 => Self::Repeated(0x3f80_0000_3f80_0000_3f80_0000_3f80_0000),
            0x08 if is_gfx11 => Self::HighestChannel(true),
            0x0a if is_gfx11 => Self::HighestChannel(false),
            _ if is_gfx11 => Self::Other,
            0x10 if has_first => Self::First,
            0x20 => Self::Registers,
            0x40 => Self::Extremes { main: false, extra: true },
            0x80 => Self::Extremes { main: true, extra: false },
            0xc0 => Self::Extremes { main: true, extra: true },
            _ => Self::Other,
        }
    }

    /// Returns the pixel of a cleared block in a format of up to 128 bits; 0 for a code that names none.
    ///
    /// `widths` are the bits of its channels from the lowest one on, `own` is the channel with a bit of its own, and `one` returns the
    /// upper end of the range of a channel of so many bits.
    #[must_use]
    pub fn pixel(self, widths: &[u32], own: Option<usize>, one: impl Fn(u32) -> u128) -> u128 {
        let (mut pixel, mut shift) = (0, 0);
        for (channel, &width) in widths.iter().enumerate() {
            let ones = (1 << width) - 1;
            let value = match self {
                Self::Extremes { main, extra } => {
                    let is_one = if own == Some(channel) { extra } else { main };
                    if is_one { one(width) } else { 0 }
                }
                Self::Bits(true) => ones,
                Self::Repeated(pixels) => pixels >> shift & ones,
                Self::HighestChannel(is_set) if is_set == (channel + 1 == widths.len()) => ones,
                _ => 0,
            };
            pixel |= value << shift;
            shift += width;
        }
        pixel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_gfx8_to_gfx10_are_extremes_of_the_format() {
        for level in [GfxLevel::Gfx8, GfxLevel::Gfx9, GfxLevel::Gfx10, GfxLevel::Gfx10_3] {
            assert_eq!(DccCode::of(level, 0xff), DccCode::Plain);
            assert_eq!(DccCode::of(level, 0x00), DccCode::Bits(false));
            assert_eq!(DccCode::of(level, 0x40), DccCode::Extremes { main: false, extra: true });
            assert_eq!(DccCode::of(level, 0x80), DccCode::Extremes { main: true, extra: false });
            assert_eq!(DccCode::of(level, 0xc0), DccCode::Extremes { main: true, extra: true });
            assert_eq!(DccCode::of(level, 0x20), DccCode::Registers);
            assert_eq!(DccCode::of(level, 0x02), DccCode::Other);
        }
        assert_eq!(DccCode::of(GfxLevel::Gfx9, 0x10), DccCode::Other);
        assert_eq!(DccCode::of(GfxLevel::Gfx10, 0x10), DccCode::First);
    }

    #[test]
    fn codes_of_gfx11_are_words_and_no_registers() {
        let of = |byte| DccCode::of(GfxLevel::Gfx11, byte);
        assert_eq!([of(0x00), of(0x02)], [false, true].map(DccCode::Bits));
        assert_eq!([of(0x0a), of(0x08)], [false, true].map(DccCode::HighestChannel));
        assert_eq!([of(0x01), of(0x20), of(0xff)], [DccCode::First, DccCode::Other, DccCode::Plain]);
        let (halves, floats) = (u128::MAX / 0xffff * 0x3c00, u128::MAX / 0xffff_ffff * 0x3f80_0000);
        assert_eq!([of(0x04), of(0x06)], [halves, floats].map(DccCode::Repeated));
    }
}
