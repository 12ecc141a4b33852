//! Hooks that follow links and paths.

use std::ffi::{c_char, c_int};

use amdgpu_sim::sysfs::node_name;
use amdgpu_sim_world::{Call, Message};
use libc::{size_t, ssize_t};

use super::{guarded, locate, proc, working};
use crate::{calls, paths, real, world};

/// # Safety
///
/// `path` is null or a C string, and `out` has room for `size` bytes.
unsafe fn read_link(directory: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        if let Some(place) = unsafe { locate(directory, path) }? {
            // Links in the tree are relative, so they say what the real ones would.
            // SAFETY: the translated path is a C string, and the buffer is what the program passed.
            return Ok(unsafe { real::readlink(place.text.as_ptr(), out, size) });
        }
        // SAFETY: what the program passed.
        let returned = unsafe { real::readlinkat(directory, path, out, size) };
        let Ok(len) = usize::try_from(returned) else { return Ok(returned) };
        // SAFETY: the real function wrote that many bytes there.
        let found = unsafe { std::slice::from_raw_parts(out.cast::<u8>(), len) };
        let Some(shown) = as_shown(found) else { return Ok(returned) };
        let shown = shown.get(..shown.len().min(size)).unwrap_or_default();
        // SAFETY: `shown` is at most as long as the program's buffer, and memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(shown.as_ptr(), out.cast::<u8>(), shown.len()) };
        Ok(shown.len().cast_signed())
    })
}

/// Returns the target of a link in `/proc` in the world: node descriptors are nodes, and the tree is not seen.
fn as_shown(found: &[u8]) -> Option<Vec<u8>> {
    let world = world::known()?;
    if let Some(inside) = paths::inside(world, found) {
        return Some(inside.to_vec());
    }
    let inode = proc::inode_of(found)?;
    let answer = calls::call(world, &Message::new(Call::Inode, 0, [inode, 0, 0])).ok()?;
    let minor = u32::try_from(answer.value).ok()?;
    Some(format!("/dev/dri/{}", node_name(minor)).into_bytes())
}

/// The C library's `readlink`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn readlink(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe { read_link(libc::AT_FDCWD, path, out, size) }
}

/// The C library's `readlinkat`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn readlinkat(directory: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller's promise.
    unsafe { read_link(directory, path, out, size) }
}

/// # Safety
///
/// `path` is null or a C string, and `out` is null or has room for `PATH_MAX` bytes.
unsafe fn resolve(path: *const c_char, out: *mut c_char) -> *mut c_char {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(libc::AT_FDCWD, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case, and the program's buffer.
        let resolved = unsafe { real::realpath(name, out) };
        // SAFETY: null, or a C string that the real function made.
        unsafe { working::show(resolved) }
    })
}

/// The C library's `realpath`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe { resolve(path, out) }
}

/// Replaces the `realpath` of `_FORTIFY_SOURCE`. The size of the buffer is at least `PATH_MAX`, or the program is stopped.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn __realpath_chk(path: *const c_char, out: *mut c_char, size: size_t) -> *mut c_char {
    if size < libc::PATH_MAX as size_t {
        std::process::abort();
    }
    // SAFETY: the caller's promise.
    unsafe { resolve(path, out) }
}

/// The C library's `canonicalize_file_name`.
///
/// # Safety
///
/// `path` is null or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn canonicalize_file_name(path: *const c_char) -> *mut c_char {
    // SAFETY: the caller's promise; without a buffer `realpath` makes one.
    unsafe { resolve(path, std::ptr::null_mut()) }
}
