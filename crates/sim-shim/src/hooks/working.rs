//! Hooks of the working directory.

use std::ffi::{c_char, c_int};

use libc::size_t;
use nix::errno::Errno;

use super::{guarded, locate};
use crate::{c_text, paths, real, working, world};

/// The C library's `chdir`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn chdir(path: *const c_char) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(libc::AT_FDCWD, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case.
        let returned = unsafe { real::chdir(name) };
        working::changed();
        Ok(returned)
    })
}

/// The C library's `fchdir`.
///
/// # Safety
///
/// None beyond the C function's.
#[unsafe(no_mangle)]
unsafe extern "C" fn fchdir(fd: c_int) -> c_int {
    // SAFETY: what the program passed.
    let returned = unsafe { real::fchdir(fd) };
    working::changed();
    returned
}

/// The C library's `getcwd`. The tree is not seen.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn getcwd(out: *mut c_char, size: size_t) -> *mut c_char {
    // SAFETY: the caller's promise.
    let found = unsafe { real::getcwd(out, size) };
    guarded(std::ptr::null_mut(), || {
        // SAFETY: null, or a C string that the real function made.
        unsafe { show(found) }
    })
}

/// Takes the root of the world's tree off a path, in place.
///
/// # Safety
///
/// `path` is null or a C string that may be written.
pub(super) unsafe fn show(path: *mut c_char) -> Result<*mut c_char, Errno> {
    // SAFETY: the caller's promise; the bytes are used before they change.
    let Some(found) = (unsafe { c_text::bytes(path) }) else { return Ok(path) };
    let Some(inside) = world::known().and_then(|world| paths::inside(world, found)) else { return Ok(path) };
    if inside.is_empty() {
        return Err(Errno::ENOENT);
    }
    let (skipped, len) = (found.len() - inside.len(), inside.len() + 1);
    // SAFETY: `skipped` bytes into the string, and the rest and its terminating zero follow.
    let from = unsafe { path.add(skipped) };
    // SAFETY: both ends are inside the one buffer, and `copy` allows them to overlap.
    unsafe { std::ptr::copy(from, path, len) };
    Ok(path)
}
