//! Conversions between 64-bit integers and floats, on their bits: rounding is to nearest even whatever MODE says.

use super::{
    Op, StepOp, Value,
    make::{Maker, Pair, number, wide},
};

/// Bits of a float's exponent and fraction.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    fraction: u32,
    bias: u32,
}

/// A float of 32 bits.
pub(super) const FLOAT: Shape = Shape { fraction: 23, bias: 127 };
/// A float of 64 bits.
pub(super) const DOUBLE: Shape = Shape { fraction: 52, bias: 1023 };

impl Maker {
    /// Returns the bits of the nearest float: the value is shifted until its highest bit is bit 63, cut off, and rounded by the
    /// bits that are lost. A carry out of the fraction raises the exponent, as it should.
    pub(super) fn float_of(&mut self, value: Pair, signed: bool, shape: Shape) -> Pair {
        let sign = if signed { self.step(StepOp::And, &[value[1], number(1 << 31)]) } else { number(0) };
        let value = if signed { self.abs(value) } else { value };
        let top = self.highest_bit_of_pair(value);
        let up = self.step(StepOp::Sub, &[number(63), top]);
        let shifted = self.shift(Op::Ishl, value, up);
        let lost = 63 - shape.fraction;
        let kept = self.shift(Op::Ushr, shifted, number(lost));
        let below = self.logic(Op::Iand, shifted, wide((1 << lost) - 1));
        // Rounded up: above half, or half with an odd last bit.
        let half = wide(1 << (lost - 1));
        let above = self.compare(Op::Ult, half, below);
        let tie = self.compare(Op::Ieq, half, below);
        let last = self.step(StepOp::And, &[kept[0], number(1)]);
        let odd = self.step(StepOp::Ne, &[last, number(0)]);
        let up_at_tie = self.step(StepOp::Both, &[tie, odd]);
        let rounds_up = self.step(StepOp::Either, &[above, up_at_tie]);
        let one = self.truth_number(rounds_up);
        // The leading one of the fraction adds one to the exponent.
        let exponent = self.step(StepOp::Add, &[top, number(shape.bias - 1)]);
        let placed = self.shift(Op::Ishl, [exponent, number(0)], number(shape.fraction));
        let sum = self.add(kept, placed);
        let sum = self.add(sum, [one, number(0)]);
        let none = self.compare(Op::Ieq, value, wide(0));
        let sum = self.select(none, wide(0), sum);
        if shape.fraction == FLOAT.fraction {
            [self.step(StepOp::Or, &[sum[0], sign]), number(0)]
        } else {
            [sum[0], self.step(StepOp::Or, &[sum[1], sign])]
        }
    }

    /// Returns the integer towards zero. Values out of range become the nearest integer in range, NaN becomes 0.
    pub(super) fn integer_of(&mut self, bits: Pair, signed: bool, shape: Shape) -> Pair {
        let double = shape.fraction == DOUBLE.fraction;
        let top_word = if double { bits[1] } else { bits[0] };
        let exponent_at = if double { 20 } else { 23 };
        let exponent_bits = if double { 11 } else { 8 };
        let negative = self.step(StepOp::LtI, &[top_word, number(0)]);
        let exponent = self.step(StepOp::FieldU, &[top_word, number(exponent_at), number(exponent_bits)]);
        let fraction_high = self.step(StepOp::And, &[top_word, number((1 << exponent_at) - 1)]);
        let leading = self.step(StepOp::Or, &[fraction_high, number(1 << exponent_at)]);
        // The leading one at bit 63, then down to its place.
        let significand = if double { [bits[0], leading] } else { [leading, number(0)] };
        let aligned = self.shift(Op::Ishl, significand, number(63 - shape.fraction));
        let down = self.step(StepOp::Sub, &[number(shape.bias + 63), exponent]);
        let magnitude = self.shift(Op::Ushr, aligned, down);
        let below_one = self.step(StepOp::LtU, &[exponent, number(shape.bias)]);
        let magnitude = self.select(below_one, wide(0), magnitude);
        let limit = if signed { 63 } else { 64 };
        let too_large = self.step(StepOp::GeU, &[exponent, number(shape.bias + limit)]);
        let result = if signed {
            let negated = self.negate(magnitude);
            let value = self.select(negative, negated, magnitude);
            let most = self.select(negative, wide(1 << 63), wide((1 << 63) - 1));
            self.select(too_large, most, value)
        } else {
            let most = self.select(too_large, wide(u64::MAX), magnitude);
            self.select(negative, wide(0), most)
        };
        let nan = self.is_nan(bits, fraction_high, exponent, exponent_bits, double);
        self.select(nan, wide(0), result)
    }

    fn is_nan(&mut self, bits: Pair, high: Value, exponent: Value, exponent_bits: u32, double: bool) -> Value {
        let full = self.step(StepOp::Eq, &[exponent, number((1 << exponent_bits) - 1)]);
        let fraction = if double { self.step(StepOp::Or, &[bits[0], high]) } else { high };
        let some = self.step(StepOp::Ne, &[fraction, number(0)]);
        self.step(StepOp::Both, &[full, some])
    }
}
