//! Cells: rectangles of elements that occupy a contiguous range of memory, with the same order of elements in each cell.

/// The base-2 logarithm of the size in bytes up to which neither pipes nor banks matter.
const MOST_LOG2: u32 = 8;

/// The code of the lowest bit of x and of y in [`Cell::order`], where 0 ends the list of bits.
const X: u32 = 1;
const Y: u32 = 9;

/// The size of a cell and the order of its elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// The base-2 logarithms of the numbers of columns and rows.
    pub(super) sides_log2: [u32; 2],
    /// The size of a cell in bytes.
    pub(super) bytes: usize,
    /// The size of a row in bytes.
    pub(super) row: usize,
    /// The number of bytes that are contiguous both in a row and in memory.
    pub(super) run: usize,
    /// The coordinate bit for each bit of an address, the lowest first, in four bits each: [`X`] plus the number of a bit of x, or
    /// [`Y`] plus the number of a bit of y.
    pub(super) order: u32,
    /// The index of each run in memory, ordered row by row.
    pub(super) places: [u8; 256],
}

/// Returns the index in memory of each run of a cell, ordered row by row. The sizes must be powers of two.
pub(super) const fn places(cell: usize, row: usize, run: usize, order: u32) -> [u8; 256] {
    let mut places = [0; 256];
    let bits = 8 - order.leading_zeros() / 4;
    let element_log2 = cell.ilog2() - bits;
    let (runs, mut at) = (row / run, 0);
    while at < cell / run {
        let (column, line) = ((at % runs * run) >> element_log2, at / runs);
        let (mut place, mut bit) = (0, 0);
        while bit < bits {
            let of = order >> (4 * bit) & 15;
            let value = if of < Y { column >> (of - X) } else { line >> (of - Y) } & 1;
            place |= value << (element_log2 + bit);
            bit += 1;
        }
        places[at] = (place / run) as u8;
        at += 1;
    }
    places
}

/// Returns the number of low bits of a coordinate that stay inside the cell.
fn inside(columns: &[u32; 16], limit: u32) -> usize {
    columns.iter().take_while(|column| column.is_power_of_two() && **column < limit).count()
}

impl Cell {
    /// Finds the largest cell. `x` and `y` are the contributions of each bit of a coordinate to an address, `others` the address
    /// bits that other coordinates can change. Returns `None` if no cell is larger than an element.
    pub(super) fn find(element_log2: u32, x: &[u32; 16], y: &[u32; 16], others: u32) -> Option<Self> {
        (element_log2 + 1..=MOST_LOG2).rev().find_map(|bits| {
            let limit = 1 << bits;
            let (w, h) = (inside(x, limit), inside(y, limit));
            let (own, rest): (u32, u32) = {
                let or = |columns: &[u32]| columns.iter().fold(0, |all, column| all | column);
                (or(&x[..w]) | or(&y[..h]), or(&x[w..]) | or(&y[h..]) | others)
            };
            let is_whole = (w + h) as u32 + element_log2 == bits && own == limit - (1 << element_log2);
            (is_whole && rest & (limit - 1) == 0).then(|| Self::of(element_log2, &x[..w], &y[..h])).flatten()
        })
    }

    fn of(element_log2: u32, x: &[u32], y: &[u32]) -> Option<Self> {
        let follows = |(bit, column): (usize, &u32)| *column == 1 << (element_log2 as usize + bit);
        let run_log2 = x.iter().enumerate().take_while(|bit| follows(*bit)).count();
        let row_log2 = element_log2 as usize + x.len();
        let run = (1 << (element_log2 as usize + run_log2)).min(MOST_RUN);
        let mut cell = Self {
            sides_log2: [x.len() as u32, y.len() as u32],
            bytes: 1 << (row_log2 + y.len()),
            row: 1 << row_log2,
            run,
            order: 0,
            places: [0; 256],
        };
        if !cell.has_copier() {
            return None;
        }
        let number = |columns: &[u32], bit: usize| columns.iter().position(|column| *column == 1 << bit);
        for (at, bit) in (element_log2 as usize..row_log2 + y.len()).enumerate() {
            let of = number(x, bit).map(|of| of as u32 + X).or_else(|| number(y, bit).map(|of| of as u32 + Y))?;
            cell.order |= of << (4 * at);
        }
        cell.places = places(cell.bytes, cell.row, cell.run, cell.order);
        Some(cell)
    }

    /// Returns `true` if there is a specialized copy function for the cell.
    fn has_copier(&self) -> bool {
        self.run <= self.row
            && match self.bytes {
                32 => matches!(self.row, 8..=16),
                64 | 128 => matches!(self.row, 8..=32),
                256 => matches!(self.row, 16..=128),
                _ => false,
            }
    }
}

const MOST_RUN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(given: &[u32]) -> [u32; 16] {
        core::array::from_fn(|at| given.get(at).copied().unwrap_or(0))
    }

    #[test]
    fn a_cell_ends_where_others_take_part() {
        let x = columns(&[4, 8, 32, 256]);
        let y = columns(&[16, 64, 128, 512]);
        let cell = Cell::find(2, &x, &y, 0).unwrap();
        assert_eq!((cell.sides_log2, cell.bytes, cell.run), ([3, 3], 256, 16));
        assert_eq!((cell.order, &cell.places[..4]), (0x00ba_3921, &[0, 2, 1, 3][..]));
        // Bit 6 depends on another coordinate, which leaves two rows.
        let smaller = Cell::find(2, &x, &y, 64).unwrap();
        assert_eq!((smaller.sides_log2, smaller.bytes), ([3, 1], 64));
    }

    #[test]
    fn bits_that_two_coordinates_share_are_in_no_cell() {
        let (x, y) = (columns(&[4, 8, 16 | 32]), columns(&[16, 32, 64]));
        let cell = Cell::find(2, &x, &y, 0);
        assert!(cell.is_none(), "{cell:?}");
        assert!(Cell::find(2, &x, &y, 4).is_none());
    }
}
