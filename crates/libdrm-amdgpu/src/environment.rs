//! Variables of the environment.

use std::{
    ffi::{CStr, CString, OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
};

/// Returns a variable; `None` if it is not set, or if the program runs with the privileges of a file, as set-user-id ones do.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let name = CString::new(name).ok()?;
    // SAFETY: a question about this process.
    let has_privileges = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    if has_privileges {
        return None;
    }
    // SAFETY: a string that ends with NUL. That no other thread changes the environment meanwhile is a rule of C for all programs.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the C library returns a string that ends with NUL and stays until the environment changes; it is copied at once.
    Some(OsStr::from_bytes(unsafe { CStr::from_ptr(value) }.to_bytes()).to_owned())
}
