//! The inner nodes of the hole tree, which map addresses to children.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see crate::holes::tree::width")]

use amdgpu_hw::num::index;

use super::{lanes, slots};

/// Maximum number of children of an inner node. [`super::peaks`] relies on 64.
pub(crate) const SLOTS: u32 = 64;
/// The same number as a length.
pub(crate) const CAP: usize = index(SLOTS);
/// Minimum number of children of an inner node, except for a root.
pub(crate) const MIN: usize = 22;
/// Two neighbours with at most this many children in total are merged into one node; with more, they share them evenly.
pub(crate) const JOIN: usize = 48;

/// The key of unused places, which is greater than every cell of a region.
const UNUSED: i32 = i32::MAX;

/// A node with up to [`CAP`] children in ascending order.
///
/// # Invariants
///
/// Every hole below child `i` starts at or after `key[i]` and before `key[i + 1]`. `key[0]` is the key of this node in its
/// parent, and 0 in the leftmost node of a level. Unused keys are [`UNUSED`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Inner {
    key: [i32; CAP],
    child: [u32; CAP],
}

impl Inner {
    pub(crate) const EMPTY: Self = Self { key: [UNUSED; CAP], child: [0; CAP] };

    pub(crate) fn count(&self) -> usize {
        lanes::at_most(&self.key, UNUSED - 1)
    }

    /// Returns `true` if slot `at` is used.
    pub(crate) fn has(&self, at: usize) -> bool {
        at < CAP && self.key[at] != UNUSED
    }

    #[inline]
    pub(crate) fn child(&self, at: usize) -> u32 {
        self.child[at % CAP]
    }

    pub(crate) fn set_child(&mut self, at: usize, child: u32) {
        self.child[at % CAP] = child;
    }

    pub(crate) fn key(&self, at: usize) -> i32 {
        self.key[at % CAP]
    }

    pub(crate) fn set_key(&mut self, at: usize, key: i32) {
        self.key[at % CAP] = key;
    }

    /// Returns the slot of the child whose addresses include `cell`.
    #[inline(always)]
    pub(crate) fn slot(&self, cell: i32) -> usize {
        lanes::at_most(&self.key, cell).saturating_sub(1)
    }

    pub(crate) fn insert(&mut self, at: usize, key: i32, child: u32) {
        slots::open(&mut self.key, at, key);
        slots::open(&mut self.child, at, child);
    }

    pub(crate) fn remove(&mut self, at: usize) {
        slots::close(&mut self.key, at, UNUSED);
        slots::close(&mut self.child, at, 0);
    }

    /// Moves children between this node and the next one until this one has `want`.
    pub(crate) fn share(&mut self, upper: &mut Self, want: usize) {
        let (lower_len, upper_len) = (self.count(), upper.count());
        slots::share((&mut self.key, lower_len), (&mut upper.key, upper_len), want, UNUSED);
        slots::share((&mut self.child, lower_len), (&mut upper.child, upper_len), want, 0);
    }
}
