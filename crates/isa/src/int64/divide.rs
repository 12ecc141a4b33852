//! Division by restoring: one bit of the quotient a step.

use super::{
    Op, StepOp, Value,
    make::{Maker, Pair, number, wide},
};

impl Maker {
    /// Returns the index of the highest set bit of 32 bits; -1 if there is none.
    pub(super) fn highest_bit(&mut self, value: Value) -> Value {
        let zeros = self.step(StepOp::LeadingZeros, &[value]);
        let none = self.step(StepOp::Eq, &[value, number(0)]);
        let at = self.step(StepOp::Sub, &[number(31), zeros]);
        self.step(StepOp::Select, &[none, number(u32::MAX), at])
    }

    /// Returns quotient and remainder.
    ///
    /// Source: `lower_udiv64_mod64` of `src/compiler/nir/nir_lower_int64.c`.
    pub(super) fn divide(&mut self, n: Pair, d: Pair) -> (Pair, Pair) {
        // If the divisor has one word and the quotient two, first the upper word of the quotient.
        let short = self.step(StepOp::Eq, &[d[1], number(0)]);
        let larger = self.step(StepOp::GeU, &[n[1], d[0]]);
        let two = self.step(StepOp::Both, &[short, larger]);
        let top = self.highest_bit(d[0]);
        let (mut high, mut rest) = (number(0), n[1]);
        for bit in (0..32).rev() {
            let shifted = self.step(StepOp::Shl, &[d[0], number(bit)]);
            let mut fits = self.step(StepOp::GeU, &[rest, shifted]);
            if bit != 0 {
                let room = self.step(StepOp::GeI, &[number(31 - bit), top]);
                fits = self.step(StepOp::Both, &[fits, room]);
            }
            let less = self.step(StepOp::Sub, &[rest, shifted]);
            rest = self.step(StepOp::Select, &[fits, less, rest]);
            let set = self.step(StepOp::Or, &[high, number(1 << bit)]);
            high = self.step(StepOp::Select, &[fits, set, high]);
        }
        let high = self.step(StepOp::Select, &[two, high, number(0)]);
        let rest = self.step(StepOp::Select, &[two, rest, n[1]]);

        let top = self.highest_bit(d[1]);
        let (mut low, mut rest) = (number(0), [n[0], rest]);
        for bit in (0..32).rev() {
            let shifted = self.shift(Op::Ishl, d, number(bit));
            let mut fits = self.compare(Op::Uge, rest, shifted);
            if bit != 0 {
                let room = self.step(StepOp::GeI, &[number(31 - bit), top]);
                fits = self.step(StepOp::Both, &[fits, room]);
            }
            let less = self.sub(rest, shifted);
            rest = self.select(fits, less, rest);
            let set = self.step(StepOp::Or, &[low, number(1 << bit)]);
            low = self.step(StepOp::Select, &[fits, set, low]);
        }
        ([low, high], rest)
    }

    /// Returns the quotient of magnitudes, with its sign.
    pub(super) fn signed_quotient(&mut self, n: Pair, d: Pair) -> Pair {
        let signs = [self.is_negative(n), self.is_negative(d)];
        let (n, d) = (self.abs(n), self.abs(d));
        let (quotient, _) = self.divide(n, d);
        let negative = self.step(StepOp::Differ, &signs);
        let negated = self.negate(quotient);
        self.select(negative, negated, quotient)
    }

    /// Returns the remainder with the sign of the dividend, or (`modulus`) of the divisor.
    pub(super) fn signed_remainder(&mut self, n: Pair, d: Pair, modulus: bool) -> Pair {
        let (negative, other) = (self.is_negative(n), self.is_negative(d));
        let (positive_n, positive_d) = (self.abs(n), self.abs(d));
        let (_, rest) = self.divide(positive_n, positive_d);
        let negated = self.negate(rest);
        let rest = self.select(negative, negated, rest);
        if !modulus {
            return rest;
        }
        let apart = self.step(StepOp::Differ, &[negative, other]);
        let some = self.compare(Op::Ine, rest, wide(0));
        let moves = self.step(StepOp::Both, &[apart, some]);
        let moved = self.add(rest, d);
        self.select(moves, moved, rest)
    }
}
