//! Results of the model: their bits, and what modifiers make of them.

use rustc_apfloat::{
    Float,
    ieee::{Double, Half, Single},
};

use super::{
    float::{bits, float, flushed, round32, round64},
    forms::Form,
    table::{Env, is_signed, sign_bit, width},
};

/// Returns a float, with zero in place of a denormal if MODE says so: bit `first` of FLOAT_MODE permits those of 32 bits, and two bits
/// above it those of 16 and 64 bits.
pub(crate) fn without_denormal(kind: char, value: i128, env: Env, first: u32) -> i128 {
    let is_kept = |bit: u32| env.float_mode >> bit & 1 != 0;
    match kind {
        'f' if !is_kept(first) => bits(flushed(float::<Single>(value))),
        'h' if !is_kept(first + 2) => bits(flushed(float::<Half>(value))),
        'd' if !is_kept(first + 2) => bits(flushed(float::<Double>(value))),
        _ => value,
    }
}

/// Returns the bits of a result, and the bit that it adds to a mask.
pub(crate) fn finished(kind: char, exact: i128, env: Env, clamps: bool) -> (u64, bool) {
    let bits = width(kind);
    let (lowest, highest) =
        if is_signed(kind) { (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
    let carry = match kind {
        'c' => exact != 0,
        // A sum has one bit more than its result.
        'k' | 'K' => exact >> bits & 1 != 0,
        _ => false,
    };
    let saturated = if clamps && sign_bit(kind).is_none() { exact.clamp(lowest, highest) } else { exact };
    let value = without_denormal(kind, saturated, env, 5);
    ((value & ((1 << bits) - 1)) as u64, carry)
}

/// Returns `true` for a zero of either sign.
pub(crate) fn is_zero(kind: char, value: u64) -> bool {
    sign_bit(kind).is_some_and(|sign| value & ((1 << sign) - 1) == 0)
}

/// Returns a float after its output scale and clamp. The scale does nothing where denormals of the size are written.
fn scaled_and_clamped<T: Float>(value: i128, env: Env, form: &Form, round: rustc_apfloat::Round, bit: u32) -> i128 {
    let mut value = float::<T>(value);
    let flushes = env.float_mode >> bit & 1 == 0;
    if flushes && form.scale != 0 {
        let power = [0, 1, 2, -1][usize::from(form.scale)];
        value = flushed(value.scalbn_r(power, round));
    }
    let one = T::from_u128(1).value;
    if form.clamps && value.is_nan() && !env.keeps_nan || form.clamps && value <= T::ZERO {
        value = T::ZERO;
    } else if form.clamps && value > one {
        value = one;
    }
    bits(value)
}

/// Returns the bits of a result after the modifiers of floats; values that are moved are not scaled.
pub(crate) fn modified(kind: char, value: u64, env: Env, form: &Form) -> u64 {
    let number = i128::from(value);
    let moved = Form { scale: 0, ..form.clone() };
    let result = match kind {
        'f' | 'b' => scaled_and_clamped::<Single>(number, env, form, round32(env), 5),
        'm' => scaled_and_clamped::<Single>(number, env, &moved, round32(env), 5),
        'h' => scaled_and_clamped::<Half>(number, env, form, round64(env), 7),
        'd' => scaled_and_clamped::<Double>(number, env, form, round64(env), 7),
        _ => number,
    };
    result as u64
}
