//! A list of bounded length without a heap allocation.

use std::fmt;

/// A list of at most `N` items, stored inline. It compares and prints as the slice of its items.
#[derive(Clone, Copy)]
pub(in crate::heaps) struct FixedList<T, const N: usize> {
    items: [T; N],
    len: usize,
}

impl<T: Copy, const N: usize> FixedList<T, N> {
    /// Creates an empty list. `filler` occupies the unused slots and is never visible.
    pub(in crate::heaps) const fn new(filler: T) -> Self {
        Self { items: [filler; N], len: 0 }
    }

    /// Appends `item`. If the list has `N` items, drops `item` instead; callers rule this out by a constant assertion.
    pub(in crate::heaps) fn push(&mut self, item: T) {
        if let Some(slot) = self.items.get_mut(self.len) {
            *slot = item;
            self.len += 1;
        }
    }

    pub(in crate::heaps) fn as_slice(&self) -> &[T] {
        self.items.get(..self.len).unwrap_or_default()
    }
}

impl<T: Copy + PartialEq, const N: usize> PartialEq for FixedList<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Copy + Eq, const N: usize> Eq for FixedList<T, N> {}

impl<T: Copy + fmt::Debug, const N: usize> fmt::Debug for FixedList<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
