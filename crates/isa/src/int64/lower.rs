//! Lowering of operations.

use amdgpu_hw::GfxLevel;

use super::{
    Bank, Lowering, Op, Options, StepOp, Value,
    convert::{DOUBLE, FLOAT},
    make::{Maker, Pair, number},
    native,
};
use crate::WaveSize;

/// Returns the native instructions of an operation if the generation has them and the options do not lower it; otherwise the steps.
/// Operations without native instructions are lowered under all options.
pub fn lower(op: Op, level: GfxLevel, bank: Bank, options: Options) -> Lowering {
    let wave = if level >= GfxLevel::Gfx10 { WaveSize::Wave32 } else { WaveSize::Wave64 };
    if !options.contains(op.option())
        && let Some(native) = native(op, level, wave, bank)
    {
        return Lowering::Native(native.iter().map(|line| line.name).filter(|name| !name.is_empty()).collect());
    }
    let inputs = op.sources().iter().map(|&bits| if bits == 64 { 2 } else { 1 }).sum();
    let mut maker = Maker::new(options, inputs);
    let outputs = steps(&mut maker, op);
    Lowering::Steps(maker.finish(outputs))
}

/// Creates the steps of an operation.
fn steps(maker: &mut Maker, op: Op) -> Vec<Value> {
    let mut next = 0;
    let mut take = || {
        next += 1;
        Value::Number(next - 1)
    };
    match *op.sources() {
        [64, 64] => {
            let (a, b) = ([take(), take()], [take(), take()]);
            of_two(maker, op, a, b)
        }
        [64, 32] => {
            let (a, by) = ([take(), take()], take());
            maker.shift(op, a, by).to_vec()
        }
        [64] => {
            let a = [take(), take()];
            of_one(maker, op, a)
        }
        [32, 32] => {
            let (a, b) = (take(), take());
            maker.product(a, b, op == Op::Imul2x32).to_vec()
        }
        [1, ..] if op == Op::Bcsel => {
            let (truth, a, b) = (take(), [take(), take()], [take(), take()]);
            maker.select(truth, a, b).to_vec()
        }
        [1] => {
            let truth = take();
            vec![maker.truth_number(truth), number(0)]
        }
        _ => {
            let value = take();
            of_narrow(maker, op, value).to_vec()
        }
    }
}

fn of_two(maker: &mut Maker, op: Op, a: Pair, b: Pair) -> Vec<Value> {
    let result = match op {
        Op::Iadd => maker.add(a, b),
        Op::Isub => maker.sub(a, b),
        Op::Imul => maker.mul(a, b),
        Op::ImulHigh | Op::UmulHigh => maker.mul_high(a, b, op == Op::ImulHigh),
        Op::Udiv => maker.divide(a, b).0,
        Op::Umod => maker.divide(a, b).1,
        Op::Idiv => maker.signed_quotient(a, b),
        Op::Imod | Op::Irem => maker.signed_remainder(a, b, op == Op::Imod),
        Op::Imin | Op::Imax | Op::Umin | Op::Umax => maker.extreme(op, a, b),
        Op::IaddSat | Op::IsubSat | Op::UaddSat | Op::UsubSat => maker.saturated(op, a, b),
        Op::Iand | Op::Ior | Op::Ixor => maker.logic(op, a, b),
        _ => return vec![maker.compare(op, a, b)],
    };
    result.to_vec()
}

fn of_one(maker: &mut Maker, op: Op, a: Pair) -> Vec<Value> {
    let pair = match op {
        Op::Ineg => maker.negate(a),
        Op::Iabs => maker.abs(a),
        Op::Isign => maker.sign(a),
        Op::Inot => a.map(|half| maker.step(StepOp::Xor, &[half, number(u32::MAX)])),
        Op::ExtractU8(part) | Op::ExtractI8(part) => maker.extract(a, part, 8, matches!(op, Op::ExtractI8(_))),
        Op::ExtractU16(part) | Op::ExtractI16(part) => maker.extract(a, part, 16, matches!(op, Op::ExtractI16(_))),
        Op::I2f64 | Op::U2f64 => maker.float_of(a, op == Op::I2f64, DOUBLE),
        Op::F2i64From64 | Op::F2u64From64 => maker.integer_of(a, op == Op::F2i64From64, DOUBLE),
        _ => {
            return vec![match op {
                Op::BitCount => maker.bit_count(a),
                Op::UfindMsb => maker.highest_bit_of_pair(a),
                Op::FindLsb => maker.lowest_bit(a),
                Op::I2i8 => maker.step(StepOp::FieldI, &[a[0], number(0), number(8)]),
                Op::I2i16 => maker.step(StepOp::FieldI, &[a[0], number(0), number(16)]),
                Op::I2f32 | Op::U2f32 => maker.float_of(a, op == Op::I2f32, FLOAT)[0],
                _ => a[0],
            }];
        }
    };
    pair.to_vec()
}

fn of_narrow(maker: &mut Maker, op: Op, value: Value) -> Pair {
    match op {
        Op::I2i64From8 => maker.widened(value, 8, true),
        Op::U2u64From8 => maker.widened(value, 8, false),
        Op::I2i64From16 => maker.widened(value, 16, true),
        Op::U2u64From16 => maker.widened(value, 16, false),
        Op::F2i64 | Op::F2u64 => maker.integer_of([value, number(0)], op == Op::F2i64, FLOAT),
        Op::I2i64 => maker.extended(value, true),
        _ => maker.extended(value, false),
    }
}
