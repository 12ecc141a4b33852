//! The two hot paths, compiled for the vectors of the processor.
//!
//! What the tree does is mostly [lanes](super::lanes): plain loops over short arrays. For x86-64 at large the compiler
//! makes instructions on 16 bytes of them, without a maximum of two vectors, as SSE2 has none. Nearly every processor
//! since 2013 has 32 bytes and the maximum. So taking and giving are compiled twice, and the tree chooses when it is
//! made. All they are made of is inlined into them; whatever is not is rare. A tenth of the time of a pair.
#![expect(unsafe_code, reason = "calls functions that not every processor can run")]

use super::{Hole, Step, Tree};

/// Which of the two is to be used.
///
/// # Invariants
///
/// `wide` only where [`Width::of_this_processor`] found the features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only x86-64 has two ways"))]
    wide: bool,
}

impl Width {
    pub(super) fn of_this_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        let wide = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
        #[cfg(not(target_arch = "x86_64"))]
        let wide = false;
        Self { wide }
    }
}

impl Tree {
    /// Takes the lowest `len` free cells from a multiple of `step`.
    #[inline]
    pub(in super::super) fn take_lowest(&mut self, len: u64, step: Step) -> Option<u64> {
        #[cfg(target_arch = "x86_64")]
        if self.width.wide {
            // SAFETY: the processor has the features (invariant of `Width`).
            return unsafe { self.take_lowest_wide(len, step) };
        }
        self.take_lowest_as_compiled(len, step)
    }

    /// Gives back cells of the span. Whether they were all taken; if not, nothing changes.
    #[inline]
    pub(in super::super) fn give(&mut self, given: Hole) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.width.wide {
            // SAFETY: the processor has the features (invariant of `Width`).
            return unsafe { self.give_wide(given) };
        }
        self.give_as_compiled(given)
    }

    #[cfg(test)]
    pub(in super::super) fn narrow(&mut self) {
        self.width = Width { wide: false };
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn take_lowest_wide(&mut self, len: u64, step: Step) -> Option<u64> {
        self.take_lowest_as_compiled(len, step)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn give_wide(&mut self, given: Hole) -> bool {
        self.give_as_compiled(given)
    }
}
