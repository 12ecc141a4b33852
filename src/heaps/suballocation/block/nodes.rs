//! The nodes of a block: one for each chunk and each hole, in a slab of their own.

use std::ops::{Index, IndexMut};

use super::bins::NONE;

/// In [`Node::left`]: a chunk, in no bin.
pub(super) const TAKEN: u32 = u32::MAX - 1;
/// In [`Node::left`]: not in use.
const UNUSED: u32 = u32::MAX - 2;

/// A stretch of the block: 24 bytes, so that a free touches few cache lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Its first cell.
    pub(super) start: u32,
    pub(super) cells: u32,
    /// The stretch that ends where this one starts, or [`NONE`].
    pub(super) below: u32,
    /// The stretch that starts where this one ends, or [`NONE`].
    pub(super) above: u32,
    /// A hole's neighbour in its bin, or [`NONE`]; else [`TAKEN`] or [`UNUSED`].
    pub(super) left: u32,
    /// A hole's other neighbour in its bin, or [`NONE`]; of an unused node the next unused one.
    pub(super) right: u32,
}

impl Node {
    /// A hole, not yet in a bin.
    pub(super) const fn hole(start: u32, cells: u32, below: u32, above: u32) -> Self {
        Self { start, cells, below, above, left: NONE, right: NONE }
    }

    #[inline]
    pub(super) const fn is_hole(&self) -> bool {
        self.left != TAKEN
    }

    /// Where `cells` at a multiple of `align`, a power of two, start, if they fit.
    #[inline]
    pub(super) fn fit(&self, cells: u32, align: u32) -> Option<u32> {
        let start = self.start.checked_add(align - 1)? & !(align - 1);
        let before = start - self.start;
        (before <= self.cells && self.cells - before >= cells).then_some(start)
    }
}

/// All nodes; the unused ones are a list.
#[derive(Debug)]
pub(super) struct Nodes {
    all: Vec<Node>,
    unused: u32,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { all: Vec::new(), unused: NONE }
    }
}

impl Nodes {
    /// Makes sure that `count` nodes can be taken; false if the host has no memory for them.
    #[inline]
    pub(super) fn reserve(&mut self, count: usize) -> bool {
        // A block has at most 2^31 cells, each node at least one, so indices stay below the marks.
        self.all.capacity() - self.all.len() >= count || self.all.try_reserve(count).is_ok()
    }

    #[inline]
    pub(super) fn take(&mut self, node: Node) -> u32 {
        let at = self.unused;
        if at == NONE {
            self.all.push(node);
            return (self.all.len() - 1) as u32;
        }
        self.unused = self[at].right;
        self[at] = node;
        at
    }

    #[inline]
    pub(super) fn give(&mut self, at: u32) {
        let unused = self.unused;
        let node = &mut self[at];
        (node.left, node.right) = (UNUSED, unused);
        self.unused = at;
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.unused = NONE;
    }

    /// Every node in use, with its index.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (u32, &Node)> {
        self.all.iter().zip(0..).filter(|(node, _)| node.left != UNUSED).map(|(node, at)| (at, node))
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
        &self.all[at as usize]
    }
}

impl IndexMut<u32> for Nodes {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Node {
        &mut self.all[at as usize]
    }
}
