//! Operations on 16-bit integers.

use crate::alu::kernel::{Bits16, operations};

operations! { TABLE;
    narrow ["v_mov_b16"] (a: u16) -> u16 { a }
    narrow ["v_not_b16"] (a: u16) -> u16 { !a }
    narrow ["v_and_b16"] (a: u16, b: u16) -> u16 { a & b }
    narrow ["v_or_b16"] (a: u16, b: u16) -> u16 { a | b }
    narrow ["v_xor_b16"] (a: u16, b: u16) -> u16 { a ^ b }
    narrow ["v_cndmask_b16"] (a: Bits16, b: Bits16, c: bool) -> Bits16 { if c { b } else { a } }
    narrow ["v_add_u16", "v_add_nc_u16", "v_add_i16", "v_add_nc_i16"] (a: u16, b: u16) -> u16 { a.wrapping_add(b) }
    narrow ["v_sub_u16", "v_sub_nc_u16", "v_sub_i16", "v_sub_nc_i16"] (a: u16, b: u16) -> u16 { a.wrapping_sub(b) }
    narrow ["v_subrev_u16"] (a: u16, b: u16) -> u16 { b.wrapping_sub(a) }
    narrow ["v_add_u16:clamp", "v_add_nc_u16:clamp"] (a: u16, b: u16) -> u16 { a.saturating_add(b) }
    narrow ["v_sub_u16:clamp", "v_sub_nc_u16:clamp"] (a: u16, b: u16) -> u16 { a.saturating_sub(b) }
    narrow ["v_subrev_u16:clamp"] (a: u16, b: u16) -> u16 { b.saturating_sub(a) }
    narrow ["v_add_i16:clamp", "v_add_nc_i16:clamp"] (a: i16, b: i16) -> i16 { a.saturating_add(b) }
    narrow ["v_sub_i16:clamp", "v_sub_nc_i16:clamp"] (a: i16, b: i16) -> i16 { a.saturating_sub(b) }
    narrow ["v_mul_lo_u16"] (a: u16, b: u16) -> u16 { a.wrapping_mul(b) }
    narrow ["v_mad_u16", "v_mad_legacy_u16", "v_mad_i16", "v_mad_legacy_i16"] (a: u16, b: u16, c: u16) -> u16 { a.wrapping_mul(b).wrapping_add(c) }
    narrow ["v_mad_u16:clamp"] (a: u16, b: u16, c: u16) -> u16 { (u32::from(a) * u32::from(b)).saturating_add(u32::from(c)).min(0xffff) as u16 }
    narrow ["v_mad_i16:clamp"] (a: i16, b: i16, c: i16) -> i16 { (i64::from(a) * i64::from(b) + i64::from(c)).clamp(-32768, 32767) as i16 }
    narrow ["v_min_u16"] (a: u16, b: u16) -> u16 { a.min(b) }
    narrow ["v_max_u16"] (a: u16, b: u16) -> u16 { a.max(b) }
    narrow ["v_min_i16"] (a: i16, b: i16) -> i16 { a.min(b) }
    narrow ["v_max_i16"] (a: i16, b: i16) -> i16 { a.max(b) }
    narrow ["v_min3_u16"] (a: u16, b: u16, c: u16) -> u16 { a.min(b).min(c) }
    narrow ["v_max3_u16"] (a: u16, b: u16, c: u16) -> u16 { a.max(b).max(c) }
    narrow ["v_min3_i16"] (a: i16, b: i16, c: i16) -> i16 { a.min(b).min(c) }
    narrow ["v_max3_i16"] (a: i16, b: i16, c: i16) -> i16 { a.max(b).max(c) }
    narrow ["v_med3_u16"] (a: u16, b: u16, c: u16) -> u16 { a.min(b).max(a.max(b).min(c)) }
    narrow ["v_med3_i16"] (a: i16, b: i16, c: i16) -> i16 { a.min(b).max(a.max(b).min(c)) }
    narrow ["v_lshlrev_b16"] (a: u16, b: u16) -> u16 { b << (a & 15) }
    narrow ["v_lshrrev_b16"] (a: u16, b: u16) -> u16 { b >> (a & 15) }
    narrow ["v_ashrrev_i16"] (a: u16, b: i16) -> i16 { b >> (a & 15) }
}
