//! Formats of typed buffers: conversion between channels in memory and values in registers.

use amdgpu_hw::GfxLevel;

use crate::number::{
    half::Half,
    round::{Direction, encode},
};

/// Interpretation of a channel's bits as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
    /// Colours with the sRGB transfer function and linear alpha; images only.
    Srgb,
}

impl Number {
    /// Returns the meaning of a component's bits.
    fn of_component(self, index: usize) -> Self {
        if self == Self::Srgb && index == 3 { Self::Unorm } else { self }
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

/// A format of up to four channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// The number of bits of each channel, the lowest first.
    pub(crate) channels: &'static [u8],
    pub(crate) number: Number,
}

/// The channels of each data format.
const CHANNELS: [&[u8]; 15] = [
    &[],
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8, 8, 8, 8],
    &[32, 32],
    &[16, 16, 16, 16],
    &[32, 32, 32],
    &[32, 32, 32, 32],
];

const INTEGERS: &[u32] = &[0, 1, 2, 3, 4, 5];
const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 7];
const WIDE: &[u32] = &[4, 5, 7];
const FLOATS: &[u32] = &[7];
const NORMALIZED_OR_INTEGERS: &[u32] = &[0, 1, 4, 5];

/// The number formats of data formats 1 to 14 in the unified numbering of GFX10.
const GFX10: [&[u32]; 14] =
    [INTEGERS, ALL, INTEGERS, WIDE, ALL, ALL, ALL, INTEGERS, INTEGERS, INTEGERS, WIDE, ALL, WIDE, WIDE];

/// The number formats of data formats 1 to 14 in the unified numbering of GFX11 and later.
const GFX11: [&[u32]; 14] = [
    INTEGERS,
    ALL,
    INTEGERS,
    WIDE,
    ALL,
    FLOATS,
    FLOATS,
    NORMALIZED_OR_INTEGERS,
    INTEGERS,
    INTEGERS,
    WIDE,
    ALL,
    WIDE,
    WIDE,
];

impl Format {
    /// Returns the format for a data and a number format of GFX6 to GFX9.
    pub(crate) fn new(data: u32, number: u32) -> Option<Self> {
        let number = match number {
            0 => Number::Unorm,
            1 | 6 => Number::Snorm,
            2 => Number::Uscaled,
            3 => Number::Sscaled,
            4 => Number::Uint,
            5 => Number::Sint,
            _ => Number::Float,
        };
        let channels = *CHANNELS.get(data as usize).filter(|channels| !channels.is_empty())?;
        Some(Self { channels, number })
    }

    /// Returns the format for a unified number of GFX10 and later.
    pub(crate) fn unified(level: GfxLevel, number: u32) -> Option<Self> {
        let runs = if level >= GfxLevel::Gfx11 { &GFX11 } else { &GFX10 };
        let all = (1..).zip(runs).flat_map(|(data, numbers)| numbers.iter().map(move |number| (data, *number)));
        let (data, number) = all.into_iter().nth(number.checked_sub(1)? as usize)?;
        Self::new(data, number)
    }

    /// Returns the size of an element in bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.channels.iter().map(|bits| u32::from(*bits)).sum::<u32>() / 8
    }

    /// Returns `true` if registers contain integers.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// Returns the number one in the type of the registers.
    pub(crate) fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 1.0_f32.to_bits() }
    }

    /// Returns the four components of an element in memory. Components that the format lacks are 0, 0, 0 and one.
    pub(crate) fn unpack(self, element: u128) -> [u32; 4] {
        let mut components = [0, 0, 0, self.one()];
        let mut shift = 0;
        for (index, (component, bits)) in components.iter_mut().zip(self.channels).enumerate() {
            let mask = (1_u64 << bits) - 1;
            *component = load(self.number.of_component(index), (element >> shift) as u64 & mask, u32::from(*bits));
            shift += u32::from(*bits);
        }
        components
    }

    /// Returns alpha of two bits as an unsigned number, if the format says that it is signed.
    ///
    /// Chips up to GFX8, but for Stoney, read it so, and drivers correct it in the shader (Mesa 25.0.7, `ac_vtx_format_info`, alpha_adjust).
    pub(crate) fn unsigned_alpha(self, element: u128) -> Option<u32> {
        let number = match self.number {
            Number::Snorm => Number::Unorm,
            Number::Sscaled => Number::Uscaled,
            Number::Sint => Number::Uint,
            _ => return None,
        };
        (*self.channels == [10, 10, 10, 2]).then(|| load(number, (element >> 30) as u64 & 3, 2))
    }

    /// Returns the element in memory for components in registers.
    pub(crate) fn pack(self, components: [u32; 4]) -> u128 {
        let (mut element, mut shift) = (0, 0);
        for (index, (component, bits)) in components.iter().zip(self.channels).enumerate() {
            let mask = (1_u64 << bits) - 1;
            let stored = store(self.number.of_component(index), *component, u32::from(*bits));
            element |= u128::from(stored & mask) << shift;
            shift += u32::from(*bits);
        }
        element
    }
}

/// Converts a channel to the value of a register.
fn load(number: Number, raw: u64, bits: u32) -> u32 {
    let raw = raw as u32;
    let signed = (raw << (32 - bits)).cast_signed() >> (32 - bits);
    let largest = ((1_u64 << bits) - 1) as f64;
    let largest_signed = ((1_u64 << (bits - 1)) - 1) as f64;
    let float = |value: f64| (value as f32).to_bits();
    match number {
        Number::Unorm => float(f64::from(raw) / largest),
        Number::Snorm => float((f64::from(signed) / largest_signed).max(-1.0)),
        Number::Srgb => float(linear(f64::from(raw) / largest)),
        Number::Uscaled => float(raw.into()),
        Number::Sscaled => float(signed.into()),
        Number::Uint => raw,
        Number::Sint => signed.cast_unsigned(),
        Number::Float => match bits {
            32 => raw,
            16 => Half(raw as u16).value().to_bits(),
            // Small floats have no sign bit, and the exponent of a half.
            11 => Half((raw << 4) as u16).value().to_bits(),
            10 => Half((raw << 5) as u16).value().to_bits(),
            _ => 0,
        },
    }
}

/// Converts the value of a register to a channel.
fn store(number: Number, component: u32, bits: u32) -> u64 {
    let value = f64::from(f32::from_bits(component));
    let largest = ((1_u64 << bits) - 1) as f64;
    let largest_signed = ((1_u64 << (bits - 1)) - 1) as f64;
    match number {
        Number::Unorm => (value.clamp(0.0, 1.0) * largest).round_ties_even() as u64,
        Number::Snorm => ((value.clamp(-1.0, 1.0) * largest_signed).round_ties_even() as i64).cast_unsigned(),
        Number::Srgb => (curved(value.clamp(0.0, 1.0)) * largest).round_ties_even() as u64,
        Number::Uscaled => value.clamp(0.0, largest) as u64,
        Number::Sscaled => (value.clamp(-largest_signed - 1.0, largest_signed) as i64).cast_unsigned(),
        Number::Uint => u64::from(component).min((1 << bits) - 1),
        Number::Sint => {
            let limit = 1_i64 << (bits - 1);
            i64::from(component.cast_signed()).clamp(-limit, limit - 1).cast_unsigned()
        }
        Number::Float => match bits {
            32 => component.into(),
            16 => Half::rounded(value, Direction::Nearest).0.into(),
            11 => u64::from(encode(value.max(0.0), 6, 15, Direction::Zero)) & 0x7ff,
            10 => u64::from(encode(value.max(0.0), 5, 15, Direction::Zero)) & 0x3ff,
            _ => 0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_that_a_format_lacks_are_zero_and_the_fourth_is_one() {
        let one = 1.0_f32.to_bits();
        assert_eq!(Format::new(4, 7).unwrap().unpack(5), [5, 0, 0, one]);
        assert_eq!(Format::new(4, 4).unwrap().unpack(5), [5, 0, 0, 1]);
    }

    #[test]
    fn every_element_of_one_byte_channels_survives_unpacking_and_packing() {
        for number in [0, 1, 2, 3, 4, 5] {
            let format = Format::new(1, number).unwrap();
            for raw in 0..=255_u128 {
                let again = format.pack(format.unpack(raw));
                // The most negative normalized number means the same as its neighbour.
                let same = again == raw || format.number == Number::Snorm && raw == 0x80 && again == 0x81;
                assert!(same, "{number}: {raw:#x} became {again:#x}");
            }
        }
    }

    #[test]
    fn unified_numbers_name_known_formats() {
        let format = |level, number| Format::unified(level, number).unwrap();
        assert_eq!(format(GfxLevel::Gfx10, 56), Format::new(10, 0).unwrap());
        assert_eq!(format(GfxLevel::Gfx10, 20), Format::new(4, 4).unwrap());
        assert_eq!(format(GfxLevel::Gfx11, 42), Format::new(10, 0).unwrap());
        assert_eq!(format(GfxLevel::Gfx11, 20), Format::new(4, 4).unwrap());
        assert_eq!(format(GfxLevel::Gfx11, 63), Format::new(14, 7).unwrap());
        assert_eq!(Format::unified(GfxLevel::Gfx11, 64), None);
    }
}
