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

/// Registers of waves that have ended, for the waves that start after them.
#[derive(Default)]
pub(crate) struct Pool(Vec<Box<Register>>);

impl Pool {
    /// Returns registers that hold zeroes.
    pub(crate) fn take(&mut self, count: usize) -> Vec<Box<Register>> {
        let mut taken = self.0.split_off(self.0.len().saturating_sub(count));
        for register in &mut taken {
            ***register = [0; LANES];
        }
        taken.resize_with(count, Box::default);
        taken
    }

    /// Keeps the registers of a wave that has ended.
    pub(crate) fn give(&mut self, registers: Vec<Box<Register>>) {
        self.0.extend(registers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_waves_that_ended_hold_zeroes_when_the_next_wave_takes_them() {
        let mut pool = Pool::default();
        let mut first = pool.take(3);
        first[2][63] = 7;
        pool.give(first);
        let second = pool.take(5);
        assert_eq!(second.len(), 5);
        assert!(second.iter().all(|register| register.0 == [0; LANES]));
        assert!(pool.0.is_empty());
        assert!(second.iter().all(|register| std::ptr::from_ref(&**register).addr().is_multiple_of(64)));
    }
}
