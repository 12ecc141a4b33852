//! Operations on 16-bit floats, computed in 64 bits and rounded once.

use super::single;
use crate::alu::kernel::{Bits16, operations};
use crate::number::{half::Half, mode::Mode, round::directed_sum};

pub(crate) fn minimum(a: Half, b: Half) -> Half {
    if single::minimum(a.value(), b.value()).to_bits() == a.value().to_bits() || b.is_nan() { a } else { b }
}

pub(crate) fn maximum(a: Half, b: Half) -> Half {
    if single::maximum(a.value(), b.value()).to_bits() == a.value().to_bits() || b.is_nan() { a } else { b }
}

const NAN: Half = Half(0x7e00);

pub(crate) fn minimum_nan(a: Half, b: Half) -> Half {
    if a.is_nan() || b.is_nan() { NAN } else { minimum(a, b) }
}

pub(crate) fn maximum_nan(a: Half, b: Half) -> Half {
    if a.is_nan() || b.is_nan() { NAN } else { maximum(a, b) }
}

fn median(a: Half, b: Half, c: Half) -> Half {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return minimum(minimum(a, b), c);
    }
    maximum(minimum(a, b), minimum(maximum(a, b), c))
}

fn exponent(value: Half) -> i16 {
    let value = value.wide();
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (value.to_bits() >> 52 & 0x7ff) as i16 - 1022
}

fn mantissa(value: Half) -> f64 {
    value.wide() / 2.0_f64.powi(i32::from(exponent(value)))
}

fn fraction(value: f64) -> f64 {
    let fraction = value - value.floor();
    // At most the largest half below 1; a NaN stays.
    if fraction > 0.999_511_718_75 { 0.999_511_718_75 } else { fraction }
}

/// Returns the sum of exact values, rounded once.
fn sum(a: f64, b: f64, mode: Mode) -> Half {
    Half::new(directed_sum(a, b, mode.round64()), mode)
}

fn division_fixup(quotient: Half, denominator: Half, numerator: Half) -> f64 {
    let (d, n) = (denominator.wide(), numerator.wide());
    let negative = d.is_sign_negative() != n.is_sign_negative();
    let signed = |value: f64| if negative { -value } else { value };
    if n.is_nan() || d.is_nan() {
        return f64::NAN;
    }
    match (d == 0.0, n == 0.0, d.is_infinite(), n.is_infinite()) {
        (true, true, ..) | (_, _, true, true) => f64::NAN,
        (true, ..) | (.., true) => signed(f64::INFINITY),
        (_, true, ..) | (_, _, true, _) => signed(0.0),
        _ => signed(quotient.wide().abs()),
    }
}

fn class(bits: u16, mask: u32) -> bool {
    let exponent = bits >> 10 & 31;
    super::class::has(bits >> 15 != 0, exponent == 31, exponent == 0, bits & 0x3ff, 1 << 9, mask)
}

fn turns(value: f64, function: impl Fn(f64) -> f64) -> f64 {
    if value.is_finite() { function(value.fract() * std::f64::consts::TAU) } else { f64::NAN }
}

operations! { TABLE;
    narrow ["v_add_f16"] (a: Half, b: Half; mode) -> Half { sum(a.wide(), b.wide(), mode) }
    narrow ["v_sub_f16"] (a: Half, b: Half; mode) -> Half { sum(a.wide(), -b.wide(), mode) }
    narrow ["v_subrev_f16"] (a: Half, b: Half; mode) -> Half { sum(b.wide(), -a.wide(), mode) }
    narrow ["v_mul_f16"] (a: Half, b: Half; mode) -> Half { Half::new(a.wide() * b.wide(), mode) }
    narrow ["v_fma_f16", "v_fmac_f16", "v_fmaak_f16", "v_fmamk_f16", "v_fma_legacy_f16"] (a: Half, b: Half, c: Half; mode) -> Half { sum(a.wide() * b.wide(), c.wide(), mode) }
    narrow ["v_mad_f16", "v_mac_f16", "v_madak_f16", "v_madmk_f16", "v_mad_legacy_f16"] (a: Half, b: Half, c: Half; mode) -> Half { sum(Half::new(a.wide() * b.wide(), mode).wide(), c.wide(), mode) }
    narrow ["v_min_f16", "v_min_num_f16"] (a: Half, b: Half) -> Half { minimum(a, b) }
    narrow ["v_max_f16", "v_max_num_f16"] (a: Half, b: Half) -> Half { maximum(a, b) }
    narrow ["v_minimum_f16"] (a: Half, b: Half) -> Half { minimum_nan(a, b) }
    narrow ["v_maximum_f16"] (a: Half, b: Half) -> Half { maximum_nan(a, b) }
    narrow ["v_min3_f16", "v_min3_num_f16"] (a: Half, b: Half, c: Half) -> Half { minimum(minimum(a, b), c) }
    narrow ["v_max3_f16", "v_max3_num_f16"] (a: Half, b: Half, c: Half) -> Half { maximum(maximum(a, b), c) }
    narrow ["v_minimum3_f16"] (a: Half, b: Half, c: Half) -> Half { minimum_nan(minimum_nan(a, b), c) }
    narrow ["v_maximum3_f16"] (a: Half, b: Half, c: Half) -> Half { maximum_nan(maximum_nan(a, b), c) }
    narrow ["v_med3_f16", "v_med3_num_f16"] (a: Half, b: Half, c: Half) -> Half { median(a, b, c) }
    narrow ["v_minmax_f16", "v_minmax_num_f16"] (a: Half, b: Half, c: Half) -> Half { maximum(minimum(a, b), c) }
    narrow ["v_maxmin_f16", "v_maxmin_num_f16"] (a: Half, b: Half, c: Half) -> Half { minimum(maximum(a, b), c) }
    narrow ["v_minimummaximum_f16"] (a: Half, b: Half, c: Half) -> Half { maximum_nan(minimum_nan(a, b), c) }
    narrow ["v_maximumminimum_f16"] (a: Half, b: Half, c: Half) -> Half { minimum_nan(maximum_nan(a, b), c) }
    narrow ["v_floor_f16"] (a: Half; mode) -> Half { Half::new(a.wide().floor(), mode) }
    narrow ["v_ceil_f16"] (a: Half; mode) -> Half { Half::new(a.wide().ceil(), mode) }
    narrow ["v_trunc_f16"] (a: Half; mode) -> Half { Half::new(a.wide().trunc(), mode) }
    narrow ["v_rndne_f16"] (a: Half; mode) -> Half { Half::new(a.wide().round_ties_even(), mode) }
    narrow ["v_fract_f16"] (a: Half; mode) -> Half { Half::new(fraction(a.wide()), mode) }
    narrow ["v_rcp_f16", "v_s_rcp_f16"] (a: Half; mode) -> Half { Half::new(1.0 / a.wide(), mode) }
    narrow ["v_rsq_f16", "v_s_rsq_f16"] (a: Half; mode) -> Half { Half::new(if a.wide() == 0.0 { 1.0 / a.wide() } else { 1.0 / a.wide().sqrt() }, mode) }
    narrow ["v_sqrt_f16", "v_s_sqrt_f16"] (a: Half; mode) -> Half { Half::new(a.wide().sqrt(), mode) }
    narrow ["v_log_f16", "v_s_log_f16"] (a: Half; mode) -> Half { Half::new(a.wide().log2(), mode) }
    narrow ["v_exp_f16", "v_s_exp_f16"] (a: Half; mode) -> Half { Half::new(a.wide().exp2(), mode) }
    narrow ["v_sin_f16"] (a: Half; mode) -> Half { Half::new(turns(a.wide(), f64::sin), mode) }
    narrow ["v_cos_f16"] (a: Half; mode) -> Half { Half::new(turns(a.wide(), f64::cos), mode) }
    narrow ["v_frexp_mant_f16"] (a: Half; mode) -> Half { Half::new(mantissa(a), mode) }
    narrow ["v_frexp_exp_i16_f16"] (a: Half) -> i16 { exponent(a) }
    narrow ["v_ldexp_f16"] (a: Half, b: i16; mode) -> Half { Half::new(a.wide() * 2.0_f64.powi(i32::from(b).clamp(-100, 100)), mode) }
    narrow ["v_div_fixup_f16", "v_div_fixup_legacy_f16"] (a: Half, b: Half, c: Half; mode) -> Half { Half::new(division_fixup(a, b, c), mode) }
    narrow ["v_pack_b32_f16"] (a: Half, b: Half) -> u32 { u32::from(a.0) | u32::from(b.0) << 16 }
    narrow ["v_cmp_class_f16"] (a: Bits16, b: u32) -> bool { class(a.0, b) }
}
