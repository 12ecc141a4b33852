//! Products, extremes and saturation.

use super::{
    Op, StepOp, Value,
    make::{Maker, Pair, number, wide},
};

impl Maker {
    /// Returns the 64-bit product of two 32-bit values.
    pub(super) fn product(&mut self, a: Value, b: Value, signed: bool) -> Pair {
        let high = if signed { StepOp::MulHighI } else { StepOp::MulHighU };
        [self.step(StepOp::Mul, &[a, b]), self.step(high, &[a, b])]
    }

    pub(super) fn mul(&mut self, a: Pair, b: Pair) -> Pair {
        let [low, high] = self.product(a[0], b[0], false);
        let cross = self.step(StepOp::Mul, &[a[0], b[1]]);
        let high = self.step(StepOp::Add, &[high, cross]);
        let cross = self.step(StepOp::Mul, &[a[1], b[0]]);
        [low, self.step(StepOp::Add, &[high, cross])]
    }

    /// Returns the high half of the 128-bit product: four products of 32 bits; a signed one is the unsigned one less the other
    /// operand for each negative operand.
    pub(super) fn mul_high(&mut self, a: Pair, b: Pair, signed: bool) -> Pair {
        let low = self.step(StepOp::MulHighU, &[a[0], b[0]]);
        let first = self.product(a[0], b[1], false);
        let middle = self.add(first, [low, number(0)]);
        let second = self.product(a[1], b[0], false);
        let other = self.add(second, [middle[0], number(0)]);
        let top = self.product(a[1], b[1], false);
        let top = self.add(top, [middle[1], number(0)]);
        let mut high = self.add(top, [other[1], number(0)]);
        if signed {
            for (sign, value) in [(a[1], b), (b[1], a)] {
                let mask = self.step(StepOp::Ashr, &[sign, number(31)]);
                let taken = self.logic(Op::Iand, value, [mask, mask]);
                high = self.sub(high, taken);
            }
        }
        high
    }

    pub(super) fn is_negative(&mut self, a: Pair) -> Value {
        self.step(StepOp::LtI, &[a[1], number(0)])
    }

    pub(super) fn abs(&mut self, a: Pair) -> Pair {
        let negative = self.is_negative(a);
        let negated = self.negate(a);
        self.select(negative, negated, a)
    }

    /// Returns the smaller or larger operand.
    pub(super) fn extreme(&mut self, op: Op, a: Pair, b: Pair) -> Pair {
        let less = if matches!(op, Op::Imin | Op::Imax) { Op::Ilt } else { Op::Ult };
        let is_less = self.compare(less, a, b);
        if matches!(op, Op::Imin | Op::Umin) { self.select(is_less, a, b) } else { self.select(is_less, b, a) }
    }

    /// Returns a saturated sum or difference.
    pub(super) fn saturated(&mut self, op: Op, a: Pair, b: Pair) -> Pair {
        match op {
            Op::UaddSat => {
                let sum = self.add(a, b);
                let over = self.compare(Op::Ult, sum, a);
                self.select(over, wide(u64::MAX), sum)
            }
            Op::UsubSat => {
                let difference = self.sub(a, b);
                let under = self.compare(Op::Ult, a, b);
                self.select(under, wide(0), difference)
            }
            _ => {
                let adds = op == Op::IaddSat;
                let result = if adds { self.add(a, b) } else { self.sub(a, b) };
                // It overflows if both operands (of a difference: a and -b) have a sign that the result lacks.
                let changed = self.step(StepOp::Xor, &[a[1], result[1]]);
                let other = if adds { result[1] } else { a[1] };
                let apart = self.step(StepOp::Xor, &[b[1], other]);
                let both = self.step(StepOp::And, &[changed, apart]);
                let over = self.step(StepOp::LtI, &[both, number(0)]);
                let sign = self.step(StepOp::Ashr, &[a[1], number(31)]);
                let low = self.step(StepOp::Xor, &[sign, number(u32::MAX)]);
                let high = self.step(StepOp::Xor, &[sign, number(0x7fff_ffff)]);
                self.select(over, [low, high], result)
            }
        }
    }
}
