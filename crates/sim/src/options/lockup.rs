//! The time that a job may run before the kernel recovers its ring.

use std::{num::ParseIntError, str::FromStr, time::Duration};

use amdgpu_hw::Ip;

use super::features::Features;

/// The time that a job may run on each kind of ring before the kernel recovers the ring. [`Duration::MAX`] means no limit.
///
/// The text form is that of the kernel's parameter `lockup_timeout`: milliseconds for graphics, compute, SDMA and video, in this
/// order. 0 or an empty part keeps the default, and a negative number means no limit. A single number applies to all rings except
/// compute rings; from Linux 7.0 on ([`Features::SHORT_LOCKUP`]) it applies to all. [`LockupTimeout::parse`] reads the text as a
/// kernel does; [`str::parse`] reads it as Linux 6.12 does.
///
/// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_get_job_timeout_settings`.
///
/// ```
/// use std::time::Duration;
///
/// use amdgpu_sim::LockupTimeout;
///
/// let timeout: LockupTimeout = "2000,0,-1".parse()?;
/// let expected = LockupTimeout {
///     gfx: Duration::from_secs(2),
///     compute: Duration::from_secs(60),
///     sdma: Duration::MAX,
///     video: Duration::from_secs(10),
/// };
/// assert_eq!(timeout, expected);
/// # Ok::<(), amdgpu_sim::LockupTimeoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockupTimeout {
    /// The time on graphics rings.
    pub gfx: Duration,
    /// The time on compute rings.
    pub compute: Duration,
    /// The time on SDMA rings.
    pub sdma: Duration,
    /// The time on video and JPEG rings.
    pub video: Duration,
}

impl LockupTimeout {
    /// The defaults of Linux 6.12: 10 seconds, and 60 seconds on compute rings.
    pub const DEFAULT: Self = Self { compute: Duration::from_mins(1), ..Self::all(Duration::from_secs(10)) };

    /// Returns the default of a kernel: that of Linux 6.12, or 2 seconds on all rings with [`Features::SHORT_LOCKUP`].
    pub const fn of_kernel(features: Features) -> Self {
        if features.contains(Features::SHORT_LOCKUP) { Self::all(Duration::from_secs(2)) } else { Self::DEFAULT }
    }

    /// Returns the same time for all rings.
    pub const fn all(time: Duration) -> Self {
        Self { gfx: time, compute: time, sdma: time, video: time }
    }

    /// Returns the time on the rings of an IP.
    pub const fn of(&self, ip: Ip) -> Duration {
        match ip {
            Ip::Gfx => self.gfx,
            Ip::Compute => self.compute,
            Ip::Sdma => self.sdma,
            _ => self.video,
        }
    }

    /// Returns the time that a job on the rings of an IP may be executed for, on a kernel with these features.
    ///
    /// Waves and draws run some thousand times slower here than on a card, so where the default is 2 seconds, work that makes
    /// progress has the time of earlier kernels: a real kernel would not end it. Waiting, which is as fast as on a card, has not.
    pub(crate) fn of_work(&self, ip: Ip, features: Features) -> Duration {
        if *self == Self::of_kernel(features) { Self::DEFAULT.of(ip).max(self.of(ip)) } else { self.of(ip) }
    }
}

impl Default for LockupTimeout {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The error of parsing a text that is not a lockup timeout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockupTimeoutError {
    /// A part is not a number of milliseconds.
    #[error("lockup timeout {text:?}: {part:?} is not a number of milliseconds: {reason}")]
    Number {
        /// The whole rejected text.
        text: String,
        /// The part that is not a number.
        part: String,
        /// The cause of the error.
        reason: ParseIntError,
    },
    /// The text has more parts than there are kinds of rings.
    #[error("lockup timeout {text:?}: more than four parts (graphics, compute, SDMA, video)")]
    TooMany {
        /// The whole rejected text.
        text: String,
    },
}

impl FromStr for LockupTimeout {
    type Err = LockupTimeoutError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, Features::empty())
    }
}

impl LockupTimeout {
    /// Reads a text as a kernel with these features does.
    ///
    /// # Errors
    ///
    /// [`LockupTimeoutError`] if a part is not a number, or there are more than four.
    pub fn parse(text: &str, features: Features) -> Result<Self, LockupTimeoutError> {
        let mut timeout = Self::of_kernel(features);
        let (mut count, mut last) = (0, 1);
        for part in text.split(',').map(str::trim) {
            let kind = match count {
                0 => &mut timeout.gfx,
                1 => &mut timeout.compute,
                2 => &mut timeout.sdma,
                3 => &mut timeout.video,
                _ => return Err(LockupTimeoutError::TooMany { text: text.to_owned() }),
            };
            count += 1;
            if part.is_empty() {
                continue;
            }
            last = count;
            let number = part.parse::<i64>().map_err(|reason| LockupTimeoutError::Number {
                text: text.to_owned(),
                part: part.to_owned(),
                reason,
            })?;
            match u64::try_from(number) {
                Ok(0) => {}
                Ok(milliseconds) => *kind = Duration::from_millis(milliseconds),
                Err(_) => *kind = Duration::MAX,
            }
        }
        if last == 1 {
            let all = Self::all(timeout.gfx);
            let is_for_compute = features.contains(Features::SHORT_LOCKUP);
            timeout = if is_for_compute { all } else { Self { compute: timeout.compute, ..all } };
        }
        Ok(timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_longer_than_waits_unless_the_time_is_chosen() {
        let features = Features::SHORT_LOCKUP;
        let default = LockupTimeout::of_kernel(features);
        assert_eq!(default.of(Ip::Compute), Duration::from_secs(2));
        assert_eq!(default.of_work(Ip::Compute, features), Duration::from_mins(1));
        assert_eq!(default.of_work(Ip::Gfx, features), Duration::from_secs(10));
        let chosen = LockupTimeout::all(Duration::from_millis(500));
        assert_eq!(chosen.of_work(Ip::Compute, features), Duration::from_millis(500));
        assert_eq!(LockupTimeout::DEFAULT.of_work(Ip::Sdma, Features::empty()), Duration::from_secs(10));
    }

    fn parsed(text: &str) -> [u64; 4] {
        parsed_by(Features::empty(), text)
    }

    fn parsed_by(features: Features, text: &str) -> [u64; 4] {
        let LockupTimeout { gfx, compute, sdma, video } = LockupTimeout::parse(text, features).unwrap();
        [gfx, compute, sdma, video].map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    #[test]
    fn the_text_is_that_of_the_kernels_parameter() {
        assert_eq!(parsed(""), [10_000, 60_000, 10_000, 10_000]);
        assert_eq!(parsed("0"), [10_000, 60_000, 10_000, 10_000]);
        assert_eq!(parsed("500"), [500, 60_000, 500, 500]);
        assert_eq!(parsed("500,"), parsed("500"));
        assert_eq!(parsed("500,700"), [500, 700, 10_000, 10_000]);
        assert_eq!(parsed("1, 2, 3, 4"), [1, 2, 3, 4]);
        assert_eq!(parsed("-1"), [u64::MAX, 60_000, u64::MAX, u64::MAX]);
        assert_eq!(parsed(",,9,-5"), [10_000, 60_000, 9, u64::MAX]);
    }

    // Checks R240.
    #[test]
    fn later_kernels_wait_for_two_seconds_and_take_one_number_for_all_rings() {
        let parsed = |text| parsed_by(Features::SHORT_LOCKUP, text);
        assert_eq!(parsed(""), [2000; 4]);
        assert_eq!(parsed("500"), [500; 4]);
        assert_eq!(parsed("-1"), [u64::MAX; 4]);
        assert_eq!(parsed("500,0"), [500, 2000, 2000, 2000]);
        assert_eq!(parsed("1,2,3,4"), [1, 2, 3, 4]);
    }

    #[test]
    fn each_ring_has_its_own_time() {
        let timeout: LockupTimeout = "1,2,3,4".parse().unwrap();
        let times = [Ip::Gfx, Ip::Compute, Ip::Sdma, Ip::VcnDec].map(|ip| timeout.of(ip).as_millis());
        assert_eq!(times, [1, 2, 3, 4]);
    }

    #[test]
    fn other_texts_are_refused_in_words() {
        for (text, word) in [("x", "\"x\""), ("1,2s", "\"2s\""), ("1,2,3,4,5", "more than four")] {
            let error = text.parse::<LockupTimeout>().unwrap_err().to_string();
            assert!(error.contains(word) && error.contains(text), "{error}");
        }
    }
}
