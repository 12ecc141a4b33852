//! Checks that the kernel wrote an answer.
//!
//! A shim that replaces the kernel (Mesa's no-op shim) may return success without writing an answer. The argument then still holds
//! the request, and a number in it may be the handle or descriptor of another owner, which would be closed in the end. Answer
//! fields are therefore initialized to a value that no kernel returns. If the answer overlaps the request, the request is made such
//! that the two cases can be distinguished.

use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::uapi::Errno;

/// The errno for an answer that the kernel did not write.
pub(super) const UNWRITTEN: Errno = Errno::EBADF;

/// Returns a handle that the kernel wrote over 0. GEM handles, sync objects, contexts and lists are numbered from 1.
///
/// Source: Linux 6.12 `drm_gem.c`, `drm_gem_handle_create_tail`; `drm_syncobj.c`, `drm_syncobj_get_handle`; `amdgpu_ctx.c`,
/// `amdgpu_ctx_alloc`; `amdgpu_bo_list.c`, `amdgpu_bo_list_ioctl`.
pub(super) const fn handle(answer: u32) -> Result<u32, Errno> {
    if answer == 0 { Err(UNWRITTEN) } else { Ok(answer) }
}

/// Returns a descriptor that the kernel wrote over -1, or over a number that it [cannot return](Occupied).
pub(super) fn descriptor(answer: i32) -> Result<OwnedFd, Errno> {
    if answer < 0 {
        return Err(UNWRITTEN);
    }
    // SAFETY: the call looks up a number in the process's table of descriptors.
    Errno::result(unsafe { libc::fcntl(answer, libc::F_GETFD) }).map_err(|_| UNWRITTEN)?;
    // SAFETY: the kernel wrote the number, which by the contract of `Kernel` is that of a descriptor just installed for the
    // caller; no other code has it.
    Ok(unsafe { OwnedFd::from_raw_fd(answer) })
}

/// A guard that keeps a descriptor number in use, so that the kernel cannot return it.
#[derive(Debug)]
pub(super) struct Occupied {
    _event: EventFd,
    /// A duplicate with the number, if it was free.
    _copy: Option<OwnedFd>,
}

impl Occupied {
    /// Occupies a number, unless it is already in use or above the process's limit.
    ///
    /// # Errors
    ///
    /// EMFILE, ENFILE or ENOMEM.
    pub(super) fn new(number: u32) -> Result<Self, Errno> {
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC).map_err(|errno| Errno::from_raw(errno as i32))?;
        let lowest_free = event.as_raw_fd();
        let wanted = i32::try_from(number).unwrap_or(i32::MAX);
        let copy = if lowest_free < wanted { copy_from(&event, wanted)? } else { None };
        Ok(Self { _event: event, _copy: copy })
    }
}

/// Returns a duplicate with the lowest free number that is at least `lowest`; `None` if the process's limit is lower.
fn copy_from(event: &EventFd, lowest: i32) -> Result<Option<OwnedFd>, Errno> {
    // SAFETY: the call takes numbers only, and the descriptor is open.
    let copied = Errno::result(unsafe { libc::fcntl(event.as_raw_fd(), libc::F_DUPFD_CLOEXEC, lowest) });
    match copied {
        // SAFETY: the C library has just created the descriptor for this call.
        Ok(copy) => Ok(Some(unsafe { OwnedFd::from_raw_fd(copy) })),
        Err(Errno::EINVAL) => Ok(None),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(number: i32) -> bool {
        // SAFETY: the call looks up a number.
        unsafe { libc::fcntl(number, libc::F_GETFD) >= 0 }
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn a_number_is_occupied_while_the_guard_lives() {
        // Other threads open descriptors at the same time, but none with so high a number.
        let number = 500;
        assert!(!is_open(number));
        let guard = Occupied::new(number.cast_unsigned()).unwrap();
        assert!(is_open(number));
        let again = Occupied::new(number.cast_unsigned()).unwrap();
        drop(guard);
        assert!(!is_open(number));
        drop(again);
        assert!(is_open(1));
        drop(Occupied::new(1).unwrap());
        assert!(is_open(1), "another owner's");
        Occupied::new(u32::MAX).unwrap();
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn what_is_no_open_descriptor_is_not_taken() {
        assert_eq!(descriptor(-1).unwrap_err(), UNWRITTEN);
        assert_eq!(descriptor(i32::MAX).unwrap_err(), UNWRITTEN);
        assert_eq!((handle(0), handle(7)), (Err(UNWRITTEN), Ok(7)));
    }
}
