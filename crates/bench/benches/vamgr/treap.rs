//! Holes in a binary tree by address, each node knowing the best hole below it for the three alignments of the trace.
//!
//! A treap in one vector: the textbook answer to first fit in O(log n), with one hole a node.

use crate::candidate::{Candidate, END, FIRST, Run};

/// Exponents of the alignments, in pages.
const SHIFTS: [u32; 3] = [0, 4, 9];

#[derive(Clone, Copy, Default)]
struct Node {
    start: u64,
    end: u64,
    most: [u64; 3],
    left: u32,
    right: u32,
    priority: u32,
}

/// Node 0 is no node: it offers nothing.
pub(crate) struct Treap {
    nodes: Vec<Node>,
    unused: Vec<u32>,
    root: u32,
    seed: u32,
}

impl Treap {
    fn node(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    fn update(&mut self, at: u32) {
        let node = self.nodes[at as usize];
        let (left, right) = (self.nodes[node.left as usize].most, self.nodes[node.right as usize].most);
        for (class, shift) in SHIFTS.into_iter().enumerate() {
            let own = node.end.saturating_sub(node.start.next_multiple_of(1 << shift));
            self.node(at).most[class] = own.max(left[class]).max(right[class]);
        }
    }

    fn add(&mut self, start: u64, end: u64) {
        self.seed = self.seed.wrapping_mul(0x915f_77f5).wrapping_add(1);
        let node = Node { start, end, priority: self.seed ^ self.seed >> 15, ..Node::default() };
        let new = self.unused.pop().unwrap_or(self.nodes.len() as u32);
        if new as usize == self.nodes.len() {
            self.nodes.push(node);
        }
        *self.node(new) = node;
        self.update(new);
        self.root = self.insert(self.root, new);
    }

    fn insert(&mut self, at: u32, new: u32) -> u32 {
        if at == 0 {
            return new;
        }
        let (key, here) = (self.nodes[new as usize].start, self.nodes[at as usize]);
        if key < here.start {
            let left = self.insert(here.left, new);
            self.node(at).left = left;
            if self.nodes[left as usize].priority > here.priority {
                self.node(at).left = self.nodes[left as usize].right;
                self.node(left).right = at;
                self.update(at);
                self.update(left);
                return left;
            }
        } else {
            let right = self.insert(here.right, new);
            self.node(at).right = right;
            if self.nodes[right as usize].priority > here.priority {
                self.node(at).right = self.nodes[right as usize].left;
                self.node(right).left = at;
                self.update(at);
                self.update(right);
                return right;
            }
        }
        self.update(at);
        at
    }

    /// Changes the hole that starts at `key`; an empty one goes.
    fn edit(&mut self, at: u32, key: u64, to: (u64, u64)) -> u32 {
        let here = self.nodes[at as usize];
        if key < here.start {
            self.node(at).left = self.edit(here.left, key, to);
        } else if key > here.start {
            self.node(at).right = self.edit(here.right, key, to);
        } else if to.0 == to.1 {
            self.unused.push(at);
            return self.merge(here.left, here.right);
        } else {
            (self.node(at).start, self.node(at).end) = to;
        }
        self.update(at);
        at
    }

    fn merge(&mut self, left: u32, right: u32) -> u32 {
        if left == 0 || right == 0 {
            return left | right;
        }
        let (a, b) = (self.nodes[left as usize], self.nodes[right as usize]);
        if a.priority > b.priority {
            self.node(left).right = self.merge(a.right, right);
            self.update(left);
            return left;
        }
        self.node(right).left = self.merge(left, b.left);
        self.update(right);
        right
    }

    fn change(&mut self, key: u64, to: (u64, u64)) {
        self.root = self.edit(self.root, key, to);
    }

    fn first_fit(&self, at: u32, len: u64, align: u64, class: usize) -> Option<(u64, u64, u64)> {
        let node = &self.nodes[at as usize];
        if node.most[class] < len {
            return None;
        }
        let own = || {
            let from = node.start.next_multiple_of(align);
            (from + len <= node.end).then_some((node.start, from, node.end))
        };
        let left = self.first_fit(node.left, len, align, class);
        left.or_else(own).or_else(|| self.first_fit(node.right, len, align, class))
    }
}

impl Candidate for Treap {
    type Lease = Run;
    const NAME: &'static str = "treap with best hole below";

    fn new() -> Self {
        let mut treap = Self { nodes: vec![Node::default()], unused: Vec::new(), root: 0, seed: 1 };
        treap.add(FIRST, END);
        treap
    }

    fn take(&mut self, len: u64, align: u64) -> Option<Run> {
        let class = SHIFTS.iter().rposition(|&shift| align.trailing_zeros() >= shift)?;
        let (start, from, end) = self.first_fit(self.root, len, align, class)?;
        if from > start {
            self.change(start, (start, from));
            if from + len < end {
                self.add(from + len, end);
            }
        } else {
            self.change(start, (from + len, end));
        }
        Some((from, len))
    }

    fn give(&mut self, (start, len): Run) {
        let (mut below, mut above, mut at, end) = (None, None, self.root, start + len);
        while at != 0 {
            let node = &self.nodes[at as usize];
            if node.start < start {
                (below, at) = (Some((node.start, node.end)), node.right);
            } else {
                (above, at) = (Some((node.start, node.end)), node.left);
            }
        }
        match (below.filter(|hole| hole.1 == start), above.filter(|hole| hole.0 == end)) {
            (None, None) => self.add(start, end),
            (Some(below), None) => self.change(below.0, (below.0, end)),
            (None, Some(above)) => self.change(above.0, (start, above.1)),
            (Some(below), Some(above)) => {
                self.change(above.0, (above.0, above.0));
                self.change(below.0, (below.0, above.1));
            }
        }
    }

    fn start(lease: &Run) -> u64 {
        lease.0
    }

    fn host_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}
