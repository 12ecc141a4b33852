//! The entry point of calls: every exported function runs in [`entry`] or [`value`], out of which no panic unwinds.

use std::{
    ffi::c_int,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::Answer;

/// Runs a call and returns its result as a number: 0, or what [`Failure::report`](super::Failure::report) says. A panic
/// becomes -EIO; the panic hook has printed its message.
#[inline]
pub(crate) fn entry(call: impl FnOnce() -> Answer) -> c_int {
    value(-libc::EIO, || match call() {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    })
}

/// Runs a call that returns a value instead of a result; `instead` after a panic.
#[inline]
pub(crate) fn value<T>(instead: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Failure;
    use amdgpu_winsys::winsys::Errno;

    #[test]
    fn a_panic_becomes_an_errno_and_the_process_lives() {
        assert_eq!(entry(|| panic!("this panic is part of a test")), -libc::EIO);
        assert_eq!(value(7, || panic!("this panic is part of a test")), 7);
        assert_eq!(entry(|| Ok(())), 0);
    }

    #[test]
    fn a_failure_says_its_errno_in_either_way() {
        assert_eq!(entry(|| Err(Errno::ENXIO.into())), -libc::ENXIO);
        assert_eq!(entry(|| Err(Failure::MinusOne(Errno::EBADF))), -1);
        assert_eq!(Errno::last(), Errno::EBADF);
    }
}
