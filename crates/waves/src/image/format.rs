//! Formats of texels, by the names of the hardware's format numbers.

use super::block::{Block, SIDE};
use crate::buffer::format::{Format, Number};

/// A format of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TexelFormat {
    /// Channels and their numbers.
    pub(crate) plain: Format,
    /// The block format, if elements are compressed blocks; `plain` then has the channels of the decoded texels.
    block: Option<Block>,
    /// The size of an element in bits.
    pub(crate) bits: u32,
    /// `true` if the three low channels share the exponent in the fourth.
    shares_exponent: bool,
    /// `true` if values are clamped to the range 0 to 1.
    clamps: bool,
    /// The number of bits for each sample, if elements are FMASK. Registers receive four bits for each sample.
    mask_bits: Option<u32>,
}

/// Channels, the lowest first, by the name of the data format, whose first number is the highest channel.
const CHANNELS: [(&str, &[u8], u32); 23] = [
    ("8", &[8], 8),
    ("16", &[16], 16),
    ("8_8", &[8, 8], 16),
    ("32", &[32], 32),
    ("16_16", &[16, 16], 32),
    ("10_11_11", &[11, 11, 10], 32),
    ("11_11_10", &[10, 11, 11], 32),
    ("10_10_10_2", &[2, 10, 10, 10], 32),
    ("2_10_10_10", &[10, 10, 10, 2], 32),
    ("8_8_8_8", &[8, 8, 8, 8], 32),
    ("32_32", &[32, 32], 64),
    ("16_16_16_16", &[16, 16, 16, 16], 64),
    ("32_32_32", &[32, 32, 32], 96),
    ("32_32_32_32", &[32, 32, 32, 32], 128),
    ("5_6_5", &[5, 6, 5], 16),
    ("1_5_5_5", &[5, 5, 5, 1], 16),
    ("5_5_5_1", &[1, 5, 5, 5], 16),
    ("4_4_4_4", &[4, 4, 4, 4], 16),
    ("4_4", &[4, 4], 8),
    ("8_24", &[24, 8], 32),
    ("24_8", &[8, 24], 32),
    ("X24_8_32", &[32, 8], 64),
    ("5_9_9_9", &[9, 9, 9, 5], 32),
];

/// Returns the meaning of a number format's name.
fn number(name: &str) -> Option<Number> {
    Some(match name {
        "UNORM" => Number::Unorm,
        "SNORM" => Number::Snorm,
        "USCALED" => Number::Uscaled,
        "SSCALED" => Number::Sscaled,
        "UINT" => Number::Uint,
        "SINT" => Number::Sint,
        "FLOAT" => Number::Float,
        "SRGB" => Number::Srgb,
        _ => return None,
    })
}

impl TexelFormat {
    /// The format of images that have none, whose constants are floating-point numbers.
    pub(crate) const PLACEHOLDER: Self = Self {
        plain: Format { channels: &[32], number: Number::Float },
        block: None,
        bits: 32,
        shares_exponent: false,
        clamps: false,
        mask_bits: None,
    };

    /// Returns the format with a name such as `8_8_8_8_UNORM`; `None` for formats that are not supported.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("FMASK") {
            return Self::mask(rest);
        }
        if let Some((block, number)) = Block::named(name) {
            let plain = Format { channels: block.channels(), number };
            let (bits, block) = (block.bits(), Some(block));
            return Some(Self { plain, block, bits, shares_exponent: false, clamps: false, mask_bits: None });
        }
        let (data, numbers) = if let Some(data) = name.strip_suffix("_FLOAT_CLAMP") {
            (data, Number::Float)
        } else {
            let (data, numbers) = name.strip_suffix("_NZ").unwrap_or(name).rsplit_once('_')?;
            (data, number(numbers)?)
        };
        let (_, channels, bits) = *CHANNELS.iter().find(|(known, ..)| *known == data)?;
        let shares_exponent = data == "5_9_9_9";
        if shares_exponent && numbers != Number::Float {
            return None;
        }
        let clamps = name.ends_with("_CLAMP");
        Some(Self {
            plain: Format { channels, number: numbers },
            block: None,
            bits,
            shares_exponent,
            clamps,
            mask_bits: None,
        })
    }

    /// Returns the format of an FMASK by its bits, samples and fragments, such as `8_S4_F2` or `_8_4_2`.
    ///
    /// A sample has the base-2 logarithm of the number of fragments as its bits, one more if samples may be unknown, and four
    /// instead of three (addrlib's `Gfx9Lib::GetFmaskBpp`).
    fn mask(name: &str) -> Option<Self> {
        let mut numbers = name.split('_').filter(|part| !part.is_empty());
        let mut next = || numbers.next()?.trim_start_matches(['S', 'F']).parse::<u32>().ok();
        let (bits, samples, fragments) = (next()?, next()?, next()?);
        let channels: &'static [u8] = match bits {
            8 => &[8],
            16 => &[16],
            32 => &[32],
            64 => &[32, 32],
            _ => return None,
        };
        let wide = fragments.checked_ilog2()? + u32::from(samples > fragments);
        let plain = Format { channels, number: Number::Uint };
        let mask_bits = Some(if wide == 3 { 4 } else { wide.max(1) });
        Some(Self { plain, block: None, bits, shares_exponent: false, clamps: false, mask_bits })
    }

    /// Returns `true` if the elements are FMASK.
    pub(crate) fn is_fmask(self) -> bool {
        self.mask_bits.is_some()
    }

    /// Returns the size of an element in bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.bits / 8
    }

    /// Returns the width and height of an element in texels.
    pub(crate) fn texels(self) -> u32 {
        if self.block.is_some() { SIDE } else { 1 }
    }

    /// Returns the four components of the texel at `[x, y]` of a level from its element.
    pub(crate) fn unpack_at(self, element: u128, place: [u32; 2]) -> [u32; 4] {
        self.unpack(self.block.map_or(element, |block| block.texel(element, place)))
    }

    /// Returns the four components of an element that is a single texel.
    pub(crate) fn unpack(self, element: u128) -> [u32; 4] {
        if self.shares_exponent {
            let scale = 2.0_f32.powi((element >> 27 & 31) as i32 - 24);
            let part = |shift: u32| ((element >> shift & 0x1ff) as f32 * scale).to_bits();
            return [part(0), part(9), part(18), 1.0_f32.to_bits()];
        }
        if let Some(bits) = self.mask_bits.filter(|bits| *bits < 4) {
            let number = |sample: u32| (element >> (bits * sample)) as u32 & ((1 << bits) - 1);
            let word = |first: u32| (0..8).fold(0, |word, sample| word | number(first + sample) << (4 * sample));
            return [word(0), word(8), 0, 1];
        }
        let components = self.plain.unpack(element);
        if self.clamps {
            return components.map(|component| f32::from_bits(component).clamp(0.0, 1.0).to_bits());
        }
        components
    }

    /// Returns the element for four components; `None` for formats that do not support stores.
    pub(crate) fn pack(self, components: [u32; 4]) -> Option<u128> {
        (!self.shares_exponent && !self.is_fmask() && self.block.is_none()).then(|| self.plain.pack(components))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names() -> impl Strategy<Value = String> {
        let numbers = ["UNORM", "SNORM", "UINT", "SINT", "FLOAT", "SRGB"];
        (0..CHANNELS.len(), 0..numbers.len()).prop_map(move |(data, number)| {
            let number = if CHANNELS[data].0 == "5_9_9_9" { "FLOAT" } else { numbers[number] };
            format!("{}_{number}", CHANNELS[data].0)
        })
    }

    proptest! {
        #[test]
        fn what_was_loaded_is_stored_as_it_was(name in names(), raw: u128) {
            let Some(format) = TexelFormat::named(&name) else { return Ok(()) };
            let components = format.unpack(raw);
            let Some(packed) = format.pack(components) else { return Ok(()) };
            // Values survive, and so a second round changes nothing; NaN payloads and two ways to say -1 do not count.
            let again = format.unpack(packed);
            for (a, b) in components.iter().zip(again) {
                let (x, y) = (f32::from_bits(*a), f32::from_bits(b));
                let nan = !format.plain.is_integer() && x.is_nan();
                prop_assert!(*a == b || nan || (x == y && !format.plain.is_integer()), "{name}: {x} {y}");
            }
        }
    }

    #[test]
    fn shared_exponents_scale_three_components() {
        let format = TexelFormat::named("5_9_9_9_FLOAT").unwrap();
        let element = 16 << 27 | 3 << 18 | 2 << 9 | 256;
        let floats = format.unpack(element).map(f32::from_bits);
        assert_eq!(floats, [1.0, 2.0 / 256.0, 3.0 / 256.0, 1.0]);
    }

    #[test]
    fn the_first_number_of_a_name_is_the_highest_channel() {
        let unpack = |name: &str, raw| TexelFormat::named(name).unwrap().unpack(raw);
        assert_eq!(unpack("2_10_10_10_UINT", 0xc000_0001), [1, 0, 0, 3]);
        assert_eq!(unpack("5_6_5_UNORM", 0xf800).map(f32::from_bits), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(unpack("8_24_UINT", 0xab00_0005)[..2], [5, 0xab]);
    }

    #[test]
    fn srgb_curves_colours_but_not_alpha() {
        let [r, _, _, a] = TexelFormat::named("8_8_8_8_SRGB").unwrap().unpack(0x8000_0080).map(f32::from_bits);
        assert!((r - 0.215_86).abs() < 1.0e-4 && (a - 0.501_96).abs() < 1.0e-4, "{r} {a}");
    }

    #[test]
    fn numbers_of_fragments_come_in_four_bits_each() {
        let unpack = |name: &str, raw: u128| TexelFormat::named(name).unwrap().unpack(raw)[0];
        assert_eq!(unpack("FMASK8_S2_F2", 0x02), 0x10);
        assert_eq!(unpack("FMASK_8_2_2", 0x02), 0x10);
        assert_eq!(unpack("FMASK8_S4_F4", 0xe4), 0x3210);
        assert_eq!(unpack("FMASK32_S8_F8", 0x7654_3210), 0x7654_3210);
        assert_eq!(unpack("FMASK_16_8_2", 0xe4e4), 0x3210_3210);
        assert_eq!(TexelFormat::named("FMASK_RESERVED_13"), None);
    }

    #[test]
    fn integers_that_do_not_fit_are_clamped() {
        let pack = |name: &str, values| TexelFormat::named(name).unwrap().pack(values).unwrap();
        assert_eq!(pack("8_8_UINT", [300, 7, 0, 0]), 0x07ff);
        assert_eq!(pack("16_SINT", [(-40_000_i32).cast_unsigned(), 0, 0, 0]), 0x8000);
    }
}
