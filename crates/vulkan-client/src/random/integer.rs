//! Integer operations, comparisons and conversions.

use rspirv::{
    dr::Operand,
    spirv::{Op, PackedVectorFormat, Word},
};

use super::{generator::Generator, kind::Scalar};

/// Operations of two operands that are defined for all of them, on every width.
const PLAIN: [Op; 6] = [Op::IAdd, Op::ISub, Op::IMul, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor];
/// Shifts, defined for amounts below the width.
const SHIFTS: [Op; 3] = [Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic];
/// GLSL.std.450: UMin, SMin, UMax, SMax.
const EXTREMES: [u32; 4] = [38, 39, 41, 42];
/// GLSL.std.450: FindILsb, FindSMsb, FindUMsb; of 32 bits only.
const FIND: [u32; 3] = [73, 74, 75];
/// Comparisons of integers.
const COMPARISONS: [Op; 10] = [
    Op::IEqual,
    Op::INotEqual,
    Op::UGreaterThan,
    Op::SGreaterThan,
    Op::UGreaterThanEqual,
    Op::SGreaterThanEqual,
    Op::ULessThan,
    Op::SLessThan,
    Op::ULessThanEqual,
    Op::SLessThanEqual,
];
/// Dot products of packed bytes.
const DOTS: [Op; 6] = [Op::SDot, Op::UDot, Op::SUDot, Op::SDotAccSat, Op::UDotAccSat, Op::SUDotAccSat];

impl Generator {
    /// Appends an integer operation of any width.
    pub(super) fn integer_operation(&mut self) {
        let kind = self.integer();
        let (a, b) = (self.pick(kind), self.pick(kind));
        let choice = self.random.u32(..if kind == Scalar::U32 { 14 } else { 8 });
        let (name, value) = match choice {
            0..=2 => self.among(&PLAIN, kind, &[a, b]),
            3 => {
                let mask = self.module.constant(kind, u64::from(kind.bits() - 1));
                let amount = self.module.op(Op::BitwiseAnd, kind, &[b, mask]);
                self.among(&SHIFTS, kind, &[a, amount])
            }
            4 => self.among(&[Op::SNegate, Op::Not], kind, &[a]),
            5 => {
                let number = self.one(&EXTREMES).unwrap_or(38);
                (format!("extreme {number}"), self.module.glsl(number, kind, &[a, b]))
            }
            6 => {
                // SAbs, SSign.
                let number = self.one(&[5, 7]).unwrap_or(5);
                (format!("sign {number}"), self.module.glsl(number, kind, &[a]))
            }
            7 => self.division(kind, a, b),
            8 => {
                let number = self.one(&FIND).unwrap_or(73);
                (format!("find {number}"), self.module.glsl(number, kind, &[a]))
            }
            9 => self.among(&[Op::BitReverse, Op::BitCount], kind, &[a]),
            10 => self.bit_field(a, b),
            11 => self.dot(a, b),
            12 => self.carry(a, b),
            _ => self.clamp(a),
        };
        self.result(&name, kind, value);
    }

    fn among(&mut self, ops: &[Op], kind: Scalar, operands: &[Word]) -> (String, Word) {
        let op = self.one(ops).unwrap_or(Op::IAdd);
        (format!("{op:?}"), self.module.op(op, kind, operands))
    }

    /// Divides by what is neither zero nor minus one, and takes remainders of what is not negative.
    fn division(&mut self, kind: Scalar, a: Word, b: Word) -> (String, Word) {
        let op = self.one(&[Op::UDiv, Op::UMod, Op::SDiv, Op::SRem]).unwrap_or(Op::UDiv);
        let (mask, least) = (self.module.constant(kind, 0x3ff), self.module.constant(kind, 2));
        let (dividend, divisor) = if matches!(op, Op::UDiv | Op::UMod) {
            let one = self.module.constant(kind, 1);
            (a, self.module.op(Op::BitwiseOr, kind, &[b, one]))
        } else {
            let small = self.module.op(Op::BitwiseAnd, kind, &[b, mask]);
            let divisor = self.module.op(Op::IAdd, kind, &[small, least]);
            if op == Op::SDiv {
                let negated = self.module.op(Op::SNegate, kind, &[divisor]);
                let sign = self.pick(Scalar::Bool);
                (a, self.module.op(Op::Select, kind, &[sign, negated, divisor]))
            } else {
                let positive = self.module.constant(kind, (1 << (kind.bits() - 1)) - 1);
                (self.module.op(Op::BitwiseAnd, kind, &[a, positive]), divisor)
            }
        };
        (format!("{op:?}"), self.module.op(op, kind, &[dividend, divisor]))
    }

    /// Inserts or extracts a field of at most sixteen bits.
    fn bit_field(&mut self, a: Word, b: Word) -> (String, Word) {
        let op =
            self.one(&[Op::BitFieldInsert, Op::BitFieldSExtract, Op::BitFieldUExtract]).unwrap_or(Op::BitFieldInsert);
        let mask = self.module.word(15);
        let fields = [self.pick(Scalar::U32), self.pick(Scalar::U32)];
        let [offset, count] = fields.map(|field| self.module.op(Op::BitwiseAnd, Scalar::U32, &[field, mask]));
        let operands = if op == Op::BitFieldInsert { vec![a, b, offset, count] } else { vec![a, offset, count] };
        (format!("{op:?}"), self.module.op(op, Scalar::U32, &operands))
    }

    fn dot(&mut self, a: Word, b: Word) -> (String, Word) {
        let op = self.one(&DOTS).unwrap_or(Op::SDot);
        let mut operands = vec![Operand::IdRef(a), Operand::IdRef(b)];
        if matches!(op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat) {
            operands.push(Operand::IdRef(self.pick(Scalar::U32)));
        }
        operands.push(Operand::PackedVectorFormat(PackedVectorFormat::PackedVectorFormat4x8Bit));
        (format!("{op:?}"), self.module.op_with(op, Scalar::U32, operands))
    }

    /// Appends an operation with two words of result.
    fn carry(&mut self, a: Word, b: Word) -> (String, Word) {
        let op =
            self.one(&[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended]).unwrap_or(Op::IAddCarry);
        let both = self.module.pair(op, vec![Operand::IdRef(a), Operand::IdRef(b)], [Scalar::U32; 2]);
        self.leave(Scalar::U32, both[0]);
        (format!("{op:?}"), both[1])
    }

    fn clamp(&mut self, a: Word) -> (String, Word) {
        let low = self.random.u32(..0x4000);
        let high = low + self.random.u32(..0x4000);
        // UClamp, SClamp.
        let number = self.one(&[44, 45]).unwrap_or(44);
        let bounds = [self.module.word(low), self.module.word(high)];
        (format!("clamp {number}"), self.module.glsl(number, Scalar::U32, &[a, bounds[0], bounds[1]]))
    }

    /// Appends a comparison, a logical operation, or a selection.
    pub(super) fn comparison(&mut self) {
        match self.random.u32(..5) {
            0 | 1 => {
                let kind = self.integer();
                let operands = [self.pick(kind), self.pick(kind)];
                let (name, value) = self.among(&COMPARISONS, Scalar::Bool, &operands);
                self.result(&format!("{name} of {kind:?}"), Scalar::Bool, value);
            }
            2 => self.float_comparison(),
            3 => {
                let operands = [self.pick(Scalar::Bool), self.pick(Scalar::Bool)];
                let ops = [Op::LogicalAnd, Op::LogicalOr, Op::LogicalEqual, Op::LogicalNotEqual];
                let (name, value) = self.among(&ops, Scalar::Bool, &operands);
                self.result(&name, Scalar::Bool, value);
            }
            _ => {
                let kind = if self.random.bool() { self.integer() } else { self.float() };
                let operands = [self.pick(Scalar::Bool), self.pick(kind), self.pick(kind)];
                let value = self.module.op(Op::Select, kind, &operands);
                self.result("Select", kind, value);
            }
        }
    }

    /// Appends a conversion between kinds.
    pub(super) fn conversion(&mut self) {
        if self.random.bool() {
            return self.float_conversion();
        }
        let (from, to) = (self.integer(), self.integer());
        let value = self.pick(from);
        if from.bits() == to.bits() {
            let flipped = self.module.op(Op::Not, to, &[value]);
            return self.result("Not", to, flipped);
        }
        let op = self.one(&[Op::UConvert, Op::SConvert]).unwrap_or(Op::UConvert);
        let converted = self.module.op(op, to, &[value]);
        self.result(&format!("{op:?} of {from:?}"), to, converted);
    }
}
