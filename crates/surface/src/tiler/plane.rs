//! One layer of a level, and copies between it and rows.

use core::ops::Range;

use super::area::Area;
use super::cell::Cell;
use super::copy::{Direction, copier, too_short};
use super::error::TilerError;

/// The address computation for one layer and sample.
pub(super) trait Plane {
    /// The part of an address that depends on the row.
    type Line: Copy;

    /// Returns the part of the addresses that depends on the row.
    fn line(&self, y: u32) -> Self::Line;

    /// Returns the address of an element in a row.
    fn at(&self, line: Self::Line, x: u32) -> u64;

    /// Returns the areas of this layer, if copies can proceed from cell to cell.
    fn area(&self) -> Option<&Area>;

    /// Returns the cells of this layer, if it has any.
    fn cell(&self) -> Option<&Cell>;
}

/// The location of a layer's elements in the rows.
#[derive(Clone, Copy)]
pub(super) struct RowsOrigin {
    /// The element at the start of the rows.
    pub(super) first: [u32; 2],
    /// The offset of that element in bytes.
    pub(super) start: usize,
    /// The distance between rows in bytes.
    pub(super) pitch: usize,
    /// The size of an element in bytes.
    pub(super) bytes: usize,
}

impl RowsOrigin {
    fn of(&self, x: u32, y: u32) -> usize {
        self.start + (y - self.first[1]) as usize * self.pitch + (x - self.first[0]) as usize * self.bytes
    }
}

/// Copies a range of columns and rows: whole cells if possible, and the elements around them one by one.
pub(super) fn copy<D: Direction, P: Plane>(
    plane: &P,
    [x, y]: [Range<u32>; 2],
    place: &RowsOrigin,
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
    let area = plane.area();
    let [across, down] = area.map_or([Area::MOST_SIDE_LOG2; 2], |area| area.sides_log2);
    let group = area.map_or(0, |area| area.group_log2(place.bytes));
    for top in steps(&rows, down) {
        for left in steps(&columns, across + group) {
            if let Some(area) = area {
                steps(&left, across).for_each(|left| fetch(plane, area, [left, top.clone()], to));
            }
            cells(plane, cell, [left, top.clone()], place, to)?;
        }
    }
    elements(plane, x.clone(), y.start..rows.start, place, to)?;
    elements(plane, x.clone(), rows.end..y.end, place, to)?;
    elements(plane, x.start..columns.start, rows.clone(), place, to)?;
    elements(plane, columns.end..x.end, rows, place, to)
}

/// Splits a range at multiples of a power of two.
fn steps(range: &Range<u32>, log2: u32) -> impl Iterator<Item = Range<u32>> + use<> {
    let Range { start, end } = *range;
    let (first, last) = (start >> log2, end.saturating_sub(1) >> log2);
    let mask = (1 << log2) - 1;
    (first..=last).map(move |at| (at << log2).max(start)..(at << log2 | mask).saturating_add(1).min(end))
}

/// Reads an area into the cache in the order of memory, unless most of it is not copied. Processors do not foresee the order of
/// cells in the image, and would wait for memory at each cell.
fn fetch<D: Direction, P: Plane>(plane: &P, area: &Area, [x, y]: [Range<u32>; 2], to: &D) {
    let bytes_log2 = area.bytes_log2;
    let elements = area.sides_log2[0] + area.sides_log2[1];
    let copied = (x.len() * y.len()) as u64;
    if 2 * copied >= 1 << elements {
        let start = plane.at(plane.line(y.start), x.start) >> bytes_log2 << bytes_log2;
        // A copy to or from an offset that is too large fails later.
        if let Ok(start) = usize::try_from(start) {
            to.fetch(start, 1 << bytes_log2);
        }
    }
}

/// Copies cells in the order of the rows.
fn cells<D: Direction, P: Plane>(
    plane: &P,
    cell: &Cell,
    [x, y]: [Range<u32>; 2],
    place: &RowsOrigin,
    to: &mut D,
) -> Result<(), TilerError> {
    let (copier, [w, h]) = (copier::<D>(cell), cell.sides_log2);
    for line in y.step_by(1 << h) {
        let start = plane.line(line);
        for column in x.clone().step_by(1 << w) {
            let (at, row) = (plane.at(start, column), place.of(column, line));
            let copied = usize::try_from(at).ok().and_then(|at| copier(to, cell, at, row, place.pitch));
            if copied.is_none() {
                return Err(too_short(to, at, row, [cell.row, 1 << h], place.pitch));
            }
        }
    }
    Ok(())
}

fn elements<D: Direction, P: Plane>(
    plane: &P,
    x: Range<u32>,
    y: Range<u32>,
    place: &RowsOrigin,
    to: &mut D,
) -> Result<(), TilerError> {
    macro_rules! sized {
        ($($bytes:literal)*) => {
            match place.bytes {
                $($bytes => one_by_one::<D, P, $bytes>(plane, x, y, place, to),)*
                // Elements of blocks and tiles have 1 to 16 bytes, so no other size occurs.
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
    place: &RowsOrigin,
    to: &mut D,
) -> Result<(), TilerError> {
    for row in y {
        let line = plane.line(row);
        for column in x.clone() {
            let (at, row) = (plane.at(line, column), place.of(column, row));
            let copied = usize::try_from(at).ok().and_then(|at| to.fixed::<BYTES>(at, row));
            if copied.is_none() {
                return Err(too_short(to, at, row, [BYTES, 1], 0));
            }
        }
    }
    Ok(())
}
