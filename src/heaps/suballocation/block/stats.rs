//! Statistics of a block.

use super::{bins::NONE, block::VirtualBlock};

/// Statistics of a [`VirtualBlock`]. *Chunks* are its allocated ranges, *holes* its free ranges. Sizes are in bytes.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::VirtualBlock;
///
/// let mut block = VirtualBlock::new(4096, 256)?;
/// let (first, _second) = (block.allocate(1024, 256)?, block.allocate(1024, 256)?);
/// block.free(first)?;
/// let stats = block.stats();
/// assert_eq!((stats.used, stats.free, stats.chunks, stats.holes), (1024, 3072, 1, 2));
/// assert_eq!((stats.largest_hole, stats.fragmentation_permille()), (2048, 333));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockStats {
    /// Number of allocated bytes.
    pub used: u64,
    /// Number of free bytes.
    pub free: u64,
    /// Number of allocated ranges.
    pub chunks: u32,
    /// Number of free ranges. Adjacent free ranges are merged.
    pub holes: u32,
    /// Size of the largest free range in bytes.
    pub largest_hole: u64,
    /// Host memory that the block's own data occupies, in bytes.
    pub host_memory: usize,
}

impl BlockStats {
    /// Returns the part of the free bytes that is not in the largest hole, in thousandths; 0 if there is at most one hole.
    pub fn fragmentation_permille(&self) -> u32 {
        let elsewhere = u128::from(self.free.saturating_sub(self.largest_hole));
        elsewhere.saturating_mul(1000).checked_div(self.free.into()).map_or(0, |permille| permille as u32)
    }
}

impl VirtualBlock {
    /// Returns the current statistics. Examines the holes of the last bin in use.
    pub fn stats(&self) -> BlockStats {
        BlockStats {
            used: self.bytes(self.used),
            free: self.stats_free(),
            chunks: self.chunks,
            holes: self.holes,
            largest_hole: self.bytes(self.largest()),
            host_memory: self.nodes.host_memory() + size_of_val(&self.bins) + size_of::<Self>(),
        }
    }

    /// Returns the end of the last chunk as an offset in bytes; 0 if there are no chunks. Visits every chunk.
    pub fn highest_end(&self) -> u64 {
        let chunks = self.nodes.in_use().filter(|(_, node)| !node.is_hole());
        self.bytes(chunks.map(|(_, node)| node.start + node.cells()).max().unwrap_or(0))
    }

    pub(super) fn stats_free(&self) -> u64 {
        self.bytes(self.cells - self.used)
    }

    fn largest(&self) -> u32 {
        let Some(bin) = self.bins.last() else { return 0 };
        let (mut largest, mut at) = (0, self.bins.head(bin));
        while at != NONE {
            largest = largest.max(self.nodes[at].cells());
            at = self.nodes[at].right;
        }
        largest
    }
}
