//! The addresses of the elements of a row.

use super::blocks::BlockPlane;
use super::formula::Formula;
use super::plane::Plane;
use super::tiles::TilePlane;

/// A row of a layer and sample of a level, prepared so that only what depends on the column is left to compute.
pub struct Line<'a> {
    pub(super) width: u32,
    pub(super) order: LineOrder<'a>,
}

/// The order of the elements of a row in memory.
pub(super) enum LineOrder<'a> {
    Linear { start: u64, bytes: u64 },
    Blocks(BlockPlane<'a>, (u64, u32)),
    Tiles(TilePlane<'a>, (u64, u32)),
    Formula(Formula<'a>, u32),
}

impl core::fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Line").field("width", &self.width).finish_non_exhaustive()
    }
}

impl Line<'_> {
    /// Returns the address of an element as [`Subresource::address`](super::Subresource::address) does; `None` outside the padded level.
    #[inline]
    pub fn address(&self, x: u32) -> Option<u64> {
        if x >= self.width {
            return None;
        }
        Some(match &self.order {
            LineOrder::Linear { start, bytes } => start + u64::from(x) * bytes,
            LineOrder::Blocks(plane, line) => plane.at(*line, x),
            LineOrder::Tiles(plane, line) => plane.at(*line, x),
            LineOrder::Formula(plane, y) => plane.at(*y, x),
        })
    }

    /// Visits the addresses of elements, each with what comes with its column. Elements outside the padded level are left out.
    #[inline]
    pub fn each<T>(&self, columns: impl Iterator<Item = (u32, T)>, mut visit: impl FnMut(T, u64)) {
        // The order is looked at once, and each has a loop of its own.
        let inside = columns.filter(|(x, _)| *x < self.width);
        match &self.order {
            LineOrder::Linear { start, bytes } => inside.for_each(|(x, one)| visit(one, start + u64::from(x) * bytes)),
            LineOrder::Blocks(plane, line) => inside.for_each(|(x, one)| visit(one, plane.at(*line, x))),
            LineOrder::Tiles(plane, line) => inside.for_each(|(x, one)| visit(one, plane.at(*line, x))),
            LineOrder::Formula(plane, y) => inside.for_each(|(x, one)| visit(one, plane.at(*y, x))),
        }
    }
}
