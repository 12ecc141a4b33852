//! Operations on 16-bit integers.

use super::word::chosen;
use crate::alu::kernel::{Bits16, Bits32, operations};

operations! { TABLE;
    narrow [VMovB16] (a: u16) -> u16 { a }
    narrow [VNotB16] (a: u16) -> u16 { !a }
    narrow [VAndB16] (a: u16, b: u16) -> u16 { a & b }
    narrow [VOrB16] (a: u16, b: u16) -> u16 { a | b }
    narrow [VXorB16] (a: u16, b: u16) -> u16 { a ^ b }
    narrow [VCndmaskB16] (a: Bits16, b: Bits16, c: bool) -> Bits16 { Bits16(chosen(Bits32(a.0.into()), Bits32(b.0.into()), c).0 as u16) }
    narrow [VAddU16, VPkAddU16, VAddNcU16, VAddI16, VPkAddI16, VAddNcI16] (a: u16, b: u16) -> u16 { a.wrapping_add(b) }
    narrow [VSubU16, VPkSubU16, VSubNcU16, VSubI16, VPkSubI16, VSubNcI16] (a: u16, b: u16) -> u16 { a.wrapping_sub(b) }
    narrow [VSubrevU16] (a: u16, b: u16) -> u16 { b.wrapping_sub(a) }
    narrow [VAddU16, VPkAddU16, VAddNcU16; Clamped] (a: u16, b: u16) -> u16 { a.saturating_add(b) }
    narrow [VSubU16, VPkSubU16, VSubNcU16; Clamped] (a: u16, b: u16) -> u16 { a.saturating_sub(b) }
    narrow [VSubrevU16; Clamped] (a: u16, b: u16) -> u16 { b.saturating_sub(a) }
    narrow [VAddI16, VPkAddI16, VAddNcI16; Clamped] (a: i16, b: i16) -> i16 { a.saturating_add(b) }
    narrow [VSubI16, VPkSubI16, VSubNcI16; Clamped] (a: i16, b: i16) -> i16 { a.saturating_sub(b) }
    narrow [VMulLoU16, VPkMulLoU16] (a: u16, b: u16) -> u16 { a.wrapping_mul(b) }
    narrow [VMadU16, VPkMadU16, VMadLegacyU16, VMadI16, VPkMadI16, VMadLegacyI16] (a: u16, b: u16, c: u16) -> u16 { a.wrapping_mul(b).wrapping_add(c) }
    narrow [VMadU16, VPkMadU16; Clamped] (a: u16, b: u16, c: u16) -> u16 { (u32::from(a) * u32::from(b)).saturating_add(u32::from(c)).min(0xffff) as u16 }
    narrow [VMadI16, VPkMadI16; Clamped] (a: i16, b: i16, c: i16) -> i16 { (i64::from(a) * i64::from(b) + i64::from(c)).clamp(-32768, 32767) as i16 }
    narrow [VMinU16, VPkMinU16] (a: u16, b: u16) -> u16 { a.min(b) }
    narrow [VMaxU16, VPkMaxU16] (a: u16, b: u16) -> u16 { a.max(b) }
    narrow [VMinI16, VPkMinI16] (a: i16, b: i16) -> i16 { a.min(b) }
    narrow [VMaxI16, VPkMaxI16] (a: i16, b: i16) -> i16 { a.max(b) }
    narrow [VMin3U16] (a: u16, b: u16, c: u16) -> u16 { a.min(b).min(c) }
    narrow [VMax3U16] (a: u16, b: u16, c: u16) -> u16 { a.max(b).max(c) }
    narrow [VMin3I16] (a: i16, b: i16, c: i16) -> i16 { a.min(b).min(c) }
    narrow [VMax3I16] (a: i16, b: i16, c: i16) -> i16 { a.max(b).max(c) }
    narrow [VMed3U16] (a: u16, b: u16, c: u16) -> u16 { a.min(b).max(a.max(b).min(c)) }
    narrow [VMed3I16] (a: i16, b: i16, c: i16) -> i16 { a.min(b).max(a.max(b).min(c)) }
    narrow [VLshlrevB16, VPkLshlrevB16] (a: u16, b: u16) -> u16 { b << (a & 15) }
    narrow [VLshrrevB16, VPkLshrrevB16] (a: u16, b: u16) -> u16 { b >> (a & 15) }
    narrow [VAshrrevI16, VPkAshrrevI16] (a: u16, b: i16) -> i16 { b >> (a & 15) }
}
