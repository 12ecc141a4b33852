//! Reading of vector operands, with their modifiers.

use super::registers::Registers;
use crate::{
    alu::{
        kernel::{LANES, Lanes, Type, WideLanes, flush32},
        mask::spread,
        moves,
    },
    program::decoded_inst::{Modifiers, Operand, Source},
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

impl Registers {
    /// Returns an operand of a [`Direct`](crate::program::decoded_inst::Direct) operation, in `buffer` if no register holds it as it is.
    #[inline(always)]
    pub(crate) fn operand<'a>(&'a self, operand: &'a Operand, flushes: bool, buffer: &'a mut Lanes) -> &'a Lanes {
        // A comparison for what most operands are, in place of a jump that depends on the operand.
        let Operand::Vgpr(register) = operand else { return self.made(operand, flushes, buffer) };
        let held: &Lanes = &self.vectors[usize::from(*register)];
        if !flushes {
            return held;
        }
        moves::flushed(self.unit, buffer, held);
        buffer
    }

    /// Returns an operand that is not held as it is.
    #[inline(never)]
    fn made<'a>(&self, operand: &Operand, flushes: bool, buffer: &'a mut Lanes) -> &'a Lanes {
        match operand {
            Operand::Changed(register, changes) => {
                moves::change(self.unit, buffer, &self.vectors[usize::from(*register)], *changes);
                if flushes {
                    moves::flush(self.unit, buffer);
                }
            }
            Operand::Scalar(slot, changes) => {
                self.spread_scalar(self.scalars[usize::from(*slot)], *changes, flushes, buffer);
            }
            Operand::Other(source, changes) => {
                self.spread_scalar(self.scalar(*source, 1) as u32, *changes, flushes, buffer);
            }
            Operand::Constant(value) => {
                moves::fill(self.unit, buffer, if flushes { flush32(*value) } else { *value });
            }
            Operand::Mask(source) => spread(self.unit, self.scalar(*source, 2), buffer),
            Operand::Vgpr(_) => {}
        }
        buffer
    }

    /// Returns a scalar as an operand of every lane.
    fn spread_scalar(&self, value: u32, (kept, flipped): (u32, u32), flushes: bool, buffer: &mut Lanes) {
        let changed = value & kept ^ flipped;
        moves::fill(self.unit, buffer, if flushes { flush32(changed) } else { changed });
    }

    /// Returns an unmodified operand of 32 bits, in `buffer` if no register holds it as it is.
    pub(crate) fn narrow<'a>(&'a self, source: Source, kind: Type, buffer: &'a mut Lanes) -> &'a Lanes {
        let flushes = kind == Type::F32 && self.mode.flushes_input32();
        match source {
            Source::Vgpr(register) if flushes => {
                moves::flushed(self.unit, buffer, &self.vectors[usize::from(register)]);
                buffer
            }
            Source::Vgpr(register) => &self.vectors[usize::from(register)],
            _ if kind == Type::Mask => {
                spread(self.unit, self.scalar(source, 2), buffer);
                buffer
            }
            _ => {
                let value = self.scalar(source, 1) as u32;
                moves::fill(self.unit, buffer, if flushes { flush32(value) } else { value });
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
            match source {
                Source::Vgpr(register) => {
                    moves::change(self.unit, buffer, &self.vectors[usize::from(register)], (kept, flipped));
                }
                _ => moves::fill(self.unit, buffer, self.scalar(source, 1) as u32 & kept ^ flipped),
            }
            if flushes32 {
                moves::flush(self.unit, buffer);
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
            moves::join(self.unit, buffer, values, &[0; LANES]);
            return;
        }
        let bit = |mask: u8| mask >> index & 1 != 0;
        let sign = kind.sign_bit().map_or(0, |bit| 1_u64 << bit);
        let flushes = kind == Type::F64 && self.mode.flushes_input64();
        if let Source::Vgpr(register) = source {
            let register = usize::from(register);
            moves::join(self.unit, buffer, &self.vectors[register], &self.vectors[register + 1]);
        } else {
            *buffer = [self.scalar(source, 2); LANES];
        }
        if !flushes && !bit(modifiers.absolutes) && !bit(modifiers.negates) {
            return;
        }
        for to in buffer {
            let mut value = *to;
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
