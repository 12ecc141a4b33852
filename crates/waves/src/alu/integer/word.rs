//! Operations on 32-bit integers.

use crate::alu::kernel::{Bits32, operations};
use crate::number::integer::{
    byte_distance, extract, extract_signed, leading_signs, leading_zeros, masked_byte_distance, permute_bytes,
    saturate, signed24, trailing_zeros, unsigned24,
};

const MIN: i64 = i32::MIN as i64;
const MAX: i64 = i32::MAX as i64;

fn median(a: u32, b: u32, c: u32) -> u32 {
    a.min(b).max(a.max(b).min(c))
}

fn signed_median(a: i32, b: i32, c: i32) -> i32 {
    a.min(b).max(a.max(b).min(c))
}

/// Returns the mean of each byte, rounded up where the low bit of the byte of `c` is set.
fn mean_bytes(a: u32, b: u32, c: u32) -> u32 {
    let byte = |value: u32, index: u32| value >> (8 * index) & 0xff;
    (0..4).map(|index| (byte(a, index) + byte(b, index) + (byte(c, index) & 1)) >> 1 << (8 * index)).sum()
}

/// Returns the distance of the 16-bit halves, added to `c`.
fn half_distance(a: u32, b: u32, c: u32) -> u32 {
    let half = |value: u32, shift: u32| value >> shift & 0xffff;
    c.wrapping_add(half(a, 0).abs_diff(half(b, 0))).wrapping_add(half(a, 16).abs_diff(half(b, 16)))
}

operations! { TABLE;
    narrow ["v_mov_b32"] (a: Bits32) -> Bits32 { a }
    narrow ["v_cndmask_b32"] (a: Bits32, b: Bits32, c: bool) -> Bits32 { if c { b } else { a } }
    narrow ["v_not_b32"] (a: u32) -> u32 { !a }
    narrow ["v_and_b32"] (a: u32, b: u32) -> u32 { a & b }
    narrow ["v_or_b32"] (a: u32, b: u32) -> u32 { a | b }
    narrow ["v_xor_b32"] (a: u32, b: u32) -> u32 { a ^ b }
    narrow ["v_xnor_b32"] (a: u32, b: u32) -> u32 { !(a ^ b) }
    narrow ["v_or3_b32"] (a: u32, b: u32, c: u32) -> u32 { a | b | c }
    narrow ["v_xor3_b32"] (a: u32, b: u32, c: u32) -> u32 { a ^ b ^ c }
    narrow ["v_and_or_b32"] (a: u32, b: u32, c: u32) -> u32 { a & b | c }
    narrow ["v_xad_u32"] (a: u32, b: u32, c: u32) -> u32 { (a ^ b).wrapping_add(c) }
    narrow ["v_add3_u32"] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b).wrapping_add(c) }
    narrow ["v_lshl_add_u32"] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_shl(b).wrapping_add(c) }
    narrow ["v_add_lshl_u32"] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b).wrapping_shl(c) }
    narrow ["v_lshl_or_b32"] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_shl(b) | c }
    narrow ["v_lshl_b32"] (a: u32, b: u32) -> u32 { a.wrapping_shl(b) }
    narrow ["v_lshr_b32"] (a: u32, b: u32) -> u32 { a.wrapping_shr(b) }
    narrow ["v_ashr_i32"] (a: i32, b: u32) -> i32 { a.wrapping_shr(b) }
    narrow ["v_lshlrev_b32"] (a: u32, b: u32) -> u32 { b.wrapping_shl(a) }
    narrow ["v_lshrrev_b32"] (a: u32, b: u32) -> u32 { b.wrapping_shr(a) }
    narrow ["v_ashrrev_i32"] (a: u32, b: i32) -> i32 { b.wrapping_shr(a) }
    narrow ["v_add_u32", "v_add_nc_u32", "v_add_i32", "v_add_nc_i32"] (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    narrow ["v_sub_u32", "v_sub_nc_u32", "v_sub_i32", "v_sub_nc_i32"] (a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    narrow ["v_subrev_u32", "v_subrev_nc_u32", "v_subrev_i32"] (a: u32, b: u32) -> u32 { b.wrapping_sub(a) }
    narrow ["v_add_u32:clamp", "v_add_nc_u32:clamp"] (a: u32, b: u32) -> u32 { a.saturating_add(b) }
    narrow ["v_sub_u32:clamp", "v_sub_nc_u32:clamp"] (a: u32, b: u32) -> u32 { a.saturating_sub(b) }
    narrow ["v_subrev_u32:clamp", "v_subrev_nc_u32:clamp"] (a: u32, b: u32) -> u32 { b.saturating_sub(a) }
    narrow ["v_add_i32:clamp", "v_add_nc_i32:clamp"] (a: i32, b: i32) -> i32 { a.saturating_add(b) }
    narrow ["v_sub_i32:clamp", "v_sub_nc_i32:clamp"] (a: i32, b: i32) -> i32 { a.saturating_sub(b) }
    narrow ["v_min_u32"] (a: u32, b: u32) -> u32 { a.min(b) }
    narrow ["v_max_u32"] (a: u32, b: u32) -> u32 { a.max(b) }
    narrow ["v_min_i32"] (a: i32, b: i32) -> i32 { a.min(b) }
    narrow ["v_max_i32"] (a: i32, b: i32) -> i32 { a.max(b) }
    narrow ["v_min3_u32"] (a: u32, b: u32, c: u32) -> u32 { a.min(b).min(c) }
    narrow ["v_max3_u32"] (a: u32, b: u32, c: u32) -> u32 { a.max(b).max(c) }
    narrow ["v_min3_i32"] (a: i32, b: i32, c: i32) -> i32 { a.min(b).min(c) }
    narrow ["v_max3_i32"] (a: i32, b: i32, c: i32) -> i32 { a.max(b).max(c) }
    narrow ["v_med3_u32"] (a: u32, b: u32, c: u32) -> u32 { median(a, b, c) }
    narrow ["v_med3_i32"] (a: i32, b: i32, c: i32) -> i32 { signed_median(a, b, c) }
    narrow ["v_minmax_u32"] (a: u32, b: u32, c: u32) -> u32 { a.min(b).max(c) }
    narrow ["v_maxmin_u32"] (a: u32, b: u32, c: u32) -> u32 { a.max(b).min(c) }
    narrow ["v_minmax_i32"] (a: i32, b: i32, c: i32) -> i32 { a.min(b).max(c) }
    narrow ["v_maxmin_i32"] (a: i32, b: i32, c: i32) -> i32 { a.max(b).min(c) }
    narrow ["v_mul_lo_u32", "v_mul_lo_i32"] (a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    narrow ["v_mul_hi_u32"] (a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
    narrow ["v_mul_hi_i32"] (a: i32, b: i32) -> u32 { ((i64::from(a) * i64::from(b)) >> 32) as u32 }
    narrow ["v_mul_u32_u24"] (a: u32, b: u32) -> u32 { (unsigned24(a) * unsigned24(b)) as u32 }
    narrow ["v_mul_hi_u32_u24"] (a: u32, b: u32) -> u32 { ((unsigned24(a) * unsigned24(b)) >> 32) as u32 }
    narrow ["v_mul_i32_i24"] (a: u32, b: u32) -> u32 { (signed24(a) * signed24(b)) as u32 }
    narrow ["v_mul_hi_i32_i24"] (a: u32, b: u32) -> u32 { ((signed24(a) * signed24(b)) >> 32) as u32 }
    narrow ["v_mad_u32_u24"] (a: u32, b: u32, c: u32) -> u32 { ((unsigned24(a) * unsigned24(b)) as u32).wrapping_add(c) }
    narrow ["v_mad_i32_i24"] (a: u32, b: u32, c: u32) -> u32 { ((signed24(a) * signed24(b)) as u32).wrapping_add(c) }
    narrow ["v_mad_u32_u24:clamp"] (a: u32, b: u32, c: u32) -> u32 { (unsigned24(a) * unsigned24(b) + u64::from(c)).min(u64::from(u32::MAX)) as u32 }
    narrow ["v_mad_i32_i24:clamp"] (a: u32, b: u32, c: i32) -> u32 { saturate(signed24(a) * signed24(b) + i64::from(c), MIN, MAX) }
    narrow ["v_mad_u32_u16"] (a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }
    narrow ["v_mad_i32_i16"] (a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }
    narrow ["v_bfe_u32"] (a: u32, b: u32, c: u32) -> u32 { extract(a, b, c) }
    narrow ["v_bfe_i32"] (a: u32, b: u32, c: u32) -> u32 { extract_signed(a, b, c) }
    narrow ["v_bfi_b32"] (a: u32, b: u32, c: u32) -> u32 { a & b | !a & c }
    narrow ["v_bfm_b32"] (a: u32, b: u32) -> u32 { ((1_u32 << (a & 31)) - 1).wrapping_shl(b) }
    narrow ["v_bfrev_b32"] (a: u32) -> u32 { a.reverse_bits() }
    narrow ["v_bcnt_u32_b32"] (a: u32, b: u32) -> u32 { a.count_ones().wrapping_add(b) }
    narrow ["v_ffbh_u32", "v_clz_i32_u32"] (a: u32) -> u32 { leading_zeros(a) }
    narrow ["v_ffbl_b32", "v_ctz_i32_b32"] (a: u32) -> u32 { trailing_zeros(a) }
    narrow ["v_ffbh_i32", "v_cls_i32"] (a: u32) -> u32 { leading_signs(a) }
    narrow ["v_alignbit_b32"] (a: u32, b: u32, c: u32) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32 }
    narrow ["v_alignbyte_b32"] (a: u32, b: u32, c: u32) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32 }
    narrow ["v_perm_b32"] (a: u32, b: u32, c: u32) -> u32 { permute_bytes(a, b, c) }
    narrow ["v_lerp_u8"] (a: u32, b: u32, c: u32) -> u32 { mean_bytes(a, b, c) }
    narrow ["v_sad_u8"] (a: u32, b: u32, c: u32) -> u32 { byte_distance(a, b).wrapping_add(c) }
    narrow ["v_sad_hi_u8"] (a: u32, b: u32, c: u32) -> u32 { (byte_distance(a, b) << 16).wrapping_add(c) }
    narrow ["v_sad_u16"] (a: u32, b: u32, c: u32) -> u32 { half_distance(a, b, c) }
    narrow ["v_sad_u32"] (a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).wrapping_add(c) }
    narrow ["v_msad_u8"] (a: u32, b: u32, c: u32) -> u32 { masked_byte_distance(a, b).wrapping_add(c) }
}
