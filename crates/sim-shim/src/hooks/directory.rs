//! Reading directories.

use std::ffi::{c_char, c_int, c_void};

use libc::{DIR, dirent, dirent64};

use super::{guarded, locate};
use crate::{c_text::PathText, paths, real, world};

/// The C library's `opendir`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(libc::AT_FDCWD, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case.
        Ok(unsafe { real::opendir(name) })
    })
}

/// Returns `true` if a directory stream is the world's `/dev/dri`.
///
/// # Safety
///
/// `directory` is an open stream.
unsafe fn holds_nodes(directory: *mut DIR) -> bool {
    // SAFETY: the caller's promise.
    let fd = unsafe { libc::dirfd(directory) };
    let Some(world) = world::known() else { return false };
    PathText::of_descriptor(fd).is_some_and(|at| paths::inside(world, at.as_bytes()) == Some(b"/dev/dri"))
}

macro_rules! readdir_hooks {
    ($($name:ident -> $entry:ty;)*) => {$(
        /// The C library's function of this name. The stand-ins for nodes are shown as the devices they stand for.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(directory: *mut DIR) -> *mut $entry {
            // SAFETY: the caller's promise.
            let found = unsafe { real::$name(directory) };
            if found.is_null() {
                return found;
            }
            guarded(found, || {
                // SAFETY: the entry is valid until the stream is read again, which only this thread may do now.
                let entry = unsafe { &mut *found };
                // SAFETY: the name is a C string.
                let name = unsafe { crate::c_text::bytes(entry.d_name.as_ptr()) }.unwrap_or_default();
                let stand_in = entry.d_type == libc::DT_REG && paths::node_minor_of_name(name).is_some();
                // SAFETY: the caller's promise.
                if stand_in && unsafe { holds_nodes(directory) } {
                    entry.d_type = libc::DT_CHR;
                }
                Ok(found)
            })
        }
    )*};
}

readdir_hooks! {
    readdir -> dirent;
    readdir64 -> dirent64;
}

macro_rules! scandir_hooks {
    ($($name:ident;)*) => {$(
        /// The C library's function of this name. On 64-bit Linux both variants make the same structures.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            path: *const c_char,
            list: *mut *mut *mut dirent,
            filter: *const c_void,
            compare: *const c_void,
        ) -> c_int {
            guarded(-1, || {
                // SAFETY: the caller's promise.
                let place = unsafe { locate(libc::AT_FDCWD, path) }?;
                let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
                // SAFETY: a C string in either case, and what the program passed.
                Ok(unsafe { real::scandir(name, list, filter, compare) })
            })
        }
    )*};
}

scandir_hooks! {
    scandir;
    scandir64;
}
