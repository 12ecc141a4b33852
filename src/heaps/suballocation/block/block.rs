//! The block itself.

use amdgpu_hw::num::{index, wide};

use super::{
    bins::{Bin, Bins, NONE},
    chunk::{Chunk, Owner},
    error::{BlockError, ChunkError, NotOfThisBlock},
    nodes::{Node, Nodes},
};

/// The least granule, bytes.
pub const MIN_GRANULE: u64 = 256;
/// Granules a block has at most: with [`MIN_GRANULE`], 512 GiB less 256 bytes.
pub const MAX_CELLS: u32 = i32::MAX as u32;

/// A block of bytes that lie somewhere, divided into chunks.
///
/// The block knows offsets only; what lies there is the caller's business: a buffer, a heap, a descriptor set. It is
/// what the Vulkan Memory Allocator calls a virtual block.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::VirtualBlock;
///
/// let mut block = VirtualBlock::new(1 << 20, 256)?;
/// let vertices = block.allocate(5000, 256)?;
/// let texture = block.allocate(100_000, 4096)?;
/// assert_eq!(texture.offset() % 4096, 0);
/// block.free(vertices)?;
/// block.free(texture)?;
/// assert_eq!(block.stats().largest_hole, 1 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # How it works
///
/// Two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems",
/// ECRTS 2004), with two additions. Before the bins whose holes all fit, the first hole of the request's own bin is
/// looked at, which may fit and leaves less behind; and before a request fails, every hole that may fit is tried. So it
/// fails only if no hole fits, as the slow model of the tests does. (To look at more holes of a bin and take the
/// lowest was tried as well: a third slower, for one part in a hundred of the space.)
///
/// Allocating and freeing are O(1), but for a request that fits nowhere or only at some lucky alignment: it costs
/// a look at every hole of the bins in question. Freeing never needs memory.
#[derive(Debug)]
pub struct VirtualBlock {
    pub(super) nodes: Nodes,
    pub(super) bins: Bins,
    pub(super) owner: Owner,
    /// Exponent of the granule.
    pub(super) shift: u32,
    /// Granules.
    pub(super) cells: u32,
    pub(super) used: u32,
    pub(super) chunks: u32,
    pub(super) holes: u32,
}

/// A request, in cells.
#[derive(Clone, Copy)]
struct Wanted {
    cells: u32,
    align: u32,
}

impl VirtualBlock {
    /// Creates an empty block of `size` bytes, all offsets and sizes in multiples of `granule`.
    ///
    /// # Errors
    ///
    /// * [`BlockError::Granule`]: no power of two, or below [`MIN_GRANULE`];
    /// * [`BlockError::Size`]: zero, no multiple of the granule, or more than [`MAX_CELLS`] granules.
    pub fn new(size: u64, granule: u64) -> Result<Self, BlockError> {
        if granule < MIN_GRANULE || !granule.is_power_of_two() {
            return Err(BlockError::Granule { granule });
        }
        let shift = granule.ilog2();
        let cells = match u32::try_from(size >> shift) {
            Ok(cells @ 1..=MAX_CELLS) if size.is_multiple_of(granule) => cells,
            _ => return Err(BlockError::Size { size, granule }),
        };
        let mut block = Self {
            nodes: Nodes::default(),
            bins: Bins::new(),
            owner: Owner::fresh(shift),
            shift,
            cells,
            used: 0,
            chunks: 0,
            holes: 0,
        };
        block.clear();
        Ok(block)
    }

    /// Returns the size of the block, bytes.
    pub fn size(&self) -> u64 {
        self.bytes(self.cells)
    }

    /// Returns the granule, bytes: every offset and length is a multiple of it.
    pub fn granule(&self) -> u64 {
        1 << self.shift
    }

    /// Returns the number of bytes that a chunk holds: what was asked for, rounded up to the granule. `None` for another block's.
    pub fn len_of(&self, chunk: &Chunk) -> Option<u64> {
        (chunk.owner == self.owner).then(|| self.bytes(self.nodes[chunk.node].cells()))
    }

    /// Returns `true` if there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks == 0
    }

    /// Takes `size` bytes whose offset is a multiple of `alignment`, a power of two.
    ///
    /// # Errors
    ///
    /// * [`ChunkError::ZeroSize`], [`ChunkError::Alignment`]: the request makes no sense;
    /// * [`ChunkError::NoSpace`]: no hole fits;
    /// * [`ChunkError::HostMemory`].
    #[inline]
    pub fn allocate(&mut self, size: u64, alignment: u64) -> Result<Chunk, ChunkError> {
        if size == 0 {
            return Err(ChunkError::ZeroSize);
        }
        if !alignment.is_power_of_two() {
            return Err(ChunkError::Alignment { alignment });
        }
        let no_space = |block: &Self| ChunkError::NoSpace { size, alignment, free: block.stats_free() };
        let Some(wanted) = self.wanted(size, alignment) else { return Err(no_space(self)) };
        // Splitting off what is before and behind takes two nodes at most.
        if !self.nodes.reserve(2) {
            return Err(ChunkError::HostMemory { chunks: self.chunks });
        }
        let Some((hole, start)) = self.find(wanted) else { return Err(no_space(self)) };
        Ok(self.carve(hole, start, wanted.cells))
    }

    /// Gives a chunk back. O(1), needs no memory.
    ///
    /// # Errors
    ///
    /// [`NotOfThisBlock`], with the chunk, when another block made it, or this one before it was cleared.
    #[inline]
    pub fn free(&mut self, chunk: Chunk) -> Result<(), NotOfThisBlock> {
        if chunk.owner != self.owner {
            return Err(NotOfThisBlock { chunk });
        }
        self.used -= self.nodes[chunk.node].cells();
        self.chunks -= 1;
        self.release(chunk.node);
        Ok(())
    }

    /// Takes everything back at once. Chunks handed out before are not of this block any more.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.bins = Bins::new();
        self.owner = Owner::fresh(self.shift);
        (self.used, self.chunks, self.holes) = (0, 0, 0);
        let all = self.nodes.take(Node::hole(0, self.cells, NONE, NONE));
        self.insert(all);
    }

    pub(super) const fn bytes(&self, cells: u32) -> u64 {
        wide(index(cells)) << self.shift
    }

    /// The request in cells, if the block is large enough for it at all.
    fn wanted(&self, size: u64, alignment: u64) -> Option<Wanted> {
        let cells = ((size - 1) >> self.shift) + 1;
        let align = (alignment >> self.shift).max(1);
        if cells > u64::from(self.cells) {
            return None;
        }
        // Beyond the block's end only offset 0 is aligned, which 2^31 says as well.
        Some(Wanted { cells: cells as u32, align: align.min(1 << 31) as u32 })
    }

    /// A hole, and where in it the chunk starts.
    #[inline]
    fn find(&self, wanted: Wanted) -> Option<(u32, u32)> {
        let own = Bin::of(wanted.cells);
        if let Some(found) = self.first_fits(own, wanted) {
            return Some(found);
        }
        let mut bin = self.bins.first_from(Bin::all_at_least(wanted.cells));
        // Without an alignment the first look finds one.
        while let Some(current) = bin {
            if let Some(found) = self.first_fits(current, wanted) {
                return Some(found);
            }
            bin = current.next().and_then(|next| self.bins.first_from(next));
        }
        self.find_at_last(wanted)
    }

    /// Tries every hole that is not too short.
    #[cold]
    fn find_at_last(&self, wanted: Wanted) -> Option<(u32, u32)> {
        let mut bin = self.bins.first_from(Bin::of(wanted.cells));
        while let Some(current) = bin {
            let mut at = self.bins.head(current);
            while at != NONE {
                if let Some(start) = self.nodes[at].fit(wanted.cells, wanted.align) {
                    return Some((at, start));
                }
                at = self.nodes[at].right;
            }
            bin = current.next().and_then(|next| self.bins.first_from(next));
        }
        None
    }

    /// The first hole of a bin, if the request fits it.
    #[inline]
    fn first_fits(&self, bin: Bin, Wanted { cells, align }: Wanted) -> Option<(u32, u32)> {
        let at = self.bins.head(bin);
        if at == NONE {
            return None;
        }
        self.nodes[at].fit(cells, align).map(|start| (at, start))
    }

    /// Makes `cells` from `start` on a chunk, and what is left of the hole before and behind it holes.
    #[inline]
    fn carve(&mut self, hole: u32, start: u32, cells: u32) -> Chunk {
        self.remove(hole);
        let was = self.nodes[hole];
        let before = start - was.start;
        let behind = was.cells() - before - cells;
        if before > 0 {
            let gap = self.nodes.take(Node::hole(was.start, before, was.below, hole));
            self.nodes[was.below].above = gap;
            self.nodes[hole].below = gap;
            self.insert(gap);
        }
        if behind > 0 {
            let rest = self.nodes.take(Node::hole(start + cells, behind, hole, was.above));
            self.nodes[was.above].below = rest;
            self.nodes[hole].above = rest;
            self.insert(rest);
        }
        self.nodes[hole].become_chunk(start, cells);
        self.used += cells;
        self.chunks += 1;
        Chunk { owner: self.owner, node: hole, start }
    }

    /// Makes a chunk's node a hole, one with the holes beside it.
    #[inline]
    fn release(&mut self, at: u32) {
        let Node { below, above, mut start, .. } = self.nodes[at];
        let mut cells = self.nodes[at].cells();
        let (lower, upper) = (self.nodes[below], self.nodes[above]);
        if lower.is_hole() {
            self.remove(below);
            self.nodes.give(below);
            (start, cells) = (lower.start, cells + lower.cells());
            self.nodes[at].below = lower.below;
            self.nodes[lower.below].above = at;
        }
        if upper.is_hole() {
            self.remove(above);
            self.nodes.give(above);
            cells += upper.cells();
            self.nodes[at].above = upper.above;
            self.nodes[upper.above].below = at;
        }
        self.nodes[at].become_hole(start, cells);
        self.insert(at);
    }

    /// Puts a node into the bin of its length.
    #[inline]
    fn insert(&mut self, at: u32) {
        let bin = Bin::of(self.nodes[at].cells());
        let second = self.bins.push(bin, at);
        let node = &mut self.nodes[at];
        (node.left, node.right) = (NONE, second);
        self.nodes[second].left = at;
        self.holes += 1;
    }

    /// Takes a hole out of its bin.
    #[inline]
    fn remove(&mut self, at: u32) {
        let Node { left, right, .. } = self.nodes[at];
        self.bins.closed(Bin::of(self.nodes[at].cells()), left, right);
        self.nodes[left].right = right;
        self.nodes[right].left = left;
        self.holes -= 1;
    }
}
