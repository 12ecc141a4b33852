//! Writing files of sysfs.

use std::{
    ffi::{c_int, c_void},
    os::fd::{AsFd, OwnedFd, RawFd},
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use amdgpu_sim::sysfs::is_setting;
use amdgpu_sim_world::{Call, Message};
use libc::{size_t, ssize_t};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, FdFlag, fcntl},
    sys::stat::fstat,
};

use super::guarded;
use crate::{calls, paths::WorldPath, real, world};

/// Inodes of the sockets that stand for files of sysfs, the newest over the oldest. A descriptor of one that is no longer
/// here, or that this process inherited, can be written all the same; only the outcome is not told.
static OPENED: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// `true` if there was ever one.
static ANY: AtomicBool = AtomicBool::new(false);
/// Bytes that a file of sysfs takes at once.
const PAGE: usize = 4096;
/// The number of times that the server is asked about a file which it writes at the same time.
const ATTEMPTS: usize = 16;

/// Asks for the mode and inode of a file.
fn about(ask: impl FnOnce(*mut libc::stat) -> c_int) -> Option<(libc::mode_t, u64)> {
    // SAFETY: a structure of plain integers, for which zeros are values.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    (ask(&raw mut about) == 0).then_some((about.st_mode, about.st_ino))
}

/// Returns the mode and inode of a regular file of the world's tree; `None` for any other.
fn file(place: &WorldPath) -> Option<(libc::mode_t, u64)> {
    if place.is_real || place.node.is_some() || place.is_sw_sync {
        return None;
    }
    // SAFETY: the translated path is a C string, and the structure outlives the call.
    let found = about(|out| unsafe { real::fstatat(libc::AT_FDCWD, place.text.as_ptr(), out, 0) });
    found.filter(|(mode, _)| mode & libc::S_IFMT == libc::S_IFREG)
}

/// Returns `true` if a file is opened by [`open`]: one that can only be written, or a setting that is opened to be written.
pub(super) fn is_one(place: &WorldPath, writes: bool) -> bool {
    file(place).is_some_and(|(mode, _)| mode & 0o444 == 0 || writes && is_setting(place.name()))
}

/// Calls the server with the inode of a file of the tree. A file gets a new inode whenever the server writes it, so the call is
/// repeated if the server does not know the inode any more. Returns `None` if there is no such file.
pub(super) fn with_inode<T>(place: &WorldPath, call: impl Fn(u64) -> Result<T, Errno>) -> Option<Result<T, Errno>> {
    let mut result = None;
    for _ in 0..ATTEMPTS {
        let (_, inode) = file(place)?;
        result = Some(call(inode));
        if !matches!(result, Some(Err(Errno::ESTALE | Errno::ENOENT))) {
            break;
        }
    }
    result
}

/// Opens such a file: a socket, and what is written to it is done by the server.
///
/// # Errors
///
/// EACCES when it is to be read, which the kernel refuses root too (Linux 6.12 `fs/kernfs/file.c`, `kernfs_fop_open`), and
/// for a process that may not write it.
pub(super) fn open(place: &WorldPath, flags: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: the translated path is a C string.
    let may_write = || unsafe { real::access(place.text.as_ptr(), libc::W_OK) } == 0;
    if flags & libc::O_DIRECTORY != 0 {
        return Err(Errno::ENOTDIR);
    }
    if flags & libc::O_ACCMODE != libc::O_WRONLY || !may_write() {
        return Err(Errno::EACCES);
    }
    let ask = |inode| calls::call_for_descriptor(place.world, Call::OpenStore, 0, [inode, 0, 0]);
    let fd = match with_inode(place, ask) {
        Some(Err(Errno::ENOENT)) => Err(Errno::EACCES),
        other => other.unwrap_or(Err(Errno::ENOENT)),
    }?;
    if flags & libc::O_CLOEXEC == 0 {
        fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    let index = NEXT.fetch_add(1, Ordering::Relaxed) % OPENED.len();
    if let Some(slot) = OPENED.get(index) {
        slot.store(fstat(&fd)?.st_ino, Ordering::Relaxed);
    }
    ANY.store(true, Ordering::Release);
    Ok(fd)
}

/// The inode of a descriptor that stands for a file of sysfs. Errno stays as it was.
fn opened(fd: RawFd) -> Option<u64> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    let errno = Errno::last_raw();
    // SAFETY: the structure outlives the call; a number that is not open gives EBADF.
    let found = about(|out| unsafe { real::fstat(fd, out) });
    real::set_errno(errno);
    let (mode, inode) = found?;
    let is_known = || OPENED.iter().any(|slot| slot.load(Ordering::Relaxed) == inode);
    (mode & libc::S_IFMT == libc::S_IFSOCK && is_known()).then_some(inode)
}

/// The C library's `write`. On a file of sysfs it returns when the server has done what was asked for, with the errno of that.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, len: size_t) -> ssize_t {
    let Some(inode) = opened(fd) else {
        // SAFETY: what the program passed.
        return unsafe { real::write(fd, bytes, len) };
    };
    guarded(-1, || {
        if len == 0 {
            return Ok(0);
        }
        // SAFETY: what the program passed. A server that is gone gives EPIPE, and no signal.
        let sent = unsafe { libc::send(fd, bytes, len.min(PAGE), libc::MSG_NOSIGNAL) };
        let sent = Errno::result(sent)?;
        if let Some(world) = world::known() {
            calls::call(world, &Message::new(Call::Outcome, 0, [inode, 0, 0]))?;
        }
        Ok(sent)
    })
}
