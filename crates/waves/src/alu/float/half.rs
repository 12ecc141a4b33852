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
    narrow [VAddF16, VPkAddF16] (a: Half, b: Half; mode) -> Half { sum(a.wide(), b.wide(), mode) }
    narrow [VSubF16] (a: Half, b: Half; mode) -> Half { sum(a.wide(), -b.wide(), mode) }
    narrow [VSubrevF16] (a: Half, b: Half; mode) -> Half { sum(b.wide(), -a.wide(), mode) }
    narrow [VMulF16, VPkMulF16] (a: Half, b: Half; mode) -> Half { Half::new(a.wide() * b.wide(), mode) }
    narrow [VFmaF16, VPkFmaF16, VFmacF16, VPkFmacF16, VFmaakF16, VFmamkF16, VFmaLegacyF16] (a: Half, b: Half, c: Half; mode) -> Half { sum(a.wide() * b.wide(), c.wide(), mode) }
    narrow [VMadF16, VMacF16, VMadakF16, VMadmkF16, VMadLegacyF16] (a: Half, b: Half, c: Half; mode) -> Half { sum(Half::new(a.wide() * b.wide(), mode).wide(), c.wide(), mode) }
    narrow [VMinF16, VPkMinF16, VMinNumF16, VPkMinNumF16] (a: Half, b: Half) -> Half { minimum(a, b) }
    narrow [VMaxF16, VPkMaxF16, VMaxNumF16, VPkMaxNumF16] (a: Half, b: Half) -> Half { maximum(a, b) }
    narrow [VMinimumF16, VPkMinimumF16] (a: Half, b: Half) -> Half { minimum_nan(a, b) }
    narrow [VMaximumF16, VPkMaximumF16] (a: Half, b: Half) -> Half { maximum_nan(a, b) }
    narrow [VMin3F16, VMin3NumF16] (a: Half, b: Half, c: Half) -> Half { minimum(minimum(a, b), c) }
    narrow [VMax3F16, VMax3NumF16] (a: Half, b: Half, c: Half) -> Half { maximum(maximum(a, b), c) }
    narrow [VMinimum3F16] (a: Half, b: Half, c: Half) -> Half { minimum_nan(minimum_nan(a, b), c) }
    narrow [VMaximum3F16] (a: Half, b: Half, c: Half) -> Half { maximum_nan(maximum_nan(a, b), c) }
    narrow [VMed3F16, VMed3NumF16] (a: Half, b: Half, c: Half) -> Half { median(a, b, c) }
    narrow [VMinmaxF16, VMinmaxNumF16] (a: Half, b: Half, c: Half) -> Half { maximum(minimum(a, b), c) }
    narrow [VMaxminF16, VMaxminNumF16] (a: Half, b: Half, c: Half) -> Half { minimum(maximum(a, b), c) }
    narrow [VMinimummaximumF16] (a: Half, b: Half, c: Half) -> Half { maximum_nan(minimum_nan(a, b), c) }
    narrow [VMaximumminimumF16] (a: Half, b: Half, c: Half) -> Half { minimum_nan(maximum_nan(a, b), c) }
    narrow [VFloorF16] (a: Half; mode) -> Half { Half::new(a.wide().floor(), mode) }
    narrow [VCeilF16] (a: Half; mode) -> Half { Half::new(a.wide().ceil(), mode) }
    narrow [VTruncF16] (a: Half; mode) -> Half { Half::new(a.wide().trunc(), mode) }
    narrow [VRndneF16] (a: Half; mode) -> Half { Half::new(a.wide().round_ties_even(), mode) }
    narrow [VFractF16] (a: Half; mode) -> Half { Half::new(fraction(a.wide()), mode) }
    narrow [VRcpF16, VSRcpF16] (a: Half; mode) -> Half { Half::new(1.0 / a.wide(), mode) }
    narrow [VRsqF16, VSRsqF16] (a: Half; mode) -> Half { Half::new(if a.wide() == 0.0 { 1.0 / a.wide() } else { 1.0 / a.wide().sqrt() }, mode) }
    narrow [VSqrtF16, VSSqrtF16] (a: Half; mode) -> Half { Half::new(a.wide().sqrt(), mode) }
    narrow [VLogF16, VSLogF16] (a: Half; mode) -> Half { Half::new(a.wide().log2(), mode) }
    narrow [VExpF16, VSExpF16] (a: Half; mode) -> Half { Half::new(a.wide().exp2(), mode) }
    narrow [VSinF16] (a: Half; mode) -> Half { Half::new(turns(a.wide(), f64::sin), mode) }
    narrow [VCosF16] (a: Half; mode) -> Half { Half::new(turns(a.wide(), f64::cos), mode) }
    narrow [VFrexpMantF16] (a: Half; mode) -> Half { Half::new(mantissa(a), mode) }
    narrow [VFrexpExpI16F16] (a: Half) -> i16 { exponent(a) }
    narrow [VLdexpF16] (a: Half, b: i16; mode) -> Half { Half::new(a.wide() * 2.0_f64.powi(i32::from(b).clamp(-100, 100)), mode) }
    narrow [VDivFixupF16, VDivFixupLegacyF16] (a: Half, b: Half, c: Half; mode) -> Half { Half::new(division_fixup(a, b, c), mode) }
    narrow [VPackB32F16] (a: Half, b: Half) -> u32 { u32::from(a.0) | u32::from(b.0) << 16 }
    narrow [VCmpClassF16, VCmpxClassF16] (a: Bits16, b: u32) -> bool { class(a.0, b) }
}
