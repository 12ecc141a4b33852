//! The offers of one node's children, kept as a tournament tree.
//!
//! The 64 children compete in groups of four, then their 16 winners, then the last four. The first child that offers enough is
//! found by examining three groups of four instead of 64 children, and a change of a child updates three groups. A group is
//! evaluated by arithmetic on three comparisons, so no branch depends on the offers.

#![expect(clippy::inline_always, reason = "compiled for each vector width: see crate::holes::tree::width")]

use super::{inner, lanes::Lanes, slots};

const N: usize = inner::CAP;
/// Indices of the first entry of the final, of the 16 and of the 64.
const FINAL: usize = 0;
const SEMIFINAL: usize = 4;
const CHILDREN: usize = 20;

const _: () = assert!(N == 64 && CHILDREN == SEMIFINAL + N / 4);

/// The offers of the 64 children, and the winners of all rounds above them.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Peaks([Lanes; CHILDREN + N]);

impl Peaks {
    pub(crate) const NONE: Self = Self([Lanes::NONE; CHILDREN + N]);

    /// Returns the offer of the child at `slot`.
    #[inline(always)]
    pub(crate) fn get(&self, slot: usize) -> Lanes {
        self.0[CHILDREN + slot % N]
    }

    /// Returns the best offer of all children.
    pub(crate) fn max(&self) -> Lanes {
        self.best_of(FINAL)
    }

    #[inline(always)]
    fn best_of(&self, four: usize) -> Lanes {
        let [a, b, c, d] = [self.0[four], self.0[four + 1], self.0[four + 2], self.0[four + 3]];
        a.max(b).max(c.max(d))
    }

    /// Returns one lane of an entry. It is read on its own, because reading it from a copy would wait for the copy.
    #[inline(always)]
    fn lane(&self, at: usize, lane: usize) -> i32 {
        self.0[at].get(lane)
    }

    /// Returns the first child that offers at least `need`; the last slot if none does.
    #[inline(always)]
    pub(crate) fn first(&self, lane: usize, need: i32) -> usize {
        let mut at = 0;
        for round in [FINAL, SEMIFINAL, CHILDREN] {
            let four = round + 4 * at;
            let a = usize::from(self.lane(four, lane) < need);
            let b = usize::from(self.lane(four + 1, lane) < need) & a;
            let c = usize::from(self.lane(four + 2, lane) < need) & b;
            at = (4 * at + a + b + c) % N;
        }
        at
    }

    /// Returns the first child, starting at `slot`, that offers at least `need`.
    pub(crate) fn first_from(&self, slot: usize, lane: usize, need: i32) -> Option<usize> {
        (slot..N).find(|&slot| self.get(slot).get(lane) >= need)
    }

    /// Returns the last child before `slot` that offers at least `need`.
    pub(crate) fn last_before(&self, slot: usize, lane: usize, need: i32) -> Option<usize> {
        let mut at = slot;
        while at > 0 {
            at -= 1;
            if at % 16 == 15 && self.0[FINAL + at / 16].get(lane) < need {
                at -= 15;
            } else if at % 4 == 3 && self.0[SEMIFINAL + at / 4].get(lane) < need {
                at -= 3;
            } else if self.get(at).get(lane) >= need {
                return Some(at);
            }
        }
        None
    }

    /// Sets the offer of the child at `slot`, and returns the best offer of all children.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: usize, offer: Lanes) -> Lanes {
        let (mut at, mut winner) = (slot % N, offer);
        for round in [CHILDREN, SEMIFINAL, FINAL] {
            let (four, own) = (round + at / 4 * 4, at % 4);
            self.0[four + own] = winner;
            let (a, b, c) = (self.0[four + (own ^ 1)], self.0[four + (own ^ 2)], self.0[four + (own ^ 3)]);
            winner = a.max(b).max(c).max(winner);
            at /= 4;
        }
        winner
    }

    /// Raises the offer of the child at `slot` to at least `offer`.
    #[inline(always)]
    pub(crate) fn raise(&mut self, slot: usize, offer: Lanes) {
        let slot = slot % N;
        for at in [CHILDREN + slot, SEMIFINAL + slot / 4, FINAL + slot / 16] {
            self.0[at] = self.0[at].max(offer);
        }
    }

    /// Sets the offer of the child at `slot`, but not the rounds above, which [`Peaks::replay`] must update later.
    pub(crate) fn put(&mut self, slot: usize, offer: Lanes) {
        self.0[CHILDREN + slot % N] = offer;
    }

    pub(crate) fn replay(&mut self) {
        for at in 0..N / 4 {
            self.0[SEMIFINAL + at] = self.best_of(CHILDREN + 4 * at);
        }
        for at in 0..N / 16 {
            self.0[FINAL + at] = self.best_of(SEMIFINAL + 4 * at);
        }
    }

    /// Returns the 64 offers for moving them. [`Peaks::replay`] must be called afterwards.
    fn children(&mut self) -> &mut [Lanes; N] {
        let Some(children) = self.0.last_chunk_mut() else { unreachable!("64 of 84") };
        children
    }

    pub(crate) fn open(&mut self, slot: usize) {
        slots::open(self.children(), slot, Lanes::NONE);
        self.replay();
    }

    pub(crate) fn close(&mut self, slot: usize) {
        slots::close(self.children(), slot, Lanes::NONE);
        self.replay();
    }

    pub(crate) fn share(&mut self, lower_len: usize, upper: &mut Self, upper_len: usize, want: usize) {
        slots::share((self.children(), lower_len), (upper.children(), upper_len), want, Lanes::NONE);
        self.replay();
        upper.replay();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a tournament of scattered offers in lane 2.
    fn scattered() -> Peaks {
        let mut peaks = Peaks::NONE;
        for slot in 0..N {
            peaks.set(slot, Lanes([0, 0, i32::try_from(slot * 37 % 101).unwrap(), 0]));
        }
        peaks
    }

    #[test]
    fn first_and_last_agree_with_a_plain_search() {
        let peaks = scattered();
        let offers: Vec<i32> = (0..N).map(|slot| peaks.get(slot).get(2)).collect();
        for need in 1..=101 {
            let first = offers.iter().position(|&offer| offer >= need);
            assert_eq!(peaks.first(2, need), first.unwrap_or(N - 1), "need {need}");
            for slot in 0..=N {
                let last = offers[..slot].iter().rposition(|&offer| offer >= need);
                assert_eq!(peaks.last_before(slot, 2, need), last, "need {need} before {slot}");
            }
        }
    }

    #[test]
    fn every_change_keeps_the_rounds_consistent() {
        let mut peaks = scattered();
        let check = |peaks: &Peaks| {
            let mut replayed = peaks.clone();
            replayed.replay();
            assert_eq!(replayed.0, peaks.0);
        };
        check(&peaks);
        peaks.raise(13, Lanes([5, 0, 200, 1]));
        check(&peaks);
        assert_eq!(peaks.max(), Lanes([5, 0, 200, 1]));
        assert_eq!(peaks.set(13, Lanes::NONE), peaks.max());
        check(&peaks);
        peaks.open(7);
        peaks.close(30);
        check(&peaks);
    }
}
