//! Vector operations on floats, by a software implementation of IEEE 754.

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Double, Half, Single},
};

use super::table::{Env, Table, Tolerance};

/// Relative distances for functions that hardware approximates, of 32, 16 and 64 bits.
const NEAR32: Tolerance = Tolerance::Relative(1e-6);
const NEAR16: Tolerance = Tolerance::Relative(1.0 / 512.0);
const NEAR64: Tolerance = Tolerance::Relative(1e-14);

/// Returns a float of its bits, and the bits of a float.
pub(super) fn float<T: Float>(bits: i128) -> T {
    T::from_bits(bits.cast_unsigned())
}

pub(super) fn bits<T: Float>(value: T) -> i128 {
    value.to_bits().cast_signed()
}

/// Returns the rounding that a number of MODE means.
fn direction(number: u32) -> Round {
    match number & 3 {
        0 => Round::NearestTiesToEven,
        1 => Round::TowardPositive,
        2 => Round::TowardNegative,
        _ => Round::TowardZero,
    }
}

/// Returns the rounding of results of 32 bits, and that of 16 and 64 bits.
pub(super) fn round32(env: Env) -> Round {
    direction(env.float_mode)
}

pub(super) fn round64(env: Env) -> Round {
    direction(env.float_mode >> 2)
}

/// Returns zero of the same sign for a denormal.
pub(super) fn flushed<T: Float>(value: T) -> T {
    if value.is_denormal() { T::ZERO.copy_sign(value) } else { value }
}

/// Returns the value of any float; conversion to 64 bits is exact.
fn number<T: Float + FloatConvert<Double>>(value: T) -> f64 {
    let mut loses = false;
    f64::from_bits(bits(value.convert(&mut loses).value) as u64)
}

/// Returns a number of 64 bits as a float.
fn converted<T: Float>(value: f64, round: Round) -> T
where
    Double: FloatConvert<T>,
{
    let mut loses = false;
    Double::from_bits(value.to_bits().into()).convert_r(round, &mut loses).value
}

/// Returns `true` if `a` is before `b`, where -0 is before +0 and neither is a NaN.
fn is_before<T: Float>(a: T, b: T) -> bool {
    a < b || a == b && a.is_negative() && !b.is_negative()
}

/// Returns the smaller operand; the other one of a NaN.
pub(super) fn least<T: Float>(a: T, b: T) -> T {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if is_before(b, a) => b,
        _ => a,
    }
}

/// Returns the larger operand; the other one of a NaN.
pub(super) fn greatest<T: Float>(a: T, b: T) -> T {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if is_before(a, b) => b,
        _ => a,
    }
}

/// Returns what `choose` makes of operands of which none is a NaN.
fn with_nan<T: Float>(a: T, b: T, choose: fn(T, T) -> T) -> T {
    if a.is_nan() || b.is_nan() { T::NAN } else { choose(a, b) }
}

/// Returns the middle operand; the least of the others if one is a NaN.
fn middle<T: Float>(operands: [T; 3]) -> T {
    let [a, b, c] = operands;
    if operands.iter().any(|operand| operand.is_nan()) {
        return least(least(a, b), c);
    }
    let mut sorted = operands;
    sorted.sort_by(|a, b| is_before(*b, *a).cmp(&is_before(*a, *b)));
    sorted[1]
}

/// Returns an integer of `width` bits, towards zero; 0 for a NaN.
pub(super) fn integer<T: Float>(value: T, width: usize, is_signed: bool) -> i128 {
    let mut is_exact = false;
    if value.is_nan() {
        0
    } else if is_signed {
        value.to_i128_r(width, Round::TowardZero, &mut is_exact).value
    } else {
        value.to_u128_r(width, Round::TowardZero, &mut is_exact).value.cast_signed()
    }
}

/// Returns the quotient with the special cases of its denominator and numerator.
fn fixed_quotient<T: Float>([quotient, denominator, numerator]: [T; 3]) -> T {
    let signed =
        |value: T| if denominator.is_negative() == numerator.is_negative() { value.abs() } else { -value.abs() };
    if denominator.is_nan() || numerator.is_nan() {
        return T::NAN;
    }
    if denominator.is_zero() && numerator.is_zero() || denominator.is_infinite() && numerator.is_infinite() {
        return T::NAN;
    }
    if denominator.is_zero() || numerator.is_infinite() {
        return signed(T::INFINITY);
    }
    if numerator.is_zero() || denominator.is_infinite() { signed(T::ZERO) } else { signed(quotient) }
}

/// Returns the bit of a class mask that a float belongs to.
fn class<T: Float>(value: T) -> u32 {
    let sides = |negative, positive| if value.is_negative() { negative } else { positive };
    if value.is_nan() {
        u32::from(!value.is_signaling())
    } else if value.is_infinite() {
        sides(2, 9)
    } else if value.is_zero() {
        sides(5, 6)
    } else if value.is_denormal() {
        sides(4, 7)
    } else {
        sides(3, 8)
    }
}

/// A size of floats: the ending of names, the letter of the type, the rounding, and a relative unit in the last place.
#[derive(Clone, Copy)]
struct Size {
    name: &'static str,
    of: char,
    round: fn(Env) -> Round,
    unit: f64,
}

const SINGLE: Size = Size { name: "f32", of: 'f', round: round32, unit: 1.0 / 4_194_304.0 };
const HALF: Size = Size { name: "f16", of: 'h', round: round64, unit: 1.0 / 512.0 };
const DOUBLE: Size = Size { name: "f64", of: 'd', round: round64, unit: 1.0 / (1_u64 << 51) as f64 };

/// Adds the operations that all sizes have.
fn common<T: Float + 'static>(table: &mut Table, size: Size) {
    let Size { name, of, round, unit } = size;
    let (one, two, three) = (format!("{of}>{of}"), format!("{of}{of}>{of}"), format!("{of}{of}{of}>{of}"));
    let names = |stems: &str| stems.split(' ').map(|stem| format!("v_{stem}_{name}")).collect::<Vec<_>>().join(" ");
    let f = float::<T>;
    table.add(&names("add"), &two, move |[a, b, _], env| bits(f(a).add_r(f(b), round(env)).value));
    table.add(&names("sub"), &two, move |[a, b, _], env| bits(f(a).sub_r(f(b), round(env)).value));
    table.add(&names("subrev"), &two, move |[a, b, _], env| bits(f(b).sub_r(f(a), round(env)).value));
    table.add(&names("mul"), &two, move |[a, b, _], env| bits(f(a).mul_r(f(b), round(env)).value));
    table.add(&names("fma fmac fmaak fmamk"), &three, move |[a, b, c], env| {
        bits(f(a).mul_add_r(f(b), f(c), round(env)).value)
    });
    table.add(&names("min min_num"), &two, move |[a, b, _], _| bits(least(f(a), f(b))));
    table.add(&names("max max_num"), &two, move |[a, b, _], _| bits(greatest(f(a), f(b))));
    table.add(&names("minimum"), &two, move |[a, b, _], _| bits(with_nan(f(a), f(b), least)));
    table.add(&names("maximum"), &two, move |[a, b, _], _| bits(with_nan(f(a), f(b), greatest)));
    table.add(&names("min3 min3_num"), &three, move |[a, b, c], _| bits(least(least(f(a), f(b)), f(c))));
    table.add(&names("max3 max3_num"), &three, move |[a, b, c], _| bits(greatest(greatest(f(a), f(b)), f(c))));
    table.add(&names("med3 med3_num"), &three, move |operands, _| bits(middle(operands.map(f))));
    table.add(&names("minmax minmax_num"), &three, move |[a, b, c], _| bits(greatest(least(f(a), f(b)), f(c))));
    table.add(&names("maxmin maxmin_num"), &three, move |[a, b, c], _| bits(least(greatest(f(a), f(b)), f(c))));
    let combined = move |[a, b, c]: [i128; 3], first: fn(T, T) -> T, second: fn(T, T) -> T| {
        bits(with_nan(with_nan(f(a), f(b), first), f(c), second))
    };
    table.add(&names("minimum3"), &three, move |operands, _| combined(operands, least, least));
    table.add(&names("maximum3"), &three, move |operands, _| combined(operands, greatest, greatest));
    table.add(&names("minimummaximum"), &three, move |operands, _| combined(operands, least, greatest));
    table.add(&names("maximumminimum"), &three, move |operands, _| combined(operands, greatest, least));
    for (stem, towards) in [
        ("floor", Round::TowardNegative),
        ("ceil", Round::TowardPositive),
        ("trunc", Round::TowardZero),
        ("rndne", Round::NearestTiesToEven),
    ] {
        table.add(&names(stem), &one, move |[a, ..], _| bits(f(a).round_to_integral(towards).value));
    }
    // The largest number below 1 is one bit pattern below that of 1.
    let largest = move || float::<T>(bits(T::from_u128(1).value) - 1);
    table.add_tolerant(&names("fract"), &one, Tolerance::Relative(unit), move |[a, ..], _| {
        let fraction = (f(a) - f(a).round_to_integral(Round::TowardNegative).value).value;
        bits(if fraction.is_nan() { fraction } else { least(fraction, largest()) })
    });
    table.add(&names("frexp_mant"), &one, move |[a, ..], _| {
        let is_special = f(a).is_zero() || !f(a).is_finite();
        bits(if is_special { f(a) } else { f(a).frexp(&mut 0) })
    });
    let exponent = move |[a, ..]: [i128; 3], _: Env| {
        let mut exponent = 0;
        let _ = f(a).frexp(&mut exponent);
        if f(a).is_zero() || !f(a).is_finite() { 0 } else { exponent.into() }
    };
    let integer = if of == 'h' { "i16" } else { "i32" };
    let signed = if of == 'h' { 'x' } else { 's' };
    table.add(&format!("v_frexp_exp_{integer}_{name}"), &format!("{of}>{signed}"), exponent);
    table.add(&names("ldexp"), &format!("{of}{signed}>{of}"), move |[a, b, _], env| {
        bits(f(a).scalbn_r(b.clamp(-10_000, 10_000) as i32, round(env)))
    });
    table.add(&names("div_fixup div_fixup_legacy"), &three, move |operands, _| bits(fixed_quotient(operands.map(f))));
    // Bits of a float that is not flushed.
    let raw = match of {
        'f' => 'u',
        'h' => 'w',
        _ => 'U',
    };
    table.add(&names("cmp_class cmpx_class"), &format!("{raw}u>c"), move |[a, b, _], _| b >> class(f(a)) & 1);
    comparisons::<T>(table, size);
}

/// A comparison of two numbers.
type Compare<T> = fn(T, T) -> bool;

/// Returns the names of the comparisons and of their opposites, with the condition of the first.
pub(crate) fn conditions<T: Float>() -> [(&'static str, &'static str, Compare<T>); 7] {
    [
        ("lt", "nlt", |a, b| a < b),
        ("eq", "neq", |a, b| a == b),
        ("le", "nle", |a, b| a <= b),
        ("gt", "ngt", |a, b| a > b),
        ("lg", "nlg", |a, b| !a.is_nan() && !b.is_nan() && a != b),
        ("ge", "nge", |a, b| a >= b),
        ("o", "u", |a, b| !a.is_nan() && !b.is_nan()),
    ]
}

/// Adds comparisons.
fn comparisons<T: Float + 'static>(table: &mut Table, Size { name, of, .. }: Size) {
    let constant: (_, _, Compare<T>) = ("f", "t", |_, _| false);
    for (condition, opposite, compare) in conditions::<T>().into_iter().chain([constant]) {
        for (condition, holds) in [(condition, true), (opposite, false)] {
            let also = if condition == "t" { "tru" } else { "" };
            let stems = [condition, also].into_iter().filter(|stem| !stem.is_empty());
            let forms = ["cmp", "cmpx", "cmps", "cmpsx"];
            let names: String = stems.flat_map(|stem| forms.map(|form| format!("v_{form}_{stem}_{name} "))).collect();
            table
                .add(&names, &format!("{of}{of}>c"), move |[a, b, _], _| (compare(float(a), float(b)) == holds).into());
        }
    }
}

/// Adds multiplications that are rounded before the addition, and those where zero times anything is zero.
fn products(table: &mut Table) {
    let f = float::<Single>;
    let mul = move |a: i128, b: i128, env: Env| flushed(flushed(f(a)).mul_r(flushed(f(b)), round32(env)).value);
    let mad = move |product: Single, c: i128, env: Env| bits(flushed(product.add_r(flushed(f(c)), round32(env)).value));
    table
        .add("v_mac_f32 v_mad_f32 v_madak_f32 v_madmk_f32", "bbb>b", move |[a, b, c], env| mad(mul(a, b, env), c, env));
    let is_zero = move |a: i128, b: i128| flushed(f(a)).is_zero() || flushed(f(b)).is_zero();
    table.add("v_mac_legacy_f32 v_mad_legacy_f32", "bbb>b", move |[a, b, c], env| {
        mad(if is_zero(a, b) { Single::ZERO } else { mul(a, b, env) }, c, env)
    });
    let legacy = move |a: i128, b: i128, env: Env| {
        if f(a).is_zero() || f(b).is_zero() { Single::ZERO } else { f(a).mul_r(f(b), round32(env)).value }
    };
    table.add("v_mul_legacy_f32 v_mul_dx9_zero_f32", "ff>f", move |[a, b, _], env| bits(legacy(a, b, env)));
    table.add(
        "v_fma_legacy_f32 v_fmac_legacy_f32 v_fma_dx9_zero_f32 v_fmac_dx9_zero_f32",
        "fff>f",
        move |[a, b, c], env| {
            let has_zero = f(a).is_zero() || f(b).is_zero();
            bits(if has_zero { f(c) } else { f(a).mul_add_r(f(b), f(c), round32(env)).value })
        },
    );
    table.add("v_min_legacy_f32", "ff>f", move |[a, b, _], _| if f(a) < f(b) { a } else { b });
    table.add("v_max_legacy_f32", "ff>f", move |[a, b, _], _| if f(a) >= f(b) { a } else { b });
    table.add("v_mullit_f32", "fff>f", move |[a, b, c], env| {
        let least = -Single::largest();
        let is_least = f(b).is_nan() || f(b) <= least || f(c).is_nan() || f(c) <= Single::ZERO;
        bits(if is_least { least } else { legacy(a, b, env) })
    });
    let h = float::<Half>;
    table.add("v_mac_f16 v_mad_f16 v_madak_f16 v_madmk_f16 v_mad_legacy_f16", "hhh>h", move |[a, b, c], env| {
        let product = h(a).mul_r(h(b), round64(env)).value;
        let product = if env.float_mode & 0x80 == 0 { flushed(product) } else { product };
        bits(product.add_r(h(c), round64(env)).value)
    });
    table.add("v_fma_legacy_f16", "hhh>h", move |[a, b, c], env| bits(h(a).mul_add_r(h(b), h(c), round64(env)).value));
}

/// Adds functions that hardware approximates.
fn approximations(table: &mut Table) {
    type Function = fn(f64) -> f64;
    // An angle is in turns.
    let turn: fn(f64, Function) -> f64 = |turns, function| function(turns.fract() * std::f64::consts::TAU);
    let root: Function = |a| if a == 0.0 { 1.0 / a } else { 1.0 / a.sqrt() };
    let limit: Function = |a| if a.is_infinite() { f64::from(f32::MAX).copysign(a) } else { a };
    let vanish: Function = |a| if a.is_infinite() { 0.0_f64.copysign(a) } else { a };
    let same: Function = |a| a;
    let functions: [(&str, Function, Function); 12] = [
        ("v_rcp_f32 v_rcp_iflag_f32 v_s_rcp_f32", |a| 1.0 / a, same),
        ("v_rcp_clamp_f32", |a| 1.0 / a, limit),
        ("v_rcp_legacy_f32", |a| 1.0 / a, vanish),
        ("v_rsq_f32 v_s_rsq_f32", root, same),
        ("v_rsq_clamp_f32", root, limit),
        ("v_rsq_legacy_f32", root, vanish),
        ("v_sqrt_f32 v_s_sqrt_f32", f64::sqrt, same),
        ("v_log_f32 v_log_legacy_f32 v_s_log_f32", f64::log2, same),
        ("v_log_clamp_f32", f64::log2, limit),
        ("v_exp_f32 v_exp_legacy_f32 v_s_exp_f32", f64::exp2, same),
        ("v_rcp_f16 v_s_rcp_f16", |a| 1.0 / a, same),
        ("v_rsq_f16 v_s_rsq_f16", root, same),
    ];
    for (names, function, after) in functions {
        if names.ends_with("16") {
            table.add_tolerant(names, "h>h", NEAR16, move |[a, ..], _| half_of(function, a));
            continue;
        }
        table.add_tolerant(names, "b>b", NEAR32, move |[a, ..], _| {
            let result = after(function(number(flushed(float::<Single>(a)))));
            bits(flushed(converted::<Single>(result, Round::NearestTiesToEven)))
        });
    }
    for (name, function) in [
        ("v_sqrt_f16 v_s_sqrt_f16", f64::sqrt as Function),
        ("v_log_f16 v_s_log_f16", f64::log2),
        ("v_exp_f16 v_s_exp_f16", f64::exp2),
    ] {
        table.add_tolerant(name, "h>h", NEAR16, move |[a, ..], _| half_of(function, a));
    }
    for (name, function) in [("sin", f64::sin as Function), ("cos", f64::cos)] {
        table.add_tolerant(&format!("v_{name}_f32"), "b>b", Tolerance::Absolute(1e-5), move |[a, ..], _| {
            bits(converted::<Single>(turn(number(flushed(float::<Single>(a))), function), Round::NearestTiesToEven))
        });
        table.add_tolerant(&format!("v_{name}_f16"), "h>h", Tolerance::Absolute(1e-3), move |[a, ..], _| {
            bits(converted::<Half>(turn(number(float::<Half>(a)), function), Round::NearestTiesToEven))
        });
    }
    let wide: [(&str, Function); 5] = [
        ("v_rcp_f64", |a| 1.0 / a),
        ("v_rsq_f64", root),
        ("v_sqrt_f64", f64::sqrt),
        ("v_rcp_clamp_f64", |a| (1.0 / a).clamp(f64::MIN, f64::MAX)),
        ("v_rsq_clamp_f64", |a| if a == 0.0 { f64::MAX.copysign(a) } else { 1.0 / a.sqrt() }),
    ];
    for (name, function) in wide {
        table.add_tolerant(name, "d>d", NEAR64, move |[a, ..], _| {
            i128::from(function(f64::from_bits(a as u64)).to_bits())
        });
    }
}

/// Returns a function of a float of 16 bits.
fn half_of(function: fn(f64) -> f64, a: i128) -> i128 {
    bits(converted::<Half>(function(number(float::<Half>(a))), Round::NearestTiesToEven))
}

/// Returns a value in [-1, 1] or [0, 1] as a multiple of 1/32767 or 1/65535, rounded to even.
fn normalised(value: f64, is_signed: bool) -> i128 {
    let (low, scale) = if is_signed { (-1.0, 32767.0) } else { (0.0, 65535.0) };
    if value.is_nan() { 0 } else { ((value.clamp(low, 1.0) * scale).round_ties_even() as i128) & 0xffff }
}

/// Adds conversions.
fn conversions(table: &mut Table) {
    let (f, h, d) = (float::<Single>, float::<Half>, float::<Double>);
    table.add("v_cvt_f32_i32", "s>f", move |[a, ..], env| bits(Single::from_i128_r(a, round32(env)).value));
    table.add("v_cvt_f32_u32", "u>f", move |[a, ..], env| bits(Single::from_i128_r(a, round32(env)).value));
    table.add("v_cvt_i32_f32", "f>s", move |[a, ..], _| integer(f(a), 32, true));
    table.add("v_cvt_u32_f32", "f>u", move |[a, ..], _| integer(f(a), 32, false));
    table.add("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", "f>s", move |[a, ..], _| {
        integer(f(a).round_to_integral(Round::TowardNegative).value, 32, true)
    });
    table.add("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32", "f>s", move |[a, ..], _| {
        let wide: Double = f(a).convert(&mut false).value;
        let half = Double::from_bits(0.5_f64.to_bits().into());
        let sum = wide.add_r(half, Round::TowardNegative).value;
        integer(sum.round_to_integral(Round::TowardNegative).value, 32, true)
    });
    for index in 0..4 {
        table.add(&format!("v_cvt_f32_ubyte{index}"), "u>f", move |[a, ..], _| {
            bits(Single::from_i128(a >> (8 * index) & 0xff).value)
        });
    }
    table.add("v_cvt_off_f32_i4", "u>f", move |[a, ..], _| {
        let low = a & 15;
        bits(Single::from_i128(if low > 7 { low - 16 } else { low }).value.scalbn(-4))
    });
    table.add("v_cvt_f16_f32", "b>h", move |[a, ..], env| {
        let half: Half = f(a).convert_r(round64(env), &mut false).value;
        bits(half)
    });
    table.add("v_cvt_f32_f16", "h>f", move |[a, ..], _| {
        let single: Single = h(a).convert(&mut false).value;
        bits(single)
    });
    table.add("v_cvt_f16_u16", "w>h", move |[a, ..], env| bits(Half::from_i128_r(a, round64(env)).value));
    table.add("v_cvt_f16_i16", "x>h", move |[a, ..], env| bits(Half::from_i128_r(a, round64(env)).value));
    table.add("v_cvt_u16_f16", "h>w", move |[a, ..], _| integer(h(a), 16, false));
    table.add("v_cvt_i16_f16", "h>x", move |[a, ..], _| integer(h(a), 16, true));
    for (name, is_signed) in [("i16", true), ("u16", false)] {
        table.add(&format!("v_cvt_norm_{name}_f16"), "h>w", move |[a, ..], _| normalised(number(h(a)), is_signed));
        let names = |size: &str| format!("v_cvt_pknorm_{name}_{size} v_cvt_pk_norm_{name}_{size}");
        table.add(&names("f32"), "ff>u", move |[a, b, _], _| {
            normalised(number(f(a)), is_signed) | normalised(number(f(b)), is_signed) << 16
        });
        table.add(&names("f16"), "hh>u", move |[a, b, _], _| {
            normalised(number(h(a)), is_signed) | normalised(number(h(b)), is_signed) << 16
        });
    }
    table.add("v_cvt_pkrtz_f16_f32 v_cvt_pk_rtz_f16_f32", "bb>u", move |[a, b, _], _| {
        let half = |value| -> Half { f(value).convert_r(Round::TowardZero, &mut false).value };
        let canonical = |half: Half| bits(if half.is_nan() { Half::NAN } else { half });
        canonical(half(a)) | canonical(half(b)) << 16
    });
    table
        .add("v_cvt_pk_u16_f32", "ff>u", move |[a, b, _], _| integer(f(a), 16, false) | integer(f(b), 16, false) << 16);
    table.add("v_cvt_pk_i16_f32", "ff>u", move |[a, b, _], _| {
        integer(f(a), 16, true) & 0xffff | (integer(f(b), 16, true) & 0xffff) << 16
    });
    table.add("v_cvt_pk_u8_f32 v_cvt_pkaccum_u8_f32", "fuu>u", move |[a, b, c], env| {
        let byte = integer(f(a).round_to_integral(round32(env)).value, 8, false);
        let shift = 8 * (b & 3);
        c & !(0xff << shift) | byte << shift
    });
    table.add("v_cvt_f32_f64", "d>f", move |[a, ..], env| {
        let single: Single = d(a).convert_r(round32(env), &mut false).value;
        bits(single)
    });
    table.add("v_cvt_f64_f32", "f>d", move |[a, ..], _| {
        let double: Double = f(a).convert(&mut false).value;
        bits(double)
    });
    table.add("v_cvt_i32_f64", "d>s", move |[a, ..], _| integer(d(a), 32, true));
    table.add("v_cvt_u32_f64", "d>u", move |[a, ..], _| integer(d(a), 32, false));
    table.add("v_cvt_f64_i32", "s>d", move |[a, ..], _| bits(Double::from_i128(a).value));
    table.add("v_cvt_f64_u32", "u>d", move |[a, ..], _| bits(Double::from_i128(a).value));
}

/// Adds the operations that find the face of a cube and the coordinates there.
fn cubes(table: &mut Table) {
    let f = float::<Single>;
    // The axis with the largest magnitude, the last one among equal ones.
    let axis = move |[x, y, z]: [i128; 3]| {
        let [x, y, z] = [x, y, z].map(|bits| f(bits).abs());
        if z >= x && z >= y { 2 } else { usize::from(y >= x) }
    };
    let is_below = move |operands: [i128; 3]| f(operands[axis(operands)]) < Single::ZERO;
    table.add("v_cubeid_f32", "fff>f", move |operands, _| {
        let face = 2 * axis(operands) as i128 + i128::from(is_below(operands));
        bits(Single::from_i128(face).value)
    });
    table.add("v_cubema_f32", "fff>f", move |operands, _| bits(f(operands[axis(operands)]).scalbn(1)));
    table.add("v_cubesc_f32", "fff>f", move |operands, _| {
        let [x, _, z] = operands.map(f);
        bits(match (axis(operands), is_below(operands)) {
            (0, true) => z,
            (0, false) => -z,
            (2, true) => -x,
            _ => x,
        })
    });
    table.add("v_cubetc_f32", "fff>f", move |operands, _| {
        let [_, y, z] = operands.map(f);
        bits(match (axis(operands), is_below(operands)) {
            (1, true) => -z,
            (1, false) => z,
            _ => -y,
        })
    });
}

/// Adds all operations on floats.
pub(crate) fn add_to(table: &mut Table) {
    common::<Single>(table, SINGLE);
    common::<Half>(table, HALF);
    common::<Double>(table, DOUBLE);
    products(table);
    approximations(table);
    conversions(table);
    cubes(table);
}
