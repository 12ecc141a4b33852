//! Copies of bytes between rows and tiles, in either direction.

use super::cell::Cell;
use super::error::TilerError;

/// A direction of copies.
pub(super) trait Direction {
    /// Copies `N` bytes.
    fn fixed<const N: usize>(&mut self, tiled: u64, row: usize) -> Result<(), TilerError>;
    /// Copies any number of bytes.
    fn any(&mut self, tiled: u64, row: usize, len: usize) -> Result<(), TilerError>;
    /// Copies a cell of `CELL` bytes whose rows have `ROW` bytes, in runs of `RUN` bytes.
    fn cell<const CELL: usize, const ROW: usize, const RUN: usize>(
        &mut self,
        cell: &Cell,
        tiled: u64,
        row: usize,
        pitch: usize,
    ) -> Result<(), TilerError>;
}

/// A function that copies a cell: from or to its first byte in the image, its first byte in the rows, and the pitch of these.
pub(super) type Copier<D> = fn(&mut D, &Cell, u64, usize, usize) -> Result<(), TilerError>;

/// Returns the function that copies such cells.
pub(super) fn copier<D: Direction>(cell: &Cell) -> Copier<D> {
    macro_rules! shapes {
        ($($cell:literal, $row:literal: $($run:literal)*;)*) => {
            match (cell.bytes, cell.row, cell.run) {
                $($(($cell, $row, $run) => D::cell::<$cell, $row, $run>,)*)*
                // No other shape is made.
                _ => D::cell::<256, 128, 64>,
            }
        };
    }
    shapes! {
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
    }
}

/// Copies into tiles.
pub(super) struct Tile<'a> {
    pub(super) tiled: &'a mut [u8],
    pub(super) rows: &'a [u8],
}

/// Copies out of tiles.
pub(super) struct Detile<'a> {
    pub(super) tiled: &'a [u8],
    pub(super) rows: &'a mut [u8],
}

fn start(len: usize, at: u64) -> Result<usize, TilerError> {
    usize::try_from(at).map_err(|_| TilerError::TiledTooShort { len, at })
}

fn end(len: usize, at: usize, count: usize) -> u64 {
    (at as u64).saturating_add(count as u64).saturating_sub(1).max(len as u64)
}

impl Direction for Tile<'_> {
    #[inline]
    fn fixed<const N: usize>(&mut self, tiled: u64, row: usize) -> Result<(), TilerError> {
        let len = self.tiled.len();
        let at = start(len, tiled)?;
        let from = self.rows.get(row..).and_then(<[u8]>::first_chunk::<N>);
        let from = from.ok_or(TilerError::RowsTooShort { len: self.rows.len(), at: end(self.rows.len(), row, N) })?;
        let to = self.tiled.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<N>);
        *to.ok_or(TilerError::TiledTooShort { len, at: end(len, at, N) })? = *from;
        Ok(())
    }

    fn any(&mut self, tiled: u64, row: usize, count: usize) -> Result<(), TilerError> {
        let len = self.tiled.len();
        let at = start(len, tiled)?;
        let from = self.rows.get(row..).and_then(|rest| rest.get(..count));
        let from =
            from.ok_or(TilerError::RowsTooShort { len: self.rows.len(), at: end(self.rows.len(), row, count) })?;
        let to = self.tiled.get_mut(at..).and_then(|rest| rest.get_mut(..count));
        to.ok_or(TilerError::TiledTooShort { len, at: end(len, at, count) })?.copy_from_slice(from);
        Ok(())
    }

    fn cell<const CELL: usize, const ROW: usize, const RUN: usize>(
        &mut self,
        cell: &Cell,
        tiled: u64,
        row: usize,
        pitch: usize,
    ) -> Result<(), TilerError> {
        let len = self.tiled.len();
        let at = start(len, tiled)?;
        let to = self.tiled.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<CELL>);
        let to = to.ok_or(TilerError::TiledTooShort { len, at: end(len, at, CELL) })?.as_chunks_mut::<RUN>().0;
        for (y, places) in cell.rows(ROW / RUN).take(CELL / ROW).enumerate() {
            let row = row + y * pitch;
            let from = self.rows.get(row..).and_then(<[u8]>::first_chunk::<ROW>);
            let from =
                from.ok_or(TilerError::RowsTooShort { len: self.rows.len(), at: end(self.rows.len(), row, ROW) })?;
            for (from, &place) in from.as_chunks::<RUN>().0.iter().zip(places) {
                // The places of a cell are inside of it, which the mask tells the compiler.
                if let Some(to) = to.get_mut(usize::from(place) & (CELL / RUN - 1)) {
                    *to = *from;
                }
            }
        }
        Ok(())
    }
}

impl Direction for Detile<'_> {
    #[inline]
    fn fixed<const N: usize>(&mut self, tiled: u64, row: usize) -> Result<(), TilerError> {
        let len = self.tiled.len();
        let at = start(len, tiled)?;
        let from = self.tiled.get(at..).and_then(<[u8]>::first_chunk::<N>);
        let from = from.ok_or(TilerError::TiledTooShort { len, at: end(len, at, N) })?;
        let rows = self.rows.len();
        let to = self.rows.get_mut(row..).and_then(<[u8]>::first_chunk_mut::<N>);
        *to.ok_or(TilerError::RowsTooShort { len: rows, at: end(rows, row, N) })? = *from;
        Ok(())
    }

    fn any(&mut self, tiled: u64, row: usize, count: usize) -> Result<(), TilerError> {
        let len = self.tiled.len();
        let at = start(len, tiled)?;
        let from = self.tiled.get(at..).and_then(|rest| rest.get(..count));
        let from = from.ok_or(TilerError::TiledTooShort { len, at: end(len, at, count) })?;
        let rows = self.rows.len();
        let to = self.rows.get_mut(row..).and_then(|rest| rest.get_mut(..count));
        to.ok_or(TilerError::RowsTooShort { len: rows, at: end(rows, row, count) })?.copy_from_slice(from);
        Ok(())
    }

    fn cell<const CELL: usize, const ROW: usize, const RUN: usize>(
        &mut self,
        cell: &Cell,
        tiled: u64,
        row: usize,
        pitch: usize,
    ) -> Result<(), TilerError> {
        let len = self.tiled.len();
        let at = start(len, tiled)?;
        let from = self.tiled.get(at..).and_then(<[u8]>::first_chunk::<CELL>);
        let from = from.ok_or(TilerError::TiledTooShort { len, at: end(len, at, CELL) })?.as_chunks::<RUN>().0;
        let rows = self.rows.len();
        for (y, places) in cell.rows(ROW / RUN).take(CELL / ROW).enumerate() {
            let row = row + y * pitch;
            let to = self.rows.get_mut(row..).and_then(<[u8]>::first_chunk_mut::<ROW>);
            let to = to.ok_or(TilerError::RowsTooShort { len: rows, at: end(rows, row, ROW) })?;
            for (to, &place) in to.as_chunks_mut::<RUN>().0.iter_mut().zip(places) {
                // The places of a cell are inside of it, which the mask tells the compiler.
                if let Some(from) = from.get(usize::from(place) & (CELL / RUN - 1)) {
                    *to = *from;
                }
            }
        }
        Ok(())
    }
}
