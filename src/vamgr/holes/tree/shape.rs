//! Splitting and merging of nodes.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see super::width")]

use amdgpu_hw::num::index;

use super::{
    nodes::{Inner, Leaf, Offers, inner, leaf},
    trail::Trail,
    tree::Tree,
    units::number,
};

impl Tree {
    /// Inserts a new hole at place `at` of the leaf.
    #[inline(always)]
    pub(super) fn insert(&mut self, trail: &Trail, at: usize, start: i32, len: i32) {
        self.count += 1;
        let leaf = &mut self.leaves[index(trail.leaf)];
        if leaf.has(leaf::CAP - 1) {
            self.insert_and_split(trail, at, start, len);
        } else {
            leaf.insert(at, start, len);
            self.raise(trail, start, len);
        }
    }

    #[cold]
    fn insert_and_split(&mut self, trail: &Trail, at: usize, start: i32, len: i32) {
        let leaf = &mut self.leaves[index(trail.leaf)];
        let half = leaf::CAP / 2;
        let mut upper = Leaf::EMPTY;
        leaf.share(&mut upper, half);
        if at <= half {
            leaf.insert(at, start, len);
        } else {
            upper.insert(at - half, start, len);
        }
        let key = upper.start(0);
        let upper = self.new_leaf(upper);
        self.adopt(trail, 0, key, upper);
    }

    /// Removes the hole at place `at` from the leaf. The caller has already lowered the offers above it.
    pub(super) fn take_out(&mut self, trail: &Trail, at: usize) {
        self.count -= 1;
        let leaf = &mut self.leaves[index(trail.leaf)];
        leaf.remove(at);
        if trail.height > 0 && !leaf.has(leaf::MIN - 1) {
            self.refill_leaf(trail);
        }
    }

    /// Refills a leaf that has too few holes, or merges it with a neighbour.
    #[cold]
    fn refill_leaf(&mut self, trail: &Trail) {
        let (parent, slot) = trail.step[0];
        let (low, [a, b]) = self.neighbours(parent, slot);
        let Ok([lower, upper]) = self.leaves.get_disjoint_mut([index(a), index(b)]) else { return };
        let total = lower.count() + upper.count();
        if total <= leaf::JOIN {
            lower.share(upper, total);
            self.free_leaves.push(b);
            self.disown(trail, 0, low);
        } else {
            lower.share(upper, total / 2);
            let key = upper.start(0);
            self.inners[index(parent)].set_key(low + 1, key);
            self.refresh(0, parent, low);
            self.refresh(0, parent, low + 1);
            self.refresh_from(trail, 1);
        }
    }

    /// Returns the lower slot of two neighbours, of which one is at `slot`, and the two children.
    fn neighbours(&self, node: u32, slot: u32) -> (usize, [u32; 2]) {
        let (inner, slot) = (&self.inners[index(node)], index(slot));
        let low = if inner.has(slot + 1) { slot } else { slot.saturating_sub(1) };
        (low, [inner.child(low), inner.child(low + 1)])
    }

    /// Adds `child` directly after the child of the trail at `level`, which has moved half of its contents to it.
    fn adopt(&mut self, trail: &Trail, level: usize, key: i32, child: u32) {
        if level == index(trail.height) {
            self.grow_root(trail.region, level, key, child);
            return;
        }
        let (node, slot) = trail.step[level];
        let at = index(slot) + 1;
        if !self.inners[index(node)].has(inner::CAP - 1) {
            self.put_child(level, node, at, key, child);
            self.refresh_from(trail, level + 1);
            return;
        }
        let half = inner::CAP / 2;
        let upper = self.new_inner(Inner::EMPTY);
        self.share_children(node, upper, half);
        if at <= half {
            self.put_child(level, node, at, key, child);
        } else {
            self.put_child(level, upper, at - half, key, child);
        }
        let key = self.inners[index(upper)].key(0);
        self.adopt(trail, level + 1, key, upper);
    }

    fn grow_root(&mut self, region: u32, level: usize, key: i32, child: u32) {
        let mut root = Inner::EMPTY;
        root.insert(0, 0, self.root(region));
        root.insert(1, key, child);
        let root = self.new_inner(root);
        self.set_root(region, root);
        self.regions[index(region)].height += 1;
        self.refresh(level, root, 0);
        self.refresh(level, root, 1);
        self.refresh_root(region);
    }

    fn put_child(&mut self, level: usize, node: u32, at: usize, key: i32, child: u32) {
        self.inners[index(node)].insert(at, key, child);
        for offers in &mut self.offers {
            offers.peaks_mut(node).open(at);
        }
        self.refresh(level, node, at - 1);
        self.refresh(level, node, at);
    }

    /// Moves children between two neighbours until the lower one has `want`.
    fn share_children(&mut self, lower: u32, upper: u32, want: usize) {
        let Ok([a, b]) = self.inners.get_disjoint_mut([index(lower), index(upper)]) else { return };
        let (a_len, b_len) = (a.count(), b.count());
        a.share(b, want);
        for offers in &mut self.offers {
            if let Some([a, b]) = offers.pair_mut([lower, upper]) {
                a.share(a_len, b, b_len, want);
            }
        }
    }

    /// Removes the child after slot `low` from the node at `level`, after its contents were moved to the child at `low`.
    fn disown(&mut self, trail: &Trail, level: usize, low: usize) {
        let node = trail.step[level].0;
        self.inners[index(node)].remove(low + 1);
        for offers in &mut self.offers {
            offers.peaks_mut(node).close(low + 1);
        }
        self.refresh(level, node, low);
        if level + 1 == index(trail.height) {
            self.shrink_root(trail.region, node);
        } else if self.inners[index(node)].has(inner::MIN - 1) {
            self.refresh_from(trail, level + 1);
        } else {
            self.refill_inner(trail, level + 1);
        }
    }

    fn shrink_root(&mut self, region: u32, root: u32) {
        if !self.inners[index(root)].has(1) {
            self.set_root(region, self.inners[index(root)].child(0));
            self.regions[index(region)].height -= 1;
            self.free_inners.push(root);
        }
        self.refresh_root(region);
    }

    /// Refills the child of the trail at `level`, which has too few children, or merges it with a neighbour.
    fn refill_inner(&mut self, trail: &Trail, level: usize) {
        let (parent, slot) = trail.step[level];
        let (low, [a, b]) = self.neighbours(parent, slot);
        let total = self.inners[index(a)].count() + self.inners[index(b)].count();
        if total <= inner::JOIN {
            self.share_children(a, b, total);
            self.free_inners.push(b);
            self.disown(trail, level, low);
        } else {
            self.share_children(a, b, total / 2);
            let key = self.inners[index(b)].key(0);
            self.inners[index(parent)].set_key(low + 1, key);
            self.refresh(level, parent, low);
            self.refresh(level, parent, low + 1);
            self.refresh_from(trail, level + 1);
        }
    }

    /// Returns a node for `leaf`: an unused one, or one from the memory that [`Tree::reserve`] reserved.
    fn new_leaf(&mut self, leaf: Leaf) -> u32 {
        if let Some(id) = self.free_leaves.pop() {
            self.leaves[index(id)] = leaf;
            return id;
        }
        self.leaves.push(leaf);
        number(self.leaves.len()) - 1
    }

    /// Returns a node for `inner` whose children have no offers yet.
    fn new_inner(&mut self, inner: Inner) -> u32 {
        if let Some(id) = self.free_inners.pop() {
            self.inners[index(id)] = inner;
            for offers in &mut self.offers {
                offers.clear(id);
            }
            return id;
        }
        self.inners.push(inner);
        self.offers.iter_mut().for_each(Offers::push);
        number(self.inners.len()) - 1
    }
}
