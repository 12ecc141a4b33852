//! Counter of the requests that the null kernel answers.
#![expect(unsafe_code, reason = "a function of the preload library, found by its name")]

use libloading::os::unix::{Library, Symbol};

/// Returns the number of requests that `work` makes; `None` in a process without the preload library.
pub(crate) fn requests(work: impl FnOnce()) -> Option<u64> {
    let process = Library::this();
    // SAFETY: the preload library's function has this type, and stays as long as the process.
    let count: Symbol<extern "C" fn(bool) -> u64> = unsafe { process.get(b"amdgpu_sim_null_count") }.ok()?;
    count(true);
    work();
    Some(count(false))
}
