//! Copies of runs of bytes between rows and tiles, in either direction.

use super::error::TilerError;

/// A direction of copies.
pub(super) trait Direction {
    /// Copies `N` bytes.
    fn fixed<const N: usize>(&mut self, tiled: u64, row: usize) -> Result<(), TilerError>;
    /// Copies any number of bytes.
    fn any(&mut self, tiled: u64, row: usize, len: usize) -> Result<(), TilerError>;
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
}

/// Copies a run of a power of two of bytes.
#[inline]
pub(super) fn run<D: Direction>(to: &mut D, bytes: usize, tiled: u64, row: usize) -> Result<(), TilerError> {
    match bytes {
        1 => to.fixed::<1>(tiled, row),
        2 => to.fixed::<2>(tiled, row),
        4 => to.fixed::<4>(tiled, row),
        8 => to.fixed::<8>(tiled, row),
        16 => to.fixed::<16>(tiled, row),
        32 => to.fixed::<32>(tiled, row),
        64 => to.fixed::<64>(tiled, row),
        other => to.any(tiled, row, other),
    }
}
