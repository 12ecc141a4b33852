//! Limits on repeating requests while the kernel is busy.
//!
//! libdrm's `drmIoctl` repeats a request as long as the kernel returns EAGAIN (libdrm 2.4.124 `xf86drm.c`), so a kernel that stays
//! busy blocks its caller for ever. Here each request has a limit.

use std::{mem::offset_of, thread, time::Duration};

use crate::{
    Argument, Cs, Deadline, Errno, GemWaitIdle, Request, SyncobjTimelineWait, SyncobjWait, WaitCs, WaitFences,
};

/// The limit on repeating a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// The number of attempts after the first.
    attempts: u32,
    /// Until this deadline there is no limit on the number of attempts.
    until: Option<Deadline>,
}

/// The number of attempts after the first. Half of them follow at once, the other half after a [`PAUSE`] each.
const ATTEMPTS: u32 = 16;
const PAUSE: Duration = Duration::from_micros(250);

/// The kernel refuses a submission with EAGAIN if user memory that it lists changes during the request (Linux 6.12 `amdgpu_cs.c`,
/// `amdgpu_cs_submit`). Each attempt looks up the pages again, and an munmap or fork in another thread ends soon.
const SUBMISSION_ATTEMPTS: u32 = 256;

impl Patience {
    /// Returns the limit of a request. Some arguments contain the deadline of a wait.
    pub(crate) fn of(request: Request, argument: &[u8]) -> Self {
        let deadline = |offset: usize| {
            let bytes = argument.get(offset..)?.first_chunk()?;
            Some(Deadline::at(u64::from_ne_bytes(*bytes)))
        };
        let is = |other: Request| (request.kind(), request.number()) == (other.kind(), other.number());
        let until = if is(WaitCs::REQUEST) {
            deadline(offset_of!(WaitCs, timeout))
        } else if is(WaitFences::REQUEST) {
            deadline(offset_of!(WaitFences, timeout_ns))
        } else if is(GemWaitIdle::REQUEST) {
            deadline(offset_of!(GemWaitIdle, timeout))
        } else if is(SyncobjWait::REQUEST) {
            deadline(offset_of!(SyncobjWait, timeout_nsec))
        } else if is(SyncobjTimelineWait::REQUEST) {
            deadline(offset_of!(SyncobjTimelineWait, timeout_nsec))
        } else {
            None
        };
        let attempts = if is(Cs::REQUEST) { SUBMISSION_ATTEMPTS } else { ATTEMPTS };
        Self { attempts, until }
    }

    /// Repeats the request until it returns another result than EAGAIN or reaches the limit.
    #[cold]
    pub(crate) fn ask_again<T>(self, mut ask: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
        let mut attempt = 0;
        loop {
            if attempt >= self.attempts && self.until.is_none_or(|until| until.remaining().is_zero()) {
                return Err(Errno::EAGAIN);
            }
            if attempt < ATTEMPTS / 2 {
                thread::yield_now();
            } else {
                thread::sleep(PAUSE);
            }
            attempt = attempt.saturating_add(1);
            match ask() {
                Err(Errno::EAGAIN) => {}
                outcome => return outcome,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use zerocopy::{FromZeros as _, IntoBytes as _};

    use super::*;
    use crate::{GemUserptr, GemVa};

    fn attempts(patience: Patience) -> u32 {
        let mut count = 0;
        let busy = || -> Result<(), Errno> {
            count += 1;
            Err(Errno::EAGAIN)
        };
        assert_eq!(patience.ask_again(busy), Err(Errno::EAGAIN));
        count
    }

    #[test]
    fn a_kernel_that_stays_busy_is_asked_a_limited_number_of_times() {
        assert_eq!(attempts(Patience::of(GemVa::REQUEST, &[])), ATTEMPTS);
        assert_eq!(attempts(Patience::of(GemUserptr::REQUEST, &[])), ATTEMPTS);
        assert_eq!(attempts(Patience::of(Cs::REQUEST, &[])), SUBMISSION_ATTEMPTS);
    }

    #[test]
    #[cfg_attr(miri, ignore = "the clock")]
    fn a_wait_is_restarted_until_its_deadline() {
        let wait = Duration::from_millis(30);
        let argument = WaitCs { timeout: Deadline::after(wait).for_amdgpu(), ..WaitCs::new_zeroed() };
        let start = Instant::now();
        assert!(attempts(Patience::of(WaitCs::REQUEST, argument.as_bytes())) >= ATTEMPTS);
        assert!(start.elapsed() >= wait);
        let poll = WaitCs::new_zeroed();
        assert_eq!(attempts(Patience::of(WaitCs::REQUEST, poll.as_bytes())), ATTEMPTS);
        for (request, argument) in [
            (WaitFences::REQUEST, WaitFences { timeout_ns: 7, ..WaitFences::new_zeroed() }.as_bytes().to_vec()),
            (GemWaitIdle::REQUEST, GemWaitIdle { timeout: 7, ..GemWaitIdle::new_zeroed() }.as_bytes().to_vec()),
            (SyncobjWait::REQUEST, SyncobjWait { timeout_nsec: 7, ..SyncobjWait::new_zeroed() }.as_bytes().to_vec()),
            (
                SyncobjTimelineWait::REQUEST,
                SyncobjTimelineWait { timeout_nsec: 7, ..SyncobjTimelineWait::new_zeroed() }.as_bytes().to_vec(),
            ),
        ] {
            assert_eq!(Patience::of(request, &argument).until, Some(Deadline::at(7)));
        }
    }

    #[test]
    fn another_answer_ends_it() {
        let mut answers = [Err(Errno::EAGAIN), Ok(3)].into_iter();
        let patience = Patience::of(GemVa::REQUEST, &[]);
        assert_eq!(patience.ask_again(|| answers.next().unwrap_or(Err(Errno::EIO))), Ok(3));
    }
}
