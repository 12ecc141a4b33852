//! Hooks of the functions that start programs with an environment of their own.
//!
//! A GPU does not depend on variables, so a program that is started without any is in the world all the same: IGT's
//! `amd_queue_reset` starts its second process so.

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
};

use libc::pid_t;

use crate::{c_text, real, world};

/// Most variables of an environment that is added to. It is rebuilt on the stack, because a child of a process with threads
/// must not allocate.
const MOST: usize = 512;

type Strings = *const *const c_char;

unsafe extern "C" {
    /// The environment of this process.
    static environ: Strings;
}

/// Returns the environment of this process.
fn environment() -> Strings {
    // SAFETY: a pointer is read, which the C library sets before any code of this library runs.
    unsafe { environ }
}

/// Calls a function with an environment that leads to the world of this process: the given one, and the two variables that it
/// lacks if it has neither. An environment that has one of them is left as it is, for it was made on purpose.
///
/// # Safety
///
/// `given` is null or a list of C strings that ends with a null.
unsafe fn with_world<T>(given: Strings, call: impl FnOnce(Strings) -> T) -> T {
    let Some(ours) = world::variables() else { return call(given) };
    let mut all = [ptr::null(); MOST + 3];
    let mut count = 0;
    // SAFETY: the caller's promise.
    for text in unsafe { strings(given) } {
        // SAFETY: a C string of the list.
        let bytes = unsafe { c_text::bytes(text) }.unwrap_or_default();
        let Some(place) = all.get_mut(count).filter(|_| count < MOST && !ours.iter().any(|own| is_same(bytes, own)))
        else {
            return call(given);
        };
        *place = text;
        count += 1;
    }
    for (place, own) in all.iter_mut().skip(count).zip(ours) {
        *place = own.as_ptr();
    }
    call(all.as_ptr())
}

/// Returns the strings of a list, which may be null.
///
/// # Safety
///
/// `list` is null or a list of C strings that ends with a null, and stays as it is while the strings are taken.
unsafe fn strings(list: Strings) -> impl Iterator<Item = *const c_char> {
    let mut next = list;
    std::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        // SAFETY: `next` is at a string of the list or at the null behind the last.
        let text = unsafe { *next };
        if text.is_null() {
            return None;
        }
        // SAFETY: the null at the end was not reached.
        next = unsafe { next.add(1) };
        Some(text)
    })
}

/// Returns `true` if both set the same variable.
fn is_same(entry: &[u8], own: &CStr) -> bool {
    let name = |entry: &[u8]| entry.iter().position(|&byte| byte == b'=');
    let own = own.to_bytes();
    name(own).is_some_and(|end| name(entry) == Some(end) && entry.get(..end) == own.get(..end))
}

/// The C library's `execve`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn execve(path: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    // SAFETY: the caller's promise, with an environment of C strings.
    let start = |all| unsafe { real::execve(path, arguments, all) };
    // SAFETY: the caller's promise.
    unsafe { with_world(environment, start) }
}

/// The C library's `execv`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller's promise, with an environment of C strings.
    let start = |all| unsafe { real::execve(path, arguments, all) };
    // SAFETY: the C library keeps its list of strings so.
    unsafe { with_world(environment(), start) }
}

/// The C library's `execvp`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(file: *const c_char, arguments: Strings) -> c_int {
    // SAFETY: the caller's promise, with an environment of C strings.
    let start = |all| unsafe { real::execvpe(file, arguments, all) };
    // SAFETY: the C library keeps its list of strings so.
    unsafe { with_world(environment(), start) }
}

/// The C library's `execvpe`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn execvpe(file: *const c_char, arguments: Strings, environment: Strings) -> c_int {
    // SAFETY: the caller's promise, with an environment of C strings.
    let start = |all| unsafe { real::execvpe(file, arguments, all) };
    // SAFETY: the caller's promise.
    unsafe { with_world(environment, start) }
}

/// The C library's `posix_spawn`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawn(
    process: *mut pid_t,
    path: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller's promise, with an environment of C strings.
    let start = |all| unsafe { real::posix_spawn(process, path, actions, attributes, arguments, all) };
    // SAFETY: the caller's promise.
    unsafe { with_world(environment, start) }
}

/// The C library's `posix_spawnp`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawnp(
    process: *mut pid_t,
    file: *const c_char,
    actions: *const libc::posix_spawn_file_actions_t,
    attributes: *const libc::posix_spawnattr_t,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    // SAFETY: the caller's promise, with an environment of C strings.
    let start = |all| unsafe { real::posix_spawnp(process, file, actions, attributes, arguments, all) };
    // SAFETY: the caller's promise.
    unsafe { with_world(environment, start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_known_by_its_whole_name() {
        let own = c"AMDGPU_SIM_WORLD=/tmp/x";
        assert!(is_same(b"AMDGPU_SIM_WORLD=", own) && is_same(b"AMDGPU_SIM_WORLD=/y", own));
        for other in [&b"AMDGPU_SIM=/y"[..], b"AMDGPU_SIM_WORLDS=/y", b"AMDGPU_SIM_WORLD", b""] {
            assert!(!is_same(other, own));
        }
    }
}
