//! Bits counted, found and cut out.

use super::{
    Op, StepOp, Value,
    make::{Maker, Pair, number},
};

impl Maker {
    pub(super) fn bit_count(&mut self, a: Pair) -> Value {
        let low = self.step(StepOp::BitCount, &[a[0], number(0)]);
        self.step(StepOp::BitCount, &[a[1], low])
    }

    /// Returns the number of the highest set bit of 64.
    pub(super) fn highest_bit_of_pair(&mut self, a: Pair) -> Value {
        let [low, high] = a.map(|half| self.highest_bit(half));
        let above = self.step(StepOp::Add, &[high, number(32)]);
        let none = self.step(StepOp::Eq, &[a[1], number(0)]);
        self.step(StepOp::Select, &[none, low, above])
    }

    pub(super) fn lowest_bit(&mut self, a: Pair) -> Value {
        let low = self.step(StepOp::TrailingZeros, &[a[0]]);
        let high = self.step(StepOp::TrailingZeros, &[a[1]]);
        // Setting bit 5 adds 32, and leaves -1 alone.
        let high = self.step(StepOp::Or, &[high, number(32)]);
        self.step(StepOp::MinU, &[low, high])
    }

    /// Returns a part of the value. `part` is the index of a part of `width` bits, modulo the number of parts.
    pub(super) fn extract(&mut self, a: Pair, part: u8, width: u8, signed: bool) -> Pair {
        let offset = u32::from(part) * u32::from(width) % 64;
        let half = if offset < 32 { a[0] } else { a[1] };
        let op = if signed { StepOp::FieldI } else { StepOp::FieldU };
        let low = self.step(op, &[half, number(offset % 32), number(width.into())]);
        self.extended(low, signed)
    }

    /// Returns a 32-bit value as 64 bits.
    pub(super) fn extended(&mut self, low: Value, signed: bool) -> Pair {
        [low, if signed { self.step(StepOp::Ashr, &[low, number(31)]) } else { number(0) }]
    }

    /// Returns a value of fewer than 32 bits as 64.
    pub(super) fn widened(&mut self, value: Value, bits: u32, signed: bool) -> Pair {
        if bits == 32 {
            return self.extended(value, signed);
        }
        let op = if signed { StepOp::FieldI } else { StepOp::FieldU };
        let low = self.step(op, &[value, number(0), number(bits)]);
        self.extended(low, signed)
    }

    pub(super) fn sign(&mut self, a: Pair) -> Pair {
        let sign = self.step(StepOp::Ashr, &[a[1], number(31)]);
        let some = self.compare(Op::Ine, a, [number(0), number(0)]);
        let some = self.truth_number(some);
        [self.step(StepOp::Or, &[sign, some]), sign]
    }
}
