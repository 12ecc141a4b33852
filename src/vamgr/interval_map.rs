//! A map from intervals to values, which merges intervals where possible.

use std::{collections::BTreeMap, ops::Range};

/// A value that covers an interval and varies along it, such as a part of a BO.
///
/// ```
/// use amdgpu_va::{IntervalMap, Run};
///
/// /// Part of a file.
/// #[derive(Clone)]
/// struct Part(u64);
/// impl Run for Part {
///     fn skip(&self, by: u64) -> Self {
///         Self(self.0 + by)
///     }
///     fn continues(&self, len: u64, next: &Self) -> bool {
///         self.0 + len == next.0
///     }
/// }
/// let mut map = IntervalMap::new();
/// map.set(0..10, Some(Part(100)), |_, _| {});
/// map.set(10..20, Some(Part(110)), |_, _| {}); // goes on where the first one ends
/// assert_eq!(map.len(), 1);
/// ```
pub trait Run: Clone {
    /// Returns the value that applies `by` units after the start of this value.
    #[must_use]
    fn skip(&self, by: u64) -> Self;

    /// Returns `true` if `next` continues the value after `len` units, so that both can be merged into one interval.
    fn continues(&self, len: u64, next: &Self) -> bool;
}

/// `None` continues as `None`.
impl<T: Run> Run for Option<T> {
    fn skip(&self, by: u64) -> Self {
        self.as_ref().map(|value| value.skip(by))
    }

    fn continues(&self, len: u64, next: &Self) -> bool {
        match (self, next) {
            (Some(value), Some(next)) => value.continues(len, next),
            (None, None) => true,
            _ => false,
        }
    }
}

/// A map of disjoint intervals to values. Adjacent intervals whose values continue each other are merged.
///
/// A change costs O(log n), plus O(log n) for every interval that it covers.
///
/// ```
/// use amdgpu_va::{IntervalMap, Run};
/// # #[derive(Clone, Debug, PartialEq)]
/// # struct Part(u64);
/// # impl Run for Part {
/// #     fn skip(&self, by: u64) -> Self { Self(self.0 + by) }
/// #     fn continues(&self, len: u64, next: &Self) -> bool { self.0 + len == next.0 }
/// # }
///
/// let mut map = IntervalMap::new();
/// map.set(0..30, Some(Part(100)), |_, _| {});
/// let mut removed = Vec::new();
/// map.set(10..20, None, |range, _| removed.push(range));
/// assert_eq!(removed, [10..20]);
/// assert_eq!(map.get(25), Some((20..30, &Part(120)))); // the rest still stands for the same bytes
/// assert_eq!(map.get(15), None);
/// ```
#[derive(Clone, Debug)]
pub struct IntervalMap<T> {
    /// The end and the value of each piece, by its start.
    pieces: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for IntervalMap<T> {
    fn default() -> Self {
        Self { pieces: BTreeMap::new() }
    }
}

impl<T: Run> IntervalMap<T> {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self { pieces: BTreeMap::new() }
    }

    /// Sets the value of an interval, or removes it with `None`. Calls `removed` with the range and value of each interval, or part
    /// of one, that this replaces.
    pub fn set(&mut self, range: Range<u64>, value: Option<T>, mut removed: impl FnMut(Range<u64>, &T)) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        while let Some((&start, _)) = self.pieces.range(range.clone()).next() {
            if let Some((end, gone)) = self.pieces.remove(&start) {
                removed(start..end, &gone);
            }
        }
        if let Some(value) = value {
            self.pieces.insert(range.start, (range.end, value));
            self.join(range.end);
            self.join(range.start);
        }
    }

    /// Returns the interval that contains a position, with its value; `None` if no interval contains it.
    pub fn get(&self, at: u64) -> Option<(Range<u64>, &T)> {
        let (&start, (end, value)) = self.pieces.range(..=at).next_back()?;
        (at < *end).then_some((start..*end, value))
    }

    /// Returns the last interval that ends at or before a position, with its value; `None` if there is none, or if an interval that
    /// starts before the position contains it.
    pub fn last_before(&self, at: u64) -> Option<(Range<u64>, &T)> {
        let (&start, (end, value)) = self.pieces.range(..at).next_back()?;
        (*end <= at).then_some((start..*end, value))
    }

    /// Returns the first interval that starts after a position, with its value; `None` if there is none.
    pub fn first_after(&self, at: u64) -> Option<(Range<u64>, &T)> {
        let (&start, (end, value)) = self.pieces.range(at..).find(|&(&start, _)| start > at)?;
        Some((start..*end, value))
    }

    /// Changes all values in place. The change must not make adjacent values continue each other.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut T)) {
        self.pieces.values_mut().map(|(_, value)| value).for_each(change);
    }

    /// Returns all intervals with their values, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (Range<u64>, &T)> {
        self.pieces.iter().map(|(&start, (end, value))| (start..*end, value))
    }

    /// Returns the number of intervals.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Returns `true` if the map is empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Splits the piece that extends across a position.
    fn cut(&mut self, at: u64) {
        let Some((&start, (end, value))) = self.pieces.range_mut(..at).next_back() else { return };
        if *end > at {
            let rest = (*end, value.skip(at - start));
            *end = at;
            self.pieces.insert(at, rest);
        }
    }

    /// Merges the pieces before and after a position if they continue each other.
    fn join(&mut self, at: u64) {
        let Some((behind_end, behind)) = self.pieces.get(&at) else { return };
        let behind_end = *behind_end;
        let Some((&start, (end, value))) = self.pieces.range(..at).next_back() else { return };
        if *end == at && value.continues(at - start, behind) {
            self.pieces.remove(&at);
            if let Some((end, _)) = self.pieces.get_mut(&start) {
                *end = behind_end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A part of one of a few imaginary BOs.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Part {
        bo: u8,
        offset: u64,
    }

    impl Run for Part {
        fn skip(&self, by: u64) -> Self {
            Self { offset: self.offset + by, ..*self }
        }

        fn continues(&self, len: u64, next: &Self) -> bool {
            self.skip(len) == *next
        }
    }

    const CELLS: u64 = 24;

    fn change() -> impl Strategy<Value = (Range<u64>, Option<Part>)> {
        let part = prop::option::of((0..2_u8, 0..4_u64).prop_map(|(bo, offset)| Part { bo, offset }));
        (0..CELLS, 1..10_u64, part).prop_map(|(start, len, part)| (start..(start + len).min(CELLS), part))
    }

    proptest! {
        #[test]
        fn it_says_of_every_cell_what_a_plain_array_says(changes in prop::collection::vec(change(), 1..40)) {
            let (mut map, mut cells) = (IntervalMap::new(), [None; CELLS as usize]);
            for (range, part) in changes {
                let mut gone = 0;
                map.set(range.clone(), part, |range, _| gone += range.end - range.start);
                let mut overwritten = 0;
                for at in range.clone() {
                    let cell = &mut cells[at as usize];
                    overwritten += u64::from(cell.is_some());
                    *cell = part.map(|part| part.skip(at - range.start));
                }
                prop_assert_eq!(gone, overwritten);
                for at in 0..CELLS {
                    let said = map.get(at).map(|(range, part)| part.skip(at - range.start));
                    prop_assert_eq!(said, cells[at as usize], "cell {}", at);
                }
            }
            let pieces = cells.iter().enumerate().filter(|&(at, cell)| {
                let before = at.checked_sub(1).and_then(|before| cells[before]);
                cell.is_some() && before.is_none_or(|before| cell.is_some_and(|cell| before.skip(1) != cell))
            });
            prop_assert_eq!(map.len(), pieces.count(), "no two neighbours could be one");
            prop_assert!(map.iter().all(|(range, _)| !range.is_empty()));
        }
    }
}
