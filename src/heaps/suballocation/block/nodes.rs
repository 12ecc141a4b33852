//! The nodes of a block: one for each chunk and each hole, in a slab of their own.

use std::ops::{Index, IndexMut};

use amdgpu_hw::num::{count, index};

use super::bins::NONE;

/// In [`Node::extent`]: a hole, in a bin.
const HOLE: u32 = 1 << 31;

/// A stretch of the block: 24 bytes, so that a free touches few cache lines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// Its first cell.
    pub(super) start: u32,
    /// Number of cells, at most [`MAX_CELLS`](super::MAX_CELLS), and [`HOLE`]; 0 in a node that is not in use.
    extent: u32,
    /// The stretch that ends where this one starts, or [`NONE`].
    pub(super) below: u32,
    /// The stretch that starts where this one ends, or [`NONE`].
    pub(super) above: u32,
    /// A hole's neighbour in its bin, or [`NONE`].
    pub(super) left: u32,
    /// A hole's other neighbour in its bin, or [`NONE`]; of an unused node the next unused one.
    pub(super) right: u32,
}

impl Node {
    /// A hole, not yet in a bin.
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

    /// Makes it a chunk of these cells.
    #[inline]
    pub(super) const fn become_chunk(&mut self, start: u32, cells: u32) {
        (self.start, self.extent) = (start, cells);
    }

    /// Makes it a hole of these cells, not yet in a bin.
    #[inline]
    pub(super) const fn become_hole(&mut self, start: u32, cells: u32) {
        (self.start, self.extent) = (start, cells | HOLE);
    }

    /// Returns the start of `cells` at a multiple of `align`, a power of two, if they fit.
    #[inline]
    pub(super) fn fit(&self, cells: u32, align: u32) -> Option<u32> {
        let start = self.start.checked_add(align - 1)? & !(align - 1);
        let before = start - self.start;
        (before <= self.cells() && self.cells() - before >= cells).then_some(start)
    }
}

/// All nodes; the unused ones are a list.
///
/// Node 0 is [`NONE`], and there from the start, so that "the neighbour, if there is one" needs no branch: it would
/// be unpredictable, and a misprediction takes as long as ten such writes.
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
    /// Makes sure that `count` nodes can be taken; false if the host has no memory for them.
    #[inline]
    pub(super) fn reserve(&mut self, count: usize) -> bool {
        // A block has less than 2^31 cells, each node at least one, so indices fit.
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

    /// Every node in use, with its index.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (u32, &Node)> {
        self.all.iter().zip(0..).filter(|(node, _)| node.extent != 0).map(|(node, at)| (at, node))
    }

    /// Host memory, bytes.
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
