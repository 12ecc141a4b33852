//! Floating-point operations on zeroes, infinities, NaN, ties of rounding and denormals, as far as Vulkan pins their results.
//!
//! The shaders declare SignedZeroInfNanPreserve and RoundingModeRTE of SPV_KHR_float_controls. What these leave open is taken
//! out of a result before it is shown: the bits of a NaN, and what a driver may flush. Operands are chosen while the shader
//! runs, so that no compiler computes the result.

use rspirv::spirv::{Op, Word};

use super::{generator::Generator, kind::Scalar};

/// Numbers of instructions of GLSL.std.450.
mod glsl {
    pub(super) const ROUND_EVEN: u32 = 2;
    pub(super) const TRUNC: u32 = 3;
    pub(super) const F_ABS: u32 = 4;
    pub(super) const FLOOR: u32 = 8;
    pub(super) const CEIL: u32 = 9;
    pub(super) const FMA: u32 = 50;
    pub(super) const N_MIN: u32 = 79;
    pub(super) const N_MAX: u32 = 80;
}

/// Operations of one rounding.
const ARITHMETIC: [Op; 3] = [Op::FAdd, Op::FSub, Op::FMul];

/// Encoding of a floating-point kind.
#[derive(Clone, Copy)]
struct Layout {
    kind: Scalar,
    /// The integer kind of the same width.
    bits: Scalar,
    mantissa: u32,
}

impl Layout {
    /// Returns the encoding of a kind that is a float; of 32 bits for any other.
    fn of(kind: Scalar) -> Self {
        match kind {
            Scalar::F16 => Self { kind, bits: Scalar::U16, mantissa: 10 },
            Scalar::F64 => Self { kind, bits: Scalar::U64, mantissa: 52 },
            _ => Self { kind: Scalar::F32, bits: Scalar::U32, mantissa: 23 },
        }
    }

    fn sign(self) -> u64 {
        1 << (self.kind.bits() - 1)
    }

    fn infinity(self) -> u64 {
        self.sign() - (1 << self.mantissa)
    }

    fn quiet_nan(self) -> u64 {
        self.infinity() | 1 << (self.mantissa - 1)
    }

    fn smallest_normal(self) -> u64 {
        1 << self.mantissa
    }

    fn largest(self) -> u64 {
        self.infinity() - 1
    }

    /// Returns magnitudes from which no sum or product is denormal: zero, infinity, NaN, small numbers, numbers whose sums lie
    /// half-way between two others, and the largest with what just rounds it to infinity.
    fn large(self) -> [u64; 12] {
        let steps = i64::from(self.mantissa);
        let one = self.kind.power(0);
        let highest = match self.kind {
            Scalar::F16 => 15,
            Scalar::F64 => 1023,
            _ => 127,
        };
        [
            0,
            0,
            self.infinity(),
            self.quiet_nan(),
            one,
            one | 1,
            one | 1 << (self.mantissa - 1),
            self.kind.power(1),
            self.kind.power(-steps - 1).max(self.smallest_normal()),
            self.kind.power(-steps).max(self.smallest_normal()),
            self.largest(),
            self.kind.power(highest - steps - 1),
        ]
    }
}

impl Generator {
    /// Appends an operation at the edges of a floating-point kind, and leaves the bits of its result.
    pub(super) fn edge_operation(&mut self) {
        let layout = Layout::of(self.float());
        match self.random.u32(..8) {
            0..=3 => self.edge_arithmetic(layout),
            4 => self.edge_rounding(layout),
            5 => self.edge_extreme(layout),
            6 => self.edge_conversion(),
            _ => self.denormal(layout),
        }
    }

    /// Returns one of two magnitudes with any sign, as each invocation chooses.
    fn edge(&mut self, layout: Layout, magnitudes: &[u64]) -> Word {
        let [one, other] = [(); 2].map(|()| {
            let sign = if self.random.bool() { layout.sign() } else { 0 };
            let bits = self.one(magnitudes).unwrap_or(0) | sign;
            self.module.constant(layout.kind, bits)
        });
        let condition = self.pick(Scalar::Bool);
        self.module.op(Op::Select, layout.kind, &[condition, one, other])
    }

    /// Returns the bits of a value, which for every NaN are the same.
    fn bits_of(&mut self, layout: Layout, value: Word) -> Word {
        let (bits, quiet) =
            (self.module.op(Op::Bitcast, layout.bits, &[value]), self.module.constant(layout.bits, layout.quiet_nan()));
        let magnitude = self.module.constant(layout.bits, layout.sign() - 1);
        let magnitude = self.module.op(Op::BitwiseAnd, layout.bits, &[bits, magnitude]);
        let infinity = self.module.constant(layout.bits, layout.infinity());
        let is_nan = self.module.op(Op::UGreaterThan, Scalar::Bool, &[magnitude, infinity]);
        self.module.op(Op::Select, layout.bits, &[is_nan, quiet, bits])
    }

    /// Returns the bits of a value, and zero for what is smaller than every normal number.
    fn bits_of_normal(&mut self, layout: Layout, value: Word) -> Word {
        let bits = self.bits_of(layout, value);
        let mask = self.module.constant(layout.bits, layout.sign() - 1);
        let magnitude = self.module.op(Op::BitwiseAnd, layout.bits, &[bits, mask]);
        let (smallest, zero) =
            (self.module.constant(layout.bits, layout.smallest_normal()), self.module.constant(layout.bits, 0));
        let is_small = self.module.op(Op::ULessThan, Scalar::Bool, &[magnitude, smallest]);
        self.module.op(Op::Select, layout.bits, &[is_small, zero, bits])
    }

    /// Appends a sum, difference or product, or a multiply-add whose product is exact.
    fn edge_arithmetic(&mut self, layout: Layout) {
        let large = layout.large();
        if self.random.u32(..4) == 0 {
            // Powers of two: with and without fusing, one rounding of the sum is left.
            let powers = [0, layout.infinity(), layout.quiet_nan(), layout.kind.power(0), layout.kind.power(1)];
            let operands = [self.edge(layout, &powers), self.edge(layout, &powers), self.edge(layout, &large)];
            let value = self.module.glsl(glsl::FMA, layout.kind, &operands);
            let bits = self.bits_of(layout, value);
            return self.result(&format!("Fma at the edges of {:?}", layout.kind), layout.bits, bits);
        }
        let op = self.one(&ARITHMETIC).unwrap_or(Op::FAdd);
        // A product of two small numbers may be denormal.
        let first = if op == Op::FMul { &large[..8] } else { &large[..] };
        let operands = [self.edge(layout, first), self.edge(layout, &large)];
        let value = self.module.op(op, layout.kind, &operands);
        let bits =
            if layout.kind == Scalar::F16 { self.bits_of_normal(layout, value) } else { self.bits_of(layout, value) };
        self.result(&format!("{op:?} at the edges of {:?}", layout.kind), layout.bits, bits);
    }

    /// Appends a rounding to an integer or a change of sign.
    fn edge_rounding(&mut self, layout: Layout) {
        let half = layout.kind.power(-1);
        let mut magnitudes = layout.large()[..8].to_vec();
        magnitudes.extend([half, half | 1, half - 1, layout.kind.power(1) | 1 << (layout.mantissa - 2)]);
        let operand = self.edge(layout, &magnitudes);
        let numbers = [glsl::ROUND_EVEN, glsl::TRUNC, glsl::FLOOR, glsl::CEIL, glsl::F_ABS];
        let (name, value) = match self.one(&numbers) {
            Some(number) if self.random.u32(..6) != 0 => {
                (format!("rounding {number}"), self.module.glsl(number, layout.kind, &[operand]))
            }
            _ => ("FNegate".to_owned(), self.module.op(Op::FNegate, layout.kind, &[operand])),
        };
        let bits = self.bits_of(layout, value);
        self.result(&format!("{name} at the edges of {:?}", layout.kind), layout.bits, bits);
    }

    /// Appends an extreme of which NaN is not one. Either zero is the lesser, so the sign of zero is lost.
    fn edge_extreme(&mut self, layout: Layout) {
        let large = layout.large();
        let operands = [self.edge(layout, &large), self.edge(layout, &large)];
        let number = self.one(&[glsl::N_MIN, glsl::N_MAX]).unwrap_or(glsl::N_MIN);
        let value = self.module.glsl(number, layout.kind, &operands);
        let bits = self.bits_of_normal(layout, value);
        self.result(&format!("extreme {number} at the edges of {:?}", layout.kind), layout.bits, bits);
    }

    /// Appends a conversion between two floating-point kinds of the shader. From the widest to the narrowest, drivers round
    /// twice.
    fn edge_conversion(&mut self) {
        let (from, to) = (Layout::of(self.float()), Layout::of(self.float()));
        if from.kind == to.kind || from.kind == Scalar::F64 && to.kind == Scalar::F16 {
            return self.denormal(from);
        }
        let mut magnitudes = vec![0, from.infinity(), from.quiet_nan(), from.kind.power(0), from.kind.power(3)];
        if from.mantissa > to.mantissa {
            // Ties between two numbers of the narrower kind, and what is just beside them.
            let tie = from.kind.power(0) | 1 << (from.mantissa - to.mantissa - 1);
            let odd = tie | 1 << (from.mantissa - to.mantissa);
            magnitudes.extend([tie, tie | 1, tie - 1, odd, from.largest()]);
        }
        let operand = self.edge(from, &magnitudes);
        let value = self.module.op(Op::FConvert, to.kind, &[operand]);
        let bits = self.bits_of(to, value);
        self.result(&format!("FConvert at the edges of {:?}", from.kind), to.bits, bits);
    }

    /// Appends an operation with a denormal operand or result, which gives one result if denormals are flushed and if not.
    fn denormal(&mut self, layout: Layout) {
        let smallest = layout.smallest_normal();
        let denormals = [0, 1, smallest - 1, smallest >> 1];
        let normals = [smallest, smallest | 1, smallest + smallest / 2, 2 * smallest];
        let one = layout.kind.power(0);
        let (op, a, b) = match self.random.u32(..3) {
            0 => {
                let others = [0, one, one | 1, layout.infinity(), layout.quiet_nan()];
                let op = self.one(&[Op::FAdd, Op::FSub]).unwrap_or(Op::FAdd);
                (op, self.edge(layout, &denormals), self.edge(layout, &others))
            }
            1 => {
                let others = [0, layout.kind.power(-1), one, layout.quiet_nan()];
                (Op::FMul, self.edge(layout, &denormals), self.edge(layout, &others))
            }
            _ => {
                let op = self.one(&ARITHMETIC).unwrap_or(Op::FSub);
                (op, self.edge(layout, &normals), self.edge(layout, &normals))
            }
        };
        let value = self.module.op(op, layout.kind, &[a, b]);
        let bits = self.bits_of_normal(layout, value);
        self.result(&format!("{op:?} of denormals of {:?}", layout.kind), layout.bits, bits);
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Scalar};

    #[test]
    fn edges_have_the_bits_of_ieee() {
        let layout = Layout::of(Scalar::F32);
        assert_eq!(layout.infinity(), u64::from(f32::INFINITY.to_bits()));
        assert_eq!(layout.largest(), u64::from(f32::MAX.to_bits()));
        assert_eq!(layout.smallest_normal(), u64::from(f32::MIN_POSITIVE.to_bits()));
        let [.., largest, last] = layout.large().map(|bits| f32::from_bits(bits as u32));
        assert!((largest + last).is_infinite() && (largest + last / 2.0).is_finite());
        assert_eq!(Layout::of(Scalar::F64).largest(), f64::MAX.to_bits());
        assert_eq!(Layout::of(Scalar::F16).infinity(), 0x7c00);
    }
}
