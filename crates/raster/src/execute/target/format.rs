//! Formats of colour targets: conversion between channels in memory and components.

use super::value::{nearest, unit};
use crate::Colour;

/// The sizes of channels in bits, the lowest first, by format number.
const CHANNELS: [(u32, &[u32]); 20] = [
    (1, &[8]),
    (2, &[16]),
    (3, &[8, 8]),
    (4, &[32]),
    (5, &[16, 16]),
    (6, &[11, 11, 10]),
    (7, &[10, 11, 11]),
    (8, &[2, 10, 10, 10]),
    (9, &[10, 10, 10, 2]),
    (10, &[8, 8, 8, 8]),
    (11, &[32, 32]),
    (12, &[16, 16, 16, 16]),
    (14, &[32, 32, 32, 32]),
    (16, &[5, 6, 5]),
    (17, &[5, 5, 5, 1]),
    (18, &[1, 5, 5, 5]),
    (19, &[4, 4, 4, 4]),
    (20, &[24, 8]),
    (21, &[8, 24]),
    (SHARED_EXPONENT, &[9, 9, 9, 5]),
];

/// The format whose three components have one exponent, in the highest channel.
const SHARED_EXPONENT: u32 = 24;

/// Returns the channels of a format, if colours can be written to it.
fn channels(number: u32) -> Option<&'static [u32]> {
    CHANNELS.iter().find(|(known, _)| *known == number).map(|(_, channels)| *channels)
}

/// Returns `true` if colours can be written to the target.
pub(crate) fn is_known(colour: &Colour) -> bool {
    let has_number = match colour.format {
        SHARED_EXPONENT => colour.number == number::FLOAT,
        _ => matches!(colour.number, 0 | 1 | 4 | 5 | 6 | number::FLOAT),
    };
    channels(colour.format).is_some() && has_number
}

/// The component of each channel, by the number of channels and the order of components.
///
/// Source: Mesa 25.0.7 `ac_formats.c`, `ac_translate_colorswap`.
const ORDERS: [[[usize; 4]; 4]; 4] = [
    [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]],
    [[0, 1, 0, 0], [0, 3, 0, 0], [1, 0, 0, 0], [3, 0, 0, 0]],
    [[0, 1, 2, 0], [0, 1, 3, 0], [2, 1, 0, 0], [3, 1, 0, 0]],
    [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0], [3, 0, 1, 2]],
];

/// The number formats.
mod number {
    pub(in crate::execute) const UNORM: u32 = 0;
    pub(in crate::execute) const SNORM: u32 = 1;
    pub(in crate::execute) const UINT: u32 = 4;
    pub(in crate::execute) const SINT: u32 = 5;
    pub(in crate::execute) const SRGB: u32 = 6;
    pub(in crate::execute) const FLOAT: u32 = 7;
}

/// A colour format, prepared for conversions.
#[derive(Clone, Copy, Debug)]
pub(in crate::execute) struct Format {
    channels: &'static [u32],
    order: [usize; 4],
    number: u32,
    /// The first bit of each component, if channels are four bytes without sign, as those of most targets are.
    bytes: Option<[u32; 4]>,
}

impl Format {
    pub(in crate::execute) fn new(colour: &Colour) -> Option<Self> {
        let channels = channels(colour.format)?;
        Some(Self::of_channels(channels, ORDERS[channels.len() - 1][colour.swap as usize & 3], colour.number))
    }

    fn of_channels(channels: &'static [u32], order: [usize; 4], number: u32) -> Self {
        let bytes = (number == number::UNORM && channels == [8; 4]).then(|| {
            let mut shifts = [0; 4];
            for (shift, component) in (0..).step_by(8).zip(order) {
                shifts[component] = shift;
            }
            shifts
        });
        Self { channels, order, number, bytes }
    }

    /// Returns the size of a pixel in bits.
    pub(in crate::execute) fn bits(&self) -> u32 {
        self.channels.iter().sum()
    }

    pub(in crate::execute) const fn is_integer(&self) -> bool {
        matches!(self.number, number::UINT | number::SINT)
    }

    /// Returns the range that blending clamps to; `None` for floats.
    pub(in crate::execute) const fn range(&self) -> Option<[f32; 2]> {
        match self.number {
            number::UNORM | number::SRGB => Some([0.0, 1.0]),
            number::SNORM => Some([-1.0, 1.0]),
            _ => None,
        }
    }

    /// Returns the number format of a component: alpha has no curve.
    const fn of_component(&self, component: usize) -> u32 {
        if self.number == number::SRGB && component == 3 { number::UNORM } else { self.number }
    }

    /// Returns the bits of the components of a mask.
    pub(in crate::execute) fn bits_of(&self, mask: u32) -> u128 {
        if self.shares_exponent() {
            // An exponent belongs to all components.
            return if [1, 2, 4].iter().all(|bit| mask & bit == 0) { 0 } else { u32::MAX.into() };
        }
        let mut shift = 0;
        let mut bits = 0;
        for (channel, width) in self.channels.iter().enumerate() {
            if mask >> self.order[channel] & 1 != 0 {
                bits |= ((1_u128 << width) - 1) << shift;
            }
            shift += width;
        }
        bits
    }

    /// Returns the bits of the highest channel.
    pub(in crate::execute) fn last_channel(&self) -> u128 {
        let width = self.channels.last().copied().unwrap_or(0);
        ((1_u128 << width) - 1) << (self.bits() - width)
    }

    /// Returns the pixel whose channels are at the ends of their ranges, 0 or the largest: most channels, and the one that has a bit of
    /// its own in codes of DCC. That is the highest channel if alpha is there, or there is no alpha; otherwise the lowest.
    pub(in crate::execute) fn extremes(&self, colour: &Colour, main: bool, extra: bool) -> u128 {
        let count = self.channels.len();
        let has_extra = !matches!(self.channels, [5, 6, 5] | [11, 11, 10]);
        // Orders that are reversed have alpha in the lowest channel.
        let is_low = if count == 1 { colour.swap == 3 } else { matches!(colour.swap, 2 | 3) };
        let own = if is_low { 0 } else { count - 1 };
        let one = match self.number {
            number::UINT => u32::MAX,
            number::SINT => i32::MAX.cast_unsigned(),
            _ => 1.0_f32.to_bits(),
        };
        let of = |channel: usize| {
            let is_one = if has_extra && channel == own { extra } else { main };
            if is_one { one } else { 0 }
        };
        let mut components = [0; 4];
        for (channel, component) in self.order.iter().take(count).enumerate() {
            components[*component] = of(channel);
        }
        self.pack(components)
    }

    /// Returns the components of a pixel: floats or integers as bits. Those that the format lacks are 0, alpha is one.
    pub(in crate::execute) fn unpack(&self, raw: u128) -> [u32; 4] {
        let one = if self.is_integer() { 1 } else { 1.0_f32.to_bits() };
        let mut components = [0, 0, 0, one];
        if self.shares_exponent() {
            let scale = 2.0_f64.powi((raw >> 27) as i32 - 24);
            for (component, shift) in components.iter_mut().zip([0, 9, 18]) {
                let mantissa = (raw >> shift) as u32 & 0x1ff;
                *component = ((f64::from(mantissa) * scale) as f32).to_bits();
            }
            return components;
        }
        let mut shift = 0;
        for (channel, width) in self.channels.iter().enumerate() {
            let component = self.order[channel];
            let bits = (raw >> shift) as u32 & (u32::MAX >> (32 - width));
            components[component] = load(self.of_component(component), bits, *width);
            shift += width;
        }
        components
    }

    /// Returns the pixels of 64 lanes, of which `of` returns a component, if channels are four bytes; `None` otherwise.
    pub(in crate::execute) fn pack_lanes(&self, of: impl Fn(usize) -> Option<[f32; 64]>) -> Option<[u32; 64]> {
        let shifts = self.bytes?;
        let mut all = [0; 64];
        for (component, shift) in shifts.into_iter().enumerate() {
            for (raw, value) in all.iter_mut().zip(of(component)?) {
                *raw |= nearest(unit(value.into()) * 255.0) << shift;
            }
        }
        Some(all)
    }

    /// Returns the pixel for components.
    pub(in crate::execute) fn pack(&self, components: [u32; 4]) -> u128 {
        if let Some(shifts) = self.bytes {
            let byte = |bits: u32| nearest(unit(f32::from_bits(bits).into()) * 255.0);
            return (0..4).fold(0, |raw, component| raw | byte(components[component]) << shifts[component]).into();
        }
        self.pack_channels(components)
    }

    /// Returns `true` if three components have one exponent.
    fn shares_exponent(&self) -> bool {
        self.channels == [9, 9, 9, 5]
    }

    fn pack_channels(&self, components: [u32; 4]) -> u128 {
        if self.shares_exponent() {
            return shared([0, 1, 2].map(|component: usize| f32::from_bits(components[component]))).into();
        }
        let mut shift = 0;
        let mut raw = 0;
        for (channel, width) in self.channels.iter().enumerate() {
            let component = self.order[channel];
            let bits = store(self.of_component(component), components[component], *width);
            raw |= u128::from(bits & (u32::MAX >> (32 - width))) << shift;
            shift += width;
        }
        raw
    }
}

/// Returns the linear value for an sRGB value (IEC 61966-2-1).
fn linear(value: f64) -> f64 {
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// Returns the sRGB value for a linear value.
fn curved(value: f64) -> f64 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 }
}

fn load(number: u32, bits: u32, width: u32) -> u32 {
    let largest = f64::from(u32::MAX >> (32 - width));
    let signed = (bits << (32 - width)).cast_signed() >> (32 - width);
    let float = |value: f64| (value as f32).to_bits();
    match number {
        number::UNORM => float(f64::from(bits) / largest),
        number::SNORM => float((f64::from(signed) / f64::from(u32::MAX >> (33 - width))).max(-1.0)),
        number::SRGB => float(linear(f64::from(bits) / largest)),
        number::UINT => bits,
        number::SINT => signed.cast_unsigned(),
        _ => match width {
            16 => half(bits as u16).to_bits(),
            // Small floats have no sign, and the exponent of a half.
            11 => half((bits << 4) as u16).to_bits(),
            10 => half((bits << 5) as u16).to_bits(),
            _ => bits,
        },
    }
}

fn store(number: u32, component: u32, width: u32) -> u32 {
    let value = f64::from(f32::from_bits(component));
    let largest = f64::from(u32::MAX >> (32 - width));
    match number {
        // A NaN becomes 0.
        number::UNORM if width < 31 => nearest(unit(value) * largest),
        number::UNORM => (value.clamp(0.0, 1.0) * largest).round_ties_even() as u32,
        number::SNORM => {
            let scaled = value.clamp(-1.0, 1.0) * f64::from(u32::MAX >> (33 - width));
            (scaled.round_ties_even() as i32).cast_unsigned()
        }
        number::SRGB => (curved(value.clamp(0.0, 1.0)) * largest).round_ties_even() as u32,
        number::UINT => component.min(u32::MAX >> (32 - width)),
        number::SINT => {
            let limit = 1_i64 << (width - 1);
            (i64::from(component.cast_signed()).clamp(-limit, limit - 1) as i32).cast_unsigned()
        }
        _ => match width {
            16 => u32::from(to_half(f32::from_bits(component))),
            11 => small(component, 6),
            10 => small(component, 5),
            _ => component,
        },
    }
}

/// Returns a pixel of three components with one exponent; what is negative or not a number is 0.
///
/// Source: the Vulkan specification, "Conversion from RGB to Shared Exponent".
fn shared(components: [f32; 3]) -> u32 {
    let clamped = components.map(|value| if value > 0.0 { f64::from(value).min(65_408.0) } else { 0.0 });
    let largest = clamped.into_iter().fold(0.0, f64::max);
    let rounded = |value: f64, exponent: i32| (value * 2.0_f64.powi(24 - exponent) + 0.5).floor() as u32;
    let mut exponent = if largest > 0.0 { (largest.log2().floor() as i32).max(-16) + 16 } else { 0 };
    if rounded(largest, exponent) > 0x1ff {
        exponent += 1;
    }
    let [r, g, b] = clamped.map(|value| rounded(value, exponent));
    r | g << 9 | b << 18 | exponent.cast_unsigned() << 27
}

/// Returns a float without sign, with five bits of exponent, for a 32-bit float: truncated, negative numbers are 0.
fn small(component: u32, mantissa: u32) -> u32 {
    let value = f32::from_bits(component);
    if value.is_nan() {
        return 31 << mantissa | 1 << (mantissa - 1);
    }
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return 31 << mantissa;
    }
    let exponent = (component >> 23) as i32 - 127;
    if exponent > 15 {
        return (31 << mantissa) - 1;
    }
    if exponent < -14 {
        return (f64::from(value) * f64::from(1 << 14) * f64::from(1_u32 << mantissa)) as u32;
    }
    ((exponent + 15) as u32) << mantissa | component >> (23 - mantissa) & ((1 << mantissa) - 1)
}

/// Returns the value of a 16-bit float.
#[inline]
pub(in crate::execute) fn half(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let (sign, exponent, fraction) = ((bits & 0x8000) << 16, bits >> 10 & 31, bits & 0x3ff);
    match exponent {
        0 => f32::from_bits((fraction as f32 / 16_777_216.0).to_bits() | sign),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Returns the 16-bit float nearest to a value, ties to even.
fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if value.is_nan() {
        return sign | 0x7e00;
    }
    let magnitude = f64::from(value.abs());
    if magnitude >= 65_520.0 {
        return sign | 0x7c00;
    }
    let exponent = ((bits >> 23 & 0xff) as i32 - 127).max(-14);
    // The significand in units of the last place; a carry goes into the exponent by itself.
    let scaled = (magnitude * 2.0_f64.powi(10 - exponent)).round_ties_even() as u32;
    // A normal significand has a hidden bit, which counts as one of the exponent.
    let exponent = if scaled < 0x400 { 0 } else { (exponent + 14) as u32 };
    sign | ((exponent << 10) + scaled) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(number: u32, kind: u32, swap: u32) -> Format {
        let channels = channels(number).unwrap();
        Format::of_channels(channels, ORDERS[channels.len() - 1][swap as usize], kind)
    }

    #[test]
    fn three_components_share_the_exponent_of_the_largest() {
        let format = format(SHARED_EXPONENT, number::FLOAT, 0);
        let pack = |components: [f32; 3]| {
            let [r, g, b] = components.map(f32::to_bits);
            format.pack([r, g, b, 0]) as u32
        };
        // 1 is 256 of 512 with the exponent that stands for 2^1.
        assert_eq!(pack([1.0, 0.5, 0.25]), 256 | 128 << 9 | 64 << 18 | 16 << 27);
        assert_eq!(pack([f32::NAN, -1.0, 0.0]), 0);
        assert_eq!(pack([f32::INFINITY, 65_408.0, 1.0]), 511 | 511 << 9 | 31 << 27);
        // Rounding up to 512 takes the next exponent.
        assert_eq!(pack([511.75 / 512.0, 0.0, 0.0]), 256 | 16 << 27);
        for raw in [0, 256 | 16 << 27, 0x12c | 0x11 << 9 | 0x1ff << 18 | 21 << 27, 0x1ff | 31 << 27, 1] {
            let [r, g, b, a] = format.unpack(u128::from(raw)).map(f32::from_bits);
            assert_eq!((pack([r, g, b]), a), (raw, 1.0));
        }
    }

    /// The conversion in whole numbers: the formulae of the Vulkan specification, "Conversion from RGB to Shared Exponent", on the bits of
    /// floats.
    fn shared_in_whole_numbers(components: [u32; 3]) -> u32 {
        // The value is the first times 2 to the power of the second.
        let parts = |bits: u32| {
            let (exponent, fraction) = ((bits >> 23 & 255) as i32, u128::from(bits & 0x7f_ffff));
            if exponent == 0 { (fraction, -149) } else { (fraction | 1 << 23, exponent - 150) }
        };
        let largest_of_all = (511_u128, 7);
        let clamped = components.map(|bits| match bits {
            // Negative numbers, and what is none.
            _ if bits >> 31 == 1 || bits > 0x7f80_0000 => (0, 0),
            // 511 x 2^7, and all from there on.
            0x477f_8000.. => largest_of_all,
            _ => parts(bits),
        });
        // The power of two at or below the value.
        let power =
            |(value, exponent): (u128, i32)| if value == 0 { i32::MIN } else { value.ilog2() as i32 + exponent };
        // The nearest multiple of 2^(exponent - 24), of halves the larger.
        let rounded = |(value, power): (u128, i32), exponent: i32| {
            let shift = power + 25 - exponent;
            let doubled =
                if shift >= 0 { value << shift } else { value.checked_shr(shift.unsigned_abs()).unwrap_or(0) };
            ((doubled + 1) >> 1) as u32
        };
        let first = clamped.into_iter().map(power).max().unwrap().max(-16) + 16;
        let overflows = clamped.into_iter().any(|value| rounded(value, first) == 512);
        let exponent = first + i32::from(overflows);
        let [r, g, b] = clamped.map(|value| rounded(value, exponent));
        r | g << 9 | b << 18 | exponent.cast_unsigned() << 27
    }

    #[test]
    fn every_float_has_the_shared_exponent_of_the_formula_in_whole_numbers() {
        let format = format(SHARED_EXPONENT, number::FLOAT, 0);
        let check = |components: [u32; 3]| {
            let [r, g, b] = components;
            assert_eq!(format.pack([r, g, b, 0]) as u32, shared_in_whole_numbers(components), "{components:x?}");
        };
        // Fractions around halves of nine bits and of all smaller ones, where rounding and its carry decide.
        let fractions: Vec<u32> = (13..=23)
            .flat_map(|bit| [0x7f_ffff_u32 >> (23 - bit), (1_u32 << bit) & 0x7f_ffff, (0x7f_ffff << bit) & 0x7f_ffff])
            .flat_map(|fraction| [fraction.saturating_sub(1), fraction, (fraction + 1) & 0x7f_ffff])
            .collect();
        for exponent in 0..=255 {
            for (index, fraction) in fractions.iter().enumerate() {
                let value = exponent << 23 | fraction;
                // Smaller, larger and equal neighbours; numbers without one; and negative ones.
                let near = [exponent.saturating_sub(1), exponent.saturating_sub(9), (exponent + 1).min(254), exponent];
                let beside = near[index % 4] << 23 | fractions[(index * 7 + 3) % fractions.len()];
                let odd = [0x7fc0_0000, 0x7f80_0000, 0xff80_0000, value | 1 << 31, 0, 1, 0x8000_0000][index % 7];
                check([value, beside, 0]);
                check([beside, odd, value]);
                check([odd, value, value]);
            }
        }
    }

    #[test]
    fn four_bytes_are_packed_as_channels_are() {
        let values = [f32::NAN, -1.0, -0.0, 0.5 / 255.0, 1.5 / 255.0, 0.25, 0.999, 1.0, 3.0].map(f32::to_bits);
        for swap in 0..4 {
            let format = format(10, 0, swap);
            assert!(format.bytes.is_some());
            for index in 0..values.len() {
                let components = [0, 2, 5, 7].map(|offset: usize| values[(index + offset) % values.len()]);
                assert_eq!(format.pack(components), format.pack_channels(components), "{swap}: {components:x?}");
                let lanes = format.pack_lanes(|component| Some([f32::from_bits(components[component]); 64])).unwrap();
                assert_eq!(u128::from(lanes[index]), format.pack(components), "{swap}: {components:x?}");
            }
        }
    }

    #[test]
    fn every_half_survives_both_conversions() {
        for bits in 0..=u16::MAX {
            let value = half(bits);
            assert!(value.is_nan() || to_half(value) == bits, "{bits:#x}");
        }
        assert_eq!((to_half(1.0 + 1.0 / 2048.0), to_half(65_519.0), to_half(65_520.0)), (0x3c00, 0x7bff, 0x7c00));
    }

    #[test]
    fn every_byte_of_every_number_format_survives() {
        for kind in [0, 1, 4, 5, 6] {
            let format = format(10, kind, 0);
            for byte in 0..=255_u128 {
                let raw = byte * 0x0101_0101;
                let same = format.pack(format.unpack(raw));
                assert!(same == raw || kind == 1 && byte == 0x80 && same == 0x8181_8181, "{kind}: {raw:#x} {same:#x}");
            }
        }
    }

    #[test]
    fn orders_put_components_where_the_generations_do() {
        let red = [1.0, 0.0, 0.0, 0.0].map(f32::to_bits);
        let places = [0, 16, 24, 8];
        for (swap, place) in places.into_iter().enumerate() {
            assert_eq!(format(10, 0, swap as u32).pack(red), 0xff << place, "{swap}");
            assert_eq!(format(10, 0, swap as u32).bits_of(1), 0xff << place);
        }
        assert_eq!(format(16, 0, 2).pack(red), 0x1f << 11);
        assert_eq!(format(9, 0, 0).pack(red), 0x3ff);
    }

    #[test]
    fn small_floats_truncate_and_have_no_sign() {
        let pack = |value: f32| format(6, 7, 0).pack([value.to_bits(), 0, 0, 0]);
        assert_eq!([pack(1.0), pack(-1.0), pack(1.0 + 127.0 / 8192.0)], [15 << 6, 0, 15 << 6]);
        assert_eq!(pack(f32::INFINITY), 31 << 6);
        // Denormals are multiples of 2^-20.
        assert_eq!(half((pack(3.5 / 1_048_576.0) << 4) as u16), 3.0 / 1_048_576.0);
    }
}
