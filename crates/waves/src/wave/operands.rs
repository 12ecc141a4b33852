//! Reading of vector operands, with their modifiers.

use super::registers::Registers;
use crate::{
    alu::{
        kernel::{Lanes, Type, WideLanes, flush32},
        mask::spread,
    },
    program::step::{Modifiers, Source},
};

/// The lane that each lane's first source comes from, if a selection is on.
pub(crate) type Selection = Option<[Option<u8>; 64]>;

fn flush64(bits: u64) -> u64 {
    if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits }
}

/// Returns zero of the same sign for the bits of a 16-bit denormal.
pub(super) fn flush16(bits: u32) -> u32 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// Replaces denormals by zero.
pub(crate) fn flush_lanes(lanes: &mut Lanes) {
    for value in lanes {
        *value = flush32(*value);
    }
}

impl Registers {
    /// Returns an unmodified operand of 32 bits, in `buffer` if no register holds it as it is.
    pub(crate) fn narrow<'a>(&'a self, source: Source, kind: Type, buffer: &'a mut Lanes) -> &'a Lanes {
        let flushes = kind == Type::F32 && self.mode.flushes_input32();
        match source {
            Source::Vgpr(register) if flushes => {
                let values = &self.vectors[usize::from(register)];
                for (value, to) in values.iter().zip(buffer.iter_mut()) {
                    *to = flush32(*value);
                }
                buffer
            }
            Source::Vgpr(register) => &self.vectors[usize::from(register)],
            _ if kind == Type::Mask => {
                spread(self.scalar(source, 2), buffer);
                buffer
            }
            _ => {
                let value = self.scalar(source, 1) as u32;
                *buffer = [if flushes { flush32(value) } else { value }; 64];
                buffer
            }
        }
    }

    /// Reads an operand of up to 32 bits with its modifiers.
    pub(crate) fn modified<'a>(
        &'a self,
        (source, index): (Source, usize),
        kind: Type,
        modifiers: &Modifiers,
        selection: &Selection,
        buffer: &'a mut Lanes,
    ) -> &'a Lanes {
        if kind == Type::Mask {
            return self.narrow(source, kind, buffer);
        }
        let is_vector = matches!(source, Source::Vgpr(_));
        let constant = matches!(source, Source::Constant(_));
        let bit = |mask: u8| mask >> index & 1 != 0;
        let (negates, absolutes, high) = (bit(modifiers.negates), bit(modifiers.absolutes), bit(modifiers.highs));
        let sign = kind.sign_bit().map_or(0, |bit| 1_u32 << bit);
        let part = modifiers.sdwa.filter(|_| index < 2).map(|sdwa| sdwa.sources[index]);
        let flushes32 = kind == Type::F32 && self.mode.flushes_input32();
        if selection.is_none() && part.is_none() && !kind.is_16_bits() {
            let (kept, flipped) = (if absolutes { !sign } else { u32::MAX }, if negates { sign } else { 0 });
            let change = |value: u32| {
                let changed = value & kept ^ flipped;
                if flushes32 { flush32(changed) } else { changed }
            };
            match source {
                Source::Vgpr(register) => {
                    let values = &self.vectors[usize::from(register)];
                    for (value, to) in values.iter().zip(buffer.iter_mut()) {
                        *to = change(*value);
                    }
                }
                _ => *buffer = [change(self.scalar(source, 1) as u32); 64],
            }
            return buffer;
        }
        let flushes16 = kind == Type::F16 && self.mode.flushes_input64();
        for lane in 0..64 {
            let from = match selection {
                Some(sources) if index == 0 && is_vector => sources[lane].map(usize::from),
                _ => Some(lane),
            };
            let mut value = from.map_or(0, |from| self.lane(source, 1, from)) as u32;
            if let Some(part) = part.filter(|_| !constant) {
                value = part.of(value);
            } else if kind.is_16_bits() && high && !constant {
                value >>= 16;
            }
            if kind.is_16_bits() {
                value &= 0xffff;
            }
            if absolutes {
                value &= !sign;
            }
            if negates {
                value ^= sign;
            }
            if flushes32 {
                value = flush32(value);
            }
            if flushes16 {
                value = flush16(value);
            }
            buffer[lane] = value;
        }
        buffer
    }

    /// Reads an operand of any size with its modifiers as 64 bits.
    pub(crate) fn wide(
        &self,
        (source, index): (Source, usize),
        kind: Type,
        modifiers: &Modifiers,
        selection: &Selection,
        buffer: &mut WideLanes,
    ) {
        if kind.dwords() == 1 {
            let mut narrow = [0; 64];
            let values = self.modified((source, index), kind, modifiers, selection, &mut narrow);
            for (value, to) in values.iter().zip(buffer) {
                *to = u64::from(*value);
            }
            return;
        }
        let bit = |mask: u8| mask >> index & 1 != 0;
        let sign = kind.sign_bit().map_or(0, |bit| 1_u64 << bit);
        let flushes = kind == Type::F64 && self.mode.flushes_input64();
        for (lane, to) in buffer.iter_mut().enumerate() {
            let mut value = self.lane(source, 2, lane);
            if bit(modifiers.absolutes) {
                value &= !sign;
            }
            if bit(modifiers.negates) {
                value ^= sign;
            }
            *to = if flushes { flush64(value) } else { value };
        }
    }
}
