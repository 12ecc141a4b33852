//! Detection of the processor's vector instructions.

/// Selects one of the two compilations of the hot paths.
///
/// # Invariants
///
/// `wide` is set only if [`Processor::detect`] found the features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor {
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only x86-64 has two ways"))]
    wide: bool,
}

impl Processor {
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        let wide = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
        #[cfg(not(target_arch = "x86_64"))]
        let wide = false;
        Self { wide }
    }

    /// Returns `true` if the processor has AVX2 and BMI2.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) const fn is_wide(self) -> bool {
        self.wide
    }

    /// Disables the features, for tests.
    #[cfg(test)]
    pub(super) const NARROW: Self = Self { wide: false };
}
