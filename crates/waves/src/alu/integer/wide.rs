//! Operations on 64-bit integers and those that give a carry.

use crate::alu::kernel::operations;

/// Returns the sum of the byte distances of four windows of `a` against `b`, each 16 bits added to `c`.
fn windows16(a: u64, b: u32, c: u64, distance: impl Fn(u32, u32) -> u32) -> u64 {
    (0..4).fold(0, |result, index| {
        let sum = distance((a >> (8 * index)) as u32, b).wrapping_add((c >> (16 * index)) as u32 & 0xffff);
        result | u64::from(sum & 0xffff) << (16 * index)
    })
}

operations! { TABLE;
    wide [VLshlB64] (a: u64, b: u32) -> u64 { a.wrapping_shl(b) }
    wide [VLshrB64] (a: u64, b: u32) -> u64 { a.wrapping_shr(b) }
    wide [VAshrI64] (a: i64, b: u32) -> i64 { a.wrapping_shr(b) }
    wide [VLshlrevB64] (a: u32, b: u64) -> u64 { b.wrapping_shl(a) }
    wide [VLshrrevB64] (a: u32, b: u64) -> u64 { b.wrapping_shr(a) }
    wide [VAshrrevI64] (a: u32, b: i64) -> i64 { b.wrapping_shr(a) }
    wide [VQsadPkU16U8] (a: u64, b: u32, c: u64) -> u64 { windows16(a, b, c, crate::number::integer::byte_distance) }
    wide [VMqsadPkU16U8] (a: u64, b: u32, c: u64) -> u64 { windows16(a, b, c, crate::number::integer::masked_byte_distance) }
    wide_carry [VMadU64U32, VMadCoU64U32] (a: u32, b: u32, c: u64) -> u64 { (u64::from(a) * u64::from(b)).overflowing_add(c) }
    wide_carry [VMadI64I32, VMadCoI64I32] (a: i32, b: i32, c: i64) -> i64 {
        let sum = i128::from(i64::from(a) * i64::from(b)) + i128::from(c);
        (sum as i64, sum < 0)
    }
    narrow_carry [VAddCoU32, VAddI32, VAddU32; Carrying] (a: u32, b: u32) -> u32 { a.overflowing_add(b) }
    narrow_carry [VSubCoU32, VSubI32, VSubU32; Carrying] (a: u32, b: u32) -> u32 { a.overflowing_sub(b) }
    narrow_carry [VSubrevCoU32, VSubrevI32, VSubrevU32; Carrying] (a: u32, b: u32) -> u32 { b.overflowing_sub(a) }
    narrow_carry [VAddCoCiU32, VAddcCoU32, VAddcU32; Carrying] (a: u32, b: u32, c: bool) -> u32 {
        let sum = u64::from(a) + u64::from(b) + u64::from(c);
        (sum as u32, sum >> 32 != 0)
    }
    narrow_carry [VSubCoCiU32, VSubbCoU32, VSubbU32; Carrying] (a: u32, b: u32, c: bool) -> u32 {
        let difference = i64::from(a) - i64::from(b) - i64::from(c);
        (difference as u32, difference < 0)
    }
    narrow_carry [VSubbrevCoU32, VSubbrevU32, VSubrevCoCiU32; Carrying] (a: u32, b: u32, c: bool) -> u32 {
        let difference = i64::from(b) - i64::from(a) - i64::from(c);
        (difference as u32, difference < 0)
    }
    // With clamp the result saturates, and the carry stays.
    narrow_carry [VAddCoU32, VAddI32, VAddU32; CarryingClamped] (a: u32, b: u32) -> u32 { (a.saturating_add(b), a.checked_add(b).is_none()) }
    narrow_carry [VSubCoU32, VSubI32, VSubU32; CarryingClamped] (a: u32, b: u32) -> u32 { (a.saturating_sub(b), a < b) }
    narrow_carry [VSubrevCoU32, VSubrevI32, VSubrevU32; CarryingClamped] (a: u32, b: u32) -> u32 { (b.saturating_sub(a), b < a) }
    narrow_carry [VAddCoCiU32, VAddcCoU32, VAddcU32; CarryingClamped] (a: u32, b: u32, c: bool) -> u32 {
        let sum = u64::from(a) + u64::from(b) + u64::from(c);
        (u32::try_from(sum).unwrap_or(u32::MAX), sum >> 32 != 0)
    }
    narrow_carry [VSubCoCiU32, VSubbCoU32, VSubbU32; CarryingClamped] (a: u32, b: u32, c: bool) -> u32 {
        let difference = i64::from(a) - i64::from(b) - i64::from(c);
        (u32::try_from(difference).unwrap_or(0), difference < 0)
    }
    narrow_carry [VSubbrevCoU32, VSubbrevU32, VSubrevCoCiU32; CarryingClamped] (a: u32, b: u32, c: bool) -> u32 {
        let difference = i64::from(b) - i64::from(a) - i64::from(c);
        (u32::try_from(difference).unwrap_or(0), difference < 0)
    }
}
