//! Dot products of packed numbers.

use crate::{
    alu::{
        float::single::flushed,
        kernel::{Bits16, operations},
    },
    number::{
        half::Half,
        round::{Direction, encode, odd_sum},
        small::SmallFloat::{self, Bf8, Fp8},
    },
};

fn half(value: u32, index: u32) -> f32 {
    Half((value >> (16 * index)) as u16).value()
}

fn brain(value: u32, index: u32) -> f32 {
    f32::from_bits(value >> (16 * index) << 16)
}

fn signed(value: u32, bits: u32, index: u32) -> i64 {
    let shifted = value << (32 - bits * (index + 1));
    i64::from(shifted.cast_signed() >> (32 - bits))
}

fn unsigned(value: u32, bits: u32, index: u32) -> i64 {
    i64::from(value >> (bits * index) & ((1 << bits) - 1))
}

/// Returns the sum of the products of all parts of `bits` bits.
fn products(a: u32, b: u32, bits: u32, part: fn(u32, u32, u32) -> i64) -> i64 {
    (0..32 / bits).map(|index| part(a, bits, index) * part(b, bits, index)).sum()
}

/// Returns the sum of the products of four bytes and of a third operand, rounded once.
fn small_products((a, first): (u32, SmallFloat), (b, second): (u32, SmallFloat), added: f32) -> f32 {
    let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    let products: f64 = bytes.map(|(a, b)| f64::from(first.value(a)) * f64::from(second.value(b))).sum();
    odd_sum(products, f64::from(added)) as f32
}

fn clamped(value: i64) -> i32 {
    value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

fn clamped_unsigned(value: i64) -> u32 {
    value.clamp(0, i64::from(u32::MAX)) as u32
}

operations! { TABLE;
    narrow [VDot2F32F16, VDot2accF32F16, VDualDot2accF32F16, VDot2cF32F16] (a: u32, b: u32, c: f32) -> f32 { flushed((f64::from(half(a, 0) * half(b, 0)) + f64::from(half(a, 1) * half(b, 1)) + f64::from(c)) as f32) }
    narrow [VDot2F32Bf16, VDualDot2accF32Bf16] (a: u32, b: u32, c: f32) -> f32 { flushed((f64::from(brain(a, 0)) * f64::from(brain(b, 0)) + f64::from(brain(a, 1)) * f64::from(brain(b, 1)) + f64::from(c)) as f32) }
    narrow [VDot2F16F16] (a: u32, b: u32, c: Half; mode) -> Half {
        let product = |index| f64::from(half(a, index)) * f64::from(half(b, index));
        Half::new(odd_sum(product(0) + product(1), c.wide()), mode)
    }
    narrow [VDot2Bf16Bf16] (a: u32, b: u32, c: Bits16) -> Bits16 {
        let product = |index| f64::from(brain(a, index)) * f64::from(brain(b, index));
        let sum = odd_sum(product(0) + product(1), f64::from(brain(c.0.into(), 0)));
        Bits16(encode(sum, 7, 127, Direction::Nearest) as u16)
    }
    narrow [VDot4F32Fp8Fp8] (a: u32, b: u32, c: f32) -> f32 { small_products((a, Fp8), (b, Fp8), c) }
    narrow [VDot4F32Fp8Bf8] (a: u32, b: u32, c: f32) -> f32 { small_products((a, Fp8), (b, Bf8), c) }
    narrow [VDot4F32Bf8Fp8] (a: u32, b: u32, c: f32) -> f32 { small_products((a, Bf8), (b, Fp8), c) }
    narrow [VDot4F32Bf8Bf8] (a: u32, b: u32, c: f32) -> f32 { small_products((a, Bf8), (b, Bf8), c) }
    narrow [VDot2I32I16] (a: u32, b: u32, c: i32) -> i32 { (products(a, b, 16, signed) + i64::from(c)) as i32 }
    narrow [VDot2U32U16] (a: u32, b: u32, c: u32) -> u32 { (products(a, b, 16, unsigned) + i64::from(c)) as u32 }
    narrow [VDot4I32I8, VDot4cI32I8] (a: u32, b: u32, c: i32) -> i32 { (products(a, b, 8, signed) + i64::from(c)) as i32 }
    narrow [VDot4U32U8] (a: u32, b: u32, c: u32) -> u32 { (products(a, b, 8, unsigned) + i64::from(c)) as u32 }
    narrow [VDot8I32I4] (a: u32, b: u32, c: i32) -> i32 { (products(a, b, 4, signed) + i64::from(c)) as i32 }
    narrow [VDot8U32U4] (a: u32, b: u32, c: u32) -> u32 { (products(a, b, 4, unsigned) + i64::from(c)) as u32 }
    narrow [VDot2I32I16; Clamped] (a: u32, b: u32, c: i32) -> i32 { clamped(products(a, b, 16, signed) + i64::from(c)) }
    narrow [VDot2U32U16; Clamped] (a: u32, b: u32, c: u32) -> u32 { clamped_unsigned(products(a, b, 16, unsigned) + i64::from(c)) }
    narrow [VDot4I32I8; Clamped] (a: u32, b: u32, c: i32) -> i32 { clamped(products(a, b, 8, signed) + i64::from(c)) }
    narrow [VDot4U32U8; Clamped] (a: u32, b: u32, c: u32) -> u32 { clamped_unsigned(products(a, b, 8, unsigned) + i64::from(c)) }
    narrow [VDot8I32I4; Clamped] (a: u32, b: u32, c: i32) -> i32 { clamped(products(a, b, 4, signed) + i64::from(c)) }
    narrow [VDot8U32U4; Clamped] (a: u32, b: u32, c: u32) -> u32 { clamped_unsigned(products(a, b, 4, unsigned) + i64::from(c)) }
}
