//! Arithmetic with powers of two.

/// Returns `value` rounded up to a multiple of `align`, a power of two.
pub(crate) const fn align(value: u32, align: u32) -> u32 {
    (value.wrapping_add(align - 1)) & !(align - 1)
}

/// Returns `value` rounded up to a multiple of `align`, a power of two.
pub(crate) const fn align64(value: u64, align: u64) -> u64 {
    (value.wrapping_add(align - 1)) & !(align - 1)
}

/// Returns the base-2 logarithm of `value`, rounded down; 0 for 0.
pub(crate) const fn log2(value: u32) -> u32 {
    if value == 0 { 0 } else { value.ilog2() }
}

/// Returns the lowest `count` bits of `value` in reverse order.
pub(crate) const fn reverse(value: u32, count: u32) -> u32 {
    if count == 0 { 0 } else { value.reverse_bits() >> (32 - count) }
}

/// Returns a mask of the lowest `count` bits.
pub(crate) const fn mask(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

/// Returns half of `value`, rounded up.
pub(crate) const fn half_up(value: u32) -> u32 {
    (value >> 1) + (value & 1)
}

/// Returns `value / 2^levels`, rounded up, at least 1: the size of a mip level on GFX10 and later.
pub(crate) const fn shift_up(value: u32, levels: u32) -> u32 {
    let size = ((value as u64 + (1u64 << levels) - 1) >> levels) as u32;
    if size == 0 { 1 } else { size }
}
