//! The limit on the bytes that a submission may move.

use std::time::{Duration, Instant};

/// The long-term rate of moves: 8 bytes per microsecond (`amdgpu_moverate`, 8 MB/s).
const LOG2_BYTES_PER_MICROSECOND: u32 = 3;
/// The maximum time in microseconds for which allowance accumulates.
const MOST_SAVED: i64 = 200_000;
/// The number of bytes of free VRAM from which moves are always permitted; an eighth of VRAM also suffices.
const MUCH_FREE: u64 = 128 << 20;

/// The allowance for moves as a time: it increases with time, decreases with moved bytes, and may become negative.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_get_threshold_for_moves`, `amdgpu_cs_report_moved_bytes`.
#[derive(Debug, Default)]
pub(super) struct Budget {
    last: Option<Instant>,
    /// The allowance in microseconds; negative after too many moves.
    saved: i64,
    /// The allowance for visible VRAM in microseconds.
    saved_visible: i64,
}

/// The fill level of a heap in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub(super) total: u64,
    pub(super) used: u64,
}

impl Fill {
    const fn free(self) -> u64 {
        self.total.saturating_sub(self.used)
    }
}

/// The bytes that a submission may move, and has moved. It may move another BO as long as it has moved less than permitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    most: u64,
    most_visible: u64,
    moved: u64,
    moved_visible: u64,
}

impl Allowance {
    /// Returns `true` if another BO may be moved to its preferred domain. `visible` is `true` for visible VRAM.
    pub(super) const fn is_left(&self, visible: bool) -> bool {
        self.moved < self.most && (!visible || self.moved_visible < self.most_visible)
    }

    pub(super) const fn spend(&mut self, bytes: u64, visible: bool) {
        self.moved = self.moved.saturating_add(bytes);
        if visible {
            self.moved_visible = self.moved_visible.saturating_add(bytes);
        }
    }
}

impl Budget {
    /// Returns the bytes that a submission may move now. `visible` is `None` if all VRAM is visible.
    pub(super) fn open(&mut self, now: Instant, is_apu: bool, vram: Fill, visible: Option<Fill>) -> Allowance {
        let passed = self.last.map_or(Duration::MAX, |last| now.saturating_duration_since(last));
        let passed = i64::try_from(passed.as_micros()).unwrap_or(MOST_SAVED).min(MOST_SAVED + self.debt());
        self.last = Some(now);
        self.saved = (self.saved + passed).min(MOST_SAVED);
        let free = vram.free();
        if free >= MUCH_FREE || free >= vram.total / 8 {
            self.saved = self.saved.max(microseconds(if is_apu { free } else { free / 2 }));
        }
        if let Some(visible) = visible.filter(|visible| visible.used < visible.total) {
            self.saved_visible = (self.saved_visible + passed).min(MOST_SAVED);
            if visible.free() >= visible.total / 2 {
                self.saved_visible = self.saved_visible.max(microseconds(visible.free() / 2));
            }
        }
        let (most, most_visible) = (bytes(self.saved), bytes(self.saved_visible));
        Allowance { most, most_visible, ..Allowance::default() }
    }

    /// Creates a budget with the maximum allowance.
    #[cfg(test)]
    pub(super) const fn full() -> Self {
        Self { last: None, saved: MOST_SAVED, saved_visible: MOST_SAVED }
    }

    /// Subtracts the moved bytes.
    pub(super) fn close(&mut self, allowance: Allowance) {
        self.saved = self.saved.saturating_sub(microseconds(allowance.moved));
        self.saved_visible = self.saved_visible.saturating_sub(microseconds(allowance.moved_visible));
    }

    /// Returns the larger debt in microseconds. Time beyond it has no effect.
    fn debt(&self) -> i64 {
        self.saved.min(self.saved_visible).min(0).saturating_neg()
    }
}

/// Returns the time that a move takes at the long-term rate.
fn microseconds(bytes: u64) -> i64 {
    (bytes >> LOG2_BYTES_PER_MICROSECOND).cast_signed()
}

/// Returns the bytes that may be moved in this time.
fn bytes(microseconds: i64) -> u64 {
    u64::try_from(microseconds).unwrap_or(0) << LOG2_BYTES_PER_MICROSECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Fill = Fill { total: 1 << 34, used: 1 << 34 };

    #[test]
    fn a_full_card_allows_what_was_saved_and_then_what_time_brings() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        let mut first = budget.open(start, false, FULL, None);
        assert_eq!(first.most, 1_600_000, "200 ms at 8 MB/s");
        first.spend(64 << 20, false);
        assert!(!first.is_left(false));
        budget.close(first);
        let later = |budget: &mut Budget, seconds| {
            budget.open(start + Duration::from_secs(seconds), false, FULL, None).is_left(false)
        };
        assert!(!later(&mut budget, 4), "64 MiB take more than 8 s");
        assert!(later(&mut budget, 9));
    }

    #[test]
    fn free_vram_allows_half_of_it_whatever_is_owed() {
        let mut budget = Budget { saved: -1_000_000_000, ..Budget::default() };
        let vram = Fill { total: 1 << 34, used: (1 << 34) - (256 << 20) };
        assert_eq!(budget.open(Instant::now(), false, vram, None).most, 128 << 20);
        assert_eq!(budget.open(Instant::now(), true, vram, None).most, 256 << 20);
    }

    #[test]
    fn visible_vram_has_an_allowance_of_its_own() {
        let (mut budget, empty) = (Budget::default(), Fill { total: 1 << 34, used: 0 });
        let visible = Fill { total: 256 << 20, used: 200 << 20 };
        let mut allowance = budget.open(Instant::now(), false, empty, Some(visible));
        allowance.spend(4 << 20, true);
        assert!(allowance.is_left(false) && !allowance.is_left(true));
    }
}
