//! The path from a region's root to a leaf.

use amdgpu_hw::num::index;

/// Maximum number of levels above the leaves: with 22 children per node, 8 levels have 2^32 leaves.
pub(super) const MAX_HEIGHT: usize = 8;

/// The path from a region's root to a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail {
    /// Inner node and slot of each level, the lowest first, followed by the table node and slot of the region.
    pub(super) step: [(u32, u32); MAX_HEIGHT + 1],
    pub(super) height: u32,
    pub(super) region: u32,
    pub(super) leaf: u32,
}

impl Trail {
    pub(super) const NONE: Self = Self { step: [(0, 0); MAX_HEIGHT + 1], height: 0, region: 0, leaf: 0 };

    /// Returns the steps from the leaf's parent up to and including the table.
    #[inline]
    pub(super) fn steps(&self) -> &[(u32, u32)] {
        &self.step[..=index(self.height).min(MAX_HEIGHT)]
    }
}

/// Returns the step into the table and the steps below it, to be filled in.
#[inline]
pub(super) fn split_top(trail: &mut Trail) -> (&mut (u32, u32), &mut [(u32, u32)]) {
    let height = index(trail.height).min(MAX_HEIGHT);
    let (below, top) = trail.step.split_at_mut(height);
    (&mut top[0], below)
}
