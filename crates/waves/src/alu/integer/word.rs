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

/// Returns `b` if `c` is true, else `a`.
pub(super) fn chosen(a: Bits32, b: Bits32, c: bool) -> Bits32 {
    // Of an `if` the compiler makes a choice of addresses, and loads lane by lane.
    let mask = u32::from(c).wrapping_neg();
    Bits32(a.0 & !mask | b.0 & mask)
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
    narrow [VMovB32, VDualMovB32] (a: Bits32) -> Bits32 { a }
    narrow [VCndmaskB32, VDualCndmaskB32] (a: Bits32, b: Bits32, c: bool) -> Bits32 { chosen(a, b, c) }
    narrow [VNotB32] (a: u32) -> u32 { !a }
    narrow [VAndB32, VDualAndB32] (a: u32, b: u32) -> u32 { a & b }
    narrow [VOrB32] (a: u32, b: u32) -> u32 { a | b }
    narrow [VXorB32] (a: u32, b: u32) -> u32 { a ^ b }
    narrow [VXnorB32] (a: u32, b: u32) -> u32 { !(a ^ b) }
    narrow [VOr3B32] (a: u32, b: u32, c: u32) -> u32 { a | b | c }
    narrow [VXor3B32] (a: u32, b: u32, c: u32) -> u32 { a ^ b ^ c }
    narrow [VAndOrB32] (a: u32, b: u32, c: u32) -> u32 { a & b | c }
    narrow [VXadU32] (a: u32, b: u32, c: u32) -> u32 { (a ^ b).wrapping_add(c) }
    narrow [VAdd3U32] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b).wrapping_add(c) }
    narrow [VLshlAddU32] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_shl(b).wrapping_add(c) }
    narrow [VAddLshlU32] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_add(b).wrapping_shl(c) }
    narrow [VLshlOrB32] (a: u32, b: u32, c: u32) -> u32 { a.wrapping_shl(b) | c }
    narrow [VLshlB32] (a: u32, b: u32) -> u32 { a.wrapping_shl(b) }
    narrow [VLshrB32] (a: u32, b: u32) -> u32 { a.wrapping_shr(b) }
    narrow [VAshrI32] (a: i32, b: u32) -> i32 { a.wrapping_shr(b) }
    narrow [VLshlrevB32, VDualLshlrevB32] (a: u32, b: u32) -> u32 { b.wrapping_shl(a) }
    narrow [VLshrrevB32] (a: u32, b: u32) -> u32 { b.wrapping_shr(a) }
    narrow [VAshrrevI32] (a: u32, b: i32) -> i32 { b.wrapping_shr(a) }
    narrow [VAddU32, VAddNcU32, VDualAddNcU32, VAddI32, VAddNcI32] (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    narrow [VSubU32, VSubNcU32, VSubI32, VSubNcI32] (a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    narrow [VSubrevU32, VSubrevNcU32, VSubrevI32] (a: u32, b: u32) -> u32 { b.wrapping_sub(a) }
    narrow [VAddU32, VAddNcU32, VDualAddNcU32; Clamped] (a: u32, b: u32) -> u32 { a.saturating_add(b) }
    narrow [VSubU32, VSubNcU32; Clamped] (a: u32, b: u32) -> u32 { a.saturating_sub(b) }
    narrow [VSubrevU32, VSubrevNcU32; Clamped] (a: u32, b: u32) -> u32 { b.saturating_sub(a) }
    narrow [VAddI32, VAddNcI32; Clamped] (a: i32, b: i32) -> i32 { a.saturating_add(b) }
    narrow [VSubI32, VSubNcI32; Clamped] (a: i32, b: i32) -> i32 { a.saturating_sub(b) }
    narrow [VMinU32] (a: u32, b: u32) -> u32 { a.min(b) }
    narrow [VMaxU32] (a: u32, b: u32) -> u32 { a.max(b) }
    narrow [VMinI32] (a: i32, b: i32) -> i32 { a.min(b) }
    narrow [VMaxI32] (a: i32, b: i32) -> i32 { a.max(b) }
    narrow [VMin3U32] (a: u32, b: u32, c: u32) -> u32 { a.min(b).min(c) }
    narrow [VMax3U32] (a: u32, b: u32, c: u32) -> u32 { a.max(b).max(c) }
    narrow [VMin3I32] (a: i32, b: i32, c: i32) -> i32 { a.min(b).min(c) }
    narrow [VMax3I32] (a: i32, b: i32, c: i32) -> i32 { a.max(b).max(c) }
    narrow [VMed3U32] (a: u32, b: u32, c: u32) -> u32 { median(a, b, c) }
    narrow [VMed3I32] (a: i32, b: i32, c: i32) -> i32 { signed_median(a, b, c) }
    narrow [VMinmaxU32] (a: u32, b: u32, c: u32) -> u32 { a.min(b).max(c) }
    narrow [VMaxminU32] (a: u32, b: u32, c: u32) -> u32 { a.max(b).min(c) }
    narrow [VMinmaxI32] (a: i32, b: i32, c: i32) -> i32 { a.min(b).max(c) }
    narrow [VMaxminI32] (a: i32, b: i32, c: i32) -> i32 { a.max(b).min(c) }
    narrow [VMulLoU32, VMulLoI32] (a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    narrow [VMulHiU32] (a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
    narrow [VMulHiI32] (a: i32, b: i32) -> u32 { ((i64::from(a) * i64::from(b)) >> 32) as u32 }
    narrow [VMulU32U24] (a: u32, b: u32) -> u32 { (unsigned24(a) * unsigned24(b)) as u32 }
    narrow [VMulHiU32U24] (a: u32, b: u32) -> u32 { ((unsigned24(a) * unsigned24(b)) >> 32) as u32 }
    narrow [VMulI32I24] (a: u32, b: u32) -> u32 { (signed24(a) * signed24(b)) as u32 }
    narrow [VMulHiI32I24] (a: u32, b: u32) -> u32 { ((signed24(a) * signed24(b)) >> 32) as u32 }
    narrow [VMadU32U24] (a: u32, b: u32, c: u32) -> u32 { ((unsigned24(a) * unsigned24(b)) as u32).wrapping_add(c) }
    narrow [VMadI32I24] (a: u32, b: u32, c: u32) -> u32 { ((signed24(a) * signed24(b)) as u32).wrapping_add(c) }
    narrow [VMadU32U24; Clamped] (a: u32, b: u32, c: u32) -> u32 { (unsigned24(a) * unsigned24(b) + u64::from(c)).min(u64::from(u32::MAX)) as u32 }
    narrow [VMadI32I24; Clamped] (a: u32, b: u32, c: i32) -> u32 { saturate(signed24(a) * signed24(b) + i64::from(c), MIN, MAX) }
    narrow [VMadU32U16] (a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }
    narrow [VMadI32I16] (a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }
    narrow [VBfeU32] (a: u32, b: u32, c: u32) -> u32 { extract(a, b, c) }
    narrow [VBfeI32] (a: u32, b: u32, c: u32) -> u32 { extract_signed(a, b, c) }
    narrow [VBfiB32] (a: u32, b: u32, c: u32) -> u32 { a & b | !a & c }
    narrow [VBfmB32] (a: u32, b: u32) -> u32 { ((1_u32 << (a & 31)) - 1).wrapping_shl(b) }
    narrow [VBfrevB32] (a: u32) -> u32 { a.reverse_bits() }
    narrow [VBcntU32B32] (a: u32, b: u32) -> u32 { a.count_ones().wrapping_add(b) }
    narrow [VFfbhU32, VClzI32U32] (a: u32) -> u32 { leading_zeros(a) }
    narrow [VFfblB32, VCtzI32B32] (a: u32) -> u32 { trailing_zeros(a) }
    narrow [VFfbhI32, VClsI32] (a: u32) -> u32 { leading_signs(a) }
    narrow [VAlignbitB32] (a: u32, b: u32, c: u32) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32 }
    narrow [VAlignbyteB32] (a: u32, b: u32, c: u32) -> u32 { ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32 }
    narrow [VPermB32] (a: u32, b: u32, c: u32) -> u32 { permute_bytes(a, b, c) }
    narrow [VLerpU8] (a: u32, b: u32, c: u32) -> u32 { mean_bytes(a, b, c) }
    narrow [VSadU8] (a: u32, b: u32, c: u32) -> u32 { byte_distance(a, b).wrapping_add(c) }
    narrow [VSadHiU8] (a: u32, b: u32, c: u32) -> u32 { (byte_distance(a, b) << 16).wrapping_add(c) }
    narrow [VSadU16] (a: u32, b: u32, c: u32) -> u32 { half_distance(a, b, c) }
    narrow [VSadU32] (a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).wrapping_add(c) }
    narrow [VMsadU8] (a: u32, b: u32, c: u32) -> u32 { masked_byte_distance(a, b).wrapping_add(c) }
}
