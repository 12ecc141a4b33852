//! The eventfds of clients.

use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use amdgpu_uapi::Errno;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::write,
};

use crate::kernel::process::errno::errno_of;

/// A client's eventfd, which is signalled once.
#[derive(Debug)]
pub(crate) struct EventFd(OwnedFd);

impl EventFd {
    /// Takes a reference to a client's eventfd.
    ///
    /// # Errors
    ///
    /// EINVAL if the descriptor is not an eventfd, as in `eventfd_ctx_fdget`.
    pub(crate) fn new(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let link = std::fs::read_link(format!("/proc/thread-self/fd/{}", fd.as_raw_fd())).map_err(errno_of)?;
        if link.as_os_str() != "anon_inode:[eventfd]" {
            return Err(Errno::EINVAL);
        }
        fd.try_clone_to_owned().map(Self).map_err(errno_of)
    }

    /// Adds 1. A full counter stays unchanged, as with the kernel's own signal; the write would block.
    pub(crate) fn signal(self) {
        use std::os::fd::AsFd as _;
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLOUT)];
        if poll(&mut fds, PollTimeout::ZERO) == Ok(1)
            && let Err(errno) = write(&self.0, &1_u64.to_ne_bytes())
        {
            tracing::warn!(%errno, "an eventfd was not signalled");
        }
    }
}
