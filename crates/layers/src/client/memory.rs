//! Access to the client's memory, to which its arguments point.

use std::{
    ffi::c_void,
    io::{IoSlice, IoSliceMut},
    os::fd::{AsRawFd as _, BorrowedFd},
};

use amdgpu_uapi::Errno;
use nix::{
    fcntl::{FcntlArg, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        stat::fstat,
        uio::{RemoteIoVec, process_vm_readv, process_vm_writev},
    },
    unistd::Pid,
};

/// Reads an argument of `len` bytes.
///
/// # Safety
///
/// `argument` must point at `len` readable bytes, unless `len` is 0.
pub(crate) unsafe fn read(argument: *const c_void, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    if len > 0 && !argument.is_null() {
        // SAFETY: the caller vouches for `len` bytes at `argument`; `bytes` is ours alone and as long.
        unsafe { std::ptr::copy_nonoverlapping(argument.cast::<u8>(), bytes.as_mut_ptr(), len) };
    }
    bytes
}

/// Writes to an argument at byte `offset`.
///
/// # Safety
///
/// `argument` must point at `offset + bytes.len()` or more writable bytes.
pub(crate) unsafe fn write(argument: *mut c_void, offset: usize, bytes: &[u8]) {
    let to = argument.cast::<u8>().wrapping_add(offset);
    // SAFETY: the caller vouches for the bytes; `bytes` is borrowed memory of Rust's, which an argument is not.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Reads memory of this process through the kernel, which checks that it is mapped. Therefore, addresses of a client are trusted no
/// more than the kernel trusts them.
pub(crate) fn peek(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    let len = out.len();
    let remote = remote(address, len)?;
    match process_vm_readv(Pid::this(), &mut [IoSliceMut::new(out)], &[remote])? {
        copied if copied == len => Ok(()),
        _ => Err(Errno::EFAULT),
    }
}

/// Checks that memory can be read this way: some sandboxes forbid it, and recordings would then miss the memory to which arguments
/// point.
pub(crate) fn can_peek() -> std::io::Result<()> {
    let there = [7_u8; 8];
    Ok(peek(there.as_ptr().expose_provenance() as u64, &mut [0; 8])?)
}

/// Reads `len` bytes; `None` if they are not mapped.
pub(crate) fn peek_vec(address: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    peek(address, &mut bytes).ok().map(|()| bytes)
}

/// Writes memory of this process through the kernel.
pub(crate) fn poke(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    let remote = remote(address, bytes.len())?;
    match process_vm_writev(Pid::this(), &[IoSlice::new(bytes)], &[remote])? {
        copied if copied == bytes.len() => Ok(()),
        _ => Err(Errno::EFAULT),
    }
}

/// Calls `work` with a descriptor that the client passed; `None` if it is not open.
pub(crate) fn with_descriptor<T>(fd: i32, work: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
    if fd < 0 {
        return None;
    }
    // SAFETY: the client named the descriptor in the call that is being served, so it keeps it open meanwhile; if it does
    // not, what is done with it fails.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fcntl(fd, FcntlArg::F_GETFD).ok().map(|_| work(fd))
}

/// Adds 1 to an eventfd of the client. A full counter is not changed, as with the kernel's own signal.
///
/// # Errors
///
/// EBADF if the descriptor is not open, EINVAL if it is not an eventfd: the client may have passed any descriptor, because only the
/// recording tells that the kernel accepted it.
pub(crate) fn ring(fd: i32) -> Result<(), Errno> {
    let done = with_descriptor(fd, |fd| {
        let link = nix::fcntl::readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()).as_str())?;
        if link != "anon_inode:[eventfd]" {
            return Err(Errno::EINVAL);
        }
        let mut fds = [PollFd::new(fd, PollFlags::POLLOUT)];
        if poll(&mut fds, PollTimeout::ZERO)? == 1 {
            nix::unistd::write(fd, &1_u64.to_ne_bytes())?;
        }
        Ok(())
    });
    done.unwrap_or(Err(Errno::EBADF))
}

/// Returns the size of the file of a descriptor, 0 if it has none. The file is only queried, because an emulated kernel may have
/// returned any number.
pub(crate) fn file_size(fd: i32) -> u64 {
    let size = with_descriptor(fd, |fd| fstat(fd).ok().and_then(|about| u64::try_from(about.st_size).ok()));
    size.flatten().unwrap_or(0)
}

fn remote(address: u64, len: usize) -> Result<RemoteIoVec, Errno> {
    Ok(RemoteIoVec { base: usize::try_from(address).map_err(|_| Errno::EFAULT)?, len })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_an_error_and_no_crash() {
        assert_eq!(peek(8, &mut [0; 8]), Err(Errno::EFAULT));
        assert_eq!(poke(8, &[0; 8]), Err(Errno::EFAULT));
        assert_eq!(peek(u64::MAX - 3, &mut [0; 8]), Err(Errno::EFAULT));
        let there = [7_u8; 8];
        assert_eq!(peek_vec(there.as_ptr().expose_provenance() as u64, 8), Some(there.to_vec()));
    }
}
