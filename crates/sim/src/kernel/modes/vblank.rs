//! The clock of the display: vertical blanks at times of the monotonic clock, and the clients that wait for them.
//!
//! Source: Linux 6.12 `drm_vblank.c`.

use std::{sync::Arc, time::Duration};

use amdgpu_uapi::{EVENT_CRTC_SEQUENCE, EVENT_VBLANK, EventCrtcSequence, EventVblank};
use zerocopy::transmute;

use super::outbox::{EVENT, Outbox};
use crate::kernel::sync::events::monotonic_now;

/// Vertical blanks at regular intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blanks {
    /// The time of the first vertical blank, in ns of the monotonic clock.
    start: u64,
    /// The time between two vertical blanks, in ns.
    period: u64,
}

impl Blanks {
    /// Creates a sequence of vertical blanks with this period that starts now.
    pub(super) fn new(period: Duration) -> Self {
        Self { start: monotonic_now(), period: u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1) }
    }

    /// Returns the number of the last vertical blank.
    pub(crate) fn count(self) -> u64 {
        monotonic_now().saturating_sub(self.start) / self.period
    }

    /// Returns the time of a vertical blank, in ns of the monotonic clock.
    pub(crate) const fn at(self, count: u64) -> u64 {
        self.start.saturating_add(count.saturating_mul(self.period))
    }

    /// Returns the time until the next vertical blank.
    pub(super) fn until_next(self) -> Duration {
        Duration::from_nanos(self.at(self.count() + 1).saturating_sub(monotonic_now()))
    }

    /// Returns the vertical blank whose number has the given lower 32 bits.
    pub(crate) fn wide(self, narrow: u32) -> u64 {
        let count = self.count();
        count.wrapping_add_signed(i64::from(narrow.wrapping_sub(count as u32).cast_signed()))
    }
}

/// Returns `true` if the vertical blank `wanted` is over at `count`. One that is more than 2^23 vertical blanks ago counts as one
/// to come.
///
/// Source: Linux 6.12 `drm_vblank.c`, `drm_vblank_passed`.
pub(crate) const fn has_passed(count: u64, wanted: u64) -> bool {
    count.wrapping_sub(wanted) <= 1 << 23
}

/// Returns the event of a vertical blank.
pub(super) fn event(kind: u32, crtc_id: u32, user_data: u64, count: u64, at: u64) -> EventVblank {
    let time = Duration::from_nanos(at);
    EventVblank {
        kind,
        length: EVENT,
        user_data,
        tv_sec: time.as_secs() as u32,
        tv_usec: time.subsec_micros(),
        sequence: count as u32,
        crtc_id,
    }
}

/// An event that a client waits for.
#[derive(Debug)]
pub(crate) struct Awaited {
    /// The number of the vertical blank.
    pub(crate) count: u64,
    /// The id of the CRTC.
    pub(crate) crtc_id: u32,
    pub(crate) user_data: u64,
    /// `true` for the event of CRTC_QUEUE_SEQUENCE.
    pub(crate) is_sequence: bool,
    /// The file that reads the event, with room reserved.
    pub(crate) outbox: Arc<Outbox>,
}

impl Awaited {
    /// Sends the client the event with the vertical blank's number.
    pub(crate) fn deliver(self, blanks: Blanks, count: u64) {
        let at = blanks.at(count);
        let event = if self.is_sequence {
            let sequence = EventCrtcSequence {
                kind: EVENT_CRTC_SEQUENCE,
                length: EVENT,
                user_data: self.user_data,
                time_ns: at.cast_signed(),
                sequence: count,
            };
            transmute!(sequence)
        } else {
            event(EVENT_VBLANK, self.crtc_id, self.user_data, count, at)
        };
        self.outbox.deliver(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_number_is_the_nearest_vertical_blank() {
        let start = monotonic_now();
        // So slow that no test lives to see the next.
        let blanks = Blanks { start: start.saturating_sub(7 * (1 << 40)), period: 1 << 40 };
        let count = blanks.count();
        for offset in [-3_i64, 0, 5] {
            let wide = count.wrapping_add_signed(offset);
            assert_eq!(blanks.wide(wide as u32), wide);
        }
    }
}
