//! The entry point of calls: every call that can fail runs in [`entry`].

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    checked::enter,
    failure::{Answer, Failure},
    last::keep,
    result::{AGW_ERROR_PANIC, AGW_SUCCESS},
};

thread_local! {
    /// The flag of the device that the current call works on; null outside of calls. It has no destructor.
    static POISONED: Cell<*const AtomicBool> = const { Cell::new(ptr::null()) };
}

/// `true` in a build in which panics can be caught. In other builds a panic ends the process, so no later call has to detect
/// it.
const CATCHES: bool = cfg!(panic = "unwind");

/// Runs a call and returns its result as a number. No panic unwinds out of it.
#[inline]
pub(crate) fn entry<F: FnOnce() -> Answer>(call: F) -> i32 {
    enter::<F>();
    let outcome = if CATCHES { caught(call) } else { call() };
    match outcome {
        Ok(()) => AGW_SUCCESS,
        Err(failure) => failed(&failure),
    }
}

/// Runs a call that returns a value instead of a result. If it fails, the value is `instead`, and the failure is kept for
/// `agw_last_error`. No panic unwinds out of it.
pub(crate) fn value<T, F: FnOnce() -> Answer<T>>(instead: T, call: F) -> T {
    enter::<F>();
    let outcome = if CATCHES { caught(call) } else { call() };
    outcome.unwrap_or_else(|failure| {
        failed(&failure);
        instead
    })
}

/// Runs a call. Marks its device if it panics.
fn caught<T, F: FnOnce() -> Answer<T>>(call: F) -> Answer<T> {
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_panic| {
        let flag = POISONED.get();
        if !flag.is_null() {
            // SAFETY: the caller holds a reference to an object of the device for the duration of the call, so the flag still
            // exists; the pointer is reset when a call ends.
            unsafe { &*flag }.store(true, Ordering::Relaxed);
        }
        Err(Failure::new(AGW_ERROR_PANIC, "a panic inside the library, please report it"))
    });
    POISONED.set(ptr::null());
    outcome
}

#[cold]
fn failed(failure: &Failure) -> i32 {
    if failure.code() < 0 {
        keep(failure);
    }
    failure.code()
}

/// Records the device that the current call works on.
///
/// # Errors
///
/// `AGW_ERROR_PANIC` if an earlier call on the device panicked.
#[inline]
pub(crate) fn touch(poisoned: &AtomicBool) -> Answer {
    if !CATCHES {
        return Ok(());
    }
    if poisoned.load(Ordering::Relaxed) {
        return Err(Failure::new(AGW_ERROR_PANIC, "an earlier call on the device panicked"));
    }
    POISONED.set(poisoned);
    Ok(())
}
