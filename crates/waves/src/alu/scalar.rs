//! Scalar operations.

use amdgpu_isa::Op;

use super::float::single::{flushed, maximum, maximum_nan, minimum, minimum_nan, product, sum};
use super::kernel::Type;
use crate::number::{
    half::Half,
    integer::{leading_signs, leading_zeros, trailing_zeros},
    mode::Mode,
    round::{Direction, directed_sum, to_f32},
};

/// The operands of a scalar operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    pub(crate) a: u64,
    pub(crate) b: u64,
    /// The literal of operations that have one besides, or the destination's old value.
    pub(crate) c: u64,
    pub(crate) scc: bool,
    pub(crate) mode: Mode,
}

/// Result of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output {
    /// A value; SCC stays.
    Value(u64),
    /// A value and SCC.
    Both(u64, bool),
    /// SCC.
    Scc(bool),
    /// Nothing: a conditional move that does not happen.
    Nothing,
}

/// The function of a scalar operation.
pub(crate) type Scalar = fn(Input) -> Output;

/// A scalar operation that a function computes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) function: Scalar,
    /// The type that inline constants have; `None` for integers of the operand's size. That of 64 bits is for operands of 64 bits alone.
    pub(crate) constants: Option<Type>,
}

use Output::{Both, Nothing, Scc, Value};

fn add_signed(a: u64, b: u64) -> Output {
    let (sum, overflow) = (a as i32).overflowing_add(b as i32);
    Both(u64::from(sum as u32), overflow)
}

fn subtract_signed(a: u64, b: u64) -> Output {
    let (difference, overflow) = (a as i32).overflowing_sub(b as i32);
    Both(u64::from(difference as u32), overflow)
}

fn low(value: u64) -> u64 {
    value & 0xffff_ffff
}

/// Returns a value and whether it is not zero, cut to 32 bits.
fn nonzero32(value: u64) -> Output {
    Both(low(value), low(value) != 0)
}

fn nonzero64(value: u64) -> Output {
    Both(value, value != 0)
}

fn shift_add(input: Input, shift: u32) -> Output {
    let sum = (low(input.a) << shift) + low(input.b);
    Both(low(sum), sum >> 32 != 0)
}

/// Returns the bits that a field descriptor names: offset in bits 5:0, width in 22:16.
fn field(value: u64, descriptor: u64, bits: u32, signed: bool) -> u64 {
    let offset = (descriptor as u32) & (bits - 1);
    let width = ((descriptor >> 16) as u32 & 0x7f).min(bits - offset);
    if width == 0 {
        return 0;
    }
    let shifted = value << (64 - offset - width);
    if signed { (shifted.cast_signed() >> (64 - width)).cast_unsigned() } else { shifted >> (64 - width) }
}

fn quad_mask(value: u64) -> u64 {
    (0..16).fold(0, |mask, quad| mask | u64::from(value >> (4 * quad) & 15 != 0) << quad)
}

fn whole_quads(value: u64) -> u64 {
    (0..16).fold(0, |mask, quad| if value >> (4 * quad) & 15 != 0 { mask | 15 << (4 * quad) } else { mask })
}

fn replicate_bits(value: u64) -> u64 {
    (0..32).fold(0, |result, bit| result | ((value >> bit & 1) * 3) << (2 * bit))
}

fn leading_signs64(value: u64) -> u64 {
    if value == 0 || value == u64::MAX {
        return low(u64::MAX);
    }
    u64::from((value ^ (value.cast_signed() >> 63).cast_unsigned()).leading_zeros())
}

fn count_or_minus_one(value: u64, count: u32) -> u64 {
    if value == 0 { low(u64::MAX) } else { u64::from(count) }
}

/// Returns the operands as floats of 32 bits.
fn singles(input: Input) -> [f32; 3] {
    let flushes = input.mode.flushes_input32();
    [input.a, input.b, input.c].map(|bits| {
        let value = f32::from_bits(bits as u32);
        if flushes { flushed(value) } else { value }
    })
}

/// Returns the operands as floats of 16 bits.
fn halves(input: Input) -> [Half; 3] {
    let flushes = input.mode.flushes_input64();
    [input.a, input.b, input.c].map(|bits| {
        let value = Half(bits as u16);
        if flushes { value.flushed() } else { value }
    })
}

/// Returns what a function makes of the operands as floats of 32 bits.
fn single(input: Input, function: impl Fn([f32; 3]) -> f32) -> Output {
    let value = function(singles(input));
    let value = if input.mode.flushes_output32() { flushed(value) } else { value };
    Value(u64::from(if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }))
}

/// Returns what a function makes of the operands as floats of 16 bits, rounded once.
fn half(input: Input, function: impl Fn([f64; 3]) -> f64) -> Output {
    Value(u64::from(Half::new(function(halves(input).map(Half::wide)), input.mode).0))
}

/// Returns what a function chooses of floats of 16 bits.
fn chosen_half(input: Input, choose: impl Fn(Half, Half) -> Half) -> Output {
    let [a, b, _] = halves(input);
    Value(u64::from(choose(a, b).0))
}

macro_rules! scalars {
    ($($($op:ident)|+ $([$constants:ident])? => |$input:ident| $result:expr;)*) => {
        static TABLE: &[(&[Op], Operation)] = &[$((
            &[$(Op::$op),+],
            Operation { function: |$input| $result, constants: scalars!(@constants $($constants)?) },
        )),*];
    };
    (@constants) => {
        None
    };
    (@constants $constants:ident) => {
        Some(Type::$constants)
    };
}

scalars! {
    SAddU32 | SAddCoU32 => |i| { let sum = low(i.a) + low(i.b); Both(low(sum), sum >> 32 != 0) };
    SSubU32 | SSubCoU32 => |i| Both(low(i.a.wrapping_sub(i.b)), low(i.b) > low(i.a));
    SAddI32 | SAddkI32 | SAddCoI32 | SAddkCoI32 => |i| add_signed(i.a, i.b);
    SSubI32 | SSubCoI32 => |i| subtract_signed(i.a, i.b);
    SAddcU32 | SAddCoCiU32 => |i| { let sum = low(i.a) + low(i.b) + u64::from(i.scc); Both(low(sum), sum >> 32 != 0) };
    SSubbU32 | SSubCoCiU32 => |i| Both(low(i.a.wrapping_sub(i.b).wrapping_sub(u64::from(i.scc))), low(i.b) + u64::from(i.scc) > low(i.a));
    SAddNcU64 => |i| Value(i.a.wrapping_add(i.b));
    SSubNcU64 => |i| Value(i.a.wrapping_sub(i.b));
    SMulU64 => |i| Value(i.a.wrapping_mul(i.b));
    SMinI32 => |i| Both(low((i.a as i32).min(i.b as i32) as u64), (i.a as i32) < (i.b as i32));
    SMaxI32 => |i| Both(low((i.a as i32).max(i.b as i32) as u64), (i.a as i32) > (i.b as i32));
    SMinU32 => |i| Both(low(i.a).min(low(i.b)), low(i.a) < low(i.b));
    SMaxU32 => |i| Both(low(i.a).max(low(i.b)), low(i.a) > low(i.b));
    SCselectB32 => |i| Value(low(if i.scc { i.a } else { i.b }));
    SCselectB64 => |i| Value(if i.scc { i.a } else { i.b });
    SAndB32 => |i| nonzero32(i.a & i.b);
    SAndB64 => |i| nonzero64(i.a & i.b);
    SOrB32 => |i| nonzero32(i.a | i.b);
    SOrB64 => |i| nonzero64(i.a | i.b);
    SXorB32 => |i| nonzero32(i.a ^ i.b);
    SXorB64 => |i| nonzero64(i.a ^ i.b);
    SAndn2B32 | SAndNot1B32 => |i| nonzero32(i.a & !i.b);
    SAndn2B64 | SAndNot1B64 => |i| nonzero64(i.a & !i.b);
    SOrn2B32 | SOrNot1B32 => |i| nonzero32(i.a | !i.b);
    SOrn2B64 | SOrNot1B64 => |i| nonzero64(i.a | !i.b);
    SNandB32 => |i| nonzero32(!(i.a & i.b));
    SNandB64 => |i| nonzero64(!(i.a & i.b));
    SNorB32 => |i| nonzero32(!(i.a | i.b));
    SNorB64 => |i| nonzero64(!(i.a | i.b));
    SXnorB32 => |i| nonzero32(!(i.a ^ i.b));
    SXnorB64 => |i| nonzero64(!(i.a ^ i.b));
    SLshlB32 => |i| nonzero32(low(i.a) << (i.b & 31));
    SLshlB64 => |i| nonzero64(i.a << (i.b & 63));
    SLshrB32 => |i| nonzero32(low(i.a) >> (i.b & 31));
    SLshrB64 => |i| nonzero64(i.a >> (i.b & 63));
    SAshrI32 => |i| nonzero32(((i.a as i32) >> (i.b & 31)) as u64);
    SAshrI64 [Signed64] => |i| nonzero64((i.a.cast_signed() >> (i.b & 63)).cast_unsigned());
    SBfmB32 => |i| Value(low(((1_u64 << (i.a & 31)) - 1) << (i.b & 31)));
    SBfmB64 => |i| Value(((1_u64 << (i.a & 63)) - 1) << (i.b & 63));
    SMulI32 | SMulkI32 => |i| Value(low(i.a.wrapping_mul(i.b)));
    SMulHiU32 => |i| Value((low(i.a) * low(i.b)) >> 32);
    SMulHiI32 => |i| Value(low(((i64::from(i.a as i32) * i64::from(i.b as i32)) >> 32) as u64));
    SBfeU32 => |i| nonzero32(field(low(i.a), i.b, 32, false));
    SBfeI32 => |i| nonzero32(field(low(i.a), i.b, 32, true));
    SBfeU64 => |i| nonzero64(field(i.a, i.b, 64, false));
    SBfeI64 [Signed64] => |i| nonzero64(field(i.a, i.b, 64, true));
    SAbsdiffI32 => |i| nonzero32(u64::from((i.a as i32).wrapping_sub(i.b as i32).unsigned_abs()));
    SLshl1AddU32 => |i| shift_add(i, 1);
    SLshl2AddU32 => |i| shift_add(i, 2);
    SLshl3AddU32 => |i| shift_add(i, 3);
    SLshl4AddU32 => |i| shift_add(i, 4);
    SPackLlB32B16 => |i| Value(i.a & 0xffff | (i.b & 0xffff) << 16);
    SPackLhB32B16 => |i| Value(i.a & 0xffff | low(i.b) >> 16 << 16);
    SPackHhB32B16 => |i| Value(low(i.a) >> 16 | low(i.b) >> 16 << 16);
    SPackHlB32B16 => |i| Value(low(i.a) >> 16 | (i.b & 0xffff) << 16);
    SMovB32 | SMovkI32 => |i| Value(low(i.a));
    SMovB64 => |i| Value(i.a);
    SCmovB32 | SCmovkI32 => |i| if i.scc { Value(low(i.a)) } else { Nothing };
    SCmovB64 => |i| if i.scc { Value(i.a) } else { Nothing };
    SNotB32 => |i| nonzero32(!i.a);
    SNotB64 => |i| nonzero64(!i.a);
    SWqmB32 => |i| nonzero32(whole_quads(low(i.a)));
    SWqmB64 => |i| nonzero64(whole_quads(i.a));
    SQuadmaskB32 => |i| nonzero32(quad_mask(low(i.a)));
    SQuadmaskB64 => |i| nonzero64(quad_mask(i.a));
    SBrevB32 => |i| Value(u64::from((i.a as u32).reverse_bits()));
    SBrevB64 => |i| Value(i.a.reverse_bits());
    SBcnt0I32B32 => |i| nonzero32(u64::from((i.a as u32).count_zeros()));
    SBcnt0I32B64 => |i| nonzero32(u64::from(i.a.count_zeros()));
    SBcnt1I32B32 => |i| nonzero32(u64::from((i.a as u32).count_ones()));
    SBcnt1I32B64 => |i| nonzero32(u64::from(i.a.count_ones()));
    SFf0I32B32 => |i| Value(u64::from(trailing_zeros(!i.a as u32)));
    SFf0I32B64 => |i| Value(count_or_minus_one(!i.a, (!i.a).trailing_zeros()));
    SFf1I32B32 | SCtzI32B32 => |i| Value(u64::from(trailing_zeros(i.a as u32)));
    SFf1I32B64 | SCtzI32B64 => |i| Value(count_or_minus_one(i.a, i.a.trailing_zeros()));
    SFlbitI32B32 | SClzI32U32 => |i| Value(u64::from(leading_zeros(i.a as u32)));
    SFlbitI32B64 | SClzI32U64 => |i| Value(count_or_minus_one(i.a, i.a.leading_zeros()));
    SFlbitI32 | SClsI32 => |i| Value(u64::from(leading_signs(i.a as u32)));
    SFlbitI32I64 | SClsI32I64 [Signed64] => |i| Value(leading_signs64(i.a));
    SSextI32I8 => |i| Value(u64::from(i32::from(i.a as i8) as u32));
    SSextI32I16 => |i| Value(u64::from(i32::from(i.a as i16) as u32));
    SBitset0B32 => |i| Value(low(i.c & !(1 << (i.a & 31))));
    SBitset0B64 => |i| Value(i.c & !(1 << (i.a & 63)));
    SBitset1B32 => |i| Value(low(i.c | 1 << (i.a & 31)));
    SBitset1B64 => |i| Value(i.c | 1 << (i.a & 63));
    SAbsI32 => |i| nonzero32(u64::from((i.a as i32).wrapping_abs() as u32));
    SBitreplicateB64B32 => |i| Value(replicate_bits(i.a));
    SCmpEqI32 | SCmpEqU32 | SCmpkEqI32 | SCmpkEqU32 => |i| Scc(low(i.a) == low(i.b));
    SCmpLgI32 | SCmpLgU32 | SCmpkLgI32 | SCmpkLgU32 => |i| Scc(low(i.a) != low(i.b));
    SCmpEqU64 => |i| Scc(i.a == i.b);
    SCmpLgU64 => |i| Scc(i.a != i.b);
    SCmpGtI32 | SCmpkGtI32 => |i| Scc((i.a as i32) > (i.b as i32));
    SCmpGeI32 | SCmpkGeI32 => |i| Scc((i.a as i32) >= (i.b as i32));
    SCmpLtI32 | SCmpkLtI32 => |i| Scc((i.a as i32) < (i.b as i32));
    SCmpLeI32 | SCmpkLeI32 => |i| Scc((i.a as i32) <= (i.b as i32));
    SCmpGtU32 | SCmpkGtU32 => |i| Scc(low(i.a) > low(i.b));
    SCmpGeU32 | SCmpkGeU32 => |i| Scc(low(i.a) >= low(i.b));
    SCmpLtU32 | SCmpkLtU32 => |i| Scc(low(i.a) < low(i.b));
    SCmpLeU32 | SCmpkLeU32 => |i| Scc(low(i.a) <= low(i.b));
    SBitcmp0B32 => |i| Scc(i.a >> (i.b & 31) & 1 == 0);
    SBitcmp1B32 => |i| Scc(i.a >> (i.b & 31) & 1 != 0);
    SBitcmp0B64 => |i| Scc(i.a >> (i.b & 63) & 1 == 0);
    SBitcmp1B64 => |i| Scc(i.a >> (i.b & 63) & 1 != 0);
    SAddF32 => |i| single(i, |[a, b, _]| sum(a.into(), b.into(), i.mode));
    SSubF32 => |i| single(i, |[a, b, _]| sum(a.into(), -f64::from(b), i.mode));
    SMulF32 => |i| single(i, |[a, b, _]| product(a, b, i.mode));
    SMinF32 | SMinNumF32 => |i| single(i, |[a, b, _]| minimum(a, b));
    SMaxF32 | SMaxNumF32 => |i| single(i, |[a, b, _]| maximum(a, b));
    SMinimumF32 => |i| single(i, |[a, b, _]| minimum_nan(a, b));
    SMaximumF32 => |i| single(i, |[a, b, _]| maximum_nan(a, b));
    SFmacF32 | SFmaakF32 | SFmamkF32 => |i| single(i, |[a, b, c]| sum(f64::from(a) * f64::from(b), c.into(), i.mode));
    SCeilF32 => |i| single(i, |[a, ..]| a.ceil());
    SFloorF32 => |i| single(i, |[a, ..]| a.floor());
    STruncF32 => |i| single(i, |[a, ..]| a.trunc());
    SRndneF32 => |i| single(i, |[a, ..]| a.round_ties_even());
    SCvtF32I32 => |i| single(i, |_| to_f32(f64::from(i.a as i32), i.mode.round32()));
    SCvtF32U32 => |i| single(i, |_| to_f32(f64::from(i.a as u32), i.mode.round32()));
    SCvtI32F32 => |i| Value(u64::from(singles(i)[0] as i32 as u32));
    SCvtU32F32 => |i| Value(u64::from(singles(i)[0] as u32));
    SCvtF16F32 => |i| Value(u64::from(Half::new(f64::from(f32::from_bits(i.a as u32)), i.mode).0));
    SCvtF32F16 [F16] => |i| single(i, |_| halves(i)[0].value());
    SCvtHiF32F16 [F16] => |i| single(i, |_| halves(Input { a: i.a >> 16, ..i })[0].value());
    SCvtPkRtzF16F32 => |i| {
        let rounded = |bits| u64::from(Half::rounded(f64::from(f32::from_bits(bits as u32)), Direction::Zero).0);
        Value(rounded(i.a) | rounded(i.b) << 16)
    };
    SAddF16 [F16] => |i| half(i, |[a, b, _]| directed_sum(a, b, i.mode.round64()));
    SSubF16 [F16] => |i| half(i, |[a, b, _]| directed_sum(a, -b, i.mode.round64()));
    SMulF16 [F16] => |i| half(i, |[a, b, _]| a * b);
    SFmacF16 [F16] => |i| half(i, |[a, b, c]| directed_sum(a * b, c, i.mode.round64()));
    SCeilF16 [F16] => |i| half(i, |[a, ..]| a.ceil());
    SFloorF16 [F16] => |i| half(i, |[a, ..]| a.floor());
    STruncF16 [F16] => |i| half(i, |[a, ..]| a.trunc());
    SRndneF16 [F16] => |i| half(i, |[a, ..]| a.round_ties_even());
    SMinF16 | SMinNumF16 [F16] => |i| chosen_half(i, super::float::half::minimum);
    SMaxF16 | SMaxNumF16 [F16] => |i| chosen_half(i, super::float::half::maximum);
    SMinimumF16 [F16] => |i| chosen_half(i, super::float::half::minimum_nan);
    SMaximumF16 [F16] => |i| chosen_half(i, super::float::half::maximum_nan);
}

/// Comparisons of floats of 32 and of 16 bits.
macro_rules! float_compares {
    ($($single:ident $half:ident: |$a:ident, $b:ident| $result:expr;)*) => {
        static COMPARES: &[(&[Op], Operation)] = &[$(
            (&[Op::$single], Operation {
                function: |input| {
                    let [$a, $b, _] = singles(input);
                    Scc($result)
                },
                constants: None,
            }),
            (&[Op::$half], Operation {
                function: |input| {
                    let [$a, $b, _] = halves(input).map(Half::value);
                    Scc($result)
                },
                constants: Some(Type::F16),
            }),
        )*];
    };
}

float_compares! {
    SCmpLtF32 SCmpLtF16: |a, b| a < b;
    SCmpEqF32 SCmpEqF16: |a, b| a == b;
    SCmpLeF32 SCmpLeF16: |a, b| a <= b;
    SCmpGtF32 SCmpGtF16: |a, b| a > b;
    SCmpLgF32 SCmpLgF16: |a, b| a < b || a > b;
    SCmpGeF32 SCmpGeF16: |a, b| a >= b;
    SCmpOF32 SCmpOF16: |a, b| !a.is_nan() && !b.is_nan();
    SCmpUF32 SCmpUF16: |a, b| a.is_nan() || b.is_nan();
    SCmpNgeF32 SCmpNgeF16: |a, b| !(a >= b);
    SCmpNlgF32 SCmpNlgF16: |a, b| !(a < b || a > b);
    SCmpNgtF32 SCmpNgtF16: |a, b| !(a > b);
    SCmpNleF32 SCmpNleF16: |a, b| !(a <= b);
    SCmpNeqF32 SCmpNeqF16: |a, b| a != b;
    SCmpNltF32 SCmpNltF16: |a, b| !(a < b);
}

/// All operations that have a function.
pub(crate) static TABLES: [&[(&[Op], Operation)]; 2] = [TABLE, COMPARES];

/// Combination of a `saveexec` or `wrexec` operation's source (first) with EXEC.
pub(crate) type Combine = fn(u64, u64) -> u64;
