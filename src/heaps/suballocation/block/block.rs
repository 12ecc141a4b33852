//! The block, and the allocation of chunks from it.

use amdgpu_hw::num::{index, wide};

use super::{
    bins::{Bin, Bins, NONE},
    chunk::{Chunk, Owner},
    error::{BlockError, ChunkError, NotOfThisBlock},
    nodes::{Node, Nodes},
};

/// Size of the smallest granule, bytes.
pub const MIN_GRANULE: u64 = 256;
/// Largest number of granules in a block. With [`MIN_GRANULE`], the block has 512 GiB minus 256 bytes.
pub const MAX_CELLS: u32 = i32::MAX as u32;

/// A range of bytes that is divided into chunks.
///
/// A block manages offsets only. They can refer to a buffer, a heap, or a descriptor set. The Vulkan Memory Allocator calls
/// this a virtual block.
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
/// # Algorithm
///
/// Two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems", ECRTS
/// 2004), with two additions. Before the bins whose holes all fit, the first hole of the request's own bin is checked, which
/// may fit and leaves less unused space. Before a request fails, every hole that may fit is tried, so a request fails only if
/// no hole fits, as in the reference model of the tests. (Checking more holes of a bin to find the lowest one was a third
/// slower and saved only one percent of the space.)
///
/// Allocating and freeing are O(1), except for a request that fits nowhere or only in a few holes because of its alignment: then
/// every hole of these bins is checked. Freeing never allocates memory.
#[derive(Debug)]
pub struct VirtualBlock {
    pub(super) nodes: Nodes,
    pub(super) bins: Bins,
    pub(super) owner: Owner,
    /// Base-2 logarithm of the granule.
    pub(super) shift: u32,
    /// Size of the block in granules.
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
    /// Creates an empty block of `size` bytes. All offsets and sizes in it are multiples of `granule`.
    ///
    /// # Errors
    ///
    /// * [`BlockError::Granule`] if `granule` is not a power of two or is below [`MIN_GRANULE`];
    /// * [`BlockError::Size`] if `size` is zero, not a multiple of the granule, or more than [`MAX_CELLS`] granules.
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

    /// Returns the size of the block in bytes.
    pub fn size(&self) -> u64 {
        self.bytes(self.cells)
    }

    /// Returns the granule in bytes. Every offset and length is a multiple of it.
    pub fn granule(&self) -> u64 {
        1 << self.shift
    }

    /// Returns the size of a chunk in bytes: the requested size, rounded up to the granule. Returns `None` for a chunk of
    /// another block.
    pub fn len_of(&self, chunk: &Chunk) -> Option<u64> {
        (chunk.owner == self.owner).then(|| self.bytes(self.nodes[chunk.node].cells()))
    }

    /// Returns `true` if there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.chunks == 0
    }

    /// Allocates `size` bytes at an offset that is a multiple of `alignment`, a power of two.
    ///
    /// # Errors
    ///
    /// * [`ChunkError::ZeroSize`] if the size is zero; [`ChunkError::Alignment`] if the alignment is not a power of two;
    /// * [`ChunkError::NoSpace`] if no hole fits;
    /// * [`ChunkError::HostMemory`] if the host has no memory for the block's data.
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
        // At most two nodes are needed, for the holes before and after the chunk.
        if !self.nodes.reserve(2) {
            return Err(ChunkError::HostMemory { chunks: self.chunks });
        }
        let Some((hole, start)) = self.find(wanted) else { return Err(no_space(self)) };
        Ok(self.carve(hole, start, wanted.cells))
    }

    /// Frees a chunk in O(1), without allocating memory.
    ///
    /// # Errors
    ///
    /// [`NotOfThisBlock`], with the chunk, if it is a chunk of another block, or was allocated before this block was cleared.
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

    /// Frees all chunks at once. Chunks that were allocated before no longer belong to this block.
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

    /// Returns the request in cells; `None` if it exceeds the whole block.
    fn wanted(&self, size: u64, alignment: u64) -> Option<Wanted> {
        let cells = ((size - 1) >> self.shift) + 1;
        let align = (alignment >> self.shift).max(1);
        if cells > u64::from(self.cells) {
            return None;
        }
        // Beyond the end of the block only offset 0 is aligned, and an alignment of 2^31 expresses the same.
        Some(Wanted { cells: cells as u32, align: align.min(1 << 31) as u32 })
    }

    /// Returns a hole that fits, and the start of the chunk in it.
    #[inline]
    fn find(&self, wanted: Wanted) -> Option<(u32, u32)> {
        let own = Bin::of(wanted.cells);
        if let Some(found) = self.first_fits(own, wanted) {
            return Some(found);
        }
        let mut bin = self.bins.first_from(Bin::all_at_least(wanted.cells));
        // Without an alignment, the first iteration finds a hole.
        while let Some(current) = bin {
            if let Some(found) = self.first_fits(current, wanted) {
                return Some(found);
            }
            bin = current.next().and_then(|next| self.bins.first_from(next));
        }
        self.find_at_last(wanted)
    }

    /// Returns the first hole that fits, trying every hole that is long enough.
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

    /// Returns the first hole of a bin if the request fits it.
    #[inline]
    fn first_fits(&self, bin: Bin, Wanted { cells, align }: Wanted) -> Option<(u32, u32)> {
        let at = self.bins.head(bin);
        if at == NONE {
            return None;
        }
        self.nodes[at].fit(cells, align).map(|start| (at, start))
    }

    /// Turns `cells` cells at `start` into a chunk, and the rest of the hole before and after them into holes.
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

    /// Turns a chunk's node into a hole, and merges it with adjacent holes.
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

    /// Adds a hole to the bin of its length.
    #[inline]
    fn insert(&mut self, at: u32) {
        let bin = Bin::of(self.nodes[at].cells());
        let second = self.bins.push(bin, at);
        let node = &mut self.nodes[at];
        (node.left, node.right) = (NONE, second);
        self.nodes[second].left = at;
        self.holes += 1;
    }

    /// Removes a hole from its bin.
    #[inline]
    fn remove(&mut self, at: u32) {
        let Node { left, right, .. } = self.nodes[at];
        self.bins.closed(Bin::of(self.nodes[at].cells()), left, right);
        self.nodes[left].right = right;
        self.nodes[right].left = left;
        self.holes -= 1;
    }
}
