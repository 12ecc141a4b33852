//! Levels of detail in fixed point.

/// A level of detail, or a bias of the level of detail, in units of 1/256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lod(i32);

impl Lod {
    /// Converts `value`, clamped to the range from `least` to `most` whole levels, to units of 1/256. The result is truncated
    /// towards zero. NaN counts as 0.
    pub fn clamped(value: f32, least: i16, most: i16) -> Self {
        let value = if value.is_nan() { 0.0 } else { value };
        // In range by the clamp; the conversion cuts towards zero.
        Self((value.clamp(f32::from(least), f32::from(most.max(least))) * 256.0) as i32)
    }

    /// Returns the value in units of 1/256.
    pub const fn raw(self) -> i32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Lod;

    #[test]
    fn a_level_is_clamped_and_cut_towards_zero() {
        assert_eq!(Lod::clamped(1.0, 0, 15).raw(), 256);
        assert_eq!(Lod::clamped(-0.005, -16, 16).raw(), -1);
        assert_eq!(Lod::clamped(-0.003, -16, 16).raw(), 0);
        assert_eq!(Lod::clamped(1000.0, 0, 15).raw(), 15 * 256);
        assert_eq!(Lod::clamped(f32::NAN, 0, 15).raw(), 0);
        assert_eq!(Lod::clamped(f32::NEG_INFINITY, -16, 16).raw(), -16 * 256);
    }
}
