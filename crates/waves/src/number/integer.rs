//! Integer operations that the language lacks.

/// Returns bits `offset..offset + width` of `value`; the bits past the top are zero.
pub(crate) fn extract(value: u32, offset: u32, width: u32) -> u32 {
    let kept = (1_u64 << (width & 31)) - 1;
    (u64::from(value) >> (offset & 31) & kept) as u32
}

/// Returns the bits of [`extract`], sign-extended from the last one that exists.
pub(crate) fn extract_signed(value: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    if width == 0 {
        return 0;
    }
    let shifted = (value as i32 >> offset) as u32;
    (shifted << (32 - width)).cast_signed().wrapping_shr(32 - width).cast_unsigned()
}

/// Returns the number of leading bits equal to the sign, counted from the top; -1 for 0 and -1.
pub(crate) fn leading_signs(value: u32) -> u32 {
    if value == 0 || value == u32::MAX {
        return u32::MAX;
    }
    let folded = value ^ (value as i32 >> 31) as u32;
    folded.leading_zeros()
}

/// Returns the number of zero bits above the highest one; -1 for 0.
pub(crate) fn leading_zeros(value: u32) -> u32 {
    if value == 0 { u32::MAX } else { value.leading_zeros() }
}

/// Returns the number of zero bits below the lowest one; -1 for 0.
pub(crate) fn trailing_zeros(value: u32) -> u32 {
    if value == 0 { u32::MAX } else { value.trailing_zeros() }
}

/// Returns the low 24 bits, sign-extended.
pub(crate) fn signed24(value: u32) -> i64 {
    i64::from((value << 8).cast_signed() >> 8)
}

/// Returns the low 24 bits.
pub(crate) fn unsigned24(value: u32) -> u64 {
    u64::from(value & 0xff_ffff)
}

/// Returns the bytes that the selectors choose from `high` (4 to 7) and `low` (0 to 3).
pub(crate) fn permute_bytes(high: u32, low: u32, selectors: u32) -> u32 {
    let bytes = u64::from(high) << 32 | u64::from(low);
    let mut result = 0;
    for index in 0..4 {
        let selector = selectors >> (8 * index) & 0xff;
        let byte = match selector {
            0..=7 => (bytes >> (8 * selector)) as u32 & 0xff,
            8..=11 => ((bytes >> (16 * (selector - 8) + 15)) as u32 & 1) * 0xff,
            12 => 0,
            _ => 0xff,
        };
        result |= byte << (8 * index);
    }
    result
}

/// Returns the sum of the distances of the bytes.
pub(crate) fn byte_distance(a: u32, b: u32) -> u32 {
    a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| u32::from(a.abs_diff(b))).sum()
}

/// Returns the distance of the bytes where `b` has one that is not zero.
pub(crate) fn masked_byte_distance(a: u32, b: u32) -> u32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.filter(|(_, b)| *b != 0).map(|(a, b)| u32::from(a.abs_diff(b))).sum()
}

/// Returns `value` saturated to `low..=high`.
pub(crate) fn saturate(value: i64, low: i64, high: i64) -> u32 {
    value.clamp(low, high) as u32
}
