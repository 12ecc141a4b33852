//! Checks of a block's invariants, for tests.

use super::{
    bins::{Bin, NONE},
    block::VirtualBlock,
};

impl VirtualBlock {
    /// Checks all internal invariants, in O(n), for tests and debug builds.
    ///
    /// # Errors
    ///
    /// A description of the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), &'static str> {
        let (used, chunks) = self.validate_order()?;
        let holes = self.validate_bins()?;
        if (used, chunks) != (self.used, self.chunks) {
            return Err("what is used is not what the chunks add up to");
        }
        if holes != self.holes || self.nodes.in_use().count() != (chunks + holes) as usize {
            return Err("a node is neither a chunk nor in a bin");
        }
        Ok(())
    }

    /// Checks the nodes in order of position: there are no gaps, and no two holes are adjacent. Returns the numbers of used
    /// cells and of chunks.
    fn validate_order(&self) -> Result<(u32, u32), &'static str> {
        let lowest = self.nodes.in_use().find(|(_, node)| node.below == NONE).ok_or("no stretch is the lowest")?;
        let (mut at, mut below, mut end) = (lowest.0, NONE, 0);
        let (mut used, mut chunks, mut after_hole) = (0, 0, false);
        while at != NONE {
            let node = self.nodes[at];
            if node.start != end || node.cells() == 0 || node.below != below {
                return Err("a stretch does not start where the one below it ends");
            }
            if node.is_hole() && after_hole {
                return Err("two holes lie side by side");
            }
            if !node.is_hole() {
                (used, chunks) = (used + node.cells(), chunks + 1);
            }
            (after_hole, end) = (node.is_hole(), end + node.cells());
            (below, at) = (at, node.above);
        }
        if end == self.cells { Ok((used, chunks)) } else { Err("the stretches do not end where the block does") }
    }

    /// Checks that every list contains holes of its lengths, linked both ways. Returns their number.
    fn validate_bins(&self) -> Result<u32, &'static str> {
        let (mut holes, mut bin) = (0, self.bins.first_from(Bin::of(0)));
        while let Some(current) = bin {
            let (mut left, mut at) = (NONE, self.bins.head(current));
            while at != NONE {
                let node = self.nodes[at];
                if !node.is_hole() || Bin::of(node.cells()) != current || node.left != left {
                    return Err("a bin holds what does not belong there");
                }
                holes += 1;
                (left, at) = (at, node.right);
            }
            bin = current.next().and_then(|next| self.bins.first_from(next));
        }
        Ok(holes)
    }
}
