//! Moments: a date for display, and monotonic nanoseconds for differences.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// A moment, on the clock for dates and on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since the start of 1970, UTC.
    pub unix_ms: u64,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
}

impl Moment {
    /// Returns the current time.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let monotonic = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
        Self { unix_ms: saturated(since.as_millis()), monotonic_ns: saturated(monotonic.as_nanos()) }
    }

    /// Returns the time as text in the format of RFC 3339: UTC, with milliseconds.
    pub fn rfc3339(&self) -> String {
        let (days, ms) = (self.unix_ms / 86_400_000, self.unix_ms % 86_400_000);
        let (year, month, day) = date(days);
        let (seconds, ms) = (ms / 1000, ms % 1000);
        format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar: years begin in March, so that the leap day is the
/// last, and repeat every 400 years (146097 days).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        let text = |unix_ms| Moment { unix_ms, monotonic_ns: 0 }.rfc3339();
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
        assert_eq!(text(1_795_228_800_123), "2026-11-21T02:40:00.123Z");
        text(u64::MAX);
    }
}
