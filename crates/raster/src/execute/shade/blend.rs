//! Colours: exports, blending and logic operations.

use amdgpu_hw::GfxLevel;

use crate::execute::{
    interface::Export,
    target::format::{Format, half},
};
use crate::{Blend, BlendEquation};

/// Returns four 16-bit values of a lane: an export of two dwords, or a compressed one.
fn halves(export: &Export, lane: usize) -> [u16; 4] {
    let word = |index: usize| export.values[index][lane];
    if export.is_compressed {
        return [0, 1, 2, 3].map(|index| word(index) as u16);
    }
    [word(0) as u16, (word(0) >> 16) as u16, word(1) as u16, (word(1) >> 16) as u16]
}

/// Returns the components of a lane's export in a format of SPI_SHADER_COL_FORMAT: floats or integers as bits.
pub(in crate::execute) fn exported(export: &Export, format: u32, level: GfxLevel, lane: usize) -> [u32; 4] {
    let word = |index: usize| export.values[index][lane];
    let one = 1.0_f32.to_bits();
    let float = |convert: fn(u16) -> f32| halves(export, lane).map(|bits| convert(bits).to_bits());
    match format {
        1 => [word(0), 0, 0, one],
        2 => [word(0), word(1), 0, one],
        3 => [word(0), 0, 0, word(if level >= GfxLevel::Gfx10 { 1 } else { 3 })],
        4 => float(half),
        5 => float(|bits| f32::from(bits) / 65_535.0),
        6 => float(|bits| (f32::from(bits.cast_signed()) / 32_767.0).max(-1.0)),
        7 => halves(export, lane).map(u32::from),
        8 => halves(export, lane).map(|bits| i32::from(bits.cast_signed()).cast_unsigned()),
        _ => [word(0), word(1), word(2), word(3)],
    }
}

/// Returns a component of all lanes of an export, if they are floats of 16 or 32 bits: as [`exported`] has it.
pub(in crate::execute) fn floats_of(export: &Export, format: u32, component: usize) -> Option<[f32; 64]> {
    let values = &export.values;
    match format {
        4 if export.is_compressed => Some(values[component].map(|word| half(word as u16))),
        4 => {
            let shift = 16 * (component as u32 & 1);
            Some(values[component / 2].map(|word| half((word >> shift) as u16)))
        }
        9 => Some(values[component].map(f32::from_bits)),
        _ => None,
    }
}

/// The colours that enter blending.
pub(in crate::execute) struct Inputs {
    pub(in crate::execute) source: [f32; 4],
    pub(in crate::execute) second: [f32; 4],
    pub(in crate::execute) stored: [f32; 4],
    pub(in crate::execute) constant: [f32; 4],
}

impl Inputs {
    /// Returns the factor of a component.
    fn factor(&self, number: u32, component: usize) -> f32 {
        let Self { source, second, stored, constant } = self;
        match number {
            1 => 1.0,
            2 => source[component],
            3 => 1.0 - source[component],
            4 => source[3],
            5 => 1.0 - source[3],
            6 => stored[3],
            7 => 1.0 - stored[3],
            8 => stored[component],
            9 => 1.0 - stored[component],
            10 if component == 3 => 1.0,
            10 => source[3].min(1.0 - stored[3]),
            13 => constant[component],
            14 => 1.0 - constant[component],
            15 => second[component],
            16 => 1.0 - second[component],
            17 => second[3],
            18 => 1.0 - second[3],
            19 => constant[3],
            20 => 1.0 - constant[3],
            _ => 0.0,
        }
    }

    fn equation(&self, equation: BlendEquation, component: usize) -> f32 {
        // A factor of zero drops its colour, even if that is infinite: hardware does not read it.
        let scaled = |colour: f32, factor: u32| match factor {
            0 => 0.0,
            _ => colour * self.factor(factor, component),
        };
        let (source, stored) = (self.source[component], self.stored[component]);
        let [new, old] = [scaled(source, equation.source), scaled(stored, equation.destination)];
        match equation.function {
            0 => new + old,
            1 => new - old,
            2 => source.min(stored),
            3 => source.max(stored),
            _ => old - new,
        }
    }

    /// Returns the blended colour.
    pub(in crate::execute) fn blend(&self, blend: &Blend) -> [f32; 4] {
        [0, 1, 2, 3].map(|component| self.equation(if component == 3 { blend.alpha } else { blend.colour }, component))
    }
}

/// Returns colours clamped to the range of a format.
pub(in crate::execute) fn clamped(format: &Format, colour: [f32; 4]) -> [f32; 4] {
    format
        .range()
        .map_or(colour, |[low, high]| colour.map(|value| if value.is_nan() { 0.0 } else { value.clamp(low, high) }))
}

/// Returns the bits of a logic operation, whose low four bits are a truth table.
pub(in crate::execute) fn logic(operation: u32, source: u128, stored: u128) -> u128 {
    let term = |bit: u32, value: u128| if operation >> bit & 1 != 0 { value } else { 0 };
    term(0, !source & !stored) | term(1, !source & stored) | term(2, source & !stored) | term(3, source & stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logic_operations_are_truth_tables() {
        let (source, stored) = (0b1100, 0b1010);
        let of = |operation| logic(operation, source, stored) & 15;
        assert_eq!(
            [of(0xcc), of(0xaa), of(0x88), of(0xee), of(0x66), of(0x55)],
            [0b1100, 0b1010, 0b1000, 0b1110, 0b0110, 0b0101]
        );
    }

    #[test]
    fn floats_of_all_lanes_are_those_of_each() {
        let values = [0, 1, 2, 3].map(|index: u32| {
            std::array::from_fn(|lane: usize| 0x3c00_3800_u32.wrapping_add(lane as u32 * 77 + index * 0x0101_0101))
        });
        for (format, is_compressed) in [(4, false), (4, true), (9, false)] {
            let export = Export { target: 0, enabled: 15, is_last: true, lanes: u64::MAX, values, is_compressed };
            for lane in 0..64 {
                let own = [0, 1, 2, 3].map(|component: usize| floats_of(&export, format, component).unwrap()[lane]);
                assert_eq!(own.map(f32::to_bits), exported(&export, format, GfxLevel::Gfx10, lane), "{format} {lane}");
            }
            assert_eq!(floats_of(&export, 7, 0), None);
        }
    }

    #[test]
    fn alpha_over_and_reversed_subtraction_follow_their_equations() {
        let inputs = Inputs {
            source: [0.5, 0.25, 1.0, 0.5],
            second: [0.0; 4],
            stored: [1.0, 0.5, 0.0, 1.0],
            constant: [0.0; 4],
        };
        let over = BlendEquation { source: 4, destination: 5, function: 0 };
        assert_eq!(inputs.blend(&Blend { colour: over, alpha: over }), [0.75, 0.375, 0.5, 0.75]);
        let reversed = BlendEquation { source: 1, destination: 1, function: 4 };
        assert_eq!(inputs.blend(&Blend { colour: reversed, alpha: reversed })[0], 0.5);
        let smaller = BlendEquation { source: 0, destination: 0, function: 2 };
        assert_eq!(inputs.blend(&Blend { colour: smaller, alpha: smaller })[0], 0.5);
    }

    #[test]
    fn a_factor_of_zero_drops_infinity() {
        let inputs = Inputs { source: [1.0; 4], second: [0.0; 4], stored: [f32::INFINITY; 4], constant: [0.0; 4] };
        let replace = BlendEquation { source: 1, destination: 0, function: 0 };
        assert_eq!(inputs.blend(&Blend { colour: replace, alpha: replace }), [1.0; 4]);
    }
}
