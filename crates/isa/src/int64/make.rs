//! Making lists of steps.

use super::{Op, Options, Step, StepOp, Steps, Value};

/// A 64-bit value: low and high half.
pub(super) type Pair = [Value; 2];

/// A list of steps as it is made. Known results are not computed again.
pub(super) struct Maker {
    pub(super) options: Options,
    next: u16,
    steps: Vec<Step>,
    inputs: u16,
}

/// A constant.
pub(super) const fn number(value: u32) -> Value {
    Value::Constant(value)
}

/// A 64-bit constant.
pub(super) const fn wide(value: u64) -> Pair {
    [Value::Constant(value as u32), Value::Constant((value >> 32) as u32)]
}

/// Returns the result of an operation on constants; `None` if a step is needed.
fn folded(op: StepOp, inputs: &[Value]) -> Option<Value> {
    use StepOp::{Add, And, Ashr, Mul, Or, Shl, Shr, Sub, Xor};
    let &[a, b] = inputs else { return None };
    match (op, a, b) {
        (_, Value::Constant(x), Value::Constant(y)) => Some(number(match op {
            Add => x.wrapping_add(y),
            Sub => x.wrapping_sub(y),
            Mul => x.wrapping_mul(y),
            And => x & y,
            Or => x | y,
            Xor => x ^ y,
            Shl => x << (y & 31),
            Shr => x >> (y & 31),
            Ashr => (x.cast_signed() >> (y & 31)).cast_unsigned(),
            _ => return None,
        })),
        (Add | Sub | Or | Xor | Shl | Shr | Ashr, _, Value::Constant(0)) => Some(a),
        (Add | Or | Xor, Value::Constant(0), _) => Some(b),
        (And | Mul, _, Value::Constant(0)) | (And | Mul, Value::Constant(0), _) => Some(number(0)),
        _ => None,
    }
}

impl Maker {
    pub(super) fn new(options: Options, inputs: u16) -> Self {
        Self { options, next: inputs, steps: Vec::new(), inputs }
    }

    pub(super) fn finish(self, outputs: Vec<Value>) -> Steps {
        Steps { inputs: self.inputs, steps: self.steps, outputs }
    }

    /// Adds a step and returns its first output.
    pub(super) fn step(&mut self, op: StepOp, inputs: &[Value]) -> Value {
        if let Some(known) = folded(op, inputs) {
            return known;
        }
        let output = self.next;
        self.next += op.outputs();
        self.steps.push(Step { op, inputs: inputs.to_vec(), output });
        Value::Number(output)
    }

    fn native(&mut self, op: Op, inputs: &[Value]) -> Pair {
        match self.step(StepOp::Native(op), inputs) {
            Value::Number(low) => [Value::Number(low), Value::Number(low + 1)],
            constant @ Value::Constant(_) => [constant; 2],
        }
    }

    pub(super) fn lowers(&self, op: Op) -> bool {
        self.options.contains(op.option())
    }

    pub(super) fn add(&mut self, a: Pair, b: Pair) -> Pair {
        if !self.lowers(Op::Iadd) {
            return self.native(Op::Iadd, &[a[0], a[1], b[0], b[1]]);
        }
        let low = self.step(StepOp::Add, &[a[0], b[0]]);
        let carry = self.step(StepOp::LtU, &[low, a[0]]);
        let carry = self.truth_number(carry);
        let high = self.step(StepOp::Add, &[a[1], b[1]]);
        [low, self.step(StepOp::Add, &[high, carry])]
    }

    pub(super) fn sub(&mut self, a: Pair, b: Pair) -> Pair {
        if !self.lowers(Op::Isub) {
            return self.native(Op::Isub, &[a[0], a[1], b[0], b[1]]);
        }
        let low = self.step(StepOp::Sub, &[a[0], b[0]]);
        let borrow = self.step(StepOp::LtU, &[a[0], b[0]]);
        let borrow = self.truth_number(borrow);
        let high = self.step(StepOp::Sub, &[a[1], b[1]]);
        [low, self.step(StepOp::Sub, &[high, borrow])]
    }

    pub(super) fn negate(&mut self, a: Pair) -> Pair {
        self.sub(wide(0), a)
    }

    /// Returns 1 for a truth value that is set, else 0.
    pub(super) fn truth_number(&mut self, truth: Value) -> Value {
        self.step(StepOp::Select, &[truth, number(1), number(0)])
    }

    pub(super) fn logic(&mut self, op: Op, a: Pair, b: Pair) -> Pair {
        if !self.lowers(op) {
            return self.native(op, &[a[0], a[1], b[0], b[1]]);
        }
        let half = match op {
            Op::Iand => StepOp::And,
            Op::Ior => StepOp::Or,
            _ => StepOp::Xor,
        };
        [self.step(half, &[a[0], b[0]]), self.step(half, &[a[1], b[1]])]
    }

    pub(super) fn select(&mut self, truth: Value, a: Pair, b: Pair) -> Pair {
        if !self.lowers(Op::Bcsel) {
            return self.native(Op::Bcsel, &[truth, a[0], a[1], b[0], b[1]]);
        }
        [self.step(StepOp::Select, &[truth, a[0], b[0]]), self.step(StepOp::Select, &[truth, a[1], b[1]])]
    }

    pub(super) fn compare(&mut self, op: Op, a: Pair, b: Pair) -> Value {
        if !self.lowers(op) {
            return self.step(StepOp::Native(op), &[a[0], a[1], b[0], b[1]]);
        }
        let (high, low, both) = match op {
            Op::Ieq => (StepOp::Eq, StepOp::Eq, StepOp::Both),
            Op::Ine => (StepOp::Ne, StepOp::Ne, StepOp::Either),
            Op::Ilt => (StepOp::LtI, StepOp::LtU, StepOp::Either),
            Op::Ige => (StepOp::LtI, StepOp::GeU, StepOp::Either),
            Op::Uge => (StepOp::LtU, StepOp::GeU, StepOp::Either),
            _ => (StepOp::LtU, StepOp::LtU, StepOp::Either),
        };
        // Greater is less the other way round.
        let swapped = matches!(op, Op::Ige | Op::Uge);
        let high_inputs = if swapped { [b[1], a[1]] } else { [a[1], b[1]] };
        let high = self.step(high, &high_inputs);
        let mut low = self.step(low, &[a[0], b[0]]);
        if !matches!(op, Op::Ieq | Op::Ine) {
            let equal = self.step(StepOp::Eq, &[a[1], b[1]]);
            low = self.step(StepOp::Both, &[equal, low]);
        }
        self.step(both, &[high, low])
    }

    /// Shifts; the amount counts modulo 64. Amounts of 0 and of 32 and more are cases of their own.
    pub(super) fn shift(&mut self, op: Op, a: Pair, by: Value) -> Pair {
        if !self.lowers(op) {
            return self.native(op, &[a[0], a[1], by]);
        }
        if let Value::Constant(by) = by {
            return self.shift_by(op, a, by & 63);
        }
        let amount = self.step(StepOp::And, &[by, number(63)]);
        let (inward, outward, from, to) = match op {
            Op::Ishl => (StepOp::Shl, StepOp::Shr, 0, 1),
            Op::Ushr => (StepOp::Shr, StepOp::Shl, 1, 0),
            _ => (StepOp::Ashr, StepOp::Shl, 1, 0),
        };
        // Bits that cross from one half to the other: by 32 less the amount.
        let rest = self.step(StepOp::Sub, &[number(32), amount]);
        let crossing = self.step(outward, &[a[from], rest]);
        let own = match op {
            Op::Ishl => self.step(StepOp::Shl, &[a[to], amount]),
            _ => self.step(StepOp::Shr, &[a[to], amount]),
        };
        let near = self.step(StepOp::Or, &[own, crossing]);
        let moved = self.step(inward, &[a[from], amount]);
        let filler = if op == Op::Ishr { self.step(StepOp::Ashr, &[a[from], number(31)]) } else { number(0) };
        let far = self.step(StepOp::GeU, &[amount, number(32)]);
        let none = self.step(StepOp::Eq, &[amount, number(0)]);
        let target = self.step(StepOp::Select, &[far, moved, near]);
        let target = self.step(StepOp::Select, &[none, a[to], target]);
        let source = self.step(StepOp::Select, &[far, filler, moved]);
        if to == 1 { [source, target] } else { [target, source] }
    }

    fn shift_by(&mut self, op: Op, a: Pair, by: u32) -> Pair {
        let low = number(by & 31);
        let rest = number(32 - (by & 31));
        match (op, by) {
            (_, 0) => a,
            (Op::Ishl, 32..) => [number(0), self.step(StepOp::Shl, &[a[0], low])],
            (Op::Ushr, 32..) => [self.step(StepOp::Shr, &[a[1], low]), number(0)],
            (_, 32..) => [self.step(StepOp::Ashr, &[a[1], low]), self.step(StepOp::Ashr, &[a[1], number(31)])],
            (Op::Ishl, _) => {
                let crossing = self.step(StepOp::Shr, &[a[0], rest]);
                let own = self.step(StepOp::Shl, &[a[1], low]);
                [self.step(StepOp::Shl, &[a[0], low]), self.step(StepOp::Or, &[own, crossing])]
            }
            _ => {
                let crossing = self.step(StepOp::Shl, &[a[1], rest]);
                let own = self.step(StepOp::Shr, &[a[0], low]);
                let high = if op == Op::Ushr { StepOp::Shr } else { StepOp::Ashr };
                [self.step(StepOp::Or, &[own, crossing]), self.step(high, &[a[1], low])]
            }
        }
    }
}
