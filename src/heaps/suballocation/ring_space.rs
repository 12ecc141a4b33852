//! The positions of free space in a ring buffer.

use std::collections::VecDeque;

/// Space in a ring, which is allocated in order and freed in order.
///
/// # Invariants
///
/// `tail <= head <= tail + size`. Both only grow; a position refers to the byte `position % size`.
#[derive(Debug)]
pub(super) struct RingSpace<T> {
    size: u64,
    head: u64,
    tail: u64,
    /// The segments, oldest first: the end position and the owner of each.
    segments: VecDeque<(u64, T)>,
}

impl<T: PartialEq> RingSpace<T> {
    /// Creates a free ring of `size` bytes.
    pub(super) fn new(size: u64) -> Self {
        Self { size, head: 0, tail: 0, segments: VecDeque::new() }
    }

    /// Returns the size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the number of bytes in use, including those skipped at the end of the ring.
    pub(super) fn used(&self) -> u64 {
        self.head - self.tail
    }

    /// Allocates `len` contiguous bytes at a multiple of `alignment`, a power of two, and returns their offset. They follow the
    /// last segment, or begin at the start of the ring if they would extend past its end.
    pub(super) fn take(&mut self, len: u64, alignment: u64, owner: T) -> Option<u64> {
        if self.segments.is_empty() {
            (self.head, self.tail) = (0, 0);
        }
        let at = self.head % self.size;
        let round = self.head - at;
        let here = at.checked_next_multiple_of(alignment).filter(|start| self.fits_before_end(*start, len));
        let (offset, round) = match here {
            Some(start) => (start, round),
            None => (0, round + self.size),
        };
        let end = round.checked_add(offset)?.checked_add(len)?;
        if end - self.tail > self.size {
            return None;
        }
        self.head = end;
        match self.segments.back_mut() {
            Some((last, same)) if *same == owner => *last = end,
            _ => self.segments.push_back((end, owner)),
        }
        Some(offset)
    }

    fn fits_before_end(&self, start: u64, len: u64) -> bool {
        start.checked_add(len).is_some_and(|end| end <= self.size)
    }

    /// Frees the oldest segments whose owners are done, and returns these owners.
    pub(super) fn give_back(&mut self, is_done: impl Fn(&T) -> bool) -> Vec<T> {
        let mut done = Vec::new();
        while self.segments.front().is_some_and(|(_, owner)| is_done(owner)) {
            let Some((end, owner)) = self.segments.pop_front() else { break };
            self.tail = end;
            done.push(owner);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reference model: every segment with its bytes, oldest first, and the position of the next one.
    struct Slow {
        size: u64,
        next: u64,
        taken: VecDeque<(u64, u64, u8)>,
    }

    impl Slow {
        fn take(&mut self, len: u64, alignment: u64, owner: u8) -> Option<u64> {
            if self.taken.is_empty() {
                self.next = 0;
            }
            let behind = self.next.next_multiple_of(alignment);
            let start = if behind + len <= self.size { behind } else { 0 };
            // The bytes that are not skipped: from the position of the next segment, and past the end.
            let way = if start == behind { self.next..start + len } else { self.next..self.size + len };
            let meets = |at: u64| self.taken.iter().any(|(from, to, _)| (*from..*to).contains(&(at % self.size)));
            if len > self.size || way.clone().any(meets) || way.end - way.start > self.size {
                return None;
            }
            let skipped = (way.start, way.start + (way.end - way.start - len), owner);
            self.taken.push_back(skipped);
            self.taken.push_back((start, start + len, owner));
            self.next = (start + len) % self.size;
            Some(start)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 512 }))]

        #[test]
        fn the_ring_takes_what_is_free_behind_the_last_bytes_or_at_the_start(
            size in 1u64..64,
            steps in prop::collection::vec((0u8..4, 1u64..40, 0u32..5), 1..if cfg!(miri) { 30 } else { 80 }),
        ) {
            let (mut ring, mut slow) = (RingSpace::new(size), Slow { size, next: 0, taken: VecDeque::new() });
            let (mut owner, mut oldest) = (0u8, 0u8);
            for (step, len, exponent) in steps {
                match step {
                    0 => {
                        ring.give_back(|who| *who <= oldest);
                        slow.taken.retain(|(_, _, who)| *who > oldest);
                        oldest = (oldest + 1).min(owner);
                    }
                    1 => owner += 1,
                    _ => prop_assert_eq!(ring.take(len, 1 << exponent, owner), slow.take(len, 1 << exponent, owner)),
                }
                prop_assert!(ring.used() <= ring.size());
            }
            ring.give_back(|_| true);
            prop_assert_eq!(ring.take(size, 1, 0), Some(0));
        }
    }

    #[test]
    fn a_segment_that_is_done_stays_behind_one_that_is_not() {
        let mut ring = RingSpace::new(8);
        assert_eq!((ring.take(4, 1, 'a'), ring.take(4, 1, 'b'), ring.take(1, 1, 'c')), (Some(0), Some(4), None));
        assert!(ring.give_back(|who| *who == 'b').is_empty());
        assert_eq!(ring.give_back(|_| true), ['a', 'b']);
        assert_eq!(ring.take(u64::MAX, 1, 'a'), None);
        assert_eq!(ring.take(1, 1 << 63, 'a'), Some(0));
    }

    #[test]
    fn sizes_and_places_beyond_32_bits_are_whole() {
        const UNIT: u64 = 1 << 32;
        let mut ring = RingSpace::new(8 * UNIT);
        assert_eq!((ring.take(5 * UNIT, 1, 'a'), ring.take(5 * UNIT, 1, 'b')), (Some(0), None));
        assert_eq!(ring.take(UNIT, 2 * UNIT, 'b'), Some(6 * UNIT));
        assert_eq!((ring.used(), ring.give_back(|who| *who == 'a')), (7 * UNIT, vec!['a']));
        assert_eq!((ring.take(2 * UNIT, 1, 'c'), ring.used()), (Some(0), 5 * UNIT), "over the end");
        assert_eq!((ring.take(4 * UNIT, 1, 'd'), ring.take(3 * UNIT, 1, 'd')), (None, Some(2 * UNIT)));
    }
}
