//! Running a thread in a private descriptor table.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use nix::{
    errno::Errno,
    sched::{CloneFlags, unshare},
};

/// Gives the calling thread, and threads that it starts, descriptors of their own, apart from the rest of the process; of
/// those it had only standard error stays.
///
/// A server inside a client's process thus holds none of the client's descriptors open, and a child that the client forks
/// gets none of the server's: a listening socket in a child that does not serve it would let callers wait for ever.
///
/// # Errors
///
/// The errno of `unshare` or `close_range`.
pub(crate) fn leave_descriptor_table() -> Result<(), Errno> {
    unshare(CloneFlags::CLONE_FILES)?;
    for (first, last) in [(0, 1), (3, u32::MAX)] {
        close_range(first, last)?;
    }
    Ok(())
}

/// Takes ownership of a descriptor that a system call has just made.
pub(crate) fn own(fresh: RawFd) -> OwnedFd {
    // SAFETY: the callers pass what `accept4` or `openat` has just returned to them, which no other code has seen.
    unsafe { OwnedFd::from_raw_fd(fresh) }
}

fn close_range(first: u32, last: u32) -> Result<(), Errno> {
    // SAFETY: the table belongs to this thread alone, which holds no descriptors of its own yet, so nothing that other code
    // uses is closed.
    let returned = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    Errno::result(returned).map(drop)
}
