//! Giving things back in drops.

use crate::uapi::Errno;

/// Number of attempts to give something back before it is left to the end of the file. A drop can report to no caller, and a
/// kernel under pressure may refuse once what it grants the next time.
const RELEASE_ATTEMPTS: usize = 3;

/// The kernel's answer to giving something back.
///
/// A caller that releases settles its own books first, and only then [reports](Release::report): an observer or a tracing
/// subscriber that panics must not come between what the kernel has done and what the library believes.
#[derive(Clone, Copy, Debug)]
#[must_use = "refusals are to be reported"]
pub(super) struct Release {
    is_done: bool,
    /// The last refusal; ENODEV as long as there is none.
    refused: Errno,
    /// The number of refusals.
    times: usize,
}

/// Tries to give something back as often as a drop may: what is refused once may be granted the next time. A GPU that was
/// removed is not asked again. `attempt` must not call observers.
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
    /// Nothing was to be given back, or it was taken at once. All members have values, so that what compares them in one go, as
    /// compilers do, compares nothing that was never written.
    pub(super) const DONE: Self = Self { is_done: true, refused: Errno::ENODEV, times: 0 };

    /// Returns `true` if the kernel has it back.
    pub(super) fn is_done(self) -> bool {
        self.is_done
    }

    /// Returns `true` if the kernel has it back, or the GPU was removed and everything goes with the file.
    pub(super) fn is_over(self) -> bool {
        self.is_done || self.refused == Errno::ENODEV
    }

    /// Logs what was refused. That the GPU was removed is no refusal: everything goes with the file.
    #[inline]
    pub(super) fn report(self, request: &'static str, handle: u32) {
        if self.refused != Errno::ENODEV {
            warn_of(request, handle, self.refused, self.times, self.is_done);
        }
    }
}

#[cold]
fn warn_of(request: &'static str, handle: u32, errno: Errno, times: usize, is_done: bool) {
    tracing::warn!(request, handle, %errno, times, is_done, "refused to give back");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `true` if it is done, `true` if it is over, and the refusals.
    type Outcome = (bool, bool, Option<(Errno, usize)>);

    /// Releases with these answers, the last of them for ever. Returns the outcome, and the number of attempts.
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
