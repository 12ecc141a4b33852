//! Release of kernel resources on drop.

use crate::uapi::Errno;

/// Number of attempts to release a resource. A resource that cannot be released is freed when the file is closed. A drop
/// cannot report to its caller, and a kernel under memory pressure may refuse a request once and accept it the next time.
const RELEASE_ATTEMPTS: u8 = 3;

/// The outcome of releasing a kernel resource.
///
/// The caller updates its own state first and only then [reports](Release::report) the outcome. An observer or a tracing
/// subscriber that panics must not come between the kernel's change and the library's record of it.
#[derive(Clone, Copy, Debug)]
#[must_use = "refusals are to be reported"]
pub(super) struct Release {
    is_done: bool,
    /// The errno of the last refusal; ENODEV if there was none.
    refused: Errno,
    /// The number of refusals.
    times: u8,
}

/// Tries to release a resource, up to the maximum number of attempts. If the GPU was removed, there is only one attempt.
/// `attempt` must not call observers.
#[inline]
pub(super) fn release(mut attempt: impl FnMut() -> Result<(), Errno>) -> Release {
    match attempt() {
        Ok(()) => Release::DONE,
        Err(errno) => release_again(errno, attempt),
    }
}

#[cold]
fn release_again(first: Errno, mut attempt: impl FnMut() -> Result<(), Errno>) -> Release {
    let mut last = (first, 1);
    while last.0 != Errno::ENODEV && last.1 < RELEASE_ATTEMPTS {
        match attempt() {
            Ok(()) => return Release { is_done: true, refused: last.0, times: last.1 },
            Err(errno) => last = (errno, last.1 + 1),
        }
    }
    Release { is_done: false, refused: last.0, times: last.1 }
}

impl Release {
    /// No resource had to be released, or it was released at the first attempt.
    pub(super) const DONE: Self = Self { is_done: true, refused: Errno::ENODEV, times: 0 };

    /// Returns `true` if the resource was released.
    #[inline]
    pub(super) fn is_done(self) -> bool {
        self.is_done
    }

    /// Returns `true` if the resource was released, or the GPU was removed and the resource is freed with the file.
    pub(super) fn is_over(self) -> bool {
        self.is_done || self.refused == Errno::ENODEV
    }

    /// Logs refusals. A removed GPU is not logged, because its resources are freed with the file.
    #[inline]
    pub(super) fn report(self, request: &'static str, handle: u32) {
        if self.refused != Errno::ENODEV {
            warn_of(request, handle, self.refused, self.times, self.is_done);
        }
    }
}

#[cold]
fn warn_of(request: &'static str, handle: u32, errno: Errno, times: u8, is_done: bool) {
    tracing::warn!(request, handle, %errno, times, is_done, "the kernel refused to release an object");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `true` if the release is done, `true` if it is over, and the refusals.
    type Outcome = (bool, bool, Option<(Errno, u8)>);

    /// Releases with these answers, the last of which is repeated. Returns the outcome and the number of attempts.
    fn asked(answers: &[Result<(), Errno>]) -> (Outcome, usize) {
        let mut attempts = 0;
        let outcome = release(|| {
            attempts += 1;
            *answers.get(attempts - 1).or(answers.last()).unwrap()
        });
        let refused = (outcome.times > 0).then_some((outcome.refused, outcome.times));
        ((outcome.is_done(), outcome.is_over(), refused), attempts)
    }

    #[test]
    fn a_drop_tries_three_times_and_remembers_the_last_refusal() {
        let (busy, broken) = (Err(Errno::EBUSY), Err(Errno::EIO));
        assert_eq!(asked(&[Ok(())]), ((true, true, None), 1));
        assert_eq!(asked(&[busy, Ok(())]), ((true, true, Some((Errno::EBUSY, 1))), 2));
        assert_eq!(asked(&[busy, broken, Ok(())]), ((true, true, Some((Errno::EIO, 2))), 3));
        assert_eq!(asked(&[busy, broken, busy]), ((false, false, Some((Errno::EBUSY, 3))), 3));
    }

    #[test]
    fn a_gpu_that_was_removed_is_not_asked_again() {
        let (busy, removed) = (Err(Errno::EBUSY), Err(Errno::ENODEV));
        assert_eq!(asked(&[removed]), ((false, true, Some((Errno::ENODEV, 1))), 1));
        assert_eq!(asked(&[busy, removed]), ((false, true, Some((Errno::ENODEV, 2))), 2));
    }
}
