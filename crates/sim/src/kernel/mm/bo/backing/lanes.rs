//! The addresses of a wave's lanes.

/// The addresses of the dwords that the lanes of a wave access together.
///
/// # Invariants
///
/// The mask has a lane, every lane's address is in `first..=last`, and `last + 4` does not overflow. With `is_row`, the lanes of
/// the mask follow each other, and so do their dwords.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneAddresses<'a> {
    addresses: &'a [u64; 64],
    lanes: u64,
    first: u64,
    last: u64,
    is_row: bool,
}

impl<'a> LaneAddresses<'a> {
    /// Returns the addresses of the lanes of a bit mask; `None` if it is empty or if a dword would pass the end of 64 bits.
    pub(crate) fn new(addresses: &'a [u64; 64], lanes: u64) -> Option<Self> {
        if let Some(row) = row(addresses, lanes) {
            let (first, last) = (*row.first()?, *row.last()?);
            last.checked_add(4)?;
            // INVARIANT: each address of the row is 4 above the one before it, without overflow.
            return (first <= last).then_some(Self { addresses, lanes, first, last, is_row: true });
        }
        let (first, last) = ends(addresses, lanes);
        last.checked_add(4)?;
        // INVARIANT: the least and the greatest address of the lanes.
        (first <= last).then_some(Self { addresses, lanes, first, last, is_row: false })
    }

    /// Returns the lowest address.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the bytes from the lowest address to the end of the highest dword.
    pub(crate) fn len(&self) -> u64 {
        self.last - self.first + 4
    }

    /// Returns the lowest lane and the number of lanes, if they and their dwords follow each other.
    pub(crate) fn row(&self) -> Option<(usize, usize)> {
        self.is_row.then(|| (self.lanes.trailing_zeros() as usize, self.lanes.count_ones() as usize))
    }

    /// Visits each lane, the lowest first, with the distance of its dword from [`Self::first`]: at most [`Self::len`] - 4.
    #[inline]
    pub(crate) fn each(&self, mut visit: impl FnMut(usize, u64)) {
        if self.lanes == u64::MAX {
            // Accesses of all lanes need not look for the next one, and the processor begins several at once.
            for (lane, address) in self.addresses.iter().enumerate() {
                visit(lane, address - self.first);
            }
            return;
        }
        let mut rest = self.lanes;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % 64;
            rest &= rest - 1;
            visit(lane, self.addresses[lane] - self.first);
        }
    }
}

/// Returns the least and the greatest address of the lanes of a mask; the greatest is less than the least if the mask is empty and no
/// address is 0.
fn ends(addresses: &[u64; 64], lanes: u64) -> (u64, u64) {
    // Without a branch for each lane, and in four chains, as each comparison waits for the one before it in its chain.
    let (mut first, mut last) = ([u64::MAX; 4], [0; 4]);
    for (row, four) in addresses.as_chunks::<4>().0.iter().enumerate() {
        for (place, &address) in four.iter().enumerate() {
            let off = (lanes >> (4 * row + place) & 1).wrapping_sub(1);
            first[place] = first[place].min(address | off);
            last[place] = last[place].max(address & !off);
        }
    }
    (first.into_iter().fold(u64::MAX, u64::min), last.into_iter().fold(0, u64::max))
}

/// Returns the addresses of the lanes of a mask without holes whose dwords follow each other, as those of most accesses do.
fn row(addresses: &[u64; 64], lanes: u64) -> Option<&[u64]> {
    let first = lanes.trailing_zeros();
    let run = lanes.checked_shr(first)?;
    if run & run.wrapping_add(1) != 0 {
        return None;
    }
    let row = addresses.get(first as usize..(first + run.trailing_ones()) as usize)?;
    // Without a branch for each lane: rows are what is mostly asked about.
    let differs = row.windows(2).fold(0, |differs, pair| differs | pair[1] ^ pair[0].wrapping_add(4));
    (differs == 0).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first lane and the number of those in a row.
    fn row_of(addresses: &[u64; 64], lanes: u64) -> Option<(usize, usize)> {
        LaneAddresses::new(addresses, lanes)?.row()
    }

    #[test]
    fn lanes_are_in_a_row_where_dwords_follow_and_no_lane_is_left_out() {
        let mut addresses: [u64; 64] = std::array::from_fn(|lane| 0x1000 + 4 * lane as u64);
        assert_eq!(row_of(&addresses, u64::MAX), Some((0, 64)));
        assert_eq!(row_of(&addresses, 0b1_1100), Some((2, 3)));
        assert_eq!(row_of(&addresses, 1 << 63), Some((63, 1)));
        assert_eq!(row_of(&addresses, 0b101), None);
        assert_eq!(row_of(&addresses, 0), None);
        addresses[5] += 4;
        assert_eq!(row_of(&addresses, u64::MAX), None);
        assert_eq!(row_of(&addresses, 0b1_1111), Some((0, 5)));
    }

    #[test]
    fn a_row_does_not_go_over_the_end_of_the_addresses() {
        let addresses: [u64; 64] = std::array::from_fn(|lane| (u64::MAX - 7).wrapping_add(4 * lane as u64));
        assert!(LaneAddresses::new(&addresses, u64::MAX).is_none());
        assert!(LaneAddresses::new(&addresses, 0b11).is_none());
        assert_eq!(row_of(&addresses, 0b1), Some((0, 1)));
    }

    #[test]
    fn the_range_of_scattered_lanes_has_every_dword() {
        let mut addresses = [0; 64];
        (addresses[3], addresses[9], addresses[40]) = (0x2003, 0x1001, 0x1ffe);
        let lanes = 1 << 3 | 1 << 9 | 1 << 40;
        let access = LaneAddresses::new(&addresses, lanes).unwrap();
        assert_eq!((access.first(), access.len(), access.row()), (0x1001, 0x1006, None));
        let mut visited = Vec::new();
        access.each(|lane, distance| visited.push((lane, distance)));
        assert_eq!(visited, [(3, 0x1002), (9, 0), (40, 0xffd)]);
        assert!(LaneAddresses::new(&addresses, 0).is_none());
    }
}
