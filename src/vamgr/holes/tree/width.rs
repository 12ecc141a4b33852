//! The two hot paths, compiled for the vector width of the processor.
//!
//! The tree mostly computes [lanes](super::nodes::lanes): plain loops over short arrays. For baseline x86-64 the compiler emits
//! instructions on 16 bytes, without a maximum of two vectors, which SSE2 does not have. Nearly all processors since 2013 have
//! vectors of 32 bytes and the maximum. Taking and freeing are therefore compiled twice, and the tree selects one version when
//! it is created. All functions on these paths are inlined into them; the others are rarely called. This saves a tenth of the
//! time of a take and a free.
#![expect(unsafe_code, reason = "calls functions that not every processor can run")]

#[cfg(test)]
use super::processor::Processor;
use super::tree::Tree;
use crate::holes::{Hole, Step};

impl Tree {
    /// Takes the lowest `len` free cells that start at a multiple of `step`.
    #[inline]
    pub(in crate::holes) fn take_lowest(&mut self, len: u64, step: Step) -> Option<u64> {
        #[cfg(target_arch = "x86_64")]
        if self.processor.is_wide() {
            // SAFETY: the processor has the features (invariant of `Processor`).
            return unsafe { self.take_lowest_wide(len, step) };
        }
        self.take_lowest_as_compiled(len, step)
    }

    /// Frees cells of the span. Returns `false`, and changes nothing, if some of them are free.
    #[inline]
    pub(in crate::holes) fn give(&mut self, given: Hole) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.processor.is_wide() {
            // SAFETY: the processor has the features (invariant of `Processor`).
            return unsafe { self.give_wide(given) };
        }
        self.give_as_compiled(given)
    }

    #[cfg(test)]
    pub(in crate::holes) fn narrow(&mut self) {
        self.processor = Processor::NARROW;
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
