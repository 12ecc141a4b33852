//! Hooks that describe files.

use std::{
    ffi::{c_char, c_int},
    os::fd::RawFd,
};

use amdgpu_sim::sysfs::DRM_MAJOR;
use amdgpu_sim_world::{Call, Message, NodeName};
use libc::{S_IFCHR, S_IFMT, S_IFSOCK, mode_t};

use super::{guarded, locate};
use crate::{calls, real, world};

/// Everybody may open a node of the world.
const RIGHTS: mode_t = 0o666;

/// Makes a node of what is a plain file or a socket.
fn show_node(about: &mut libc::stat, minor: u32) {
    about.st_mode = S_IFCHR | RIGHTS;
    about.st_rdev = libc::makedev(DRM_MAJOR, minor);
    about.st_size = 0;
    about.st_blocks = 0;
}

fn show_node_x(about: &mut libc::statx, minor: u32) {
    about.stx_mode = (S_IFCHR | RIGHTS) as u16;
    about.stx_rdev_major = DRM_MAJOR;
    about.stx_rdev_minor = minor;
    about.stx_size = 0;
    about.stx_blocks = 0;
}

/// The minor number of a node descriptor of some process, by its inode, as `/proc/PID/fd` shows it.
fn minor_of_socket(device: u64, inode: u64) -> Option<u32> {
    let world = world::known()?;
    if Some(device) != world::sockets_device() {
        return None;
    }
    let answer = calls::call(world, &Message::new(Call::Inode, 0, [inode, 0, 0])).ok()?;
    u32::try_from(answer.value).ok()
}

/// # Safety
///
/// `out` is valid if the real function returned 0 for it.
unsafe fn patch(returned: c_int, out: *mut libc::stat, minor: impl FnOnce(&libc::stat) -> Option<u32>) -> c_int {
    if returned == 0 {
        // SAFETY: the real function has just filled it in.
        let about = unsafe { &mut *out };
        if let Some(minor) = minor(about) {
            show_node(about, minor);
        }
    }
    returned
}

/// The node behind a path that is not in the tree: `/proc/PID/fd/N`.
fn node_by_inode(about: &libc::stat) -> Option<u32> {
    if about.st_mode & S_IFMT == S_IFSOCK { minor_of_socket(about.st_dev, about.st_ino) } else { None }
}

/// # Safety
///
/// `path` is null or a C string, and `out` is writable.
unsafe fn stat_at(directory: RawFd, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let Some(place) = (unsafe { locate(directory, path) })? else {
            // SAFETY: what the program passed.
            let returned = unsafe { real::fstatat(directory, path, out, flags) };
            // SAFETY: the real function filled it in if it returned 0.
            return Ok(unsafe { patch(returned, out, node_by_inode) });
        };
        // SAFETY: the translated path is a C string, and `out` is what the program passed.
        let returned = unsafe { real::fstatat(libc::AT_FDCWD, place.text.as_ptr(), out, flags) };
        // SAFETY: as above.
        Ok(unsafe { patch(returned, out, |_| place.node) })
    })
}

/// # Safety
///
/// `out` is writable.
unsafe fn stat_descriptor(fd: RawFd, out: *mut libc::stat) -> c_int {
    guarded(-1, || {
        // SAFETY: what the program passed.
        let returned = unsafe { real::fstat(fd, out) };
        let by_name = |about: &libc::stat| {
            let socket = about.st_mode & S_IFMT == S_IFSOCK;
            socket.then(|| NodeName::of(fd)).flatten().map(|name| name.minor)
        };
        // SAFETY: the real function filled it in if it returned 0.
        Ok(unsafe { patch(returned, out, by_name) })
    })
}

macro_rules! stat_hooks {
    ($($stat:ident, $lstat:ident, $fstat:ident, $fstatat:ident;)*) => {$(
        /// The C library's function of this name. On 64-bit Linux all its variants fill in the same structure.
        ///
        /// # Safety
        ///
        /// What the C function asks.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $stat(path: *const c_char, out: *mut libc::stat) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { stat_at(libc::AT_FDCWD, path, out, 0) }
        }

        /// As its sibling, of a link itself.
        ///
        /// # Safety
        ///
        /// What the C function asks.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $lstat(path: *const c_char, out: *mut libc::stat) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { stat_at(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW) }
        }

        /// As its sibling, of an open file.
        ///
        /// # Safety
        ///
        /// What the C function asks.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fstat(fd: c_int, out: *mut libc::stat) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { stat_descriptor(fd, out) }
        }

        /// As its sibling, from a directory.
        ///
        /// # Safety
        ///
        /// What the C function asks.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fstatat(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
            // SAFETY: the caller's promise.
            if unsafe { is_descriptor_itself(path, flags) } {
                // SAFETY: the caller's promise.
                return unsafe { stat_descriptor(directory, out) };
            }
            // SAFETY: the caller's promise.
            unsafe { stat_at(directory, path, out, flags) }
        }
    )*};
}

stat_hooks! {
    stat, lstat, fstat, fstatat;
    stat64, lstat64, fstat64, fstatat64;
}

/// Returns `true` if an `at` function is asked about its descriptor: AT_EMPTY_PATH and an empty path.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn is_descriptor_itself(path: *const c_char, flags: c_int) -> bool {
    // SAFETY: the caller's promise.
    flags & libc::AT_EMPTY_PATH != 0 && unsafe { crate::c_text::bytes(path) }.is_none_or(<[u8]>::is_empty)
}

/// The C library's `statx`.
///
/// # Safety
///
/// What the C function asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: libc::c_uint,
    out: *mut libc::statx,
) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(directory, path) }?;
        let (from, name) = match &place {
            Some(place) => (libc::AT_FDCWD, place.text.as_ptr()),
            None => (directory, path),
        };
        // SAFETY: a C string in either case, and what the program passed.
        let returned = unsafe { real::statx(from, name, flags, mask, out) };
        if returned != 0 {
            return Ok(returned);
        }
        // SAFETY: the real function has just filled it in.
        let about = unsafe { &mut *out };
        let socket = mode_t::from(about.stx_mode) & S_IFMT == S_IFSOCK;
        // SAFETY: the caller's promise.
        let itself = unsafe { is_descriptor_itself(path, flags) };
        let minor = match &place {
            Some(place) => place.node,
            None if socket && itself => NodeName::of(directory).map(|name| name.minor),
            None if socket => minor_of_socket(libc::makedev(about.stx_dev_major, about.stx_dev_minor), about.stx_ino),
            None => None,
        };
        if let Some(minor) = minor {
            show_node_x(about, minor);
        }
        Ok(0)
    })
}

/// The C library's `access`.
///
/// # Safety
///
/// What the C function asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(libc::AT_FDCWD, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case.
        Ok(unsafe { real::access(name, mode) })
    })
}

/// The C library's `faccessat`.
///
/// # Safety
///
/// What the C function asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(directory, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case; an absolute one does not use the directory.
        Ok(unsafe { real::faccessat(directory, name, mode, flags) })
    })
}
