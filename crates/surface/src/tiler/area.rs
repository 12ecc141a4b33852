//! Areas: rectangles of elements that occupy a contiguous range of memory, in which copies proceed from cell to cell.

use super::cell::Cell;

/// The base-2 logarithms of the sizes of areas of macro tiles in bytes, in order of preference.
pub(super) const MACRO_TILES: &[u32] = &[18, 17, 16, 15, 14, 13, 12];

/// The base-2 logarithm of the number of contiguous cells in a line that lets the processor prefetch the next cell.
const IN_LINE_LOG2: usize = 4;

/// The base-2 logarithm of the size in bytes up to which rows of adjacent areas are copied together. Shorter pieces of rows take
/// longer to reach from memory, because each begins in another page.
const GROUP_ROW_LOG2: u32 = 11;

/// The base-2 logarithm of the size in bytes up to which adjacent areas are copied together, so that they fit in a processor's
/// second-level cache.
const GROUP_LOG2: u32 = 19;

/// A rectangle of elements that occupies a contiguous range of memory. A copy from area to area uses whole pages of the image, and
/// knows the next range in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// The base-2 logarithms of the numbers of columns and rows.
    pub(super) sides_log2: [u32; 2],
    /// The base-2 logarithm of the size in bytes.
    pub(super) bytes_log2: u32,
}

impl Area {
    /// The base-2 logarithm of a size that no level reaches.
    pub(super) const MOST_SIDE_LOG2: u32 = 28;

    /// Returns the base-2 logarithm of the number of adjacent areas that are copied together, row by row, for elements of `bytes`
    /// bytes.
    pub(super) fn group_log2(&self, bytes: usize) -> u32 {
        let row_log2 = self.sides_log2[0] + bytes.ilog2();
        GROUP_ROW_LOG2.saturating_sub(row_log2).min(GROUP_LOG2.saturating_sub(self.bytes_log2))
    }

    /// Finds an area whose size in bytes is a power of two in `sizes`. `x` and `y` are the contributions of each bit of a
    /// coordinate to an address. Returns `None` if no such area is a rectangle, and if the cells of a line are contiguous in
    /// memory, so that processors prefetch them.
    pub(super) fn find(sizes: &[u32], element_log2: u32, cell: &Cell, x: &[u64; 16], y: &[u64; 16]) -> Option<Self> {
        let first = cell.sides_log2[0] as usize;
        if (0..IN_LINE_LOG2).all(|bit| x.get(first + bit) == Some(&((cell.bytes as u64) << bit))) {
            return None;
        }
        sizes.iter().find_map(|&bytes_log2| {
            let inside = |columns: &[u64; 16]| {
                columns.iter().take_while(|column| **column != 0 && **column >> bytes_log2 == 0).count() as u32
            };
            let sides_log2 = [inside(x), inside(y)];
            (sides_log2[0] + sides_log2[1] + element_log2 == bytes_log2).then_some(Self { sides_log2, bytes_log2 })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(given: &[u64]) -> [u64; 16] {
        core::array::from_fn(|at| given.get(at).copied().unwrap_or(0))
    }

    #[test]
    fn areas_with_short_rows_are_copied_together_up_to_the_size_of_a_cache() {
        let group = |sides_log2: [u32; 2], bytes: usize| {
            let bytes_log2 = sides_log2[0] + sides_log2[1] + bytes.ilog2();
            Area { sides_log2, bytes_log2 }.group_log2(bytes)
        };
        // Rows of 512 bytes, and of 1 KiB.
        assert_eq!((group([7, 7], 4), group([8, 8], 4)), (2, 1));
        // Rows of 2 KiB and more are long enough.
        assert_eq!((group([7, 5], 16), group([10, 6], 4)), (0, 0));
        // Rows of 256 bytes, of which eight together would be too large from blocks of 256 KiB on.
        assert_eq!((group([8, 8], 1), group([8, 10], 1)), (3, 1));
    }

    #[test]
    fn a_block_is_an_area_and_what_lies_beside_it_is_none() {
        // 64 KiB of elements of 4 bytes: even bits of the address are from x, odd ones from y, and one from both.
        let side = |first: u32| columns(&core::array::from_fn::<u64, 7, _>(|bit| 1 << (first + 2 * bit as u32)));
        let (mut x, y) = (side(2), side(3));
        let cell = Cell::find(2, &x.map(|column| column as u32), &y.map(|column| column as u32), 0).unwrap();
        x[6] |= 1 << 8;
        let block = Some(Area { sides_log2: [7, 7], bytes_log2: 16 });
        assert_eq!(Area::find(MACRO_TILES, 2, &cell, &x, &y), block);
        // A row of macro tiles follows: the area does not grow.
        x[7] = 1 << 20;
        assert_eq!(Area::find(MACRO_TILES, 2, &cell, &x, &y), block);
        // Slices are stored between the rows: no rectangle is contiguous.
        let thick = columns(&core::array::from_fn::<u64, 7, _>(|bit| 1 << (4 + 3 * bit as u32)));
        assert_eq!(Area::find(MACRO_TILES, 2, &cell, &thick, &y), None);
        // Cells that are contiguous in memory need no area.
        let line = columns(&[4, 16, 64, 256, 512, 1024, 2048]);
        let below = columns(&[8, 32, 128, 4096, 8192, 16384, 32768]);
        assert_eq!(Area::find(MACRO_TILES, 2, &cell, &line, &below), None);
    }
}
