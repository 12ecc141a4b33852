//! Floating-point operations whose results Vulkan's precision rules leave no choice of.
//!
//! Additions and multiplications are rounded to nearest. Special values have statements of their own ([`super::edge`]). A result is replaced when it is near the ends of the range
//! ([`Generator::settle`]), so that drivers may flush what is denormal. Functions that may be inexact are asked for a result
//! that lies away from where rounding decides.

use rspirv::{
    dr::Operand,
    spirv::{Op, Word},
};

use super::{generator::Generator, kind::Scalar};

/// Numbers of instructions of GLSL.std.450.
mod glsl {
    pub(super) const ROUND_EVEN: u32 = 2;
    pub(super) const TRUNC: u32 = 3;
    pub(super) const F_ABS: u32 = 4;
    pub(super) const F_SIGN: u32 = 6;
    pub(super) const FLOOR: u32 = 8;
    pub(super) const CEIL: u32 = 9;
    pub(super) const EXP2: u32 = 29;
    pub(super) const LOG2: u32 = 30;
    pub(super) const SQRT: u32 = 31;
    pub(super) const INVERSE_SQRT: u32 = 32;
    pub(super) const F_MIN: u32 = 37;
    pub(super) const F_MAX: u32 = 40;
    pub(super) const FMA: u32 = 50;
    pub(super) const FREXP_STRUCT: u32 = 52;
    pub(super) const LDEXP: u32 = 53;
    pub(super) const PACK_HALF: u32 = 58;
    pub(super) const UNPACK_HALF: u32 = 62;
    pub(super) const N_MIN: u32 = 79;
    pub(super) const N_MAX: u32 = 80;
    pub(super) const N_CLAMP: u32 = 81;
}

/// Comparisons, each way with respect to NaN.
const COMPARISONS: [Op; 12] = [
    Op::FOrdEqual,
    Op::FUnordEqual,
    Op::FOrdNotEqual,
    Op::FUnordNotEqual,
    Op::FOrdLessThan,
    Op::FUnordLessThan,
    Op::FOrdGreaterThan,
    Op::FUnordGreaterThan,
    Op::FOrdLessThanEqual,
    Op::FUnordLessThanEqual,
    Op::FOrdGreaterThanEqual,
    Op::FUnordGreaterThanEqual,
];

/// Bits of f32 that are special: zeros, infinities, a quiet NaN, and one.
const SPECIAL: [u32; 6] = [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x3f80_0000];

impl Generator {
    /// Appends a floating-point operation.
    pub(super) fn float_operation(&mut self) {
        let kind = self.float();
        let (a, b) = (self.pick(kind), self.pick(kind));
        let (name, value) = match self.random.u32(..if kind == Scalar::F32 { 12 } else { 6 }) {
            0..=2 => {
                let op = self.one(&[Op::FAdd, Op::FSub, Op::FMul]).unwrap_or(Op::FAdd);
                (format!("{op:?}"), self.module.op(op, kind, &[a, b]))
            }
            3 => {
                let numbers = [glsl::ROUND_EVEN, glsl::TRUNC, glsl::FLOOR, glsl::CEIL, glsl::F_ABS, glsl::F_SIGN];
                let number = match self.one(&numbers).unwrap_or(glsl::FLOOR) {
                    // lavapipe of Mesa 25.0.7 rounds 1.5 of F64 to 1 on processors without AVX-512.
                    glsl::ROUND_EVEN if kind == Scalar::F64 => glsl::TRUNC,
                    number => number,
                };
                (format!("rounding {number}"), self.module.glsl(number, kind, &[a]))
            }
            4 => {
                let numbers = [glsl::F_MIN, glsl::F_MAX, glsl::N_MIN, glsl::N_MAX];
                let number = self.one(&numbers).unwrap_or(glsl::F_MIN);
                (format!("extreme {number}"), self.module.glsl(number, kind, &[a, b]))
            }
            5 => ("FNegate".into(), self.module.op(Op::FNegate, kind, &[a])),
            6 | 7 => return self.inexact(),
            8 => self.fused(),
            9 => return self.parts(a),
            10 => return self.halves_of_word(),
            _ => self.special(a),
        };
        let value = self.settle(kind, value);
        self.result(&format!("{name} of {kind:?}"), kind, value);
    }

    /// Replaces what is so near to zero, or so far from it, that drivers may differ two operations later, and NaN.
    pub(super) fn settle(&mut self, kind: Scalar, value: Word) -> Word {
        let range = if kind == Scalar::F16 { 5 } else { 40 };
        let [low, high] = [-range, range].map(|exponent| self.module.constant(kind, kind.power(exponent)));
        // All values in scope fit.
        let other = self.pick(kind);
        let magnitude = self.module.glsl(glsl::F_ABS, kind, &[value]);
        let large = self.module.op(Op::FOrdGreaterThanEqual, Scalar::Bool, &[magnitude, low]);
        let small = self.module.op(Op::FOrdLessThanEqual, Scalar::Bool, &[magnitude, high]);
        let fits = self.module.op(Op::LogicalAnd, Scalar::Bool, &[large, small]);
        self.module.op(Op::Select, kind, &[fits, value, other])
    }

    /// Returns a float with the value of the low `bits` bits of any word, and `added` to it.
    fn count(&mut self, bits: u32, added: u32) -> Word {
        let (any, mask) = (self.pick(Scalar::U32), self.module.word((1 << bits) - 1));
        let (low, added) = (self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, mask]), self.module.word(added));
        let sum = self.module.op(Op::IAdd, Scalar::U32, &[low, added]);
        self.module.op(Op::ConvertUToF, Scalar::F32, &[sum])
    }

    /// Asks a function of a few units of error for an integer, half a step away from where the next one begins.
    fn inexact(&mut self) {
        let half = self.module.constant(Scalar::F32, Scalar::F32.power(-1));
        let (name, value) = match self.random.u32(..5) {
            0 => {
                let (count, divisor) = (self.count(10, 0), self.count(6, 1));
                let dividend = self.module.op(Op::FAdd, Scalar::F32, &[count, half]);
                ("FDiv", self.module.op(Op::FDiv, Scalar::F32, &[dividend, divisor]))
            }
            1 => {
                let count = self.count(12, 1);
                let beyond = self.module.op(Op::FAdd, Scalar::F32, &[count, half]);
                ("Sqrt", self.module.glsl(glsl::SQRT, Scalar::F32, &[beyond]))
            }
            2 => {
                let exponent = self.count(3, 0);
                let power = self.module.glsl(glsl::EXP2, Scalar::F32, &[exponent]);
                ("Exp2", self.module.op(Op::FAdd, Scalar::F32, &[power, half]))
            }
            3 => {
                let count = self.count(12, 1);
                let beyond = self.module.op(Op::FAdd, Scalar::F32, &[count, half]);
                ("Log2", self.module.glsl(glsl::LOG2, Scalar::F32, &[beyond]))
            }
            _ => {
                // The root of 2^24 / (n + 1/2), which is an integer for no n.
                let count = self.count(10, 1);
                let beyond = self.module.op(Op::FAdd, Scalar::F32, &[count, half]);
                let inverse = self.module.glsl(glsl::INVERSE_SQRT, Scalar::F32, &[beyond]);
                let scale = self.module.constant(Scalar::F32, Scalar::F32.power(6));
                ("InverseSqrt", self.module.op(Op::FMul, Scalar::F32, &[inverse, scale]))
            }
        };
        let floor = self.module.glsl(glsl::FLOOR, Scalar::F32, &[value]);
        let integer = self.module.op(Op::ConvertFToU, Scalar::U32, &[floor]);
        self.result(name, Scalar::U32, integer);
    }

    /// Appends a multiply-add of small integers, which is exact with and without fusing.
    fn fused(&mut self) -> (String, Word) {
        let operands = [self.count(11, 1), self.count(11, 0), self.count(11, 0)];
        ("Fma".into(), self.module.glsl(glsl::FMA, Scalar::F32, &operands))
    }

    /// Takes a float apart, and puts another together.
    fn parts(&mut self, a: Word) {
        if self.random.bool() {
            let operands = vec![Operand::LiteralExtInstInteger(glsl::FREXP_STRUCT), Operand::IdRef(a)];
            let [part, exponent] = self.module.pair(Op::ExtInst, operands, [Scalar::F32, Scalar::U32]);
            self.result("Frexp, exponent", Scalar::U32, exponent);
            self.result("Frexp", Scalar::F32, part);
        } else {
            let (any, mask, bias) = (self.pick(Scalar::U32), self.module.word(15), self.module.word(8));
            let low = self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, mask]);
            let exponent = self.module.op(Op::ISub, Scalar::U32, &[low, bias]);
            let value = self.module.glsl(glsl::LDEXP, Scalar::F32, &[a, exponent]);
            let value = self.settle(Scalar::F32, value);
            self.result("Ldexp", Scalar::F32, value);
        }
    }

    /// Packs or unpacks two half floats, which are normal.
    fn halves_of_word(&mut self) {
        if self.random.bool() {
            let both = [self.count(11, 0), self.count(11, 0)];
            let pair = self.module.vector(Scalar::F32, &both);
            let packed = self.module.glsl(glsl::PACK_HALF, Scalar::U32, &[pair]);
            return self.result("PackHalf2x16", Scalar::U32, packed);
        }
        let (any, finite, normal) =
            (self.pick(Scalar::U32), self.module.word(0xbbff_bbff), self.module.word(0x0400_0400));
        let finite = self.module.op(Op::BitwiseAnd, Scalar::U32, &[any, finite]);
        let halves = self.module.op(Op::BitwiseOr, Scalar::U32, &[finite, normal]);
        let index = self.random.u32(..2);
        let operands = vec![Operand::LiteralExtInstInteger(glsl::UNPACK_HALF), Operand::IdRef(halves)];
        let value = self.module.component(Op::ExtInst, operands, [2, index], Scalar::F32);
        self.result("UnpackHalf2x16", Scalar::F32, value);
    }

    /// Appends an operation with a zero, an infinity or NaN.
    fn special(&mut self, a: Word) -> (String, Word) {
        let which = self.one(&SPECIAL).unwrap_or(0);
        // Of the invocation's choice, so that compilers do not know it.
        let (constant, sign) = (self.module.word(which), self.pick(Scalar::Bool));
        let plain = self.module.op(Op::Bitcast, Scalar::U32, &[a]);
        let bits = self.module.op(Op::Select, Scalar::U32, &[sign, constant, plain]);
        let special = self.module.op(Op::Bitcast, Scalar::F32, &[bits]);
        let is = self.one(&[Op::IsNan, Op::IsInf]).unwrap_or(Op::IsNan);
        let test = self.module.op(is, Scalar::Bool, &[special]);
        self.result(&format!("{is:?}"), Scalar::Bool, test);
        let b = self.pick(Scalar::F32);
        let compare = self.one(&COMPARISONS).unwrap_or(Op::FOrdEqual);
        let test = self.module.op(compare, Scalar::Bool, &[special, b]);
        self.result(&format!("{compare:?} of a special value"), Scalar::Bool, test);
        if self.random.bool() {
            let number = self.one(&[glsl::N_MIN, glsl::N_MAX]).unwrap_or(glsl::N_MIN);
            (format!("extreme {number} of a special value"), self.module.glsl(number, Scalar::F32, &[special, b]))
        } else {
            let op = self.one(&[Op::FAdd, Op::FSub, Op::FMul]).unwrap_or(Op::FAdd);
            (format!("{op:?} of a special value"), self.module.op(op, Scalar::F32, &[special, b]))
        }
    }

    /// Appends a comparison of floats.
    pub(super) fn float_comparison(&mut self) {
        let kind = self.float();
        let operands = [self.pick(kind), self.pick(kind)];
        let op = self.one(&COMPARISONS).unwrap_or(Op::FOrdEqual);
        let value = self.module.op(op, Scalar::Bool, &operands);
        self.result(&format!("{op:?} of {kind:?}"), Scalar::Bool, value);
    }

    /// Appends a conversion to or from a floating-point kind.
    pub(super) fn float_conversion(&mut self) {
        match self.random.u32(..3) {
            0 => {
                let (from, to) = (self.float(), self.integer());
                // What fits in the narrowest integer, with a sign only for the signed conversion.
                let op = self.one(&[Op::ConvertFToS, Op::ConvertFToU]).unwrap_or(Op::ConvertFToS);
                let high = if to == Scalar::U16 || from == Scalar::F16 { 14 } else { 30 };
                let top = self.module.constant(from, from.power(high));
                let sign = 1 << (from.bits() - 1);
                let bottom = if op == Op::ConvertFToS { sign | from.power(high) } else { 0 };
                let bottom = self.module.constant(from, bottom);
                let value = self.pick(from);
                let value = self.module.glsl(glsl::N_CLAMP, from, &[value, bottom, top]);
                let value = self.module.op(op, to, &[value]);
                self.result(&format!("{op:?} of {from:?}"), to, value);
            }
            1 => {
                let (from, to) = (self.integer(), self.float());
                let op = self.one(&[Op::ConvertSToF, Op::ConvertUToF]).unwrap_or(Op::ConvertSToF);
                let mut value = self.pick(from);
                if to == Scalar::F16 {
                    let mask = self.module.constant(from, 0x7ff);
                    value = self.module.op(Op::BitwiseAnd, from, &[value, mask]);
                }
                let value = self.module.op(op, to, &[value]);
                let value = self.settle(to, value);
                self.result(&format!("{op:?} of {from:?}"), to, value);
            }
            _ => {
                let from = self.float();
                // Between the widest and the narrowest, drivers round twice.
                let to = if from == Scalar::F64 { Scalar::F32 } else { self.float() };
                let value = self.pick(from);
                let value = if from == to { value } else { self.module.op(Op::FConvert, to, &[value]) };
                let value = self.settle(to, value);
                self.result(&format!("FConvert of {from:?}"), to, value);
            }
        }
    }
}
