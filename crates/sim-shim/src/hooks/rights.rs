//! Hooks that change who may use a file, and that report its file system.

use std::ffi::{c_char, c_int};

use libc::mode_t;

use super::{guarded, locate};
use crate::{c_text::PathText, paths, real, world};

/// Type of sysfs. Source: Linux `include/uapi/linux/magic.h`.
const SYSFS_MAGIC: u32 = 0x6265_6572;

/// The C library's `chmod`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn chmod(path: *const c_char, mode: mode_t) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(libc::AT_FDCWD, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case.
        Ok(unsafe { real::chmod(name, mode) })
    })
}

/// The C library's `fchmodat`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn fchmodat(directory: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(directory, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case; an absolute one does not use the directory.
        Ok(unsafe { real::fchmodat(directory, name, mode, flags) })
    })
}

/// The C library's `chown`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn chown(path: *const c_char, user: libc::uid_t, group: libc::gid_t) -> c_int {
    guarded(-1, || {
        // SAFETY: the caller's promise.
        let place = unsafe { locate(libc::AT_FDCWD, path) }?;
        let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
        // SAFETY: a C string in either case.
        Ok(unsafe { real::chown(name, user, group) })
    })
}

/// Makes sysfs of what is the tree's part of it.
///
/// # Safety
///
/// `out` is valid if the real function returned 0 for it.
unsafe fn show_sysfs(returned: c_int, out: *mut libc::statfs, is_sysfs: impl FnOnce() -> bool) -> c_int {
    if returned == 0 && is_sysfs() {
        // SAFETY: the real function has just filled it in.
        unsafe { (*out).f_type = SYSFS_MAGIC.into() };
    }
    returned
}

/// Returns `true` if a path of the host is of the tree's sysfs.
fn is_sysfs(path: &PathText) -> bool {
    world::known().and_then(|world| paths::inside(world, path.as_bytes())).is_some_and(|at| at.starts_with(b"/sys"))
}

macro_rules! statfs_hooks {
    ($($statfs:ident, $fstatfs:ident;)*) => {$(
        /// The C library's function of this name. On 64-bit Linux both variants fill in the same structure.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $statfs(path: *const c_char, out: *mut libc::statfs) -> c_int {
            guarded(-1, || {
                // SAFETY: the caller's promise.
                let place = unsafe { locate(libc::AT_FDCWD, path) }?;
                let name = place.as_ref().map_or(path, |place| place.text.as_ptr());
                // SAFETY: a C string in either case, and what the program passed.
                let returned = unsafe { real::statfs(name, out) };
                // SAFETY: the real function filled it in if it returned 0.
                Ok(unsafe { show_sysfs(returned, out, || place.is_some_and(|place| is_sysfs(&place.text))) })
            })
        }

        /// As its sibling, of an open file.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $fstatfs(fd: c_int, out: *mut libc::statfs) -> c_int {
            guarded(-1, || {
                // SAFETY: what the program passed.
                let returned = unsafe { real::fstatfs(fd, out) };
                let in_tree = || PathText::of_descriptor(fd).is_some_and(|path| is_sysfs(&path));
                // SAFETY: the real function filled it in if it returned 0.
                Ok(unsafe { show_sysfs(returned, out, in_tree) })
            })
        }
    )*};
}

statfs_hooks! {
    statfs, fstatfs;
    statfs64, fstatfs64;
}
