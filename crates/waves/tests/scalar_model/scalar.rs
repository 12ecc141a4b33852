//! Scalar operations.

use std::collections::HashMap;

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Half, Single},
};

use super::{
    float::{bits, conditions, float, greatest, integer, least, round32, round64},
    table::{Env, is_signed, width},
};

/// The state that a scalar operation reads besides registers.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    /// The sources, and the destination's old value.
    pub(crate) operands: [i128; 3],
    pub(crate) scc: bool,
    pub(crate) exec: u64,
    pub(crate) env: Env,
}

/// The results of a scalar operation.
#[derive(Clone, Copy, Default)]
pub(crate) struct Output {
    pub(crate) value: Option<i128>,
    pub(crate) scc: Option<bool>,
    pub(crate) exec: Option<u64>,
}

/// A scalar operation: the types of its sources and of its destination, as those of vector operations, and what it does.
pub(crate) struct Operation {
    pub(crate) types: [char; 3],
    pub(crate) function: Box<dyn Fn(Input) -> Output>,
}

/// Every scalar operation by name.
#[derive(Default)]
pub(crate) struct Scalars(HashMap<String, Operation>);

impl Scalars {
    /// Returns the model of all scalar operations.
    pub(crate) fn new() -> Self {
        let mut scalars = Self::default();
        arithmetic(&mut scalars);
        logic(&mut scalars);
        fields(&mut scalars);
        counts(&mut scalars);
        moves(&mut scalars);
        comparisons(&mut scalars);
        floats(&mut scalars);
        exec(&mut scalars);
        waits(&mut scalars);
        scalars
    }

    /// Returns the operation with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Operation> {
        self.0.get(name)
    }

    /// Adds an operation; `types` are those of the sources and, behind `>`, of the destination.
    fn add(&mut self, names: &str, types: &str, function: impl Fn(Input) -> Output + Copy + 'static) {
        let (sources, result) = types.split_once('>').expect("types have a destination");
        let letter = |index| sources.chars().nth(index).unwrap_or('u');
        let types = [letter(0), letter(1), result.chars().next().unwrap_or('u')];
        for name in names.split_whitespace() {
            let operation = Operation { types, function: Box::new(function) };
            assert!(self.0.insert(name.to_owned(), operation).is_none(), "{name} is there twice");
        }
    }

    /// Adds an operation that leaves SCC alone.
    fn value(&mut self, names: &str, types: &str, function: impl Fn(Input) -> i128 + Copy + 'static) {
        self.add(names, types, move |input| Output { value: Some(function(input)), ..Output::default() });
    }

    /// Adds an operation whose SCC says that the result is not zero.
    fn nonzero(&mut self, names: &str, types: &str, function: impl Fn(Input) -> i128 + Copy + 'static) {
        let bits = width(types.chars().last().unwrap_or('u'));
        self.add(names, types, move |input| {
            let value = function(input);
            Output { value: Some(value), scc: Some(value & ((1 << bits) - 1) != 0), exec: None }
        });
    }

    /// Adds an operation whose SCC says that the exact result does not fit its type.
    fn overflowing(&mut self, names: &str, types: &str, function: impl Fn(Input) -> i128 + Copy + 'static) {
        let kind = types.chars().last().unwrap_or('u');
        let lowest = if is_signed(kind) { -(1_i128 << 31) } else { 0 };
        self.add(names, types, move |input| {
            let value = function(input);
            Output { value: Some(value), scc: Some(!(lowest..lowest + (1 << 32)).contains(&value)), exec: None }
        });
    }

    /// Adds an operation that writes SCC alone.
    fn condition(&mut self, names: &str, types: &str, function: impl Fn(i128, i128) -> bool + Copy + 'static) {
        self.add(names, &format!("{types}>u"), move |input| {
            let [a, b, _] = input.operands;
            Output { scc: Some(function(a, b)), ..Output::default() }
        });
    }
}

/// Returns a word as a signed number of 32 bits.
fn signed32(value: i128) -> i128 {
    i128::from(value as u32 as i32)
}

fn arithmetic(scalars: &mut Scalars) {
    scalars.overflowing("s_add_u32 s_add_co_u32", "uu>u", |i| i.operands[0] + i.operands[1]);
    scalars.overflowing("s_sub_u32 s_sub_co_u32", "uu>u", |i| i.operands[0] - i.operands[1]);
    scalars.overflowing("s_add_i32 s_add_co_i32 s_addk_i32 s_addk_co_i32", "ss>s", |i| i.operands[0] + i.operands[1]);
    scalars.overflowing("s_sub_i32 s_sub_co_i32", "ss>s", |i| i.operands[0] - i.operands[1]);
    scalars.overflowing("s_addc_u32 s_add_co_ci_u32", "uu>u", |i| i.operands[0] + i.operands[1] + i128::from(i.scc));
    scalars.overflowing("s_subb_u32 s_sub_co_ci_u32", "uu>u", |i| i.operands[0] - i.operands[1] - i128::from(i.scc));
    for shift in 1..=4 {
        let name = format!("s_lshl{shift}_add_u32");
        scalars.overflowing(&name, "uu>u", move |i| (i.operands[0] << shift) + i.operands[1]);
    }
    scalars.value("s_add_nc_u64", "UU>U", |i| i.operands[0] + i.operands[1]);
    scalars.value("s_sub_nc_u64", "UU>U", |i| i.operands[0] - i.operands[1]);
    scalars.value("s_mul_u64", "UU>U", |i| i.operands[0].wrapping_mul(i.operands[1]));
    scalars.value("s_mul_i32 s_mulk_i32", "ss>s", |i| i.operands[0] * i.operands[1]);
    scalars.value("s_mul_hi_u32", "uu>u", |i| (i.operands[0] * i.operands[1]) >> 32);
    scalars.value("s_mul_hi_i32", "ss>s", |i| (i.operands[0] * i.operands[1]) >> 32);
    for (kind, types) in [("i32", "ss>s"), ("u32", "uu>u")] {
        scalars.add(&format!("s_min_{kind}"), types, |i| {
            let [a, b, _] = i.operands;
            Output { value: Some(a.min(b)), scc: Some(a < b), exec: None }
        });
        scalars.add(&format!("s_max_{kind}"), types, |i| {
            let [a, b, _] = i.operands;
            Output { value: Some(a.max(b)), scc: Some(a > b), exec: None }
        });
    }
    scalars.nonzero("s_abs_i32", "s>s", |i| i.operands[0].abs());
    scalars.nonzero("s_absdiff_i32", "ss>s", |i| signed32(i.operands[0] - i.operands[1]).abs());
}

fn logic(scalars: &mut Scalars) {
    type Combine = fn(i128, i128) -> i128;
    let operations: [(&str, Combine); 8] = [
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
        ("andn2 and_not1", |a, b| a & !b),
        ("orn2 or_not1", |a, b| a | !b),
        ("nand", |a, b| !(a & b)),
        ("nor", |a, b| !(a | b)),
        ("xnor", |a, b| !(a ^ b)),
    ];
    for (size, of) in [(32, 'u'), (64, 'U')] {
        let two = format!("{of}{of}>{of}");
        for (stems, combine) in operations {
            let names: Vec<_> = stems.split(' ').map(|stem| format!("s_{stem}_b{size}")).collect();
            scalars.nonzero(&names.join(" "), &two, move |i| combine(i.operands[0], i.operands[1]));
        }
        let one = format!("{of}>{of}");
        scalars.nonzero(&format!("s_not_b{size}"), &one, |i| !i.operands[0]);
        let quad = |value: i128, index: i128| value >> (4 * index) & 15;
        scalars.nonzero(&format!("s_wqm_b{size}"), &one, move |i| {
            (0..16).filter(|index| quad(i.operands[0], *index) != 0).map(|index| 15 << (4 * index)).sum()
        });
        scalars.nonzero(&format!("s_quadmask_b{size}"), &one, move |i| {
            (0..16).filter(|index| quad(i.operands[0], *index) != 0).map(|index| 1 << index).sum()
        });
        scalars.value(&format!("s_brev_b{size}"), &one, move |i| {
            (0..size).map(|bit| (i.operands[0] >> bit & 1) << (size - 1 - bit)).sum()
        });
        let shift = format!("{of}u>{of}");
        scalars.nonzero(&format!("s_lshl_b{size}"), &shift, move |i| i.operands[0] << (i.operands[1] & (size - 1)));
        scalars.nonzero(&format!("s_lshr_b{size}"), &shift, move |i| i.operands[0] >> (i.operands[1] & (size - 1)));
    }
    scalars.nonzero("s_ashr_i32", "su>s", |i| i.operands[0] >> (i.operands[1] & 31));
    scalars.nonzero("s_ashr_i64", "Su>S", |i| i.operands[0] >> (i.operands[1] & 63));
}

fn fields(scalars: &mut Scalars) {
    for (size, of, signed) in [(32_i128, 'u', 's'), (64, 'U', 'S')] {
        scalars.value(&format!("s_bfm_b{size}"), &format!("uu>{of}"), move |i| {
            ((1 << (i.operands[0] & (size - 1))) - 1) << (i.operands[1] & (size - 1))
        });
        for (kind, of) in [('u', of), ('i', signed)] {
            scalars.nonzero(&format!("s_bfe_{kind}{size}"), &format!("{of}u>{of}"), move |i| {
                let [value, field, _] = i.operands;
                let offset = field & (size - 1);
                // Past the top there is what is left.
                let bits = (field >> 16 & 0x7f).min(size - offset);
                let part = (value >> offset) & ((1 << bits) - 1);
                let is_negative = kind == 'i' && bits > 0 && part >> (bits - 1) & 1 != 0;
                if is_negative { part - (1 << bits) } else { part }
            });
        }
        let set = format!("u>{of}");
        scalars
            .value(&format!("s_bitset0_b{size}"), &set, move |i| i.operands[2] & !(1 << (i.operands[0] & (size - 1))));
        scalars.value(&format!("s_bitset1_b{size}"), &set, move |i| i.operands[2] | 1 << (i.operands[0] & (size - 1)));
        let test = format!("{of}u");
        scalars.condition(&format!("s_bitcmp0_b{size}"), &test, move |a, b| a >> (b & (size - 1)) & 1 == 0);
        scalars.condition(&format!("s_bitcmp1_b{size}"), &test, move |a, b| a >> (b & (size - 1)) & 1 != 0);
    }
    let half = |value: i128, index: i128| value >> (16 * index) & 0xffff;
    for (name, low, high) in [("ll", 0, 0), ("lh", 0, 1), ("hh", 1, 1), ("hl", 1, 0)] {
        scalars.value(&format!("s_pack_{name}_b32_b16"), "uu>u", move |i| {
            half(i.operands[0], low) | half(i.operands[1], high) << 16
        });
    }
    scalars.value("s_bitreplicate_b64_b32", "u>U", |i| {
        (0..32).map(|bit| (i.operands[0] >> bit & 1) * 3 << (2 * bit)).sum()
    });
    let extended = |value: i128, bits: i128| {
        let low = value & ((1 << bits) - 1);
        if low >> (bits - 1) != 0 { low - (1 << bits) } else { low }
    };
    scalars.value("s_sext_i32_i8", "u>s", move |i| extended(i.operands[0], 8));
    scalars.value("s_sext_i32_i16", "u>s", move |i| extended(i.operands[0], 16));
}

fn counts(scalars: &mut Scalars) {
    for (size, of) in [(32_i128, 'u'), (64, 'U')] {
        let types = format!("{of}>u");
        let ones = move |value: i128| (0..size).map(|bit| value >> bit & 1).sum::<i128>();
        let lowest = move |value: i128| (0..size).find(|bit| value >> bit & 1 != 0).unwrap_or(-1);
        let highest = move |value: i128| (0..size).find(|place| value >> (size - 1 - place) & 1 != 0).unwrap_or(-1);
        scalars.nonzero(&format!("s_bcnt0_i32_b{size}"), &types, move |i| size - ones(i.operands[0]));
        scalars.nonzero(&format!("s_bcnt1_i32_b{size}"), &types, move |i| ones(i.operands[0]));
        scalars.value(&format!("s_ff0_i32_b{size}"), &types, move |i| lowest(!i.operands[0]));
        scalars.value(&format!("s_ff1_i32_b{size} s_ctz_i32_b{size}"), &types, move |i| lowest(i.operands[0]));
        scalars.value(&format!("s_flbit_i32_b{size} s_clz_i32_u{size}"), &types, move |i| highest(i.operands[0]));
        let names = if size == 32 { "s_flbit_i32 s_cls_i32" } else { "s_flbit_i32_i64 s_cls_i32_i64" };
        scalars.value(names, &types, move |i| {
            let sign = i.operands[0] >> (size - 1) & 1;
            (0..size).find(|place| i.operands[0] >> (size - 1 - place) & 1 != sign).unwrap_or(-1)
        });
    }
}

fn moves(scalars: &mut Scalars) {
    scalars.value("s_mov_b32 s_movk_i32", "u>u", |i| i.operands[0]);
    scalars.value("s_mov_b64", "U>U", |i| i.operands[0]);
    for (names, of) in [("s_cmov_b32 s_cmovk_i32", 'u'), ("s_cmov_b64", 'U')] {
        scalars.value(names, &format!("{of}>{of}"), |i| i.operands[if i.scc { 0 } else { 2 }]);
    }
    scalars.value("s_cselect_b32", "uu>u", |i| i.operands[usize::from(!i.scc)]);
    scalars.value("s_cselect_b64", "UU>U", |i| i.operands[usize::from(!i.scc)]);
}

fn comparisons(scalars: &mut Scalars) {
    type Compare = fn(i128, i128) -> bool;
    let conditions: [(&str, Compare); 6] = [
        ("eq", |a, b| a == b),
        ("lg", |a, b| a != b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
    ];
    for (condition, compare) in conditions {
        for (kind, of, constant) in [("i32", 's', 's'), ("u32", 'u', 'w')] {
            scalars.condition(&format!("s_cmp_{condition}_{kind}"), &format!("{of}{of}"), compare);
            scalars.condition(&format!("s_cmpk_{condition}_{kind}"), &format!("{of}{constant}"), compare);
        }
    }
    scalars.condition("s_cmp_eq_u64", "UU", |a, b| a == b);
    scalars.condition("s_cmp_lg_u64", "UU", |a, b| a != b);
    float_comparisons::<Single>(scalars, "f32", 'f');
    float_comparisons::<Half>(scalars, "f16", 'h');
}

fn float_comparisons<T: Float + 'static>(scalars: &mut Scalars, size: &str, of: char) {
    for (condition, opposite, compare) in conditions::<T>() {
        for (condition, holds) in [(condition, true), (opposite, false)] {
            scalars.condition(&format!("s_cmp_{condition}_{size}"), &format!("{of}{of}"), move |a, b| {
                compare(float(a), float(b)) == holds
            });
        }
    }
}

/// Adds the operations on floats of one size.
fn floats_of<T: Float + 'static>(scalars: &mut Scalars, size: &str, of: char, round: fn(Env) -> Round) {
    let (one, two) = (format!("{of}>{of}"), format!("{of}{of}>{of}"));
    let f = float::<T>;
    let name = |stem: &str| format!("s_{stem}_{size}");
    scalars.value(&name("add"), &two, move |i| bits(f(i.operands[0]).add_r(f(i.operands[1]), round(i.env)).value));
    scalars.value(&name("sub"), &two, move |i| bits(f(i.operands[0]).sub_r(f(i.operands[1]), round(i.env)).value));
    scalars.value(&name("mul"), &two, move |i| bits(f(i.operands[0]).mul_r(f(i.operands[1]), round(i.env)).value));
    let names = ["fmac", "fmaak", "fmamk"].map(name).join(" ");
    scalars.value(&names, &two, move |i| {
        let [a, b, c] = i.operands.map(f);
        bits(a.mul_add_r(b, c, round(i.env)).value)
    });
    let either = |a: T, b: T, choose: fn(T, T) -> T| if a.is_nan() || b.is_nan() { T::NAN } else { choose(a, b) };
    for (min, max) in [("min", "max"), ("min_num", "max_num")] {
        scalars.value(&name(min), &two, move |i| bits(least(f(i.operands[0]), f(i.operands[1]))));
        scalars.value(&name(max), &two, move |i| bits(greatest(f(i.operands[0]), f(i.operands[1]))));
    }
    scalars.value(&name("minimum"), &two, move |i| bits(either(f(i.operands[0]), f(i.operands[1]), least)));
    scalars.value(&name("maximum"), &two, move |i| bits(either(f(i.operands[0]), f(i.operands[1]), greatest)));
    for (stem, towards) in [
        ("floor", Round::TowardNegative),
        ("ceil", Round::TowardPositive),
        ("trunc", Round::TowardZero),
        ("rndne", Round::NearestTiesToEven),
    ] {
        scalars.value(&name(stem), &one, move |i| bits(f(i.operands[0]).round_to_integral(towards).value));
    }
}

fn floats(scalars: &mut Scalars) {
    floats_of::<Single>(scalars, "f32", 'f', round32);
    floats_of::<Half>(scalars, "f16", 'h', round64);
    let f = float::<Single>;
    scalars.value("s_cvt_f32_i32", "s>f", |i| bits(Single::from_i128_r(i.operands[0], round32(i.env)).value));
    scalars.value("s_cvt_f32_u32", "u>f", |i| bits(Single::from_i128_r(i.operands[0], round32(i.env)).value));
    scalars.value("s_cvt_i32_f32", "f>s", move |i| integer(f(i.operands[0]), 32, true));
    scalars.value("s_cvt_u32_f32", "f>u", move |i| integer(f(i.operands[0]), 32, false));
    scalars.value("s_cvt_f16_f32", "u>h", move |i| {
        let half: Half = f(i.operands[0]).convert_r(round64(i.env), &mut false).value;
        bits(half)
    });
    for (name, shift) in [("s_cvt_f32_f16", 0), ("s_cvt_hi_f32_f16", 16)] {
        scalars.value(name, "u>f", move |i| {
            let half = float::<Half>(i.operands[0] >> shift & 0xffff);
            let half = if i.env.float_mode & 0x40 == 0 { super::float::flushed(half) } else { half };
            let single: Single = half.convert(&mut false).value;
            bits(single)
        });
    }
    scalars.value("s_cvt_pk_rtz_f16_f32", "uu>u", move |i| {
        let half = |value| -> Half { f(value).convert_r(Round::TowardZero, &mut false).value };
        let canonical = |half: Half| bits(if half.is_nan() { Half::NAN } else { half });
        canonical(half(i.operands[0])) | canonical(half(i.operands[1])) << 16
    });
}

/// Adds the operations that combine a source with EXEC: they return the old EXEC, or the new one if their names say so.
fn exec(scalars: &mut Scalars) {
    type Combine = fn(u64, u64) -> u64;
    let operations: [(&str, Combine); 10] = [
        ("and", |a, exec| a & exec),
        ("or", |a, exec| a | exec),
        ("xor", |a, exec| a ^ exec),
        ("nand", |a, exec| !(a & exec)),
        ("nor", |a, exec| !(a | exec)),
        ("xnor", |a, exec| !(a ^ exec)),
        ("andn2 and_not1", |a, exec| a & !exec),
        ("andn1 and_not0", |a, exec| !a & exec),
        ("orn2 or_not1", |a, exec| a | !exec),
        ("orn1 or_not0", |a, exec| !a | exec),
    ];
    for (size, of, all) in [(32, 'u', 0xffff_ffff), (64, 'U', u64::MAX)] {
        for (stems, combine) in operations {
            for (form, returns_new) in [("saveexec", false), ("wrexec", true)] {
                let names: Vec<_> = stems.split(' ').map(|stem| format!("s_{stem}_{form}_b{size}")).collect();
                scalars.add(&names.join(" "), &format!("{of}>{of}"), move |i| {
                    let old = i.exec & all;
                    let new = combine(i.operands[0] as u64, old) & all;
                    Output {
                        value: Some(if returns_new { new } else { old }.into()),
                        scc: Some(new != 0),
                        exec: Some(i.exec & !all | new),
                    }
                });
            }
        }
    }
}

/// Adds operations that wait, or tell the hardware something: they have no effect on registers.
fn waits(scalars: &mut Scalars) {
    let names = "s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_expcnt s_waitcnt_lgkmcnt s_version s_sleep_var";
    scalars.add(names, "uu>u", |_| Output::default());
}
