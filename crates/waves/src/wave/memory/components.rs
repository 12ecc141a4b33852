//! Components of texels and typed buffers in registers.

use crate::{
    buffer::format::{Format, Number},
    number::{half::Half, round::Direction},
    wave::registers::Registers,
};

/// Returns a component as 16 bits.
fn narrowed(format: Format, component: u32) -> u32 {
    if format.is_integer() {
        return component & 0xffff;
    }
    Half::rounded(f64::from(f32::from_bits(component)), Direction::Nearest).0.into()
}

/// Returns 16 bits as a component.
fn widened(format: Format, bits: u32) -> u32 {
    match (format.is_integer(), format.number) {
        (true, Number::Sint) => i32::from(bits as u16 as i16).cast_unsigned(),
        (true, _) => bits & 0xffff,
        (false, _) => Half(bits as u16).value().to_bits(),
    }
}

/// Components: their number, whether they have 16 bits, are in an upper half, and share registers.
pub(super) type Parts = (usize, bool, bool, bool);

/// Writes the components of a lane.
pub(super) fn write_components(
    registers: &mut Registers,
    first: u16,
    lane: usize,
    values: [u32; 4],
    format: Option<Format>,
    (count, half, high, packs): Parts,
) {
    if !half {
        for (index, value) in values.into_iter().enumerate().take(count) {
            registers.write_lane(first + index as u16, lane, value);
        }
        return;
    }
    let narrow = values.map(|value| format.map_or(0, |format| narrowed(format, value)));
    if high || count == 1 {
        let old = registers.vectors[usize::from(first)][lane];
        let value = match (high, packs) {
            (true, _) => old & 0xffff | narrow[0] << 16,
            (false, true) => old & 0xffff_0000 | narrow[0],
            (false, false) => narrow[0],
        };
        registers.write_lane(first, lane, value);
    } else if packs {
        for index in 0..count.div_ceil(2) {
            let upper = if 2 * index + 1 < count { narrow[2 * index + 1] } else { 0 };
            registers.write_lane(first + index as u16, lane, narrow[2 * index] | upper << 16);
        }
    } else {
        for (index, value) in narrow.into_iter().enumerate().take(count) {
            registers.write_lane(first + index as u16, lane, value);
        }
    }
}

/// Reads the components of a lane; those that the instruction lacks are zero.
pub(super) fn read_components(
    registers: &Registers,
    first: u16,
    lane: usize,
    format: Option<Format>,
    (count, half, high, packs): Parts,
) -> [u32; 4] {
    let register = |index: usize| registers.vectors[usize::from(first) + index][lane];
    std::array::from_fn(|index| {
        if index >= count {
            return 0;
        }
        let bits = match (half, high, packs) {
            (false, ..) => return register(index),
            (_, true, _) => register(0) >> 16,
            (_, _, true) => register(index / 2) >> (16 * (index % 2)),
            _ => register(index),
        };
        format.map_or(0, |format| widened(format, bits & 0xffff))
    })
}
