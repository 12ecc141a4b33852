//! One layer of a level, and the copies between it and rows.

use core::ops::Range;

use super::cell::Cell;
use super::copy::{Direction, copier};
use super::error::TilerError;

/// The addresses of one layer and sample.
pub(super) trait Plane {
    /// The part of an address that a row decides.
    type Line: Copy;

    /// Returns the part of the addresses of a row.
    fn line(&self, y: u32) -> Self::Line;

    /// Returns the address of an element of a row.
    fn at(&self, line: Self::Line, x: u32) -> u64;

    /// Returns the cells of this layer.
    fn cell(&self) -> Option<&Cell>;
}

/// The part of the rows that a layer is copied from or to.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The element at the start of the rows.
    pub(super) first: [u32; 2],
    /// The byte of that element.
    pub(super) start: usize,
    /// Bytes from one row to the next.
    pub(super) pitch: usize,
    /// Bytes of an element.
    pub(super) bytes: usize,
}

impl Place {
    fn of(&self, x: u32, y: u32) -> usize {
        self.start + (y - self.first[1]) as usize * self.pitch + (x - self.first[0]) as usize * self.bytes
    }
}

/// Copies some columns and rows: whole cells where there are some, element by element around them.
pub(super) fn copy<D: Direction, P: Plane>(
    plane: &P,
    [x, y]: [Range<u32>; 2],
    place: &Place,
    to: &mut D,
) -> Result<(), TilerError> {
    let Some(cell) = plane.cell() else { return elements(plane, x, y, place, to) };
    let [w, h] = cell.sides_log2;
    let inner = |all: &Range<u32>, log2: u32| {
        let mask = (1 << log2) - 1;
        let first = (all.start.saturating_add(mask) & !mask).min(all.end);
        first..(all.end & !mask).max(first)
    };
    let (columns, rows) = (inner(&x, w), inner(&y, h));
    if columns.is_empty() || rows.is_empty() {
        return elements(plane, x, y, place, to);
    }
    let copier = copier::<D>(cell);
    for line in rows.clone().step_by(1 << h) {
        let start = plane.line(line);
        for column in columns.clone().step_by(1 << w) {
            copier(to, cell, plane.at(start, column), place.of(column, line), place.pitch)?;
        }
    }
    elements(plane, x.clone(), y.start..rows.start, place, to)?;
    elements(plane, x.clone(), rows.end..y.end, place, to)?;
    elements(plane, x.start..columns.start, rows.clone(), place, to)?;
    elements(plane, columns.end..x.end, rows, place, to)
}

fn elements<D: Direction, P: Plane>(
    plane: &P,
    x: Range<u32>,
    y: Range<u32>,
    place: &Place,
    to: &mut D,
) -> Result<(), TilerError> {
    macro_rules! sized {
        ($($bytes:literal)*) => {
            match place.bytes {
                $($bytes => one_by_one::<D, P, $bytes>(plane, x, y, place, to),)*
                // Elements of blocks and tiles have 1 to 16 bytes.
                _ => Ok(()),
            }
        };
    }
    sized!(1 2 4 8 16)
}

fn one_by_one<D: Direction, P: Plane, const BYTES: usize>(
    plane: &P,
    x: Range<u32>,
    y: Range<u32>,
    place: &Place,
    to: &mut D,
) -> Result<(), TilerError> {
    for row in y {
        let line = plane.line(row);
        for column in x.clone() {
            to.fixed::<BYTES>(plane.at(line, column), place.of(column, row))?;
        }
    }
    Ok(())
}
