//! Taking cells out of holes, and giving them back.

use super::{GIANT, Hole, Holes, MAX_NEED, NotTaken, Step, TakeError, Trail, local, recorded};

impl Holes {
    /// Takes the lowest `len` free cells that start at a multiple of `step`, and returns their first.
    ///
    /// # Errors
    ///
    /// [`TakeError::Empty`] without cells, [`TakeError::NoFit`] without a hole for them, [`TakeError::HostMemory`].
    #[inline]
    pub fn take_lowest(&mut self, len: u64, step: Step) -> Result<u64, TakeError> {
        self.prepare(len)?;
        let mut trail = Trail::NONE;
        let (at, from) = self.lowest_fit(&mut trail, len, step).ok_or(TakeError::NoFit)?;
        self.carve(&trail, at, from, len);
        Ok(from)
    }

    /// Takes the highest `len` free cells that start at a multiple of `step`, and returns their first.
    ///
    /// # Errors
    ///
    /// As for [`Holes::take_lowest`].
    pub fn take_highest(&mut self, len: u64, step: Step) -> Result<u64, TakeError> {
        self.prepare(len)?;
        let mut trail = Trail::NONE;
        let (at, from) = self.highest_fit(&mut trail, len, step).ok_or(TakeError::NoFit)?;
        self.carve(&trail, at, from, len);
        Ok(from)
    }

    /// Takes exactly the `len` cells from `start`.
    ///
    /// # Errors
    ///
    /// [`TakeError::Empty`] without cells, [`TakeError::Outside`] if the run leaves the span, [`TakeError::Taken`] if
    /// it is not all free, [`TakeError::HostMemory`].
    pub fn take_at(&mut self, start: u64, len: u64) -> Result<(), TakeError> {
        self.prepare(len)?;
        if !self.spans(start, len) {
            return Err(TakeError::Outside);
        }
        let mut trail = Trail::NONE;
        self.descend(&mut trail, start);
        let (below, above) = self.around(&trail, self.leaves[trail.leaf as usize].rank(local(start)));
        let Some(hole) = below.filter(|below| start < below.end && len <= below.end - start) else {
            let (from, to) = (below.map_or(self.span.start, |hole| hole.end), above.map(|hole| hole.start));
            return Err(TakeError::Taken { from, to: to.unwrap_or(self.span.end) });
        };
        self.descend(&mut trail, hole.start);
        let at = self.leaves[trail.leaf as usize].rank(local(hole.start)).saturating_sub(1);
        self.carve(&trail, at, start, len);
        Ok(())
    }

    fn prepare(&mut self, len: u64) -> Result<(), TakeError> {
        if len == 0 { Err(TakeError::Empty) } else { self.reserve() }
    }

    fn spans(&self, start: u64, len: u64) -> bool {
        self.span.contains(&start) && len <= self.span.end - start
    }

    /// Cuts `len` cells from `from` on out of the hole at place `at` of the leaf.
    #[inline]
    fn carve(&mut self, trail: &Trail, at: usize, from: u64, len: u64) {
        self.live += 1;
        self.takes += 1;
        self.free -= len;
        let leaf = &mut self.leaves[trail.leaf as usize];
        let (start, cells) = (leaf.start(at), leaf.len(at));
        if cells > MAX_NEED || start > MAX_NEED - cells {
            self.carve_across(trail, at, from, len);
            return;
        }
        // The hole ends in its region, so no sum here exceeds 2^30.
        let below = (start, local(from) - start);
        let above = (local(from) + len as i32, cells - below.1 - len as i32);
        self.lower(trail, at, below, above);
        let leaf = &mut self.leaves[trail.leaf as usize];
        match (below.1 > 0, above.1 > 0) {
            (false, false) => self.take_out(trail, at),
            (true, false) => leaf.set(at, below.0, below.1),
            (false, true) => {
                leaf.set(at, above.0, above.1);
                self.fence(trail, at, above.0);
            }
            (true, true) => {
                leaf.set(at, below.0, below.1);
                self.fence(trail, at, above.0);
                self.insert(
                    trail,
                    at + 1,
                    Hole { start: from + len, end: from + len + u64::from(above.1.cast_unsigned()) },
                );
            }
        }
    }

    /// The same for a hole that reaches the end of its region or beyond.
    #[cold]
    fn carve_across(&mut self, trail: &Trail, at: usize, from: u64, len: u64) {
        let hole = self.hole(trail.region, trail.leaf, at);
        self.remove(trail, at);
        for rest in [hole.start..from, from + len..hole.end] {
            if !rest.is_empty() {
                self.place(Hole { start: rest.start, end: rest.end });
            }
        }
    }

    /// Gives back the `len` cells from `start`, which one call has taken. Needs no memory.
    ///
    /// # Errors
    ///
    /// [`NotTaken`], and nothing changes, if any of the cells is free or outside the span.
    pub fn give(&mut self, start: u64, len: u64) -> Result<(), NotTaken> {
        let refused = NotTaken { start, end: start.saturating_add(len) };
        if len == 0 || !self.spans(start, len) {
            return Err(refused);
        }
        let mut trail = Trail::NONE;
        self.descend(&mut trail, start);
        let hole = Hole { start, end: start + len };
        let at = self.leaves[trail.leaf as usize].rank(local(start));
        let given = self.give_inside(&trail, at, hole).unwrap_or_else(|| self.give_at_edge(&trail, at, hole));
        if !given {
            return Err(refused);
        }
        self.live = self.live.saturating_sub(1);
        self.free += len;
        Ok(())
    }

    /// Gives back cells between two holes of one leaf, as most are: all work is in that leaf. `None` if they are not,
    /// otherwise whether they were taken.
    #[inline]
    fn give_inside(&mut self, trail: &Trail, at: usize, given: Hole) -> Option<bool> {
        let leaf = &mut self.leaves[trail.leaf as usize];
        if at == 0 || !leaf.has(at) || leaf.len(at) > MAX_NEED - leaf.start(at) || given.cells() > MAX_NEED as u64 {
            return None;
        }
        let below = (leaf.start(at - 1), leaf.start(at - 1) + leaf.len(at - 1));
        let above = (leaf.start(at), leaf.start(at) + leaf.len(at));
        let (start, end) = (local(given.start), local(given.start) + given.cells() as i32);
        if below.1 > start || end > above.0 {
            return Some(false);
        }
        let (joins_below, joins_above) = (below.1 == start, end == above.0);
        if !joins_below && !joins_above {
            self.insert(trail, at, given);
            return Some(true);
        }
        let start = if joins_below { below.0 } else { start };
        let end = if joins_above { above.1 } else { end };
        leaf.set(at - usize::from(joins_below), start, end - start);
        self.raise(trail, start, end - start);
        if joins_below && joins_above {
            self.take_out(trail, at);
        }
        Some(true)
    }

    /// Gives back cells whose neighbours may be in other leaves, or in other regions.
    fn give_at_edge(&mut self, trail: &Trail, at: usize, given: Hole) -> bool {
        let (below, above) = self.around(trail, at);
        if below.is_some_and(|below| below.end > given.start) || above.is_some_and(|above| given.end > above.start) {
            return false;
        }
        let mut whole = given;
        if let Some(above) = above.filter(|above| above.start == given.end) {
            whole.end = above.end;
            self.withdraw(above);
        }
        match below.filter(|below| below.end == given.start) {
            Some(below) => self.extend(below, whole.end),
            None => self.place(whole),
        }
        true
    }

    /// Adds a hole that touches no other.
    pub(super) fn place(&mut self, hole: Hole) {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, hole.start);
        let at = self.leaves[trail.leaf as usize].rank(local(hole.start));
        self.insert(&trail, at, hole);
    }

    /// Moves the end of a hole up.
    fn extend(&mut self, hole: Hole, end: u64) {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, hole.start);
        let at = self.leaves[trail.leaf as usize].rank(local(hole.start)).saturating_sub(1);
        let (start, len) = (local(hole.start), recorded(end - hole.start));
        if len == GIANT {
            self.regions[trail.region as usize].giant_end = end;
        }
        self.leaves[trail.leaf as usize].set(at, start, len);
        self.raise(&trail, start, len);
    }

    /// Takes a hole out of the index, for another one to include it.
    fn withdraw(&mut self, hole: Hole) {
        let mut trail = Trail::NONE;
        self.descend(&mut trail, hole.start);
        let at = self.leaves[trail.leaf as usize].rank(local(hole.start)).saturating_sub(1);
        self.remove(&trail, at);
    }

    fn remove(&mut self, trail: &Trail, at: usize) {
        self.lower(trail, at, (0, 0), (0, 0));
        self.take_out(trail, at);
    }
}
