//! Operations on 32-bit floats. Denormals are flushed around them as the mode says, unless a line does so itself.

use crate::alu::kernel::operations;
use crate::number::{
    mode::Mode,
    round::{directed_sum, fma32, to_f32},
};

/// Returns zero of the same sign for a denormal.
pub(crate) fn flushed(value: f32) -> f32 {
    if value.to_bits() & 0x7f80_0000 == 0 { f32::from_bits(value.to_bits() & 0x8000_0000) } else { value }
}

/// Returns the smaller value; the other one if one is a NaN, and -0 rather than +0.
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    let first = a < b || b.is_nan() || a == b && a.is_sign_negative();
    if first { a } else { b }
}

/// Returns the larger value; the other one if one is a NaN, and +0 rather than -0.
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    let first = a > b || b.is_nan() || a == b && a.is_sign_positive();
    if first { a } else { b }
}

/// Returns a NaN if either operand is one, else the smaller value.
pub(crate) fn minimum_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { minimum(a, b) }
}

/// Returns a NaN if either operand is one, else the larger value.
pub(crate) fn maximum_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { maximum(a, b) }
}

/// Returns the middle value; with a NaN the smallest of the others.
fn median(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return minimum(minimum(a, b), c);
    }
    maximum(minimum(a, b), minimum(maximum(a, b), c))
}

/// Returns the product where zero times anything is zero.
fn legacy_product(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// Returns the fused sum of a product and `c`, where zero times anything is zero.
fn legacy_fma<const FUSES: bool>(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 { c } else { fma32::<FUSES>(a, b, c) }
}

/// Returns the unfused sum of a product and `c`; denormals are zero at every step.
fn mad(a: f32, b: f32, c: f32) -> f32 {
    flushed(flushed(flushed(a) * flushed(b)) + flushed(c))
}

/// Returns [`mad`] where zero times anything is zero.
fn legacy_mad(a: f32, b: f32, c: f32) -> f32 {
    flushed(flushed(legacy_product(flushed(a), flushed(b))) + flushed(c))
}

/// Returns a sum, rounded as the mode says.
pub(crate) fn sum(a: f64, b: f64, mode: Mode) -> f32 {
    to_f32(directed_sum(a, b, mode.round32()), mode.round32())
}

/// Returns a product, rounded as the mode says.
pub(crate) fn product(a: f32, b: f32, mode: Mode) -> f32 {
    to_f32(f64::from(a) * f64::from(b), mode.round32())
}

/// Returns [`mad`], or [`legacy_mad`], with both steps rounded as the mode says.
fn directed_mad(a: f32, b: f32, c: f32, mode: Mode, is_legacy: bool) -> f32 {
    let (a, b) = (flushed(a), flushed(b));
    let zero = is_legacy && (a == 0.0 || b == 0.0);
    let product = if zero { 0.0 } else { flushed(product(a, b, mode)) };
    flushed(sum(product.into(), flushed(c).into(), mode))
}

/// Returns the product where zero times anything is zero, unless an operand of lighting asks for the least number.
fn lit(a: f32, b: f32, c: f32, product: impl Fn(f32, f32) -> f32) -> f32 {
    let is_least = b == -f32::MAX || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan();
    if is_least {
        -f32::MAX
    } else if a == 0.0 || b == 0.0 {
        0.0
    } else {
        product(a, b)
    }
}

/// Returns the value, or zero of its sign if it is infinite.
fn without_infinity(value: f32) -> f32 {
    if value.is_infinite() { 0.0_f32.copysign(value) } else { value }
}

/// Returns a function of the value in 64 bits, rounded once, without denormals.
fn approximate(value: f32, function: impl Fn(f64) -> f64) -> f32 {
    flushed(function(f64::from(flushed(value))) as f32)
}

/// Returns the fraction in [0.5, 1) with the sign of `value`.
fn mantissa(value: f32) -> f32 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    (f64::from(value) / 2.0_f64.powi(exponent(value))) as f32
}

/// Returns the exponent that leaves a mantissa in [0.5, 1); 0 for zero, infinity and NaN.
fn exponent(value: f32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let bits = f64::from(value).to_bits();
    (bits >> 52 & 0x7ff) as i32 - 1022
}

/// Returns `value * 2^exponent`, rounded once.
pub(crate) fn scaled(value: f32, exponent: i32, mode: Mode) -> f32 {
    let exponent = exponent.clamp(-400, 400);
    to_f32(f64::from(value) * 2.0_f64.powi(exponent), mode.round32())
}

/// Returns the fractional part, below 1; a NaN stays.
fn fraction(value: f32) -> f32 {
    const LARGEST: f32 = f32::from_bits(0x3f7f_ffff);
    let fraction = value - value.floor();
    if fraction > LARGEST { LARGEST } else { fraction }
}

/// Returns the sine of an angle in turns.
fn sine_of_turns(value: f64) -> f64 {
    if value.is_finite() { (value.fract() * std::f64::consts::TAU).sin() } else { f64::NAN }
}

/// Returns the cosine of an angle in turns.
fn cosine_of_turns(value: f64) -> f64 {
    if value.is_finite() { (value.fract() * std::f64::consts::TAU).cos() } else { f64::NAN }
}

/// The face of a cube that a direction points at, its axis and coordinates.
struct Cube {
    face: f32,
    major: f32,
    s: f32,
    t: f32,
}

impl Cube {
    fn new(x: f32, y: f32, z: f32) -> Self {
        let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
        if az >= ax && az >= ay {
            let (face, s) = if z < 0.0 { (5.0, -x) } else { (4.0, x) };
            Self { face, major: 2.0 * z, s, t: -y }
        } else if ay >= ax {
            let (face, t) = if y < 0.0 { (3.0, -z) } else { (2.0, z) };
            Self { face, major: 2.0 * y, s: x, t }
        } else {
            let (face, s) = if x < 0.0 { (1.0, z) } else { (0.0, -z) };
            Self { face, major: 2.0 * x, s, t: -y }
        }
    }
}

/// Returns the quotient that division by Newton's method ends with: `quotient` with the special cases of `denominator` and `numerator`.
fn division_fixup(quotient: f32, denominator: f32, numerator: f32) -> f32 {
    let negative = denominator.is_sign_negative() != numerator.is_sign_negative();
    let signed = |value: f32| if negative { -value } else { value };
    if numerator.is_nan() || denominator.is_nan() {
        return f32::NAN;
    }
    match (denominator == 0.0, numerator == 0.0, denominator.is_infinite(), numerator.is_infinite()) {
        (true, true, ..) | (_, _, true, true) => f32::NAN,
        (true, ..) | (.., true) => signed(f32::INFINITY),
        (_, true, ..) | (_, _, true, _) => signed(0.0),
        _ => signed(quotient.abs()),
    }
}

/// Returns `true` if the class mask has the bit of the value's class.
fn class(bits: u32, mask: u32) -> bool {
    let negative = bits >> 31 != 0;
    let (exponent, fraction) = (bits >> 23 & 0xff, bits & 0x7f_ffff);
    super::class::has(negative, exponent == 0xff, exponent == 0, fraction, 1 << 22, mask)
}

operations! { TABLE;
    float [VAddF32, VDualAddF32] (a: f32, b: f32) -> f32 { a + b }
    narrow [VAddF32, VDualAddF32; Directed] (a: f32, b: f32; mode) -> f32 { sum(a.into(), b.into(), mode) }
    float [VSubF32, VDualSubF32] (a: f32, b: f32) -> f32 { a - b }
    narrow [VSubF32, VDualSubF32; Directed] (a: f32, b: f32; mode) -> f32 { sum(a.into(), -f64::from(b), mode) }
    float [VSubrevF32, VDualSubrevF32] (a: f32, b: f32) -> f32 { b - a }
    narrow [VSubrevF32, VDualSubrevF32; Directed] (a: f32, b: f32; mode) -> f32 { sum(b.into(), -f64::from(a), mode) }
    float [VMulF32, VDualMulF32] (a: f32, b: f32) -> f32 { a * b }
    narrow [VMulF32, VDualMulF32; Directed] (a: f32, b: f32; mode) -> f32 { product(a, b, mode) }
    float [VMulLegacyF32, VMulDx9ZeroF32, VDualMulDx9ZeroF32] (a: f32, b: f32) -> f32 { legacy_product(a, b) }
    narrow [VMulLegacyF32, VMulDx9ZeroF32, VDualMulDx9ZeroF32; Directed] (a: f32, b: f32; mode) -> f32 { if a == 0.0 || b == 0.0 { 0.0 } else { product(a, b, mode) } }
    float [VMacF32, VMadF32, VMadakF32, VMadmkF32] (a: f32, b: f32, c: f32) -> f32 { mad(a, b, c) }
    narrow [VMacLegacyF32, VMadLegacyF32] (a: f32, b: f32, c: f32) -> f32 { legacy_mad(a, b, c) }
    narrow [VMacF32, VMadF32, VMadakF32, VMadmkF32; Directed] (a: f32, b: f32, c: f32; mode) -> f32 { directed_mad(a, b, c, mode, false) }
    narrow [VMacLegacyF32, VMadLegacyF32; Directed] (a: f32, b: f32, c: f32; mode) -> f32 { directed_mad(a, b, c, mode, true) }
    float [VFmaF32, VDivFmasF32, VFmacF32, VDualFmacF32, VFmaakF32, VDualFmaakF32, VFmamkF32, VDualFmamkF32] (a: f32, b: f32, c: f32) -> f32 { fma32::<FUSES>(a, b, c) }
    narrow [VFmaF32, VDivFmasF32, VFmacF32, VFmaakF32, VFmamkF32, VDualFmacF32, VDualFmaakF32, VDualFmamkF32; Directed] (a: f32, b: f32, c: f32; mode) -> f32 { sum(f64::from(a) * f64::from(b), c.into(), mode) }
    narrow [VFmaLegacyF32, VFmacLegacyF32, VFmaDx9ZeroF32, VFmacDx9ZeroF32] (a: f32, b: f32, c: f32) -> f32 { legacy_fma::<FUSES>(a, b, c) }
    narrow [VFmaLegacyF32, VFmacLegacyF32, VFmaDx9ZeroF32, VFmacDx9ZeroF32; Directed] (a: f32, b: f32, c: f32; mode) -> f32 { if a == 0.0 || b == 0.0 { c } else { sum(f64::from(a) * f64::from(b), c.into(), mode) } }
    float [VMinF32, VDualMinF32, VMinNumF32, VDualMinNumF32] (a: f32, b: f32) -> f32 { minimum(a, b) }
    float [VMaxF32, VDualMaxF32, VMaxNumF32, VDualMaxNumF32] (a: f32, b: f32) -> f32 { maximum(a, b) }
    narrow [VMinLegacyF32] (a: f32, b: f32) -> f32 { if a < b { a } else { b } }
    narrow [VMaxLegacyF32] (a: f32, b: f32) -> f32 { if a >= b { a } else { b } }
    narrow [VMinimumF32] (a: f32, b: f32) -> f32 { minimum_nan(a, b) }
    narrow [VMaximumF32] (a: f32, b: f32) -> f32 { maximum_nan(a, b) }
    narrow [VMin3F32, VMin3NumF32] (a: f32, b: f32, c: f32) -> f32 { minimum(minimum(a, b), c) }
    narrow [VMax3F32, VMax3NumF32] (a: f32, b: f32, c: f32) -> f32 { maximum(maximum(a, b), c) }
    narrow [VMinimum3F32] (a: f32, b: f32, c: f32) -> f32 { minimum_nan(minimum_nan(a, b), c) }
    narrow [VMaximum3F32] (a: f32, b: f32, c: f32) -> f32 { maximum_nan(maximum_nan(a, b), c) }
    narrow [VMed3F32, VMed3NumF32] (a: f32, b: f32, c: f32) -> f32 { median(a, b, c) }
    narrow [VMinmaxF32, VMinmaxNumF32] (a: f32, b: f32, c: f32) -> f32 { maximum(minimum(a, b), c) }
    narrow [VMaxminF32, VMaxminNumF32] (a: f32, b: f32, c: f32) -> f32 { minimum(maximum(a, b), c) }
    narrow [VMinimummaximumF32] (a: f32, b: f32, c: f32) -> f32 { maximum_nan(minimum_nan(a, b), c) }
    narrow [VMaximumminimumF32] (a: f32, b: f32, c: f32) -> f32 { minimum_nan(maximum_nan(a, b), c) }
    narrow [VFloorF32] (a: f32) -> f32 { a.floor() }
    narrow [VCeilF32] (a: f32) -> f32 { a.ceil() }
    narrow [VTruncF32] (a: f32) -> f32 { a.trunc() }
    narrow [VRndneF32] (a: f32) -> f32 { a.round_ties_even() }
    narrow [VFractF32] (a: f32) -> f32 { fraction(a) }
    narrow [VRcpF32, VRcpIflagF32, VSRcpF32] (a: f32) -> f32 { approximate(a, |a| 1.0 / a) }
    narrow [VRcpClampF32] (a: f32) -> f32 { approximate(a, |a| 1.0 / a).clamp(-f32::MAX, f32::MAX) }
    narrow [VRcpLegacyF32] (a: f32) -> f32 { without_infinity(approximate(a, |a| 1.0 / a)) }
    narrow [VRsqF32, VSRsqF32] (a: f32) -> f32 { approximate(a, |a| if a == 0.0 { 1.0 / a } else { 1.0 / a.sqrt() }) }
    narrow [VRsqClampF32] (a: f32) -> f32 { approximate(a, |a| 1.0 / a.sqrt()).clamp(-f32::MAX, f32::MAX) }
    narrow [VRsqLegacyF32] (a: f32) -> f32 { without_infinity(approximate(a, |a| 1.0 / a.sqrt())) }
    narrow [VSqrtF32, VSSqrtF32] (a: f32) -> f32 { approximate(a, f64::sqrt) }
    narrow [VLogF32, VLogLegacyF32, VSLogF32] (a: f32) -> f32 { approximate(a, f64::log2) }
    narrow [VLogClampF32] (a: f32) -> f32 { approximate(a, f64::log2).clamp(-f32::MAX, f32::INFINITY) }
    narrow [VExpF32, VExpLegacyF32, VSExpF32] (a: f32) -> f32 { approximate(a, f64::exp2) }
    narrow [VSinF32] (a: f32) -> f32 { approximate(a, sine_of_turns) }
    narrow [VCosF32] (a: f32) -> f32 { approximate(a, cosine_of_turns) }
    narrow [VFrexpMantF32] (a: f32) -> f32 { mantissa(a) }
    narrow [VFrexpExpI32F32] (a: f32) -> i32 { exponent(a) }
    narrow [VLdexpF32] (a: f32, b: i32; mode) -> f32 { scaled(a, b, mode) }
    narrow [VCubeidF32] (a: f32, b: f32, c: f32) -> f32 { Cube::new(a, b, c).face }
    narrow [VCubemaF32] (a: f32, b: f32, c: f32) -> f32 { Cube::new(a, b, c).major }
    narrow [VCubescF32] (a: f32, b: f32, c: f32) -> f32 { Cube::new(a, b, c).s }
    narrow [VCubetcF32] (a: f32, b: f32, c: f32) -> f32 { Cube::new(a, b, c).t }
    narrow [VDivFixupF32] (a: f32, b: f32, c: f32) -> f32 { division_fixup(a, b, c) }
    narrow [VMullitF32] (a: f32, b: f32, c: f32) -> f32 { lit(a, b, c, |a, b| a * b) }
    narrow [VMullitF32; Directed] (a: f32, b: f32, c: f32; mode) -> f32 { lit(a, b, c, |a, b| product(a, b, mode)) }
    narrow [VCmpClassF32, VCmpxClassF32] (a: crate::alu::kernel::Bits32, b: u32) -> bool { class(a.0, b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::alu::{
        kernel::{Kernel, Lanes},
        unit::Unit,
    };

    /// Numbers at the edges: zeroes, denormals, the smallest and largest numbers, infinities, NaNs, and some in between.
    const EDGES: [u32; 16] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x807f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x1fff_ffff,
        0x5f80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc1_2345,
    ];

    #[test]
    fn a_kernel_that_flushes_denormals_is_the_other_between_flushes() {
        let operations = TABLE.iter().filter_map(|operation| Some((operation, operation.flushing?)));
        let mut count = 0;
        for (operation, flushing) in operations {
            let Kernel::Narrow(plain) = operation.kernel else { panic!("{:?}", operation.ops) };
            for third in EDGES {
                for first in 0..4 {
                    // Every pair of edges, in four times 64 lanes.
                    let pair = |lane: usize| 64 * first + lane;
                    let operands: [Lanes; 3] = [
                        std::array::from_fn(|lane| EDGES[pair(lane) / 16]),
                        std::array::from_fn(|lane| EDGES[pair(lane) % 16]),
                        [third; 64],
                    ];
                    let flush = |lanes: Lanes| lanes.map(|bits| flushed(f32::from_bits(bits)).to_bits());
                    let (mut expected, mut found) = ([0; 64], [0; 64]);
                    plain(Unit::Baseline, &mut expected, &operands.map(flush).each_ref(), Mode(0));
                    flushing(Unit::Baseline, &mut found, &operands.each_ref(), Mode(0));
                    assert_eq!(found, flush(expected), "{:?}", operation.ops);
                    // Of operands without denormals, the third kernel gives the same.
                    let clean = operation.clean.expect("a float operation has all three");
                    clean(Unit::Baseline, &mut found, &operands.map(flush).each_ref(), Mode(0));
                    assert_eq!(found, flush(expected), "{:?}", operation.ops);
                }
            }
            count += 1;
        }
        assert_eq!(count, 9);
    }

    proptest! {
        #[test]
        fn mantissa_and_exponent_make_the_value(value in any::<f32>()) {
            prop_assume!(value != 0.0 && value.is_finite());
            let mantissa = f64::from(mantissa(value));
            prop_assert!((0.5..1.0).contains(&mantissa.abs()));
            prop_assert_eq!(mantissa * 2.0_f64.powi(exponent(value)), f64::from(value));
        }
    }
}
