//! Requests to the kernel through the file descriptor of a render node.

use std::{
    ffi::{c_int, c_void},
    fs::OpenOptions,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
    path::Path,
    ptr::NonNull,
};

use crate::{
    uapi::{Errno, Request},
    winsys::{Kernel, NotReserved, OpenFile, Protection, replace_by_nothing},
};

/// A render node, opened for reading and writing and closed on exec.
///
/// All requests go through the symbols of libc and never through a system call instruction, so that a preloaded library can
/// replace the kernel (Mesa's `libamdgpu_noop_drm_shim.so`, or one with this project's simulator).
///
/// ```
/// use std::{fs::File, os::fd::OwnedFd};
/// use amdgpu_winsys::winsys::{Device, Error, KernelError, RenderNode};
///
/// // A descriptor that is not a render node:
/// let file = OwnedFd::from(File::open("/dev/null")?);
/// let error = Device::new(RenderNode::from_fd(file)).unwrap_err();
/// assert!(matches!(error, Error::Kernel(KernelError { request: "VERSION", .. })), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RenderNode {
    fd: OwnedFd,
}

impl RenderNode {
    /// Opens a node such as `/dev/dri/renderD128`.
    ///
    /// # Errors
    ///
    /// The errno of `open`.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_CLOEXEC)
            .open(path)
            .map(|file| Self { fd: file.into() })
            .map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))
    }

    /// Wraps a descriptor that is already open, such as one received from a compositor.
    ///
    /// Handles belong to the open file, which duplicates of the descriptor share. A second
    /// [`Device`](crate::winsys::Device) on the same file is refused, but other code can still make requests on a
    /// duplicate; it must not touch the device's objects.
    pub fn from_fd(fd: OwnedFd) -> Self {
        Self { fd }
    }
}

impl AsFd for RenderNode {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// All requests of the `drm` crate work on the same descriptor: driver strings, capabilities, and mode setting on a primary
/// node.
impl drm::Device for RenderNode {}

/// Converts the return value of `ioctl` to a result.
///
/// A kernel returns -1 and sets errno. Mesa's no-op shim returns the negative errno and does not set errno, so its -1 is
/// EPERM. errno is cleared before the call to tell the two apart.
fn ioctl_result(returned: c_int, errno: i32) -> Result<c_int, Errno> {
    match returned {
        0.. => Ok(returned),
        -1 if errno != 0 => Err(Errno::from_raw(errno)),
        negative => Err(Errno::from_raw(negative.saturating_neg())),
    }
}

/// Converts a request number to the type of the C library's ioctl: an unsigned long for glibc, an int for musl.
#[inline]
#[allow(clippy::cast_lossless, clippy::cast_possible_wrap, reason = "which of the two it is depends on the C library")]
const fn request_word(request: Request) -> libc::Ioctl {
    request.bits() as libc::Ioctl
}

/// Clears errno like `Errno::clear`, but with one call instead of three, because it runs for every request.
#[inline]
fn clear_errno() {
    // SAFETY: the C library returns the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the integer belongs to this thread alone and lives as long as the thread.
    unsafe { errno.write(0) };
}

/// Repeats a call while a signal interrupts it (EINTR). On EAGAIN (the kernel is busy) the caller decides.
///
/// Source: libdrm 2.4.124 `xf86drm.c`, `drmIoctl`, which repeats the call in both cases.
#[inline]
fn restarting(mut call: impl FnMut() -> c_int) -> Result<c_int, Errno> {
    loop {
        clear_errno();
        let returned = call();
        if returned >= 0 {
            return Ok(returned);
        }
        match ioctl_result(returned, nix::errno::Errno::last_raw()) {
            Err(Errno::EINTR) => {}
            result => return result,
        }
    }
}

// SAFETY: `ioctl` and `mmap` pass the caller's arguments to the kernel unchanged. The kernel keeps the trait's guarantees
// as for any system call: it copies `request.size()` bytes in and out, follows the addresses that the structures define,
// and keeps a mapping until munmap.
unsafe impl Kernel for RenderNode {
    fn open_file(&self) -> OpenFile<'_> {
        OpenFile::Descriptor(self.fd.as_fd())
    }

    #[inline]
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the descriptor is open while `self` exists; the caller guarantees `argument`.
        restarting(|| unsafe { libc::ioctl(self.fd.as_raw_fd(), request_word(request), argument) })
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        let offset = i64::try_from(offset).map_err(|_| Errno::EOVERFLOW)?;
        let protection = match protection {
            Protection::Read => libc::PROT_READ,
            Protection::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        };
        let (address, fixed) = match at {
            Some(address) => (address.as_ptr().cast(), libc::MAP_FIXED),
            None => (std::ptr::null_mut(), 0),
        };
        // SAFETY: without MAP_FIXED the kernel picks free addresses; with it, the caller owns the range.
        let mapped =
            unsafe { libc::mmap(address, len, protection, libc::MAP_SHARED | fixed, self.fd.as_raw_fd(), offset) };
        if mapped == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        NonNull::new(mapped.cast()).ok_or(Errno::ENOMEM)
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller passes the address and length of one mapping that is no longer used.
        let returned = unsafe { libc::munmap(address.as_ptr().cast(), len) };
        Errno::result(returned).map(drop)
    }

    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's guarantees are passed on unchanged.
        unsafe { replace_by_nothing(address, len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_that_returns_the_negative_errno_is_understood() {
        assert_eq!(ioctl_result(-22, 0), Err(Errno::EINVAL));
        assert_eq!(ioctl_result(-1, 0), Err(Errno::EPERM));
        assert_eq!(ioctl_result(-1, libc::EACCES), Err(Errno::EACCES));
        assert_eq!(ioctl_result(3, libc::EACCES), Ok(3));
        assert_eq!(ioctl_result(c_int::MIN, 0), Err(Errno::from_raw(c_int::MAX)));
    }

    /// Feature 2.
    #[test]
    fn interrupted_calls_start_over_and_others_do_not() {
        let script = |answers: &[(c_int, Errno)]| {
            let mut answers = answers.iter();
            let result = restarting(|| {
                answers.next().map_or(0, |&(returned, errno)| {
                    nix::errno::Errno::set_raw(errno.raw());
                    returned
                })
            });
            (result, answers.len())
        };
        let again = [(-1, Errno::EINTR), (-libc::EINTR, Errno::from_raw(0)), (7, Errno::EINTR)];
        assert_eq!(script(&again), (Ok(7), 0));
        assert_eq!(script(&[(-1, Errno::ENOMEM), (0, Errno::EINTR)]), (Err(Errno::ENOMEM), 1));
        assert_eq!(script(&[(-1, Errno::EAGAIN), (0, Errno::EINTR)]), (Err(Errno::EAGAIN), 1), "the caller's to judge");
    }

    #[test]
    fn what_an_earlier_call_left_in_errno_is_not_the_answer_of_this_one() {
        nix::errno::Errno::EIO.set();
        // Mesa's no-op shim returns this without setting errno.
        assert_eq!(restarting(|| -1), Err(Errno::EPERM));
        nix::errno::Errno::EIO.set();
        assert_eq!(restarting(|| -libc::ENOENT), Err(Errno::ENOENT));
        assert_eq!(restarting(|| 0), Ok(0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "a system call")]
    fn a_file_that_is_no_drm_node_refuses_drm_requests() {
        let node = RenderNode::open(Path::new("/dev/null")).unwrap();
        let mut question = crate::uapi::GetCap { capability: 1, value: 0 };
        assert_eq!(crate::winsys::kernel::send(&node, &mut question), Err(Errno::ENOTTY));
    }
}
