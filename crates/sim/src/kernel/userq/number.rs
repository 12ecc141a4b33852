//! The number in memory that the fences of a queue wait for.

use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_hw::GpuVa;

/// Bytes of a number.
pub(crate) const BYTES: u64 = size_of::<u64>() as u64;

/// The number of a queue. Its place is taken as long as it lives, also by a fence.
#[derive(Debug)]
pub(crate) struct Number {
    /// The place among all numbers, from 1.
    id: u32,
    value: AtomicU64,
}

impl Number {
    /// A number of 0 at a place.
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

    /// Returns the address, where the window of all numbers begins at another one.
    pub(crate) fn address(&self, window: u64) -> GpuVa {
        GpuVa::from_48_bits(window + u64::from(self.id - 1) * BYTES)
    }
}
