//! Addresses in blocks (GFX9 and later). The offset in a block is the XOR of contributions of x, y, z and the sample.

use super::area::Area;
use super::cell::Cell;
use super::plane::Plane;
use crate::equation::Equation;

/// The parameters of a level in blocks, from [`addr2`](crate::addr2) or [`addr3`](crate::addr3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPlan {
    pub(crate) equation: Equation,
    /// The value XOR-ed into each offset: pipe and bank XOR, and the location in the mip tail (GFX9).
    pub(crate) constant: u32,
    /// The value added to coordinates before the equation: the location in the mip tail (GFX10 and later).
    pub(crate) origin: [u32; 3],
    /// The base-2 logarithms of a block's dimensions.
    pub(crate) block_log2: [u32; 3],
    /// The base-2 logarithm of a block's size in bytes.
    pub(crate) block_bits: u32,
    /// The offset of the level in bytes.
    pub(crate) base: u64,
    /// The distance between rows of blocks in bytes.
    pub(crate) row_bytes: u64,
    /// The distance between layers of blocks in bytes.
    pub(crate) slice_bytes: u64,
}

/// The base-2 logarithm of the size in bytes from which blocks are large enough to be prefetched.
const LEAST_AREA_LOG2: u32 = 12;

/// The contributions of the low and the high byte of a coordinate to the offset in a block.
type Axis = [[u32; 256]; 2];

/// A level in blocks, prepared so that an address is the sum of a block's offset and the XOR of at most eight table entries. The
/// tables take 6.5 KiB, without heap allocation.
#[derive(Clone, Debug)]
pub struct BlockTables {
    axes: [Axis; 3],
    samples: [u32; 16],
    plan: BlockPlan,
    cell: Option<Cell>,
    area: Option<Area>,
}

/// Returns the contribution of each bit of a coordinate to the offset.
fn columns(equation: &Equation, term: impl Fn(crate::equation::Term) -> u16) -> [u32; 16] {
    let mut columns = [0; 16];
    for (bit, &found) in equation.terms().iter().enumerate() {
        let axis = term(found);
        for (place, column) in columns.iter_mut().enumerate() {
            *column |= u32::from(axis >> place & 1) << bit;
        }
    }
    columns
}

/// Fills a table with the XOR of the columns that each index selects.
pub(crate) fn fill(table: &mut [u32], columns: &[u32]) {
    for (bit, column) in columns.iter().enumerate() {
        let (known, rest) = table.split_at_mut((1 << bit).min(table.len()));
        for (entry, value) in rest.iter_mut().zip(known) {
            *entry = *value ^ column;
        }
    }
}

impl BlockTables {
    pub(crate) fn new(plan: &BlockPlan, bytes_log2: u32) -> Self {
        let [x, y, z] = [
            columns(&plan.equation, crate::equation::Term::x),
            columns(&plan.equation, crate::equation::Term::y),
            columns(&plan.equation, crate::equation::Term::z),
        ];
        let s = columns(&plan.equation, crate::equation::Term::s);
        let mut this = Self { axes: [[[0; 256]; 2]; 3], samples: [0; 16], plan: *plan, cell: None, area: None };
        for (axis, columns) in this.axes.iter_mut().zip([&x, &y, &z]) {
            let (low, high) = columns.split_at(8);
            fill(&mut axis[0], low);
            fill(&mut axis[1], high);
        }
        fill(&mut this.samples, &s[..4]);
        let others = z.iter().chain(&s).fold(plan.constant, |all, column| all | column);
        // Elements are copied one by one if a level does not start at the boundary of a cell, which happens only in mip tails.
        let starts = |log2: u32, origin: u32| origin & ((1 << log2) - 1) == 0;
        this.cell = Cell::find(bytes_log2, &x, &y, others)
            .filter(|cell| starts(cell.sides_log2[0], plan.origin[0]) && starts(cell.sides_log2[1], plan.origin[1]));
        // An area excludes the bits by which neighbouring blocks change each other's offsets.
        let inside = |columns: [u32; 16], axis: usize| {
            let mut inside = columns.map(u64::from);
            inside.iter_mut().skip(plan.block_log2[axis] as usize).for_each(|column| *column = 0);
            inside
        };
        let cell = this.cell.as_ref().filter(|_| plan.block_bits >= LEAST_AREA_LOG2);
        this.area =
            cell.and_then(|cell| Area::find(&[plan.block_bits], bytes_log2, cell, &inside(x, 0), &inside(y, 1)));
        this
    }

    #[inline]
    fn axis(&self, axis: usize, coordinate: u32) -> u32 {
        let [low, high] = &self.axes[axis];
        low[(coordinate & 0xff) as usize] ^ high[(coordinate >> 8 & 0xff) as usize]
    }

    /// Returns the address of an element in bytes from the start of the image. The address is meaningless if the coordinates are
    /// outside the padded level.
    #[inline]
    pub fn address(&self, x: u32, y: u32, z: u32, sample: u32) -> u64 {
        let plane = self.plane(z, sample);
        plane.at(plane.line(y), x)
    }

    /// Returns the base-2 logarithms of a block's dimensions.
    pub const fn block_log2(&self) -> [u32; 3] {
        self.plan.block_log2
    }

    /// Returns the address computation for one layer and sample.
    #[inline]
    pub(super) fn plane(&self, z: u32, sample: u32) -> BlockPlane<'_> {
        let offset = self.axis(2, z.wrapping_add(self.plan.origin[2]))
            ^ self.samples[(sample & 15) as usize]
            ^ self.plan.constant;
        let base = self.plan.base + u64::from(z >> self.plan.block_log2[2]) * self.plan.slice_bytes;
        BlockPlane { tables: self, base, offset }
    }
}

/// The address computation for one layer and sample in blocks.
pub(super) struct BlockPlane<'a> {
    tables: &'a BlockTables,
    base: u64,
    offset: u32,
}

impl Plane for BlockPlane<'_> {
    /// The address of the row's first block, and the row's contribution to the offset in blocks.
    type Line = (u64, u32);

    #[inline]
    fn line(&self, y: u32) -> (u64, u32) {
        let plan = &self.tables.plan;
        let offset = self.tables.axis(1, y.wrapping_add(plan.origin[1])) ^ self.offset;
        (self.base + u64::from(y >> plan.block_log2[1]) * plan.row_bytes, offset)
    }

    #[inline]
    fn at(&self, (base, offset): (u64, u32), x: u32) -> u64 {
        let plan = &self.tables.plan;
        let offset = self.tables.axis(0, x.wrapping_add(plan.origin[0])) ^ offset;
        base + (u64::from(x >> plan.block_log2[0]) << plan.block_bits) + u64::from(offset)
    }

    fn cell(&self) -> Option<&Cell> {
        self.tables.cell.as_ref()
    }

    fn area(&self) -> Option<&Area> {
        self.tables.area.as_ref()
    }
}
