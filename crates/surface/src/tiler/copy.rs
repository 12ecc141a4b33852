//! Copies of bytes between linear rows and tiled images, in either direction.

use core::hint::black_box;

use super::cell::{Cell, places};
use super::error::TilerError;

/// The size of a cache line in bytes on most processors. Where lines are longer, some are read twice.
const CACHE_LINE: usize = 64;

/// The direction of a copy. The copy functions return `None`, with nothing or a part copied, if they would exceed either buffer.
pub(super) trait Direction {
    /// Returns the sizes in bytes of the tiled image and of the rows.
    fn lengths(&self) -> [usize; 2];
    /// Copies `N` bytes.
    fn fixed<const N: usize>(&mut self, tiled: usize, row: usize) -> Option<()>;
    /// Copies `count` bytes.
    fn any(&mut self, tiled: usize, row: usize, count: usize) -> Option<()>;
    /// Copies a cell of `CELL` bytes whose rows have `ROW` bytes, in runs of `RUN` bytes. `ORDER` is the order of the cell, or 0 if
    /// it is not known at compile time.
    fn cell<const CELL: usize, const ROW: usize, const RUN: usize, const ORDER: u32>(
        &mut self,
        cell: &Cell,
        tiled: usize,
        row: usize,
        pitch: usize,
    ) -> Option<()>;
    /// Reads a byte of each cache line in `count` bytes of the image, so that they are in the cache when they are copied.
    fn fetch(&self, tiled: usize, count: usize);
}

/// Returns the error of a copy between byte `tiled` of the image and byte `row` of the rows, with lines of `count` bytes each.
#[cold]
pub(super) fn too_short<D: Direction>(
    to: &D,
    tiled: u64,
    row: usize,
    [count, lines]: [usize; 2],
    pitch: usize,
) -> TilerError {
    let [tiled_len, rows_len] = to.lengths().map(|len| len as u64);
    let last = |at: u64, bytes: usize| at.saturating_add(bytes as u64).saturating_sub(1);
    let end = last(tiled, count * lines);
    if end >= tiled_len {
        return TilerError::TiledTooShort { len: tiled_len as usize, at: end };
    }
    // Finds the first line that exceeds the buffer.
    let ends = (0..lines).map(|line| last(row as u64, line * pitch + count));
    let at = ends.into_iter().find(|end| *end >= rows_len).unwrap_or(rows_len);
    TilerError::RowsTooShort { len: rows_len as usize, at }
}

/// A function that copies a cell. Its arguments are the offset of the cell in the image, its offset in the rows, and the pitch of
/// the rows.
pub(super) type Copier<D> = fn(&mut D, &Cell, usize, usize, usize) -> Option<()>;

/// Returns the function that copies cells of this shape.
pub(super) fn copier<D: Direction>(cell: &Cell) -> Copier<D> {
    macro_rules! shapes {
        ($($bytes:literal, $row:literal: $($run:literal)*;)*) => {
            match (cell.bytes, cell.row, cell.run) {
                $($(($bytes, $row, $run) => D::cell::<$bytes, $row, $run, 0>,)*)*
                // No other shapes are created.
                _ => D::cell::<256, 128, 64, 0>,
            }
        };
    }
    macro_rules! orders {
        ($($bytes:literal, $row:literal, $run:literal: $($order:literal)*;)*) => {
            match (cell.bytes, cell.row, cell.run, cell.order) {
                $($(($bytes, $row, $run, $order) => D::cell::<$bytes, $row, $run, $order>,)*)*
                _ => shapes! {
                    32, 8: 1 2 4 8;
                    32, 16: 1 2 4 8 16;
                    64, 8: 1 2 4 8;
                    64, 16: 1 2 4 8 16;
                    64, 32: 1 2 4 8 16 32;
                    128, 8: 1 2 4 8;
                    128, 16: 1 2 4 8 16;
                    128, 32: 1 2 4 8 16 32;
                    256, 16: 1 2 4 8 16;
                    256, 32: 1 2 4 8 16 32;
                    256, 64: 1 2 4 8 16 32 64;
                    256, 128: 1 2 4 8 16 32 64;
                },
            }
        };
    }
    // The orders of 2D images in the modes that drivers use, as in `Cell::order`, so that the compiler knows the location of each
    // run.
    orders! {
        64, 8, 2: 0x00b3_a291;
        64, 8, 8: 0x00b9_a321;
        256, 16, 1: 0xc431_2ba9;
        256, 16, 2: 0xc4b3_a291;
        256, 16, 4: 0xc4ba_3921;
        256, 16, 8: 0xc4b9_a321;
        256, 16, 16: 0xcba9_4321;
        256, 32, 2: 0x54b3_a291 0x0432_1ba9;
        128, 16, 4: 0x00b3_a291;
        128, 16, 16: 0x00ba_9321;
        256, 32, 4: 0x04b3_a291 0x0032_b1a9;
        256, 32, 16: 0x04ba_9321 0x00ba_3921 0x00b3_a921 0x003b_a921;
        256, 32, 8: 0x00b3_a291;
        256, 64, 8: 0x0003_2a19;
        256, 64, 16: 0x000a_3291 0x0003_a291 0x0003_2a91 0x21a9;
        256, 64, 32: 0xa291;
    }
}

/// A copy from rows into a tiled image.
pub(super) struct Tile<'a> {
    pub(super) tiled: &'a mut [u8],
    pub(super) rows: &'a [u8],
}

/// A copy from a tiled image into rows.
pub(super) struct Detile<'a> {
    pub(super) tiled: &'a [u8],
    pub(super) rows: &'a mut [u8],
}

/// Reads a byte of each cache line in `count` bytes. The reads do not depend on each other, so that the processor waits for many of
/// them at once.
fn fetch(tiled: &[u8], at: usize, count: usize) {
    if let Some(bytes) = tiled.get(at..).and_then(|bytes| bytes.get(..count)) {
        black_box(bytes.as_chunks::<CACHE_LINE>().0.iter().fold(0, |all, line| all ^ line[0]));
    }
}

/// Copies `N` bytes at offset `at` of `from` to offset `to_at` of `to`.
#[inline]
fn copy_fixed<const N: usize>((to, to_at): (&mut [u8], usize), (from, at): (&[u8], usize)) -> Option<()> {
    let from = from.get(at..)?.first_chunk::<N>()?;
    *to.get_mut(to_at..)?.first_chunk_mut::<N>()? = *from;
    Some(())
}

/// Copies `count` bytes at offset `at` of `from` to offset `to_at` of `to`.
fn copy_any((to, to_at): (&mut [u8], usize), (from, at): (&[u8], usize), count: usize) -> Option<()> {
    let from = from.get(at..)?.get(..count)?;
    to.get_mut(to_at..)?.get_mut(..count)?.copy_from_slice(from);
    Some(())
}

/// The runs of a cell in the order of its rows, where each is in the order of the image.
struct Runs<'a, const CELL: usize, const ROW: usize, const RUN: usize>(&'a [u8; 256]);

impl<'a, const CELL: usize, const ROW: usize, const RUN: usize> Runs<'a, CELL, ROW, RUN> {
    #[inline]
    fn new<const ORDER: u32>(cell: &'a Cell) -> Self {
        Self(if ORDER == 0 { &cell.places } else { const { &places(CELL, ROW, RUN, ORDER) } })
    }

    /// Returns the number in the image of run `x` of row `y`.
    #[inline]
    fn place(&self, x: usize, y: usize) -> usize {
        // The mask tells the compiler that the index is inside the cell.
        usize::from(self.0[(y * (ROW / RUN) + x) & 255]) & (CELL / RUN - 1)
    }
}

// The two directions differ in the buffer that they borrow mutably, which no parameter of a type can choose: what is common to them is
// above, and what is left of `cell` is the one loop in which source and destination change their roles.
impl Direction for Tile<'_> {
    fn lengths(&self) -> [usize; 2] {
        [self.tiled.len(), self.rows.len()]
    }

    #[inline]
    fn fixed<const N: usize>(&mut self, tiled: usize, row: usize) -> Option<()> {
        copy_fixed::<N>((self.tiled, tiled), (self.rows, row))
    }

    fn any(&mut self, tiled: usize, row: usize, count: usize) -> Option<()> {
        copy_any((self.tiled, tiled), (self.rows, row), count)
    }

    fn cell<const CELL: usize, const ROW: usize, const RUN: usize, const ORDER: u32>(
        &mut self,
        cell: &Cell,
        tiled: usize,
        row: usize,
        pitch: usize,
    ) -> Option<()> {
        let runs = Runs::<CELL, ROW, RUN>::new::<ORDER>(cell);
        let to = self.tiled.get_mut(tiled..)?.first_chunk_mut::<CELL>()?.as_chunks_mut::<RUN>().0;
        for y in 0..CELL / ROW {
            let from = self.rows.get(row + y * pitch..)?.first_chunk::<ROW>()?.as_chunks::<RUN>().0;
            for (x, from) in from.iter().enumerate() {
                *to.get_mut(runs.place(x, y))? = *from;
            }
        }
        Some(())
    }

    fn fetch(&self, tiled: usize, count: usize) {
        fetch(self.tiled, tiled, count);
    }
}

impl Direction for Detile<'_> {
    fn lengths(&self) -> [usize; 2] {
        [self.tiled.len(), self.rows.len()]
    }

    #[inline]
    fn fixed<const N: usize>(&mut self, tiled: usize, row: usize) -> Option<()> {
        copy_fixed::<N>((self.rows, row), (self.tiled, tiled))
    }

    fn any(&mut self, tiled: usize, row: usize, count: usize) -> Option<()> {
        copy_any((self.rows, row), (self.tiled, tiled), count)
    }

    fn cell<const CELL: usize, const ROW: usize, const RUN: usize, const ORDER: u32>(
        &mut self,
        cell: &Cell,
        tiled: usize,
        row: usize,
        pitch: usize,
    ) -> Option<()> {
        let runs = Runs::<CELL, ROW, RUN>::new::<ORDER>(cell);
        let from = self.tiled.get(tiled..)?.first_chunk::<CELL>()?.as_chunks::<RUN>().0;
        for y in 0..CELL / ROW {
            let to = self.rows.get_mut(row + y * pitch..)?.first_chunk_mut::<ROW>()?.as_chunks_mut::<RUN>().0;
            for (x, to) in to.iter_mut().enumerate() {
                *to = *from.get(runs.place(x, y))?;
            }
        }
        Some(())
    }

    fn fetch(&self, tiled: usize, count: usize) {
        fetch(self.tiled, tiled, count);
    }
}
