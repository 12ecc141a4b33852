//! Recording of 64-bit operations, as native instructions or as lowered steps.

use std::collections::HashMap;

use super::{BuildError, Builder, Scalar, Vector};
use crate::int64::{Bank, Lowering, Native, Op, Options, Step, StepOp, Steps, Value, lower, native};

/// An operand of a 64-bit operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wide {
    /// Vector registers: two, or one for values of up to 32 bits.
    Vector(Vector),
    /// Scalar registers with a value for all lanes: two, or one. For a truth value a lane mask.
    Scalar(Scalar),
    /// A 64-bit constant.
    Constant(u64),
}

impl Wide {
    /// Returns the text of the operand, of its low half (0) or of its high half (1).
    fn text(self, half: Option<u8>) -> String {
        match (self, half) {
            (Self::Vector(register), None) => register.to_string(),
            (Self::Vector(register), Some(half)) => register.at(half).to_string(),
            (Self::Scalar(register), None) => register.to_string(),
            (Self::Scalar(register), Some(half)) => register.at(half).to_string(),
            (Self::Constant(value), None) => constant(value.cast_signed()),
            (Self::Constant(value), Some(half)) => constant(low(value >> (32 * half)).cast_signed().into()),
        }
    }
}

/// Returns the text of a constant: decimal for inline constants, otherwise hexadecimal.
fn constant(value: i64) -> String {
    if (-16..=64).contains(&value) { value.to_string() } else { format!("{:#x}", low(value.cast_unsigned())) }
}

/// Returns the low half.
const fn low(value: u64) -> u32 {
    value as u32
}

const fn is_inline(value: u32) -> bool {
    value <= 64 || value >= 0xffff_fff0
}

/// The registers for the roles of a native template.
struct Roles {
    result: Wide,
    sources: [Option<Wide>; 2],
    truth: Option<Wide>,
    pairs: [Wide; 2],
    mask: Scalar,
    /// Source `b` in vector registers.
    vector_b: Option<Vector>,
    op: Op,
}

impl Roles {
    /// Returns the text for a role.
    fn operand(&self, role: &str) -> String {
        let (name, half) = match role.as_bytes() {
            [name, b'0'] => (*name, Some(0)),
            [name, b'1'] => (*name, Some(1)),
            [name] => (*name, None),
            _ => return role.to_owned(),
        };
        let (part, width) = match self.op {
            Op::ExtractU8(part) | Op::ExtractI8(part) => (u32::from(part) * 8 % 64, 8),
            Op::ExtractU16(part) | Op::ExtractI16(part) => (u32::from(part) * 16 % 64, 16),
            _ => (0, 0),
        };
        let source = |index: usize, half| self.sources[index].map_or_else(String::new, |wide: Wide| wide.text(half));
        match name {
            b'd' => self.result.text(half),
            b'a' => source(0, half),
            b'b' => source(1, half),
            b'B' => self.vector_b.map_or_else(String::new, |register| register.to_string()),
            b'c' => self.truth.map_or_else(String::new, |truth| truth.text(None)),
            b't' => self.pairs[0].text(half),
            b'u' => self.pairs[1].text(half),
            b'm' => self.mask.to_string(),
            b'h' => source(0, Some(u8::from(part >= 32))),
            b'o' => (part % 32).to_string(),
            b'w' => width.to_string(),
            b'f' => format!("{:#x}", part | width << 16),
            _ => role.to_owned(),
        }
    }
}

impl Builder {
    /// Records a 64-bit operation on vector registers, lowered according to `options`. The result of a comparison is a lane mask in
    /// scalar registers; all other results are in vector registers.
    pub fn int64(&mut self, op: Op, options: Options, result: Wide, sources: &[Wide]) {
        match lower(op, self.level, Bank::Vector, options) {
            Lowering::Native(_) => self.native(op, Bank::Vector, result, sources),
            Lowering::Steps(steps) => self.steps(&steps, op, result, sources),
        }
    }

    /// Records a 64-bit operation on scalar registers. The generation must have native instructions for it.
    pub fn int64_scalar(&mut self, op: Op, result: Scalar, sources: &[Wide]) {
        self.native(op, Bank::Scalar, Wide::Scalar(result), sources);
    }

    fn native(&mut self, op: Op, bank: Bank, result: Wide, sources: &[Wide]) {
        let Some(list) = native(op, self.level, self.wave, bank) else {
            self.note(Some(BuildError::Missing("a 64-bit operation without scalar instructions")));
            return;
        };
        let (truth, values) = match op {
            Op::Bcsel => (sources.first().copied(), sources.get(1..).unwrap_or_default()),
            _ => (None, sources),
        };
        let mut copies = Vec::new();
        let mut source = |builder: &mut Self, index: usize| {
            let wide = *values.get(index)?;
            let bits = op.sources().get(index + usize::from(truth.is_some())).copied().unwrap_or(64);
            Some(if bank == Bank::Vector { builder.in_vector(wide, bits, &mut copies) } else { wide })
        };
        let sources = [source(self, 0), source(self, 1)];
        let wants_copy = list.iter().any(|line| line.operands.split(' ').any(|role| role == "B"));
        let vector_b = wants_copy.then(|| self.vector(2));
        if let (Some(copy), Some(b)) = (vector_b, sources[1]) {
            for half in 0..2 {
                self.op(format_args!("v_mov_b32 {}, {}", copy.at(half), b.text(Some(half))));
            }
        }
        let pairs = [0, 1].map(|_| match bank {
            Bank::Vector => Wide::Vector(self.vector(2)),
            Bank::Scalar => Wide::Scalar(self.scalar(2)),
        });
        // The result would be written before all sources are read, so it goes to temporary registers first.
        let through = match result {
            Wide::Vector(register) if list.len() > 1 => Wide::Vector(self.vector(register.count)),
            Wide::Scalar(register) if list.len() > 1 && op.bits() != 1 => Wide::Scalar(self.scalar(register.count)),
            _ => result,
        };
        let mask = self.mask();
        let roles = Roles { result: through, sources, truth, pairs, mask, vector_b, op };
        for line in list {
            self.template(line, &roles);
        }
        if through != result {
            self.copy(result, through);
            self.release(through);
        }
        self.free_scalar(mask);
        for pair in pairs {
            self.release(pair);
        }
        vector_b.into_iter().chain(copies).for_each(|register| self.free_vector(register));
    }

    fn template(&mut self, line: &Native, roles: &Roles) {
        let mut operands = Vec::new();
        let mut modifiers = String::new();
        for role in line.operands.split(' ') {
            match role {
                "clamp" => modifiers.push_str(" clamp"),
                role => operands.push(roles.operand(role)),
            }
        }
        self.op(format_args!("{} {}{modifiers}", line.op, operands.join(", ")));
    }

    fn release(&mut self, wide: Wide) {
        match wide {
            Wide::Vector(register) => self.free_vector(register),
            Wide::Scalar(register) => self.free_scalar(register),
            Wide::Constant(_) => {}
        }
    }

    fn copy(&mut self, to: Wide, from: Wide) {
        let (name, count) = match to {
            Wide::Vector(register) => ("v_mov_b32", register.count),
            Wide::Scalar(register) => ("s_mov_b32", register.count),
            Wide::Constant(_) => return,
        };
        for half in 0..count {
            self.op(format_args!("{name} {}, {}", to.text(Some(half)), from.text(Some(half))));
        }
    }

    /// Returns an operand for vector operations. Registers are used as they are; values that are not inline constants are copied.
    fn in_vector(&mut self, wide: Wide, bits: u8, copies: &mut Vec<Vector>) -> Wide {
        let stays = match wide {
            Wide::Vector(_) => true,
            // Truth values are lane masks.
            Wide::Scalar(_) => bits == 1,
            Wide::Constant(value) => {
                let sign = low(value).cast_signed();
                is_inline(low(value)) && (bits < 64 || i64::from(sign) == value.cast_signed())
            }
        };
        if stays {
            return wide;
        }
        let copy = self.vector(if bits == 64 { 2 } else { 1 });
        self.copy(Wide::Vector(copy), wide);
        copies.push(copy);
        Wide::Vector(copy)
    }

    /// Records steps. Registers of a value are freed after its last use.
    fn steps(&mut self, steps: &Steps, op: Op, result: Wide, sources: &[Wide]) {
        let mut values = Values::default();
        let mut copies = Vec::new();
        for (source, &bits) in sources.iter().zip(op.sources()) {
            let source = self.in_vector(*source, bits, &mut copies);
            let halves = if bits == 64 { 2 } else { 1 };
            for half in 0..halves {
                values.inputs.push(match source {
                    Wide::Vector(register) => ValueLocation::Vector(register.at(half)),
                    Wide::Scalar(register) => ValueLocation::Mask(register),
                    Wide::Constant(value) => ValueLocation::Constant(low(value >> (32 * half))),
                });
            }
        }
        values.last_uses(steps);
        for (index, step) in steps.steps.iter().enumerate() {
            self.step(step, steps.inputs, &mut values);
            for number in values.ending(index) {
                match values.made.remove(&number) {
                    Some(ValueLocation::Vector(register)) => self.free_vector(register),
                    Some(ValueLocation::Mask(register)) => self.free_scalar(register),
                    _ => {}
                }
            }
        }
        let outputs: Vec<ValueLocation> =
            steps.outputs.iter().map(|value| values.place(*value, steps.inputs)).collect();
        if let (Wide::Scalar(register), Some(ValueLocation::Mask(mask))) = (result, outputs.first()) {
            let (bits, _) = self.mask_words();
            self.op(format_args!("s_mov_{bits} {register}, {mask}"));
        } else {
            // An output may be an input, which the result would overwrite, so all outputs go to temporary registers first.
            let through: Vec<Vector> = outputs.iter().map(|_| self.vector(1)).collect();
            for (to, from) in through.iter().zip(&outputs) {
                self.op(format_args!("v_mov_b32 {to}, {}", from.text()));
            }
            for (half, from) in (0..).zip(&through) {
                self.op(format_args!("v_mov_b32 {}, {from}", result.text(Some(half))));
            }
            for register in through {
                self.free_vector(register);
            }
        }
        for place in std::mem::take(&mut values.made).into_values() {
            match place {
                ValueLocation::Vector(register) => self.free_vector(register),
                ValueLocation::Mask(register) => self.free_scalar(register),
                ValueLocation::Constant(_) => {}
            }
        }
        for register in copies {
            self.free_vector(register);
        }
    }

    fn step(&mut self, step: &Step, inputs: u16, values: &mut Values) {
        let places: Vec<ValueLocation> = step.inputs.iter().map(|value| values.place(*value, inputs)).collect();
        if let StepOp::Native(op) = step.op {
            self.native_step(op, step.output, &places, values);
            return;
        }
        let output =
            if step.op.is_truth() { ValueLocation::Mask(self.mask()) } else { ValueLocation::Vector(self.vector(1)) };
        values.made.insert(step.output, output);
        let mut copies = Vec::new();
        let texts: Vec<String> = places.iter().map(|place| self.source(*place, &mut copies)).collect();
        let text = |index: usize| texts.get(index).map_or("0", String::as_str);
        let (a, b, c, d) = (text(0), text(1), text(2), output.text());
        let (bits, _) = self.mask_words();
        match step.op {
            StepOp::Add => self.op(format_args!("v_add_co_u32 {d}, vcc{}, {a}, {b}", self.low_suffix())),
            StepOp::Sub => self.op(format_args!("v_sub_co_u32 {d}, vcc{}, {a}, {b}", self.low_suffix())),
            // Shifts have the amount as the first operand.
            StepOp::Shl => self.op(format_args!("v_lshlrev_b32 {d}, {b}, {a}")),
            StepOp::Shr => self.op(format_args!("v_lshrrev_b32 {d}, {b}, {a}")),
            StepOp::Ashr => self.op(format_args!("v_ashrrev_i32 {d}, {b}, {a}")),
            StepOp::Select => self.op(format_args!("v_cndmask_b32 {d}, {c}, {b}, {a}")),
            StepOp::Both => self.op(format_args!("s_and_{bits} {d}, {a}, {b}")),
            StepOp::Either => self.op(format_args!("s_or_{bits} {d}, {a}, {b}")),
            StepOp::Differ => self.op(format_args!("s_xor_{bits} {d}, {a}, {b}")),
            StepOp::LeadingZeros => self.op(format_args!("v_ffbh_u32 {d}, {a}")),
            StepOp::TrailingZeros => self.op(format_args!("v_ffbl_b32 {d}, {a}")),
            StepOp::FieldU => self.op(format_args!("v_bfe_u32 {d}, {a}, {b}, {c}")),
            StepOp::FieldI => self.op(format_args!("v_bfe_i32 {d}, {a}, {b}, {c}")),
            op => self.op(format_args!("{} {d}, {a}, {b}", plain_name(op))),
        }
        for register in copies {
            self.free_vector(register);
        }
    }

    /// Returns the suffix of VCC's name.
    fn low_suffix(&self) -> &'static str {
        if self.wave == crate::WaveSize::Wave32 { "_lo" } else { "" }
    }

    /// Returns the text of a source. Constants that are not inline constants are copied.
    fn source(&mut self, place: ValueLocation, copies: &mut Vec<Vector>) -> String {
        match place {
            ValueLocation::Constant(value) if !is_inline(value) => {
                let copy = self.vector(1);
                self.op(format_args!("v_mov_b32 {copy}, {value:#x}"));
                copies.push(copy);
                copy.to_string()
            }
            place => place.text(),
        }
    }

    /// Records a native 64-bit operation of a step, with its operands gathered into pairs.
    fn native_step(&mut self, op: Op, output: u16, places: &[ValueLocation], values: &mut Values) {
        let mut gathered = Vec::new();
        let mut rest = places.iter().copied();
        let mut operands = Vec::new();
        for &bits in op.sources() {
            let Some(low) = rest.next() else { break };
            let high = if bits == 64 { rest.next() } else { None };
            operands.push(match (low, high) {
                (ValueLocation::Mask(mask), _) => Wide::Scalar(mask),
                (ValueLocation::Constant(low), None) => Wide::Constant(low.into()),
                (ValueLocation::Constant(low), Some(ValueLocation::Constant(high))) => {
                    Wide::Constant(u64::from(high) << 32 | u64::from(low))
                }
                (ValueLocation::Vector(low), None) => Wide::Vector(low),
                (ValueLocation::Vector(low), Some(ValueLocation::Vector(high))) if low.first + 1 == high.first => {
                    Wide::Vector(low.part(0, 2))
                }
                (low, high) => {
                    let pair = self.vector(2);
                    gathered.push(pair);
                    for (half, place) in (0..).zip([Some(low), high].into_iter().flatten()) {
                        self.op(format_args!("v_mov_b32 {}, {}", pair.at(half), place.text()));
                    }
                    Wide::Vector(pair)
                }
            });
        }
        let result = match op.bits() {
            1 => {
                let mask = self.mask();
                values.made.insert(output, ValueLocation::Mask(mask));
                Wide::Scalar(mask)
            }
            bits => {
                let register = self.vector(if bits == 64 { 2 } else { 1 });
                for half in 0..register.count {
                    values.made.insert(output + u16::from(half), ValueLocation::Vector(register.at(half)));
                }
                Wide::Vector(register)
            }
        };
        self.native(op, Bank::Vector, result, &operands);
        for register in gathered {
            self.free_vector(register);
        }
    }
}

/// Returns the operation for a step with the same order of operands.
fn plain_name(op: StepOp) -> &'static str {
    match op {
        StepOp::Mul => "v_mul_lo_u32",
        StepOp::MulHighU => "v_mul_hi_u32",
        StepOp::MulHighI => "v_mul_hi_i32",
        StepOp::And => "v_and_b32",
        StepOp::Or => "v_or_b32",
        StepOp::Xor => "v_xor_b32",
        StepOp::MinU => "v_min_u32",
        StepOp::BitCount => "v_bcnt_u32_b32",
        StepOp::Eq => "v_cmp_eq_u32",
        StepOp::Ne => "v_cmp_lg_u32",
        StepOp::LtU => "v_cmp_lt_u32",
        StepOp::LtI => "v_cmp_lt_i32",
        StepOp::GeU => "v_cmp_ge_u32",
        _ => "v_cmp_ge_i32",
    }
}

/// The location of a value.
#[derive(Clone, Copy, Debug)]
enum ValueLocation {
    Vector(Vector),
    Mask(Scalar),
    Constant(u32),
}

impl ValueLocation {
    fn text(self) -> String {
        match self {
            Self::Vector(register) => register.to_string(),
            Self::Mask(register) => register.to_string(),
            Self::Constant(value) => constant(value.cast_signed().into()),
        }
    }
}

/// The locations of all live values.
#[derive(Default)]
struct Values {
    inputs: Vec<ValueLocation>,
    made: HashMap<u16, ValueLocation>,
    /// The values whose last use is in each step.
    ends: HashMap<usize, Vec<u16>>,
}

impl Values {
    fn place(&self, value: Value, inputs: u16) -> ValueLocation {
        match value {
            Value::Constant(value) => ValueLocation::Constant(value),
            Value::Number(number) if number < inputs => {
                self.inputs.get(usize::from(number)).copied().unwrap_or(ValueLocation::Constant(0))
            }
            Value::Number(number) => self.made.get(&number).copied().unwrap_or(ValueLocation::Constant(0)),
        }
    }

    /// Determines the last use of each value that is computed by a step and is not part of the result.
    fn last_uses(&mut self, steps: &Steps) {
        let mut last = HashMap::new();
        for (index, step) in steps.steps.iter().enumerate() {
            for number in step.output..step.output + step.op.outputs() {
                last.insert(number, index);
            }
            for value in &step.inputs {
                if let Value::Number(number) = value {
                    last.insert(*number, index);
                }
            }
        }
        for value in &steps.outputs {
            if let Value::Number(number) = value {
                last.remove(number);
            }
        }
        for (number, index) in last {
            self.ends.entry(index).or_default().push(number);
        }
    }

    fn ending(&self, index: usize) -> Vec<u16> {
        self.ends.get(&index).cloned().unwrap_or_default()
    }
}
