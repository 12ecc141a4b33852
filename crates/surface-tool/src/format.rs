//! Formats by name, and their colours.

use amdgpu_descriptors::format::Format;

use crate::outcome::Error;

/// Returns the format of a name; without a numeric type, the first of its kind in Vulkan's order.
pub(crate) fn named(name: &str) -> Result<Format, Error> {
    let wanted = name.to_uppercase();
    let wanted = wanted.strip_prefix("VK_FORMAT_").unwrap_or(&wanted);
    let begins = |format: &Format| format.name().strip_prefix(wanted).is_some_and(|rest| rest.starts_with('_'));
    let found = Format::named(wanted).or_else(|| Format::all().filter(begins).min_by_key(|format| format.vulkan()));
    found.ok_or_else(|| Error::Format(name.to_owned()))
}

/// The numeric type of a format's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Unsigned,
    Float,
}

/// A channel: its letter and the place of its bits.
#[derive(Clone, Copy, Debug)]
struct Channel {
    letter: char,
    shift: u32,
    bits: u32,
}

/// The channels of a format, as its name says.
#[derive(Clone, Debug)]
pub(crate) struct Colors {
    channels: Vec<Channel>,
    number: Number,
}

/// Splits `R8G8` into letters and bits.
fn components(segment: &str) -> Option<Vec<(char, u32)>> {
    let mut found = Vec::new();
    let mut rest = segment;
    while let Some(letter) = rest.chars().next() {
        let digits = rest.get(1..)?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let bits = digits.get(..end)?.parse().ok().filter(|bits| (1..=64).contains(bits))?;
        "RGBADSX".contains(letter).then_some(())?;
        found.push((letter, bits));
        rest = digits.get(end..)?;
    }
    (!found.is_empty()).then_some(found)
}

impl Colors {
    /// Returns the channels of a format that a picture can show: unsigned or floating-point numbers of 128 bits together at
    /// most, none compressed.
    pub(crate) fn of(format: Format) -> Result<Self, Error> {
        let none = || Error::NoColors { format: format.name() };
        let segments: Vec<_> = format.name().split('_').collect();
        let mut parts: Vec<(char, u32)> = segments.iter().map_while(|segment| components(segment)).flatten().collect();
        let number = if segments.contains(&"SFLOAT") {
            Number::Float
        } else if ["UNORM", "SRGB", "UINT", "USCALED"].iter().any(|kind| segments.contains(kind)) {
            Number::Unsigned
        } else {
            return Err(none());
        };
        // Packed formats name the highest bits first.
        if segments.iter().any(|segment| segment.starts_with("PACK")) {
            parts.reverse();
        }
        let mut shift = 0;
        let mut channels = Vec::new();
        for (letter, bits) in parts {
            channels.push(Channel { letter, shift, bits });
            shift += bits;
        }
        let fits = !channels.is_empty() && shift <= 128.min(8 * format.bytes()) && !format.is_compressed();
        let floats = number != Number::Float || channels.iter().all(|channel| matches!(channel.bits, 16 | 32));
        if fits && floats { Ok(Self { channels, number }) } else { Err(none()) }
    }

    /// Returns red, green, blue and alpha of an element. One channel alone becomes grey; floating-point numbers are cut to 0
    /// and 1.
    pub(crate) fn rgba(&self, element: &[u8]) -> [u8; 4] {
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(element) {
            *to = *from;
        }
        let element = u128::from_le_bytes(bytes);
        let mut out = [0, 0, 0, 255];
        let mut colors = 0;
        for channel in &self.channels {
            let value = self.value(element, *channel);
            let place = match channel.letter {
                'R' | 'D' | 'S' => 0,
                'G' => 1,
                'B' => 2,
                'A' => 3,
                _ => continue,
            };
            colors += u32::from(place < 3);
            if let Some(slot) = out.get_mut(place) {
                *slot = value;
            }
        }
        let [first, .., alpha] = out;
        if colors == 1 { [first, first, first, alpha] } else { out }
    }

    fn value(&self, element: u128, channel: Channel) -> u8 {
        let mask = (1_u128 << channel.bits.min(64)) - 1;
        let raw = (element >> channel.shift & mask) as u64;
        match (self.number, channel.bits) {
            (Number::Float, 16) => unit(half(raw as u16)),
            (Number::Float, _) => unit(f32::from_bits(raw as u32)),
            (Number::Unsigned, bits) => {
                let most = mask as u64;
                let rounded = (u128::from(raw) * 255 + u128::from(most / 2)) / u128::from(most.max(1));
                debug_assert!(bits > 64 || rounded <= 255, "a channel is at most all ones");
                rounded as u8
            }
        }
    }
}

/// Returns a number between 0 and 1 as a byte.
fn unit(value: f32) -> u8 {
    // Bit by bit: what is no number passes no comparison.
    (0..8).rev().fold(0, |byte, bit| {
        let next = byte | 1 << bit;
        if value * 255.0 + 0.5 >= f32::from(next) { next } else { byte }
    })
}

/// Returns the value of a half-precision number.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 31, f32::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction / 1024.0 * (-14_f32).exp2(),
        31 => f32::MAX,
        _ => (1.0 + fraction / 1024.0) * (f32::from(exponent) - 15.0).exp2(),
    };
    if bits >> 15 == 1 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_name() {
        let rgba = |name: &str, element: &[u8]| Colors::of(named(name).unwrap()).unwrap().rgba(element);
        assert_eq!(rgba("R8G8B8A8", &[1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(rgba("B8G8R8A8_SRGB", &[1, 2, 3, 4]), [3, 2, 1, 4]);
        assert_eq!(rgba("R5G6B5_UNORM_PACK16", &0xf800_u16.to_le_bytes()), [255, 0, 0, 255]);
        assert_eq!(rgba("A2B10G10R10_UNORM_PACK32", &0x3ff_u32.to_le_bytes()), [255, 0, 0, 0]);
        assert_eq!(rgba("R8", &[7]), [7, 7, 7, 255]);
        assert_eq!(rgba("R16G16B16A16_SFLOAT", &[0, 0x3c, 0, 0x38, 0, 0xbc, 0, 0x3c]), [255, 128, 0, 255]);
        assert_eq!(rgba("D32_SFLOAT", &0.5_f32.to_le_bytes()), [128, 128, 128, 255]);
        assert!(Colors::of(named("BC1_RGBA_UNORM_BLOCK").unwrap()).is_err());
        assert!(named("R8G8B8A7").is_err());
    }

    #[test]
    fn every_format_has_colours_or_is_refused() {
        for format in Format::all() {
            if let Ok(colors) = Colors::of(format) {
                colors.rgba(&[0xff; 16]);
            }
        }
    }
}
