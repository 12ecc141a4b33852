//! The functions that stand before the C library's.
//!
//! Each asks whether its path or descriptor is the world's, and else calls the real function with what it was given.

mod directory;
mod link;
mod node;
mod open;
mod proc;
mod rights;
mod start;
mod stat;
mod store;
mod uevents;
mod working;
mod xattr;

use std::{
    ffi::{c_char, c_int},
    panic::{AssertUnwindSafe, catch_unwind},
};

use nix::errno::Errno;

use crate::{
    c_text,
    paths::{self, WorldPath},
    real::set_errno,
};

/// Runs a hook's work; an error goes to errno, and so does a panic, which must not reach C.
fn guarded<T>(failed: T, work: impl FnOnce() -> Result<T, Errno>) -> T {
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        crate::world::say("a bug in the shim; the call fails with EIO");
        Err(Errno::EIO)
    });
    result.unwrap_or_else(|errno| {
        set_errno(errno as c_int);
        failed
    })
}

/// Returns the place of a path in the world, if it is one of the world's. Errors on the way to another path leave errno
/// unchanged.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn locate(directory: c_int, path: *const c_char) -> Result<Option<Box<WorldPath>>, Errno> {
    // SAFETY: the caller's promise; the bytes are used before this returns.
    let Some(bytes) = (unsafe { c_text::bytes(path) }) else { return Ok(None) };
    let errno = Errno::last_raw();
    let found = paths::find(directory, bytes);
    if matches!(found, Ok(None)) {
        set_errno(errno);
    }
    found.map(|place| place.map(Box::new))
}
