//! Addresses in micro and macro tiles (GFX6 to GFX8): a sum of contributions of x, y, z and the sample, into which the numbers of
//! pipe and bank are inserted. Each of these numbers is a XOR of contributions.

use super::area::{Area, MACRO_TILES};
use super::cell::Cell;
use super::plane::Plane;

/// The contribution of a coordinate bit to an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contribution {
    /// The number of bytes in the memory of one pipe and bank.
    pub(crate) bytes: u64,
    /// The bits of the pipe and, above them, of the bank.
    pub(crate) turn: u8,
}

/// The rotation of pipes or banks from slice to slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// The value for the first slice.
    pub(crate) start: u32,
    /// The step between slices, before the shift.
    pub(crate) step: u32,
    /// The number of bits by which the product is shifted.
    pub(crate) shift: u32,
    /// The number of pipes or banks, minus one.
    pub(crate) mask: u32,
}

impl Turn {
    /// No rotation.
    pub(crate) const NONE: Self = Self { start: 0, step: 0, shift: 0, mask: 0 };

    /// Returns the value for a slice.
    #[inline]
    pub(crate) const fn at(&self, slice: u32) -> u32 {
        self.start.wrapping_add(self.step.wrapping_mul(slice) >> self.shift) & self.mask
    }
}

/// The parameters of a level in tiles, from [`addr1`](crate::addr1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TilePlan {
    /// The contributions of each bit of x and of y.
    pub(crate) axes: [[Contribution; 16]; 2],
    /// The contributions of each sample.
    pub(crate) samples: [Contribution; 16],
    /// The base-2 logarithm of the number of slices in a tile.
    pub(crate) thickness_log2: u32,
    /// The number of bytes that each slice of a thick tile adds.
    pub(crate) slices: [u64; 8],
    /// The distance between layers of tiles in bytes.
    pub(crate) slice_bytes: u64,
    pub(crate) pipes: Turn,
    pub(crate) banks: Turn,
}

/// A level in tiles, prepared for computing addresses. The tables take 9.5 KiB, without heap allocation.
#[derive(Clone, Debug)]
pub(super) struct TileTables {
    bytes: [[[u64; 256]; 2]; 2],
    turns: [[[u8; 256]; 2]; 2],
    plan: TilePlan,
    start: u64,
    /// The base-2 logarithms of the number of pipes, and of pipes times banks.
    spread: [u32; 2],
    cell: Option<Cell>,
    area: Option<Area>,
}

/// The base-2 logarithm of the contiguous bytes in one pipe.
const INTERLEAVE: u32 = 8;

impl TileTables {
    /// Prepares a level that starts at offset `start`.
    pub(super) fn new(plan: &TilePlan, start: u64, bytes_log2: u32) -> Self {
        let pipe_bits = plan.pipes.mask.count_ones();
        let spread = [pipe_bits, pipe_bits + plan.banks.mask.count_ones()];
        let (bytes, turns) = ([[[0; 256]; 2]; 2], [[[0; 256]; 2]; 2]);
        let mut this = Self { bytes, turns, plan: *plan, start, spread, cell: None, area: None };
        for (axis, columns) in plan.axes.iter().enumerate() {
            for (half, columns) in columns.chunks_exact(8).enumerate() {
                for at in 1..256_usize {
                    let (rest, top) = (at & (at - 1), at.trailing_zeros() as usize);
                    this.bytes[axis][half][at] = this.bytes[axis][half][rest] + columns[top].bytes;
                    this.turns[axis][half][at] = this.turns[axis][half][rest] ^ columns[top].turn;
                }
            }
        }
        // Columns that leave the contiguous bytes of a pipe are not part of a cell.
        let low = |column: Contribution| {
            let inside = column.bytes as u32 & 0xff;
            if column.bytes >> INTERLEAVE != 0 || column.turn != 0 { inside | 1 << INTERLEAVE } else { inside }
        };
        let [x, y] = plan.axes.map(|columns| columns.map(low));
        let others = plan.samples.iter().map(|sample| sample.bytes).chain(plan.slices);
        let others = others.fold(plan.slice_bytes | start, |all, bytes| all | bytes);
        this.cell = Cell::find(bytes_log2, &x, &y, others as u32 & 0xff);
        let whole = |column: Contribution| {
            let above = column.bytes >> INTERLEAVE << spread[1] | u64::from(column.turn);
            above << INTERLEAVE | column.bytes & 0xff
        };
        let [x, y] = plan.axes.map(|columns| columns.map(whole));
        this.area = this.cell.as_ref().and_then(|cell| Area::find(MACRO_TILES, bytes_log2, cell, &x, &y));
        this
    }

    #[inline]
    fn axis(&self, axis: usize, coordinate: u32) -> (u64, u32) {
        let (low, high) = ((coordinate & 0xff) as usize, (coordinate >> 8 & 0xff) as usize);
        let ([b0, b1], [t0, t1]) = (&self.bytes[axis], &self.turns[axis]);
        (b0[low] + b1[high], u32::from(t0[low] ^ t1[high]))
    }

    /// Returns the address of an element in bytes.
    #[inline]
    pub(super) fn address(&self, x: u32, y: u32, z: u32, sample: u32) -> u64 {
        let plane = self.plane(z, sample);
        plane.at(plane.line(y), x)
    }

    /// Returns the address computation for one layer and sample.
    #[inline]
    pub(super) fn plane(&self, z: u32, sample: u32) -> TilePlane<'_> {
        let plan = &self.plan;
        let slice = z >> plan.thickness_log2;
        let found = plan.samples[(sample & 15) as usize];
        let inside = plan.slices[(z & 7 & ((1 << plan.thickness_log2) - 1)) as usize];
        TilePlane {
            tables: self,
            bytes: found.bytes + inside + u64::from(slice) * plan.slice_bytes,
            turn: u32::from(found.turn) ^ plan.pipes.at(slice) ^ plan.banks.at(slice) << self.spread[0],
        }
    }
}

/// The address computation for one layer and sample in tiles.
pub(super) struct TilePlane<'a> {
    tables: &'a TileTables,
    bytes: u64,
    turn: u32,
}

impl Plane for TilePlane<'_> {
    /// The bytes in one pipe and bank, and the numbers of both.
    type Line = (u64, u32);

    #[inline]
    fn line(&self, y: u32) -> (u64, u32) {
        let (bytes, turn) = self.tables.axis(1, y);
        (self.bytes + bytes, self.turn ^ turn)
    }

    #[inline]
    fn at(&self, (bytes, turn): (u64, u32), x: u32) -> u64 {
        let (more, turned) = self.tables.axis(0, x);
        let bytes = bytes + more;
        let above = (bytes >> INTERLEAVE << self.tables.spread[1] | u64::from(turn ^ turned)) << INTERLEAVE;
        self.tables.start + (above | bytes & 0xff)
    }

    fn cell(&self) -> Option<&Cell> {
        self.tables.cell.as_ref()
    }

    fn area(&self) -> Option<&Area> {
        self.tables.area.as_ref()
    }
}
