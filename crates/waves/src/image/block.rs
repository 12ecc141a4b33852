//! Texels of compressed blocks: BC1 to BC7.

use crate::{buffer::format::Number, number::half::Half};

/// Texels of a block in each axis.
pub(crate) const SIDE: u32 = 4;

/// Texels of a block.
const TEXELS: usize = 16;

/// A format of blocks of four by four texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Bc1,
    Bc2,
    Bc3,
    /// One channel.
    Bc4 {
        signed: bool,
    },
    /// Two channels.
    Bc5 {
        signed: bool,
    },
    /// Three 16-bit floats.
    Bc6 {
        signed: bool,
    },
    Bc7,
}

impl Block {
    /// Returns the format of a name such as `BC1_SRGB`, and the number format of its channels.
    ///
    /// GFX6 to GFX9 name BC6 with the number formats `UNORM` and `SNORM`, later generations with `UFLOAT` and `SFLOAT`.
    pub(super) fn named(name: &str) -> Option<(Self, Number)> {
        let (data, number) = name.split_once('_')?;
        let signed = matches!(number, "SNORM" | "SFLOAT");
        let color = match number {
            "UNORM" => Some(Number::Unorm),
            "SRGB" => Some(Number::Srgb),
            _ => None,
        };
        let is_norm = matches!(number, "UNORM" | "SNORM");
        match data {
            "BC1" => color.map(|number| (Self::Bc1, number)),
            "BC2" => color.map(|number| (Self::Bc2, number)),
            "BC3" => color.map(|number| (Self::Bc3, number)),
            "BC4" if is_norm => Some((Self::Bc4 { signed }, Number::Float)),
            "BC5" if is_norm => Some((Self::Bc5 { signed }, Number::Float)),
            "BC6" if is_norm || matches!(number, "UFLOAT" | "SFLOAT") => Some((Self::Bc6 { signed }, Number::Float)),
            "BC7" => color.map(|number| (Self::Bc7, number)),
            _ => None,
        }
    }

    /// Returns the bits of a block.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Bc1 | Self::Bc4 { .. } => 64,
            _ => 128,
        }
    }

    /// Returns the bits of the channels that a block is decoded to.
    pub(super) const fn channels(self) -> &'static [u8] {
        match self {
            Self::Bc1 | Self::Bc2 | Self::Bc3 | Self::Bc7 => &[8, 8, 8, 8],
            Self::Bc4 { .. } => &[32],
            Self::Bc5 { .. } => &[32, 32],
            Self::Bc6 { .. } => &[32, 32, 32],
        }
    }

    /// Returns the channels, the lowest first, of a texel of a block.
    pub(super) fn texel(self, block: u128, [x, y]: [u32; 2]) -> u128 {
        let bytes = block.to_le_bytes();
        let index = (y % SIDE * SIDE + x % SIDE) as usize;
        let floats = |all: &[f32], count: usize| {
            let channels = all.iter().skip(index * count).take(count);
            channels.rev().fold(0, |texel, value| texel << 32 | u128::from(value.to_bits()))
        };
        match self {
            Self::Bc1 => color(bcdec_rs::bc1, &bytes[..8], index),
            Self::Bc2 => color(bcdec_rs::bc2, &bytes, index),
            Self::Bc3 => color(bcdec_rs::bc3, &bytes, index),
            Self::Bc7 => color(bcdec_rs::bc7, &bytes, index),
            Self::Bc4 { signed } => {
                let mut texels = [0.0; TEXELS];
                bcdec_rs::bc4_float(&bytes[..8], &mut texels, SIDE as usize, signed);
                floats(&texels, 1)
            }
            Self::Bc5 { signed } => {
                let mut texels = [0.0; TEXELS * 2];
                bcdec_rs::bc5_float(&bytes, &mut texels, SIDE as usize * 2, signed);
                floats(&texels, 2)
            }
            Self::Bc6 { signed } => {
                let mut halves = [0; TEXELS * 3];
                bcdec_rs::bc6h_half(&bytes, &mut halves, SIDE as usize * 3, signed);
                floats(&halves.map(|half| Half(half).value()), 3)
            }
        }
    }
}

/// Returns a texel of four bytes.
fn color(decode: fn(&[u8], &mut [u8], usize), block: &[u8], index: usize) -> u128 {
    let mut texels = [0; TEXELS * 4];
    decode(block, &mut texels, SIDE as usize * 4);
    texels.as_chunks::<4>().0.get(index).map_or(0, |texel| u32::from_le_bytes(*texel).into())
}

#[cfg(test)]
mod tests {
    use crate::image::format::TexelFormat;

    /// Returns a texel's components of a block with these bytes.
    fn texel(name: &str, bytes: [u8; 16], place: [u32; 2]) -> [f32; 4] {
        let format = TexelFormat::named(name).unwrap();
        format.unpack_at(u128::from_le_bytes(bytes), place).map(f32::from_bits)
    }

    /// Returns a block whose bytes start with these.
    fn block(bytes: &[u8]) -> [u8; 16] {
        std::array::from_fn(|index| bytes.get(index).copied().unwrap_or(0))
    }

    fn close(found: [f32; 4], expected: [f32; 4]) {
        let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1.0 / 255.0);
        assert!(is_close, "{found:?} instead of {expected:?}");
    }

    /// Red and blue, and indices 0 to 3 in the first row; index 1 in the second.
    const RED_TO_BLUE: [u8; 8] = [0x00, 0xf8, 0x1f, 0x00, 0b11_10_01_00, 0b01_01_01_01, 0, 0];

    #[test]
    fn four_colours_lie_between_two_endpoints() {
        let colour = |place| texel("BC1_UNORM", block(&RED_TO_BLUE), place);
        close(colour([0, 0]), [1.0, 0.0, 0.0, 1.0]);
        close(colour([1, 0]), [0.0, 0.0, 1.0, 1.0]);
        close(colour([2, 0]), [2.0 / 3.0, 0.0, 1.0 / 3.0, 1.0]);
        close(colour([3, 0]), [1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0]);
        close(colour([0, 1]), [0.0, 0.0, 1.0, 1.0]);
        // Coordinates are those of the level, not of the block.
        close(colour([6, 8]), [2.0 / 3.0, 0.0, 1.0 / 3.0, 1.0]);
    }

    #[test]
    fn endpoints_in_the_other_order_leave_a_transparent_colour() {
        let bytes = block(&[0x1f, 0x00, 0x00, 0xf8, 0b11_10_01_00, 0, 0, 0]);
        close(texel("BC1_UNORM", bytes, [2, 0]), [0.5, 0.0, 0.5, 1.0]);
        close(texel("BC1_UNORM", bytes, [3, 0]), [0.0; 4]);
    }

    #[test]
    fn alpha_of_bc2_is_explicit_and_that_of_bc3_lies_between_two_endpoints() {
        let mut explicit = [0; 16];
        explicit[0] = 0x5f;
        explicit[8..].copy_from_slice(&RED_TO_BLUE);
        close(texel("BC2_UNORM", explicit, [0, 0]), [1.0, 0.0, 0.0, 1.0]);
        close(texel("BC2_UNORM", explicit, [1, 0]), [0.0, 0.0, 1.0, 1.0 / 3.0]);
        // Alpha 1 and 0, with indices 0, 1 and 2.
        let mut smooth = [0; 16];
        smooth[..3].copy_from_slice(&[255, 0, 0b10_001_000]);
        smooth[8..].copy_from_slice(&RED_TO_BLUE);
        close(texel("BC3_UNORM", smooth, [0, 0]), [1.0, 0.0, 0.0, 1.0]);
        close(texel("BC3_UNORM", smooth, [1, 0]), [0.0, 0.0, 1.0, 0.0]);
        close(texel("BC3_UNORM", smooth, [2, 0]), [2.0 / 3.0, 0.0, 1.0 / 3.0, 6.0 / 7.0]);
    }

    #[test]
    fn one_and_two_channels_have_signs_by_their_format() {
        let bytes = block(&[127, 0x81, 0b10_001_000, 0, 0, 0, 0, 0, 0, 127, 0, 0, 0, 0, 0, 0]);
        assert!((texel("BC4_UNORM", bytes, [0, 0])[0] - 127.0 / 255.0).abs() < 1.0e-6);
        assert!((texel("BC4_SNORM", bytes, [0, 0])[0] - 1.0).abs() < 1.0e-6);
        assert!((texel("BC4_SNORM", bytes, [1, 0])[0] + 1.0).abs() < 1.0e-6);
        assert!((texel("BC4_SNORM", bytes, [2, 0])[0] - 5.0 / 7.0).abs() < 1.0e-6);
        let [x, y, z, w] = texel("BC5_SNORM", bytes, [1, 0]);
        assert!((x + 1.0).abs() < 1.0e-6 && y.abs() < 1.0e-6, "{x} {y}");
        assert_eq!([z, w], [0.0, 1.0]);
    }

    #[test]
    fn the_curve_of_srgb_is_for_colours_only() {
        let grey = block(&[0x10, 0x84, 0x10, 0x84]);
        let [linear, curved] = ["BC1_UNORM", "BC1_SRGB"].map(|name| texel(name, grey, [0, 0]));
        assert!((linear[0] - 132.0 / 255.0).abs() < 1.0e-6 && (curved[0] - 0.231).abs() < 1.0e-3, "{curved:?}");
        assert_eq!(curved[3], 1.0);
    }

    #[test]
    fn floats_of_bc6_scale_ten_bits_to_the_largest_half() {
        // Mode 3: one region, endpoints of ten bits; those of the first are all ones, and all indices are 0.
        let ones = ((1_u128 << 35) - (1 << 5)) | 3;
        assert_eq!(texel("BC6_UFLOAT", ones.to_le_bytes(), [3, 3]), [65504.0, 65504.0, 65504.0, 1.0]);
        // With a sign, -1 of ten bits is the smallest step below zero: (-1 << 15 | 0x4000) >> 9 times 31/32 of a half.
        let found = texel("BC6_SNORM", ones.to_le_bytes(), [0, 0]);
        assert!(found[..3].iter().all(|value| *value < 0.0 && *value > -1.0), "{found:?}");
    }

    #[test]
    fn mode_6_of_bc7_has_endpoints_of_seven_bits_and_one_more() {
        // Red and alpha all ones with the lowest bit of the first endpoint set, green and blue 0.
        let bits = 1_u128 << 6 | 0x7f << 7 | 0x7f << 49 | 1 << 63;
        close(texel("BC7_UNORM", bits.to_le_bytes(), [0, 0]), [1.0, 1.0 / 255.0, 1.0 / 255.0, 1.0]);
    }

    proptest::proptest! {
        #[test]
        fn any_bits_are_texels(bits: u128, x: u32, y: u32) {
            for name in ["BC1_SRGB", "BC2_UNORM", "BC3_SRGB", "BC4_SNORM", "BC5_UNORM", "BC6_SFLOAT", "BC6_UNORM", "BC7_SRGB"] {
                let format = TexelFormat::named(name).unwrap();
                let _ = format.unpack_at(bits, [x, y]);
                proptest::prop_assert_eq!(format.pack([0; 4]), None);
            }
        }
    }
}
