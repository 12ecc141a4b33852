//! Failures of functions, as their callers see them.

use std::{
    ffi::c_int,
    fmt,
    io::{Write as _, stderr},
};

use amdgpu_winsys::winsys::Errno;

/// The result of a call before it becomes a number.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// The error of a call, and which of libdrm's two ways tells it. Clients see the difference: -1 reads as -EPERM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The function returns the negative errno.
    Negative(Errno),
    /// The function returns -1, and errno has the reason.
    MinusOne(Errno),
}

impl Failure {
    /// A wrong argument.
    pub(crate) const INVALID: Self = Self::Negative(Errno::EINVAL);
    /// The process has no memory.
    pub(crate) const NO_MEMORY: Self = Self::Negative(Errno::ENOMEM);

    /// Sets errno, which both ways do, and returns the number for the caller.
    #[cold]
    pub(super) fn report(self) -> c_int {
        let (Self::Negative(errno) | Self::MinusOne(errno)) = self;
        nix::errno::Errno::set_raw(errno.raw());
        match self {
            Self::Negative(errno) => -errno.raw(),
            Self::MinusOne(_) => -1,
        }
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Negative(errno)
    }
}

/// Conversion of errors of requests whose functions return plain -1.
pub(crate) trait Plainly<T> {
    /// Marks the error as one that the function tells by -1 and errno.
    fn plainly(self) -> Answer<T>;
}

impl<T> Plainly<T> for Result<T, Errno> {
    fn plainly(self) -> Answer<T> {
        self.map_err(Failure::MinusOne)
    }
}

/// Prints a line on standard error. A closed standard error is no reason to fail.
pub(crate) fn complain(line: fmt::Arguments<'_>) {
    let _ = writeln!(stderr(), "{line}");
}
