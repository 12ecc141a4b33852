//! Opening files by path.

use std::{
    ffi::{c_char, c_int},
    os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd},
};

use amdgpu_sim::sysfs::{RECOVER, changes, node_name, wakes};
use amdgpu_sim_world::{Call, Message};
use libc::{FILE, mode_t};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, FdFlag, OFlag, fcntl},
};

use super::{guarded, locate, proc, store};
use crate::{
    c_text, calls,
    paths::{self, WorldPath},
    real,
};

/// # Safety
///
/// `path` is null or a C string.
unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let Some(place) = (unsafe { locate(directory, path) })? else {
            // SAFETY: the caller's promise.
            if let Some(fd) = unsafe { open_in_proc(directory, path, flags) } {
                return fd.map(IntoRawFd::into_raw_fd);
            }
            return Ok(if directory == libc::AT_FDCWD {
                // SAFETY: what the program passed.
                unsafe { real::open(path, flags, mode) }
            } else {
                // SAFETY: as above.
                unsafe { real::openat(directory, path, flags, mode) }
            });
        };
        if let Some(minor) = place.node {
            return open_node(&place, minor, flags).map(IntoRawFd::into_raw_fd);
        }
        if place.is_sw_sync && flags & libc::O_PATH == 0 {
            return open_sw_sync(&place, flags).map(IntoRawFd::into_raw_fd);
        }
        if flags & libc::O_PATH == 0 && store::is_one(&place, flags & libc::O_ACCMODE != libc::O_RDONLY) {
            return store::open(&place, flags).map(IntoRawFd::into_raw_fd);
        }
        prepare(&place, flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_CREAT != 0)?;
        if flags & (libc::O_PATH | libc::O_DIRECTORY) == 0 {
            recover(&place)?;
        }
        // SAFETY: the translated path is a C string.
        Ok(unsafe { real::open(place.text.as_ptr(), flags, mode) })
    })
}

/// # Safety
///
/// `path` is null or a C string.
unsafe fn open_in_proc(directory: c_int, path: *const c_char, flags: c_int) -> Option<Result<OwnedFd, Errno>> {
    // SAFETY: the caller's promise; the bytes are used before this returns.
    let path = unsafe { c_text::bytes(path) }?;
    if flags & libc::O_NOFOLLOW == 0
        && let Some(minor) = proc::node(directory, path)
    {
        let node = format!("/dev/dri/{}", node_name(minor));
        let place = paths::find(libc::AT_FDCWD, node.as_bytes()).transpose()?;
        return Some(place.and_then(|place| open_node(&place, minor, flags)));
    }
    let fd = proc::fdinfo(directory, path)?;
    Some(fd.and_then(|fd| {
        if flags & libc::O_CLOEXEC == 0 {
            fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
        }
        Ok(fd)
    }))
}

/// The tree cannot be written, and what changes in it is brought up to date.
fn prepare(place: &WorldPath, writes: bool) -> Result<(), Errno> {
    if place.is_real {
        return Ok(());
    }
    if writes {
        return Err(Errno::EACCES);
    }
    let name = place.name();
    let (is_all, wakes) = (!name.starts_with("mem_info_"), wakes(name));
    if !changes(name) && !wakes {
        return Ok(());
    }
    let refresh =
        |inode| calls::call(place.world, &Message::new(Call::Refresh, 0, [is_all.into(), inode, 0])).map(drop);
    if wakes {
        return store::with_inode(place, refresh).unwrap_or_else(|| refresh(0));
    }
    refresh(0)
}

/// Resets the GPU if this is its file of debugfs for that. The file is opened only to be read, so the GPU is reset when it is
/// opened; the kernel waits for the first read.
///
/// # Errors
///
/// EACCES except for root, who alone may enter debugfs.
///
/// Source: Linux 6.12 `amdgpu_fence.c`, `gpu_recover_get`; `fs/debugfs/inode.c`, `DEBUGFS_DEFAULT_MODE`.
fn recover(place: &WorldPath) -> Result<(), Errno> {
    if place.is_real || place.name() != RECOVER {
        return Ok(());
    }
    if !nix::unistd::geteuid().is_root() {
        return Err(Errno::EACCES);
    }
    let recover = |inode| calls::call(place.world, &Message::new(Call::Recover, 0, [inode, 0, 0])).map(drop);
    // A file that does not exist is refused when it is opened.
    store::with_inode(place, recover).unwrap_or(Ok(()))
}

/// Opens a node: the server makes the descriptor, with the flags of an open file here.
fn open_node(place: &WorldPath, minor: u32, flags: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: the translated path is a C string.
    if unsafe { real::access(place.text.as_ptr(), libc::F_OK) } != 0 {
        return Err(Errno::ENOENT);
    }
    if flags & libc::O_DIRECTORY != 0 {
        return Err(Errno::ENOTDIR);
    }
    if flags & libc::O_PATH != 0 {
        // SAFETY: the translated path is a C string.
        let named = unsafe { real::open(place.text.as_ptr(), flags, 0) };
        // SAFETY: the descriptor was just opened, and no other code knows its number.
        return Errno::result(named).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    }
    // The nearest to CAP_SYS_ADMIN that can be asked without a further library: being root.
    let is_admin = nix::unistd::geteuid().is_root();
    let words = [minor.into(), u64::from(flags.unsigned_abs()), is_admin.into()];
    let fd = calls::call_for_descriptor(place.world, Call::Open, 0, words)?;
    if flags & libc::O_CLOEXEC == 0 {
        fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    if flags & libc::O_NONBLOCK != 0 {
        fcntl(fd.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    }
    Ok(fd)
}

/// Opens sw_sync: each open is a timeline of its own.
fn open_sw_sync(place: &WorldPath, flags: c_int) -> Result<OwnedFd, Errno> {
    if flags & libc::O_DIRECTORY != 0 {
        return Err(Errno::ENOTDIR);
    }
    let fd = calls::call_for_descriptor(place.world, Call::SwSync, 0, [0; 3])?;
    if flags & libc::O_CLOEXEC == 0 {
        fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(fd)
}

macro_rules! open_hooks {
    ($($name:ident, $name_at:ident;)*) => {$(
        /// The C library's function of this name. Its mode is read as if it were always given, which the calling
        /// convention allows; where it was not, it is not used.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
        }

        /// As its sibling without `at`, from a directory.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name_at(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { open_at(directory, path, flags, mode) }
        }
    )*};
}

open_hooks! {
    open, openat;
    open64, openat64;
}

/// Replaces the `open` of `_FORTIFY_SOURCE` without a mode.
///
/// # Safety
///
/// `path` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn __open_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { open_at(libc::AT_FDCWD, path, flags, 0) }
}

/// As `__open_2`.
///
/// # Safety
///
/// `path` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { open_at(libc::AT_FDCWD, path, flags, 0) }
}

/// # Safety
///
/// Both are C strings.
unsafe fn open_stream(path: *const c_char, mode: *const c_char) -> *mut FILE {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let Some(place) = (unsafe { locate(libc::AT_FDCWD, path) })? else {
            // SAFETY: the caller's promise.
            if let Some(fd) = unsafe { open_in_proc(libc::AT_FDCWD, path, libc::O_CLOEXEC) } {
                // SAFETY: the descriptor is ours to give away, and `mode` is what the program passed.
                return Ok(unsafe { libc::fdopen(fd?.into_raw_fd(), mode) });
            }
            // SAFETY: what the program passed.
            return Ok(unsafe { real::fopen(path, mode) });
        };
        // SAFETY: the caller's promise.
        let how = unsafe { c_text::bytes(mode) }.unwrap_or_default();
        let writes = how.iter().any(|byte| b"wa+".contains(byte));
        if place.is_sw_sync {
            let fd = open_sw_sync(&place, if how.contains(&b'e') { libc::O_CLOEXEC } else { 0 })?.into_raw_fd();
            // SAFETY: the descriptor is ours to give away, and `mode` is what the program passed.
            return Ok(unsafe { libc::fdopen(fd, mode) });
        }
        if store::is_one(&place, writes) {
            let on_exec = if how.contains(&b'e') { libc::O_CLOEXEC } else { 0 };
            let access = if how.starts_with(b"r") || how.contains(&b'+') { libc::O_RDWR } else { libc::O_WRONLY };
            let fd = store::open(&place, on_exec | access)?.into_raw_fd();
            // SAFETY: the descriptor is ours to give away, and `mode` is what the program passed.
            return Ok(unsafe { libc::fdopen(fd, mode) });
        }
        let Some(minor) = place.node else {
            prepare(&place, writes)?;
            recover(&place)?;
            // SAFETY: the translated path is a C string, and `mode` is what the program passed.
            return Ok(unsafe { real::fopen(place.text.as_ptr(), mode) });
        };
        let fd = open_node(&place, minor, if how.contains(&b'e') { libc::O_CLOEXEC } else { 0 })?.into_raw_fd();
        // SAFETY: the descriptor is ours to give away, and `mode` is what the program passed.
        Ok(unsafe { libc::fdopen(fd, mode) })
    })
}

/// The C library's `fopen`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's promise.
    unsafe { open_stream(path, mode) }
}

/// The C library's `fopen64`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller's promise.
    unsafe { open_stream(path, mode) }
}
