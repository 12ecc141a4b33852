//! Exclusive claims of open files: no two devices of a process use the same one.
//!
//! Handles and GPU addresses belong to the open file. Two devices on one file would each close the other's handles and
//! allocate the same addresses, so a device claims its file and a second claim is refused. A file inside the process
//! carries its claim. A file descriptor is compared with those of all other devices of the process. The list of claimed
//! descriptors is the only global state of this library; it is global because the descriptors of a process are.

use std::{
    ffi::c_int,
    os::fd::{AsRawFd, RawFd},
};

use parking_lot::Mutex;

use crate::{
    uapi::{Errno, IdentityClaim},
    winsys::{Error, OpenError, OpenFile, Result},
};

/// The claim of one device on its open file, released on drop. It must be dropped before the device's kernel.
#[derive(Debug)]
pub(super) enum Claim {
    Descriptor(RawFd),
    InProcess(#[expect(dead_code, reason = "releases the claim on drop")] IdentityClaim),
}

/// The descriptors of claimed files. A listed descriptor is open, because the device that claimed it owns it through its
/// kernel and releases the claim first.
static CLAIMED: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

impl Claim {
    /// Claims an open file.
    ///
    /// # Errors
    ///
    /// [`OpenError::FileInUse`] if another device has claimed the file; [`OpenError::FilesNotCompared`] if the kernel does not tell
    /// whether two descriptors refer to the same file.
    pub(super) fn new(file: OpenFile<'_>) -> Result<Self> {
        match file {
            OpenFile::InProcess(identity) => {
                identity.claim().map(Self::InProcess).ok_or(Error::Open(OpenError::FileInUse))
            }
            OpenFile::Descriptor(fd) => {
                let (fd, mut claimed) = (fd.as_raw_fd(), CLAIMED.lock());
                for &other in &*claimed {
                    if is_same(fd, other).map_err(|errno| Error::Open(OpenError::FilesNotCompared { errno }))? {
                        return Err(Error::Open(OpenError::FileInUse));
                    }
                }
                claimed.push(fd);
                Ok(Self::Descriptor(fd))
            }
            _ => Err(Error::Open(OpenError::FilesNotCompared { errno: Errno::EOPNOTSUPP })),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Self::Descriptor(fd) = self {
            CLAIMED.lock().retain(|other| other != fd);
        }
    }
}

/// A method to find out whether two descriptors refer to the same open file.
type Comparison = fn(RawFd, RawFd) -> Result<bool, Errno>;

/// Returns `true` if two descriptors refer to the same open file.
///
/// F_DUPFD_QUERY exists since Linux 6.10. kcmp is older, but some sandboxes forbid it. The signal number of a file works
/// everywhere else.
fn is_same(one: RawFd, other: RawFd) -> Result<bool, Errno> {
    const WAYS: [Comparison; 3] = [by_query, by_kcmp, by_mark];
    if one == other {
        return Ok(true);
    }
    let mut refused = Errno::ENOSYS;
    for way in WAYS {
        match way(one, other) {
            Ok(is_same) => return Ok(is_same),
            Err(errno) => refused = errno,
        }
    }
    Err(refused)
}

/// Source: Linux 6.10 `fs/fcntl.c`, `f_dupfd_query`; `include/uapi/linux/fcntl.h`.
const F_DUPFD_QUERY: c_int = 1024 + 3;

fn by_query(one: RawFd, other: RawFd) -> Result<bool, Errno> {
    fcntl(one, F_DUPFD_QUERY, other).map(|answer| answer == 1)
}

/// Source: Linux 6.12 `kernel/kcmp.c`.
fn by_kcmp(one: RawFd, other: RawFd) -> Result<bool, Errno> {
    const KCMP_FILE: c_int = 0;
    let process = std::process::id();
    // SAFETY: the call takes numbers only and changes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_kcmp, process, process, KCMP_FILE, one, other) };
    Errno::result(answer).map(|order| order == 0)
}

/// `F_SETSIG` and `F_GETSIG` of Linux, `include/uapi/asm-generic/fcntl.h`.
const F_SETSIG: c_int = 10;
const F_GETSIG: c_int = 11;

/// Changes the signal number of one file and reads that of the other. The number of the signal that reports input belongs
/// to the open file. It has no effect unless O_ASYNC is set, and is restored afterwards.
fn by_mark(one: RawFd, other: RawFd) -> Result<bool, Errno> {
    const MARKS: [c_int; 2] = [libc::SIGURG, libc::SIGWINCH];
    let (before, of_other) = (fcntl(one, F_GETSIG, 0)?, fcntl(other, F_GETSIG, 0)?);
    if before != of_other {
        return Ok(false);
    }
    let mark = if before == MARKS[0] { MARKS[1] } else { MARKS[0] };
    fcntl(one, F_SETSIG, mark)?;
    let seen = fcntl(other, F_GETSIG, 0);
    fcntl(one, F_SETSIG, before)?;
    Ok(seen? == mark)
}

fn fcntl(fd: RawFd, command: c_int, argument: c_int) -> Result<c_int, Errno> {
    // SAFETY: the commands of this file take a number and access no memory.
    Errno::result(unsafe { libc::fcntl(fd, command, argument) })
}

#[cfg(test)]
mod tests {
    use std::{fs::File, os::fd::AsFd};

    use super::*;

    fn null() -> File {
        File::open("/dev/null").unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn each_way_that_the_kernel_offers_tells_copies_from_openings() {
        let (file, other) = (null(), null());
        let copy = file.try_clone().unwrap();
        let mut offered = 0;
        for way in [by_query, by_kcmp, by_mark] {
            if let Ok(is_same) = way(file.as_raw_fd(), copy.as_raw_fd()) {
                assert!(is_same);
                assert_eq!(way(file.as_raw_fd(), other.as_raw_fd()), Ok(false));
                offered += 1;
            }
        }
        assert!(offered > 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn the_fall_back_works_without_the_others_and_leaves_nothing_behind() {
        let (file, other) = (null(), null());
        let copy = file.try_clone().unwrap();
        for signal in [0, libc::SIGURG, libc::SIGUSR1] {
            fcntl(file.as_raw_fd(), F_SETSIG, signal).unwrap();
            fcntl(other.as_raw_fd(), F_SETSIG, signal).unwrap();
            assert_eq!(by_mark(file.as_raw_fd(), copy.as_raw_fd()), Ok(true));
            assert_eq!(by_mark(file.as_raw_fd(), other.as_raw_fd()), Ok(false));
            assert_eq!(fcntl(file.as_raw_fd(), F_GETSIG, 0), Ok(signal));
            assert_eq!(fcntl(other.as_raw_fd(), F_GETSIG, 0), Ok(signal));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn a_file_is_claimed_once_and_again_when_the_claim_is_gone() {
        let (file, other) = (null(), null());
        let copy = file.try_clone().unwrap();
        let claim = |file: &File| Claim::new(OpenFile::Descriptor(file.as_fd()));
        let first = claim(&file).unwrap();
        assert_eq!(claim(&file).unwrap_err(), Error::Open(OpenError::FileInUse));
        assert_eq!(claim(&copy).unwrap_err(), Error::Open(OpenError::FileInUse));
        let second = claim(&other).unwrap();
        drop(first);
        let third = claim(&copy).unwrap();
        drop((second, third));
    }
}
