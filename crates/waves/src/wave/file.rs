//! The storage of vector registers.

use std::ops::{Deref, DerefMut};

use crate::alu::kernel::{LANES, Lanes};

/// A vector register: a dword of each lane. It starts at a cache line, so that no vector of the host crosses one.
///
/// Registers are boxed: an operation computes its result into a register that no other uses, which then changes places with its
/// destination. A copy would cost a third of the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Register(pub(crate) Lanes);

impl Default for Register {
    fn default() -> Self {
        Self([0; LANES])
    }
}

impl Deref for Register {
    type Target = Lanes;

    fn deref(&self) -> &Lanes {
        &self.0
    }
}

impl DerefMut for Register {
    fn deref_mut(&mut self) -> &mut Lanes {
        &mut self.0
    }
}
