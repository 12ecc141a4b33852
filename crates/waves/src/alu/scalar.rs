//! Scalar operations.

use std::{collections::HashMap, sync::LazyLock};

use super::float::single::{flushed, maximum, maximum_nan, minimum, minimum_nan, product, sum};
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
    ($($($name:literal)|+ => |$input:ident| $result:expr;)*) => {
        static TABLE: &[(&[&str], Scalar)] = &[$((&[$($name),+], |$input| $result)),*];
    };
}

scalars! {
    "s_add_u32" | "s_add_co_u32" => |i| { let sum = low(i.a) + low(i.b); Both(low(sum), sum >> 32 != 0) };
    "s_sub_u32" | "s_sub_co_u32" => |i| Both(low(i.a.wrapping_sub(i.b)), low(i.b) > low(i.a));
    "s_add_i32" | "s_addk_i32" | "s_add_co_i32" | "s_addk_co_i32" => |i| add_signed(i.a, i.b);
    "s_sub_i32" | "s_sub_co_i32" => |i| subtract_signed(i.a, i.b);
    "s_addc_u32" | "s_add_co_ci_u32" => |i| { let sum = low(i.a) + low(i.b) + u64::from(i.scc); Both(low(sum), sum >> 32 != 0) };
    "s_subb_u32" | "s_sub_co_ci_u32" => |i| Both(low(i.a.wrapping_sub(i.b).wrapping_sub(u64::from(i.scc))), low(i.b) + u64::from(i.scc) > low(i.a));
    "s_add_nc_u64" => |i| Value(i.a.wrapping_add(i.b));
    "s_sub_nc_u64" => |i| Value(i.a.wrapping_sub(i.b));
    "s_mul_u64" => |i| Value(i.a.wrapping_mul(i.b));
    "s_min_i32" => |i| Both(low((i.a as i32).min(i.b as i32) as u64), (i.a as i32) < (i.b as i32));
    "s_max_i32" => |i| Both(low((i.a as i32).max(i.b as i32) as u64), (i.a as i32) > (i.b as i32));
    "s_min_u32" => |i| Both(low(i.a).min(low(i.b)), low(i.a) < low(i.b));
    "s_max_u32" => |i| Both(low(i.a).max(low(i.b)), low(i.a) > low(i.b));
    "s_cselect_b32" => |i| Value(low(if i.scc { i.a } else { i.b }));
    "s_cselect_b64" => |i| Value(if i.scc { i.a } else { i.b });
    "s_and_b32" => |i| nonzero32(i.a & i.b);
    "s_and_b64" => |i| nonzero64(i.a & i.b);
    "s_or_b32" => |i| nonzero32(i.a | i.b);
    "s_or_b64" => |i| nonzero64(i.a | i.b);
    "s_xor_b32" => |i| nonzero32(i.a ^ i.b);
    "s_xor_b64" => |i| nonzero64(i.a ^ i.b);
    "s_andn2_b32" | "s_and_not1_b32" => |i| nonzero32(i.a & !i.b);
    "s_andn2_b64" | "s_and_not1_b64" => |i| nonzero64(i.a & !i.b);
    "s_orn2_b32" | "s_or_not1_b32" => |i| nonzero32(i.a | !i.b);
    "s_orn2_b64" | "s_or_not1_b64" => |i| nonzero64(i.a | !i.b);
    "s_nand_b32" => |i| nonzero32(!(i.a & i.b));
    "s_nand_b64" => |i| nonzero64(!(i.a & i.b));
    "s_nor_b32" => |i| nonzero32(!(i.a | i.b));
    "s_nor_b64" => |i| nonzero64(!(i.a | i.b));
    "s_xnor_b32" => |i| nonzero32(!(i.a ^ i.b));
    "s_xnor_b64" => |i| nonzero64(!(i.a ^ i.b));
    "s_lshl_b32" => |i| nonzero32(low(i.a) << (i.b & 31));
    "s_lshl_b64" => |i| nonzero64(i.a << (i.b & 63));
    "s_lshr_b32" => |i| nonzero32(low(i.a) >> (i.b & 31));
    "s_lshr_b64" => |i| nonzero64(i.a >> (i.b & 63));
    "s_ashr_i32" => |i| nonzero32(((i.a as i32) >> (i.b & 31)) as u64);
    "s_ashr_i64" => |i| nonzero64((i.a.cast_signed() >> (i.b & 63)).cast_unsigned());
    "s_bfm_b32" => |i| Value(low(((1_u64 << (i.a & 31)) - 1) << (i.b & 31)));
    "s_bfm_b64" => |i| Value(((1_u64 << (i.a & 63)) - 1) << (i.b & 63));
    "s_mul_i32" | "s_mulk_i32" => |i| Value(low(i.a.wrapping_mul(i.b)));
    "s_mul_hi_u32" => |i| Value((low(i.a) * low(i.b)) >> 32);
    "s_mul_hi_i32" => |i| Value(low(((i64::from(i.a as i32) * i64::from(i.b as i32)) >> 32) as u64));
    "s_bfe_u32" => |i| nonzero32(field(low(i.a), i.b, 32, false));
    "s_bfe_i32" => |i| nonzero32(field(low(i.a), i.b, 32, true));
    "s_bfe_u64" => |i| nonzero64(field(i.a, i.b, 64, false));
    "s_bfe_i64" => |i| nonzero64(field(i.a, i.b, 64, true));
    "s_absdiff_i32" => |i| nonzero32(u64::from((i.a as i32).wrapping_sub(i.b as i32).unsigned_abs()));
    "s_lshl1_add_u32" => |i| shift_add(i, 1);
    "s_lshl2_add_u32" => |i| shift_add(i, 2);
    "s_lshl3_add_u32" => |i| shift_add(i, 3);
    "s_lshl4_add_u32" => |i| shift_add(i, 4);
    "s_pack_ll_b32_b16" => |i| Value(i.a & 0xffff | (i.b & 0xffff) << 16);
    "s_pack_lh_b32_b16" => |i| Value(i.a & 0xffff | low(i.b) >> 16 << 16);
    "s_pack_hh_b32_b16" => |i| Value(low(i.a) >> 16 | low(i.b) >> 16 << 16);
    "s_pack_hl_b32_b16" => |i| Value(low(i.a) >> 16 | (i.b & 0xffff) << 16);
    "s_mov_b32" | "s_movk_i32" => |i| Value(low(i.a));
    "s_mov_b64" => |i| Value(i.a);
    "s_cmov_b32" | "s_cmovk_i32" => |i| if i.scc { Value(low(i.a)) } else { Nothing };
    "s_cmov_b64" => |i| if i.scc { Value(i.a) } else { Nothing };
    "s_not_b32" => |i| nonzero32(!i.a);
    "s_not_b64" => |i| nonzero64(!i.a);
    "s_wqm_b32" => |i| nonzero32(whole_quads(low(i.a)));
    "s_wqm_b64" => |i| nonzero64(whole_quads(i.a));
    "s_quadmask_b32" => |i| nonzero32(quad_mask(low(i.a)));
    "s_quadmask_b64" => |i| nonzero64(quad_mask(i.a));
    "s_brev_b32" => |i| Value(u64::from((i.a as u32).reverse_bits()));
    "s_brev_b64" => |i| Value(i.a.reverse_bits());
    "s_bcnt0_i32_b32" => |i| nonzero32(u64::from((i.a as u32).count_zeros()));
    "s_bcnt0_i32_b64" => |i| nonzero32(u64::from(i.a.count_zeros()));
    "s_bcnt1_i32_b32" => |i| nonzero32(u64::from((i.a as u32).count_ones()));
    "s_bcnt1_i32_b64" => |i| nonzero32(u64::from(i.a.count_ones()));
    "s_ff0_i32_b32" => |i| Value(u64::from(trailing_zeros(!i.a as u32)));
    "s_ff0_i32_b64" => |i| Value(count_or_minus_one(!i.a, (!i.a).trailing_zeros()));
    "s_ff1_i32_b32" | "s_ctz_i32_b32" => |i| Value(u64::from(trailing_zeros(i.a as u32)));
    "s_ff1_i32_b64" | "s_ctz_i32_b64" => |i| Value(count_or_minus_one(i.a, i.a.trailing_zeros()));
    "s_flbit_i32_b32" | "s_clz_i32_u32" => |i| Value(u64::from(leading_zeros(i.a as u32)));
    "s_flbit_i32_b64" | "s_clz_i32_u64" => |i| Value(count_or_minus_one(i.a, i.a.leading_zeros()));
    "s_flbit_i32" | "s_cls_i32" => |i| Value(u64::from(leading_signs(i.a as u32)));
    "s_flbit_i32_i64" | "s_cls_i32_i64" => |i| Value(leading_signs64(i.a));
    "s_sext_i32_i8" => |i| Value(u64::from(i32::from(i.a as i8) as u32));
    "s_sext_i32_i16" => |i| Value(u64::from(i32::from(i.a as i16) as u32));
    "s_bitset0_b32" => |i| Value(low(i.c & !(1 << (i.a & 31))));
    "s_bitset0_b64" => |i| Value(i.c & !(1 << (i.a & 63)));
    "s_bitset1_b32" => |i| Value(low(i.c | 1 << (i.a & 31)));
    "s_bitset1_b64" => |i| Value(i.c | 1 << (i.a & 63));
    "s_abs_i32" => |i| nonzero32(u64::from((i.a as i32).wrapping_abs() as u32));
    "s_bitreplicate_b64_b32" => |i| Value(replicate_bits(i.a));
    "s_cmp_eq_i32" | "s_cmp_eq_u32" | "s_cmpk_eq_i32" | "s_cmpk_eq_u32" => |i| Scc(low(i.a) == low(i.b));
    "s_cmp_lg_i32" | "s_cmp_lg_u32" | "s_cmpk_lg_i32" | "s_cmpk_lg_u32" => |i| Scc(low(i.a) != low(i.b));
    "s_cmp_eq_u64" => |i| Scc(i.a == i.b);
    "s_cmp_lg_u64" => |i| Scc(i.a != i.b);
    "s_cmp_gt_i32" | "s_cmpk_gt_i32" => |i| Scc((i.a as i32) > (i.b as i32));
    "s_cmp_ge_i32" | "s_cmpk_ge_i32" => |i| Scc((i.a as i32) >= (i.b as i32));
    "s_cmp_lt_i32" | "s_cmpk_lt_i32" => |i| Scc((i.a as i32) < (i.b as i32));
    "s_cmp_le_i32" | "s_cmpk_le_i32" => |i| Scc((i.a as i32) <= (i.b as i32));
    "s_cmp_gt_u32" | "s_cmpk_gt_u32" => |i| Scc(low(i.a) > low(i.b));
    "s_cmp_ge_u32" | "s_cmpk_ge_u32" => |i| Scc(low(i.a) >= low(i.b));
    "s_cmp_lt_u32" | "s_cmpk_lt_u32" => |i| Scc(low(i.a) < low(i.b));
    "s_cmp_le_u32" | "s_cmpk_le_u32" => |i| Scc(low(i.a) <= low(i.b));
    "s_bitcmp0_b32" => |i| Scc(i.a >> (i.b & 31) & 1 == 0);
    "s_bitcmp1_b32" => |i| Scc(i.a >> (i.b & 31) & 1 != 0);
    "s_bitcmp0_b64" => |i| Scc(i.a >> (i.b & 63) & 1 == 0);
    "s_bitcmp1_b64" => |i| Scc(i.a >> (i.b & 63) & 1 != 0);
    "s_add_f32" => |i| single(i, |[a, b, _]| sum(a.into(), b.into(), i.mode));
    "s_sub_f32" => |i| single(i, |[a, b, _]| sum(a.into(), -f64::from(b), i.mode));
    "s_mul_f32" => |i| single(i, |[a, b, _]| product(a, b, i.mode));
    "s_min_f32" | "s_min_num_f32" => |i| single(i, |[a, b, _]| minimum(a, b));
    "s_max_f32" | "s_max_num_f32" => |i| single(i, |[a, b, _]| maximum(a, b));
    "s_minimum_f32" => |i| single(i, |[a, b, _]| minimum_nan(a, b));
    "s_maximum_f32" => |i| single(i, |[a, b, _]| maximum_nan(a, b));
    "s_fmac_f32" | "s_fmaak_f32" | "s_fmamk_f32" => |i| single(i, |[a, b, c]| sum(f64::from(a) * f64::from(b), c.into(), i.mode));
    "s_ceil_f32" => |i| single(i, |[a, ..]| a.ceil());
    "s_floor_f32" => |i| single(i, |[a, ..]| a.floor());
    "s_trunc_f32" => |i| single(i, |[a, ..]| a.trunc());
    "s_rndne_f32" => |i| single(i, |[a, ..]| a.round_ties_even());
    "s_cvt_f32_i32" => |i| single(i, |_| to_f32(f64::from(i.a as i32), i.mode.round32()));
    "s_cvt_f32_u32" => |i| single(i, |_| to_f32(f64::from(i.a as u32), i.mode.round32()));
    "s_cvt_i32_f32" => |i| Value(u64::from(singles(i)[0] as i32 as u32));
    "s_cvt_u32_f32" => |i| Value(u64::from(singles(i)[0] as u32));
    "s_cvt_f16_f32" => |i| Value(u64::from(Half::new(f64::from(f32::from_bits(i.a as u32)), i.mode).0));
    "s_cvt_f32_f16" => |i| single(i, |_| halves(i)[0].value());
    "s_cvt_hi_f32_f16" => |i| single(i, |_| halves(Input { a: i.a >> 16, ..i })[0].value());
    "s_cvt_pk_rtz_f16_f32" => |i| {
        let rounded = |bits| u64::from(Half::rounded(f64::from(f32::from_bits(bits as u32)), Direction::Zero).0);
        Value(rounded(i.a) | rounded(i.b) << 16)
    };
    "s_add_f16" => |i| half(i, |[a, b, _]| directed_sum(a, b, i.mode.round64()));
    "s_sub_f16" => |i| half(i, |[a, b, _]| directed_sum(a, -b, i.mode.round64()));
    "s_mul_f16" => |i| half(i, |[a, b, _]| a * b);
    "s_fmac_f16" => |i| half(i, |[a, b, c]| directed_sum(a * b, c, i.mode.round64()));
    "s_ceil_f16" => |i| half(i, |[a, ..]| a.ceil());
    "s_floor_f16" => |i| half(i, |[a, ..]| a.floor());
    "s_trunc_f16" => |i| half(i, |[a, ..]| a.trunc());
    "s_rndne_f16" => |i| half(i, |[a, ..]| a.round_ties_even());
    "s_min_f16" | "s_min_num_f16" => |i| chosen_half(i, super::float::half::minimum);
    "s_max_f16" | "s_max_num_f16" => |i| chosen_half(i, super::float::half::maximum);
    "s_minimum_f16" => |i| chosen_half(i, super::float::half::minimum_nan);
    "s_maximum_f16" => |i| chosen_half(i, super::float::half::maximum_nan);
}

/// Returns `true` if a floating-point condition such as `nlt` holds.
fn condition(name: &str, a: f32, b: f32) -> Option<bool> {
    Some(match name {
        "lt" => a < b,
        "eq" => a == b,
        "le" => a <= b,
        "gt" => a > b,
        "lg" => a < b || a > b,
        "ge" => a >= b,
        "o" => !a.is_nan() && !b.is_nan(),
        "u" => a.is_nan() || b.is_nan(),
        "nge" => !(a >= b),
        "nlg" => !(a < b || a > b),
        "ngt" => !(a > b),
        "nle" => !(a <= b),
        "neq" => a != b,
        "nlt" => !(a < b),
        _ => return None,
    })
}

macro_rules! float_compares {
    ($($name:literal)*) => {
        static COMPARES: &[(&str, Scalar)] = &[$(
            (concat!("s_cmp_", $name, "_f32"), |i| condition($name, singles(i)[0], singles(i)[1]).map_or(Nothing, Scc)),
            (concat!("s_cmp_", $name, "_f16"), |i| condition($name, halves(i)[0].value(), halves(i)[1].value()).map_or(Nothing, Scc)),
        )*];
    };
}

float_compares! { "lt" "eq" "le" "gt" "lg" "ge" "o" "u" "nge" "nlg" "ngt" "nle" "neq" "nlt" }

static BY_NAME: LazyLock<HashMap<&'static str, Scalar>> = LazyLock::new(|| {
    let plain = TABLE.iter().flat_map(|(names, function)| names.iter().map(move |name| (*name, *function)));
    plain.chain(COMPARES.iter().copied()).collect()
});

/// Returns the scalar operation with a name.
pub(crate) fn operation(name: &str) -> Option<Scalar> {
    BY_NAME.get(name).copied()
}

/// Combination of a `saveexec` or `wrexec` operation's source (first) with EXEC.
pub(crate) type Combine = fn(u64, u64) -> u64;

/// Returns the combination of a `saveexec` or `wrexec` operation, and whether it is a `wrexec` one.
pub(crate) fn exec_operation(name: &str) -> Option<(Combine, bool)> {
    let name = name.strip_prefix("s_")?;
    let name = name.strip_suffix("_b32").or_else(|| name.strip_suffix("_b64"))?;
    let (name, writes) = match name.strip_suffix("_saveexec") {
        Some(name) => (name, false),
        None => (name.strip_suffix("_wrexec")?, true),
    };
    let combine: Combine = match name {
        "and" => |a, exec| a & exec,
        "or" => |a, exec| a | exec,
        "xor" => |a, exec| a ^ exec,
        "nand" => |a, exec| !(a & exec),
        "nor" => |a, exec| !(a | exec),
        "xnor" => |a, exec| !(a ^ exec),
        "andn2" | "and_not1" => |a, exec| a & !exec,
        "andn1" | "and_not0" => |a, exec| !a & exec,
        "orn2" | "or_not1" => |a, exec| a | !exec,
        "orn1" | "or_not0" => |a, exec| !a | exec,
        _ => return None,
    };
    Some((combine, writes))
}
