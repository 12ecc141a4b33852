//! Hooks that describe files.

use std::{
    ffi::{c_char, c_int},
    mem::MaybeUninit,
    os::fd::RawFd,
    sync::OnceLock,
};

use amdgpu_sim::sysfs::{DRM_MAJOR, node_name};
use amdgpu_sim_world::{Call, Message, NodeName, is_server_thread};
use libc::{S_IFCHR, S_IFMT, S_IFREG, S_IFSOCK, mode_t};

use super::{guarded, locate};
use crate::{
    c_text::PathText,
    calls,
    paths::{self, node_minor},
    real, world,
};

/// Bits of a mode that are not the file's kind.
const RIGHTS: mode_t = 0o7777;

/// Makes a node of what is a plain file or a socket. A socket is shown as the same file as the node's path.
fn show_node(about: &mut libc::stat, minor: u32) {
    if about.st_mode & S_IFMT == S_IFSOCK
        && let Some(stand_in) = stand_in(minor)
    {
        *about = stand_in;
    }
    about.st_mode = S_IFCHR | about.st_mode & RIGHTS;
    about.st_rdev = libc::makedev(DRM_MAJOR, minor);
    about.st_size = 0;
    about.st_blocks = 0;
}

/// Does for statx what [`show_node`] does for stat.
fn show_node_x(about: &mut libc::statx, minor: u32) {
    if mode_t::from(about.stx_mode) & S_IFMT == S_IFSOCK
        && let Some(stand_in) = stand_in_x(minor, about.stx_mask)
    {
        *about = stand_in;
    }
    about.stx_mode = S_IFCHR as u16 | about.stx_mode & RIGHTS as u16;
    about.stx_rdev_major = DRM_MAJOR;
    about.stx_rdev_minor = minor;
    about.stx_size = 0;
    about.stx_blocks = 0;
}

/// Returns the path of the plain file that stands for a node.
fn path_of_stand_in(minor: u32) -> Option<PathText> {
    let (mut path, name) = (PathText::new(), node_name(minor));
    let parts = [world::known()?.root_bytes(), b"/dev/dri/", name.as_bytes()];
    parts.iter().try_for_each(|part| path.push(part)).ok()?;
    Some(path)
}

/// Returns the minor number of the node that a descriptor only names (`O_PATH`), by the file that stands for it.
fn minor_of_stand_in(fd: RawFd, device: u64) -> Option<u32> {
    static TREE: OnceLock<Option<u64>> = OnceLock::new();
    let world = world::known()?;
    // Few files are of the tree's file system, and only those are looked at.
    if *TREE.get_or_init(|| Some(stand_in(node_minor(b"/dev/dri/card0")?)?.st_dev)) != Some(device) {
        return None;
    }
    let path = PathText::of_descriptor(fd)?;
    paths::inside(world, path.as_bytes()).and_then(node_minor)
}

fn stand_in(minor: u32) -> Option<libc::stat> {
    let path = path_of_stand_in(minor)?;
    let mut about = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is a C string, and there is room for the answer.
    let returned = unsafe { real::fstatat(libc::AT_FDCWD, path.as_ptr(), about.as_mut_ptr(), 0) };
    // SAFETY: filled in where it returned 0.
    (returned == 0).then(|| unsafe { about.assume_init() })
}

fn stand_in_x(minor: u32, mask: libc::c_uint) -> Option<libc::statx> {
    let path = path_of_stand_in(minor)?;
    let mut about = MaybeUninit::<libc::statx>::uninit();
    // SAFETY: the path is a C string, and there is room for the answer.
    let returned = unsafe { real::statx(libc::AT_FDCWD, path.as_ptr(), 0, mask, about.as_mut_ptr()) };
    // SAFETY: filled in where it returned 0.
    (returned == 0).then(|| unsafe { about.assume_init() })
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
        let by_name = |about: &libc::stat| match about.st_mode & S_IFMT {
            _ if is_server_thread() => None,
            S_IFSOCK => NodeName::of(fd).map(|name| name.minor),
            S_IFREG if about.st_size == 0 => minor_of_stand_in(fd, about.st_dev),
            _ => None,
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
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $stat(path: *const c_char, out: *mut libc::stat) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { stat_at(libc::AT_FDCWD, path, out, 0) }
        }

        /// As its sibling, of a link itself.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $lstat(path: *const c_char, out: *mut libc::stat) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { stat_at(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW) }
        }

        /// As its sibling, of an open file.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fstat(fd: c_int, out: *mut libc::stat) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { stat_descriptor(fd, out) }
        }

        /// As its sibling, from a directory.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
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
/// The requirements of the C function.
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
        let socket = mode_t::from(about.stx_mode) & S_IFMT == S_IFSOCK && !is_server_thread();
        let device = libc::makedev(about.stx_dev_major, about.stx_dev_minor);
        // SAFETY: the caller's promise.
        let itself = unsafe { is_descriptor_itself(path, flags) };
        let minor = match &place {
            Some(place) => place.node,
            None if socket && itself => NodeName::of(directory).map(|name| name.minor),
            None if socket => minor_of_socket(device, about.stx_ino),
            None if itself && about.stx_size == 0 => minor_of_stand_in(directory, device),
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
/// The requirements of the C function.
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
/// The requirements of the C function.
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
