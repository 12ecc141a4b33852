//! The nodes of a block, one for each chunk and each hole.

use std::ops::{Index, IndexMut};

use amdgpu_hw::num::{count, index};

use super::bins::NONE;

/// The bit of [`Node::extent`] that marks a hole, which is in a bin.
const HOLE: u32 = 1 << 31;

/// A chunk or a hole. It has 24 bytes, so that freeing touches few cache lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// The first cell.
    pub(super) start: u32,
    /// The number of cells, at most [`MAX_CELLS`](super::MAX_CELLS), with [`HOLE`] for a hole; 0 in an unused node.
    extent: u32,
    /// The node that ends where this one starts, or [`NONE`].
    pub(super) below: u32,
    /// The node that starts where this one ends, or [`NONE`].
    pub(super) above: u32,
    /// For a hole, the previous hole in its bin, or [`NONE`].
    pub(super) left: u32,
    /// For a hole, the next hole in its bin, or [`NONE`]; for an unused node, the next unused one.
    pub(super) right: u32,
}

impl Node {
    /// Creates a hole that is not in a bin.
    #[inline]
    pub(super) const fn hole(start: u32, cells: u32, below: u32, above: u32) -> Self {
        Self { start, extent: cells | HOLE, below, above, left: NONE, right: NONE }
    }

    #[inline]
    pub(super) const fn cells(&self) -> u32 {
        self.extent & !HOLE
    }

    #[inline]
    pub(super) const fn is_hole(&self) -> bool {
        self.extent & HOLE != 0
    }

    /// Turns the node into a chunk of these cells.
    #[inline]
    pub(super) const fn become_chunk(&mut self, start: u32, cells: u32) {
        (self.start, self.extent) = (start, cells);
    }

    /// Turns the node into a hole of these cells that is not in a bin.
    #[inline]
    pub(super) const fn become_hole(&mut self, start: u32, cells: u32) {
        (self.start, self.extent) = (start, cells | HOLE);
    }

    /// Returns the first multiple of `align`, a power of two, at which `cells` cells fit; `None` if there is none.
    #[inline]
    pub(super) fn fit(&self, cells: u32, align: u32) -> Option<u32> {
        let start = self.start.checked_add(align - 1)? & !(align - 1);
        let before = start - self.start;
        (before <= self.cells() && self.cells() - before >= cells).then_some(start)
    }
}

/// All nodes of a block. The unused ones form a list.
///
/// Node 0 is [`NONE`] and always exists, so that links can be written without checking whether there is a neighbour. Such a
/// branch would be unpredictable, and a misprediction takes as long as ten writes.
#[derive(Debug)]
pub(super) struct Nodes {
    all: Vec<Node>,
    unused: u32,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { all: vec![Node::default()], unused: NONE }
    }
}

impl Nodes {
    /// Reserves memory for `count` nodes. Returns `false` if the host has no memory.
    #[inline]
    pub(super) fn reserve(&mut self, count: usize) -> bool {
        // A block has fewer than 2^31 cells, and each node has at least one, so indices fit.
        self.all.capacity() - self.all.len() >= count || self.all.try_reserve(count).is_ok()
    }

    #[inline]
    pub(super) fn take(&mut self, node: Node) -> u32 {
        let at = self.unused;
        if at == NONE {
            self.all.push(node);
            return count(self.all.len() - 1);
        }
        self.unused = self[at].right;
        self[at] = node;
        at
    }

    #[inline]
    pub(super) fn give(&mut self, at: u32) {
        let unused = self.unused;
        let node = &mut self[at];
        (node.extent, node.right) = (0, unused);
        self.unused = at;
    }

    pub(super) fn clear(&mut self) {
        self.all.truncate(1);
        self.unused = NONE;
    }

    /// Returns every node in use with its index.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (u32, &Node)> {
        self.all.iter().zip(0..).filter(|(node, _)| node.extent != 0).map(|(node, at)| (at, node))
    }

    /// Returns the host memory of the nodes in bytes.
    pub(super) fn host_memory(&self) -> usize {
        self.all.capacity() * size_of::<Node>()
    }
}

impl Index<u32> for Nodes {
    type Output = Node;

    #[inline]
    fn index(&self, at: u32) -> &Node {
        &self.all[index(at)]
    }
}

impl IndexMut<u32> for Nodes {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Node {
        &mut self.all[index(at)]
    }
}
