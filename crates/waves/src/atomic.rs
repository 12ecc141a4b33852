//! Atomic operations on memory and LDS.

use crate::{alu::float::single, number::half::Half};

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Swap,
    CompareSwap,
    Add,
    Sub,
    ReverseSub,
    SignedMin,
    SignedMax,
    UnsignedMin,
    UnsignedMax,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    FloatMin,
    FloatMax,
    FloatAdd,
    FloatCompareSwap,
    /// Subtracts, but not below zero.
    SubClamp,
    /// Subtracts if the old value is not less than the operand.
    ConditionalSub,
    /// Adds two half-precision floats.
    AddHalves,
    /// Adds two bfloat16 values.
    AddBrains,
    /// Replaces the bits in a mask.
    MaskOr,
    /// Subtracts the second operand if the old value is not less, and adds the first otherwise.
    Wrap,
}

impl Atomic {
    /// Returns `true` if the operation has a second operand.
    pub(crate) fn compares(self) -> bool {
        matches!(self, Self::CompareSwap | Self::FloatCompareSwap | Self::MaskOr | Self::Wrap)
    }

    /// Returns the new value. `other` is the comparison value, or the mask of [`Self::MaskOr`], or what [`Self::Wrap`] subtracts.
    pub(crate) fn apply(self, bytes: u8, old: u64, data: u64, other: u64) -> u64 {
        let wide = bytes == 8;
        let signed = |value: u64| if wide { value.cast_signed() } else { i64::from(value as i32) };
        let single = |value: u64| f32::from_bits(value as u32);
        let new = match self {
            Self::Swap => data,
            Self::CompareSwap if old == other => data,
            Self::FloatCompareSwap if wide && f64::from_bits(old) == f64::from_bits(other) => data,
            Self::FloatCompareSwap if !wide && single(old) == single(other) => data,
            Self::CompareSwap | Self::FloatCompareSwap => old,
            Self::Add => old.wrapping_add(data),
            Self::Sub => old.wrapping_sub(data),
            Self::ReverseSub => data.wrapping_sub(old),
            Self::SignedMin => {
                if signed(data) < signed(old) {
                    data
                } else {
                    old
                }
            }
            Self::SignedMax => {
                if signed(data) > signed(old) {
                    data
                } else {
                    old
                }
            }
            Self::UnsignedMin => old.min(data),
            Self::UnsignedMax => old.max(data),
            Self::Wrap if old >= other => old - other,
            Self::Wrap => old.wrapping_add(data),
            Self::And => old & data,
            Self::Or => old | data,
            Self::Xor => old ^ data,
            Self::Inc => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            Self::Dec => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            Self::FloatMin if wide => f64::from_bits(old).min(f64::from_bits(data)).to_bits(),
            Self::FloatMax if wide => f64::from_bits(old).max(f64::from_bits(data)).to_bits(),
            Self::FloatMin => u64::from(single::minimum(single(old), single(data)).to_bits()),
            Self::FloatMax => u64::from(single::maximum(single(old), single(data)).to_bits()),
            Self::FloatAdd => {
                let sum = single::flushed(single::flushed(single(old)) + single::flushed(single(data)));
                u64::from(sum.to_bits())
            }
            Self::SubClamp => old.saturating_sub(data),
            Self::ConditionalSub => {
                if old >= data {
                    old - data
                } else {
                    old
                }
            }
            Self::AddHalves => {
                let half = |value: u64, shift: u32| Half((value >> shift) as u16).wide();
                let sum = |shift| {
                    u64::from(
                        Half::rounded(half(old, shift) + half(data, shift), crate::number::round::Direction::Nearest).0,
                    )
                };
                sum(0) | sum(16) << 16
            }
            Self::AddBrains => {
                let brain = |value: u64, shift: u32| f32::from_bits((value >> shift) as u32 & 0xffff);
                let widen = |value: u64, shift: u32| f32::from_bits(brain(value, shift).to_bits() << 16);
                let sum = |shift| {
                    let exact = f64::from(widen(old, shift)) + f64::from(widen(data, shift));
                    u64::from(crate::number::round::encode(exact, 7, 127, crate::number::round::Direction::Nearest))
                };
                sum(0) | sum(16) << 16
            }
            Self::MaskOr => old & !other | data,
        };
        if wide { new } else { new & 0xffff_ffff }
    }
}
