//! The two hot paths, compiled for the vectors of the processor.
//!
//! The tree mostly computes [lanes](super::nodes::lanes): plain loops over short arrays. For x86-64 at large the compiler
//! makes instructions on 16 bytes of them, without a maximum of two vectors, as SSE2 has none. Nearly every processor
//! since 2013 has 32 bytes and the maximum. So taking and giving are compiled twice, and the tree chooses when it is
//! made. All they are made of is inlined into them; whatever is not is rare. A tenth of the time of a pair.
#![expect(unsafe_code, reason = "calls functions that not every processor can run")]

#[cfg(test)]
use super::processor::Processor;
use super::tree::Tree;
use crate::holes::{Hole, Step};

impl Tree {
    /// Takes the lowest `len` free cells from a multiple of `step`.
    #[inline]
    pub(in crate::holes) fn take_lowest(&mut self, len: u64, step: Step) -> Option<u64> {
        #[cfg(target_arch = "x86_64")]
        if self.processor.is_wide() {
            // SAFETY: the processor has the features (invariant of `Processor`).
            return unsafe { self.take_lowest_wide(len, step) };
        }
        self.take_lowest_as_compiled(len, step)
    }

    /// Gives back cells of the span. Returns `true` if they were all taken; otherwise nothing changes.
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
