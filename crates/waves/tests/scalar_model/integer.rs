//! Vector operations on integers.

use super::table::{Env, Table};

fn bits(value: i128, offset: i128, width: i128) -> i128 {
    value >> offset & ((1 << width) - 1)
}

/// Returns byte `index` of an operand.
fn byte(value: i128, index: i128) -> i128 {
    bits(value, 8 * index, 8)
}

/// Returns the number of bits that are set in a word.
fn ones(value: i128) -> i128 {
    (0..32).map(|bit| value >> bit & 1).sum()
}

/// Returns the position of the first set bit from the top of 32 bits; -1 without one.
fn from_top(value: i128) -> i128 {
    (0..32).find(|place| value >> (31 - place) & 1 != 0).unwrap_or(-1)
}

/// Returns the low 24 bits as a signed number.
fn signed24(value: i128) -> i128 {
    let low = value & 0xff_ffff;
    if low >= 1 << 23 { low - (1 << 24) } else { low }
}

/// Returns the number of bits above the sign that equal it, counted with it; -1 if all do.
fn equal_signs(value: i128) -> i128 {
    let sign = value >> 31 & 1;
    (0..32).find(|place| value >> (31 - place) & 1 != sign).unwrap_or(-1)
}

/// Returns the middle of three numbers.
fn middle(mut numbers: [i128; 3]) -> i128 {
    numbers.sort_unstable();
    numbers[1]
}

/// Returns a part of `width` bits as a number.
fn part(value: i128, width: i128, index: i128, is_signed: bool) -> i128 {
    let part = bits(value, width * index, width);
    if is_signed && part >> (width - 1) != 0 { part - (1 << width) } else { part }
}

/// Returns the sum of absolute differences of the bytes, of those that a mask does not leave out.
fn distance(a: i128, b: i128, is_masked: bool) -> i128 {
    (0..4).filter(|&index| !is_masked || byte(b, index) != 0).map(|index| (byte(a, index) - byte(b, index)).abs()).sum()
}

/// Returns the byte that a selector of `v_perm_b32` chooses.
fn chosen(a: i128, b: i128, selector: i128) -> i128 {
    let bytes = a << 32 | b;
    match selector {
        0..=7 => byte(bytes, selector),
        8..=11 => 0xff * (bytes >> (16 * (selector - 8) + 15) & 1),
        12 => 0,
        _ => 0xff,
    }
}

/// Adds the operations of 32 bits that move bits.
fn bitwise(table: &mut Table) {
    table.add("v_mov_b32", "m>m", |[a, ..], _| a);
    table.add("v_mov_b16", "w>w", |[a, ..], _| a);
    table.add("v_cndmask_b32", "mmc>m", |[a, b, c], _| if c == 0 { a } else { b });
    table.add("v_cndmask_b16", "qqc>q", |[a, b, c], _| if c == 0 { a } else { b });
    for (name, types) in [("32", "uu>u"), ("16", "ww>w")] {
        table.add(&format!("v_and_b{name}"), types, |[a, b, _], _| a & b);
        table.add(&format!("v_or_b{name}"), types, |[a, b, _], _| a | b);
        table.add(&format!("v_xor_b{name}"), types, |[a, b, _], _| a ^ b);
    }
    table.add("v_not_b32", "u>u", |[a, ..], _| !a);
    table.add("v_not_b16", "w>w", |[a, ..], _| !a);
    table.add("v_xnor_b32", "uu>u", |[a, b, _], _| !(a ^ b));
    table.add("v_or3_b32", "uuu>u", |[a, b, c], _| a | b | c);
    table.add("v_xor3_b32", "uuu>u", |[a, b, c], _| a ^ b ^ c);
    table.add("v_and_or_b32", "uuu>u", |[a, b, c], _| (a & b) | c);
    table.add("v_bfi_b32", "uuu>u", |[a, b, c], _| (a & b) | (!a & c));
    table.add("v_bfm_b32", "uu>u", |[a, b, _], _| ((1 << (a & 31)) - 1) << (b & 31));
    table.add("v_bfe_u32", "uuu>u", |[a, b, c], _| bits(a, b & 31, c & 31));
    table.add("v_bfe_i32", "suu>s", |[a, b, c], _| match c & 31 {
        0 => 0,
        width => part(a >> (b & 31), width, 0, true),
    });
    table.add("v_bfrev_b32", "u>u", |[a, ..], _| (0..32).map(|bit| (a >> bit & 1) << (31 - bit)).sum());
    table.add("v_bcnt_u32_b32", "uu>u", |[a, b, _], _| ones(a) + b);
    table.add("v_ffbh_u32 v_clz_i32_u32", "u>u", |[a, ..], _| from_top(a));
    table.add("v_ffbh_i32 v_cls_i32", "u>u", |[a, ..], _| equal_signs(a));
    table.add("v_ffbl_b32 v_ctz_i32_b32", "u>u", |[a, ..], _| (0..32).find(|bit| a >> bit & 1 != 0).unwrap_or(-1));
    table.add("v_alignbit_b32", "uuu>u", |[a, b, c], _| (a << 32 | b) >> (c & 31));
    table.add("v_alignbyte_b32", "uuu>u", |[a, b, c], _| (a << 32 | b) >> (8 * (c & 3)));
    table.add("v_perm_b32", "uuu>u", |[a, b, c], _| {
        (0..4).map(|index| chosen(a, b, byte(c, index)) << (8 * index)).sum()
    });
    table.add("v_pack_b32_f16", "hh>u", |[a, b, _], _| a | b << 16);
}

/// Adds shifts, whose count is the low bits of an operand.
fn shifts(table: &mut Table) {
    table.add("v_lshl_b32", "uu>u", |[a, b, _], _| a << (b & 31));
    table.add("v_lshr_b32", "uu>u", |[a, b, _], _| a >> (b & 31));
    table.add("v_ashr_i32", "su>s", |[a, b, _], _| a >> (b & 31));
    table.add("v_lshl_b64", "Uu>U", |[a, b, _], _| a << (b & 63));
    table.add("v_lshr_b64", "Uu>U", |[a, b, _], _| a >> (b & 63));
    table.add("v_ashr_i64", "Su>S", |[a, b, _], _| a >> (b & 63));
    table.add("v_lshlrev_b32", "uu>u", |[a, b, _], _| b << (a & 31));
    table.add("v_lshrrev_b32", "uu>u", |[a, b, _], _| b >> (a & 31));
    table.add("v_ashrrev_i32", "us>s", |[a, b, _], _| b >> (a & 31));
    table.add("v_lshlrev_b64", "uU>U", |[a, b, _], _| b << (a & 63));
    table.add("v_lshrrev_b64", "uU>U", |[a, b, _], _| b >> (a & 63));
    table.add("v_ashrrev_i64", "uS>S", |[a, b, _], _| b >> (a & 63));
    table.add("v_lshlrev_b16", "ww>w", |[a, b, _], _| b << (a & 15));
    table.add("v_lshrrev_b16", "ww>w", |[a, b, _], _| b >> (a & 15));
    table.add("v_ashrrev_i16", "wx>x", |[a, b, _], _| b >> (a & 15));
    table.add("v_lshl_add_u32", "uuu>u", |[a, b, c], _| (a << (b & 31)) + c);
    table.add("v_add_lshl_u32", "uuu>u", |[a, b, c], _| (a + b) << (c & 31));
    table.add("v_lshl_or_b32", "uuu>u", |[a, b, c], _| (a << (b & 31)) | c);
    table.add("v_xad_u32", "uuu>u", |[a, b, c], _| (a ^ b) + c);
}

/// Adds sums, differences and products.
fn arithmetic(table: &mut Table) {
    let kinds = [("u32", "uu>u"), ("nc_u32", "uu>u"), ("i32", "ss>s"), ("nc_i32", "ss>s")];
    let halves = [("u16", "ww>w"), ("nc_u16", "ww>w"), ("i16", "xx>x"), ("nc_i16", "xx>x")];
    for (kind, types) in kinds.into_iter().chain(halves) {
        table.add(&format!("v_add_{kind}"), types, |[a, b, _], _| a + b);
        table.add(&format!("v_sub_{kind}"), types, |[a, b, _], _| a - b);
        table.add(&format!("v_subrev_{kind}"), types, |[a, b, _], _| b - a);
    }
    // The forms that write a carry have these names besides those above.
    table.add("v_add:carry", "uu>k", |[a, b, _], _| a + b);
    table.add("v_sub:carry", "uu>k", |[a, b, _], _| a - b);
    table.add("v_subrev:carry", "uu>k", |[a, b, _], _| b - a);
    table.add("v_addc:carry", "uuc>k", |[a, b, c], _| a + b + c);
    table.add("v_subb:carry", "uuc>k", |[a, b, c], _| a - b - c);
    table.add("v_subbrev:carry", "uuc>k", |[a, b, c], _| b - a - c);
    table.add("v_mad_u64_u32 v_mad_co_u64_u32", "uuU>K", |[a, b, c], _| a * b + c);
    table.add("v_mad_i64_i32 v_mad_co_i64_i32", "ssS>K", |[a, b, c], _| a * b + c);
    table.add("v_add3_u32", "uuu>u", |[a, b, c], _| a + b + c);
    table.add("v_mul_lo_u32 v_mul_lo_i32", "uu>u", |[a, b, _], _| a * b);
    table.add("v_mul_hi_u32", "uu>u", |[a, b, _], _| (a * b) >> 32);
    table.add("v_mul_hi_i32", "ss>s", |[a, b, _], _| (a * b) >> 32);
    table.add("v_mul_u32_u24", "uu>u", |[a, b, _], _| bits(a, 0, 24) * bits(b, 0, 24));
    table.add("v_mul_hi_u32_u24", "uu>u", |[a, b, _], _| (bits(a, 0, 24) * bits(b, 0, 24)) >> 32);
    table.add("v_mul_i32_i24", "uu>s", |[a, b, _], _| signed24(a) * signed24(b));
    table.add("v_mul_hi_i32_i24", "uu>s", |[a, b, _], _| (signed24(a) * signed24(b)) >> 32);
    table.add("v_mad_u32_u24", "uuu>u", |[a, b, c], _| bits(a, 0, 24) * bits(b, 0, 24) + c);
    table.add("v_mad_i32_i24", "uus>s", |[a, b, c], _| signed24(a) * signed24(b) + c);
    table.add("v_mad_u32_u16", "wwu>u", |[a, b, c], _| a * b + c);
    table.add("v_mad_i32_i16", "xxs>s", |[a, b, c], _| a * b + c);
    table.add("v_mul_lo_u16", "ww>w", |[a, b, _], _| a * b);
    table.add("v_mad_u16 v_mad_legacy_u16", "www>w", |[a, b, c], _| a * b + c);
    table.add("v_mad_i16 v_mad_legacy_i16", "xxx>x", |[a, b, c], _| a * b + c);
}

/// Adds minima, maxima and what is made of them.
fn order(table: &mut Table) {
    for (kind, of) in [("u32", 'u'), ("i32", 's'), ("u16", 'w'), ("i16", 'x')] {
        let (two, three) = (format!("{of}{of}>{of}"), format!("{of}{of}{of}>{of}"));
        table.add(&format!("v_min_{kind}"), &two, |[a, b, _], _| a.min(b));
        table.add(&format!("v_max_{kind}"), &two, |[a, b, _], _| a.max(b));
        table.add(&format!("v_min3_{kind}"), &three, |[a, b, c], _| a.min(b).min(c));
        table.add(&format!("v_max3_{kind}"), &three, |[a, b, c], _| a.max(b).max(c));
        table.add(&format!("v_med3_{kind}"), &three, |operands, _| middle(operands));
        table.add(&format!("v_minmax_{kind}"), &three, |[a, b, c], _| a.min(b).max(c));
        table.add(&format!("v_maxmin_{kind}"), &three, |[a, b, c], _| a.max(b).min(c));
    }
}

/// Adds distances of bytes, means, and dot products.
fn bytes(table: &mut Table) {
    table.add("v_sad_u8", "uuu>u", |[a, b, c], _| distance(a, b, false) + c);
    table.add("v_sad_hi_u8", "uuu>u", |[a, b, c], _| (distance(a, b, false) << 16) + c);
    table.add("v_msad_u8", "uuu>u", |[a, b, c], _| distance(a, b, true) + c);
    table.add("v_sad_u16", "uuu>u", |[a, b, c], _| {
        (bits(a, 0, 16) - bits(b, 0, 16)).abs() + (bits(a, 16, 16) - bits(b, 16, 16)).abs() + c
    });
    table.add("v_sad_u32", "uuu>u", |[a, b, c], _| (a - b).abs() + c);
    for (name, is_masked) in [("v_qsad_pk_u16_u8", false), ("v_mqsad_pk_u16_u8", true)] {
        table.add(name, "UuU>U", move |[a, b, c], _| {
            let sum = |window: i128| distance(a >> (8 * window), b, is_masked) + bits(c, 16 * window, 16);
            (0..4).map(|window| bits(sum(window), 0, 16) << (16 * window)).sum()
        });
    }
    table.add("v_lerp_u8", "uuu>u", |[a, b, c], _| {
        (0..4).map(|index| (byte(a, index) + byte(b, index) + (byte(c, index) & 1)) / 2 << (8 * index)).sum()
    });
    table.add("v_cvt_pk_u16_u32", "uu>u", |[a, b, _], _| a.min(0xffff) | b.min(0xffff) << 16);
    table.add("v_cvt_pk_i16_i32", "ss>u", |[a, b, _], _| {
        let low = |value: i128| bits(value.clamp(-0x8000, 0x7fff), 0, 16);
        low(a) | low(b) << 16
    });
    table.add("v_cvt_i32_i16", "x>s", |[a, ..], _| a);
    table.add("v_cvt_u32_u16", "w>u", |[a, ..], _| a);
    table.add("v_sat_pk_u8_i16", "u>w", |[a, ..], _| {
        let low = |index| part(a, 16, index, true).clamp(0, 255);
        low(0) | low(1) << 8
    });
    let dots = [("2", "16", 16), ("4", "8", 8), ("8", "4", 4)];
    for (count, size, width) in dots {
        for (kind, types, is_signed) in [("i", "uus>s", true), ("u", "uuu>u", false)] {
            let dot = move |[a, b, c]: [i128; 3], _: Env| -> i128 {
                let product = |index| part(a, width, index, is_signed) * part(b, width, index, is_signed);
                (0..32 / width).map(product).sum::<i128>() + c
            };
            table.add(&format!("v_dot{count}_{kind}32_{kind}{size}"), types, dot);
            table.add(&format!("v_dot{count}c_{kind}32_{kind}{size}"), types, dot);
        }
    }
    // Without sign modifiers both factors are unsigned.
    for (name, width) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
        table.add(name, "uus>s", move |[a, b, c], _| {
            (0..32 / width).map(|index| part(a, width, index, false) * part(b, width, index, false)).sum::<i128>() + c
        });
    }
}

/// Adds comparisons of integers.
fn comparisons(table: &mut Table) {
    type Compare = fn(i128, i128) -> bool;
    let conditions: [(&str, Compare); 8] = [
        ("f", |_, _| false),
        ("lt", |a, b| a < b),
        ("eq", |a, b| a == b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ne", |a, b| a != b),
        ("ge", |a, b| a >= b),
        ("t", |_, _| true),
    ];
    for (kind, of) in [("u16", 'w'), ("i16", 'x'), ("u32", 'u'), ("i32", 's'), ("u64", 'U'), ("i64", 'S')] {
        for (condition, compare) in conditions {
            let names = format!("v_cmp_{condition}_{kind} v_cmpx_{condition}_{kind}");
            table.add(&names, &format!("{of}{of}>c"), move |[a, b, _], _| compare(a, b).into());
        }
    }
}

/// Adds all operations on integers.
pub(crate) fn add_to(table: &mut Table) {
    bitwise(table);
    shifts(table);
    arithmetic(table);
    order(table);
    bytes(table);
    comparisons(table);
}
