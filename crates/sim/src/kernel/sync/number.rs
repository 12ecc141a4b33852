//! The number in memory for which the fences of a queue wait.

use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_hw::GpuVa;

/// The size of a number in bytes.
pub(crate) const BYTES: u64 = size_of::<u64>() as u64;

/// The number of a queue. Its place is reserved as long as it lives, which may be as long as a fence.
#[derive(Debug)]
pub(crate) struct Number {
    /// The place among all numbers, from 1.
    id: u32,
    value: AtomicU64,
}

impl Number {
    /// Creates a number with the value 0 at a place.
    pub(crate) const fn new(id: u32) -> Self {
        Self { id, value: AtomicU64::new(0) }
    }

    /// Returns the value.
    pub(crate) fn value(&self) -> u64 {
        self.value.load(Ordering::Acquire)
    }

    /// Sets the value.
    pub(crate) fn set(&self, value: u64) {
        self.value.store(value, Ordering::Release);
    }

    /// Returns the address of the number. `window` is the address of the first number.
    pub(crate) fn address(&self, window: u64) -> GpuVa {
        GpuVa::from_48_bits(window + u64::from(self.id - 1) * BYTES)
    }
}
