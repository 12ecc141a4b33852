//! Checks of a checked build: handles must be live and of the right type, and arguments must be plausible.
//!
//! The code is compiled in every build, but has no effect without the feature.

use std::{
    any::type_name,
    cell::Cell,
    collections::BTreeMap,
    io::Write,
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::failure::{Answer, Failure};

/// `true` in a build with the feature `checked`.
pub(crate) const IS_CHECKED: bool = cfg!(feature = "checked");

/// Prefix of the names of C functions, whose names are part of the type names of the closures that they run.
const PREFIX: &str = "agw_";

thread_local! {
    /// The type of the closure that the current call runs. Its name contains the name of the function.
    static CALL: Cell<&'static str> = const { Cell::new("") };
}

/// All objects that were created, by address. Freed objects stay in the map and keep their memory, so that no other object gets
/// the same address.
static OBJECTS: Mutex<BTreeMap<usize, Object>> = Mutex::new(BTreeMap::new());

/// `true` if faults are returned as errors.
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// Makes a checked build return `AGW_ERROR_INVALID_ARGUMENT` instead of ending the process, with the fault as the text of the
/// last error. Lasts until the process ends. A function without a result then does nothing. It is meant for tests that make
/// many invalid calls. Other builds do not check, so it has no effect there.
pub fn answer_faults() {
    ANSWERS.store(true, Ordering::Relaxed);
}

/// Removes the freed objects from the map. Returns their addresses and the number of live objects.
pub(super) fn take_freed() -> (Vec<usize>, usize) {
    let mut objects = OBJECTS.lock();
    let freed = objects.iter().filter(|(_, object)| !object.is_alive).map(|(&address, _)| address).collect();
    objects.retain(|_, object| object.is_alive);
    (freed, objects.len())
}

struct Object {
    /// Name of the object's type in C.
    type_name: &'static str,
    is_alive: bool,
}

/// Records the C function that the thread executes, of which `F` is a closure.
#[inline]
pub(super) fn enter<F>() {
    if IS_CHECKED {
        CALL.set(type_name::<F>());
    }
}

/// Runs a call that cannot fail.
#[inline]
pub(crate) fn within<T, F: FnOnce() -> T>(call: F) -> T {
    enter::<F>();
    call()
}

/// Returns the failure of an argument that violates the rules of the C API. A checked build instead prints the function, the
/// argument and the fault to standard error and ends the process, unless [`answer_faults`] was called.
#[cold]
#[inline(never)]
pub(crate) fn broken(argument: &str, fault: &str) -> Failure {
    if IS_CHECKED && !ANSWERS.load(Ordering::Relaxed) {
        stop(argument, fault);
    }
    Failure::argument(argument, fault)
}

/// Ends the process with a message.
fn stop(argument: &str, fault: &str) -> ! {
    let function = CALL.get().split("::").find(|part| part.starts_with(PREFIX)).unwrap_or("amdgpu_winsys");
    // Nothing can be done if standard error is closed.
    let _ = writeln!(std::io::stderr(), "{function}: argument {argument}: {fault}");
    process::abort()
}

/// Records a new object.
pub(super) fn born(address: usize, type_name: &'static str) {
    if IS_CHECKED {
        OBJECTS.lock().insert(address, Object { type_name, is_alive: true });
    }
}

/// Records that an object was freed.
pub(super) fn freed(address: usize) {
    if IS_CHECKED && let Some(object) = OBJECTS.lock().get_mut(&address) {
        object.is_alive = false;
    }
}

/// In a checked build, returns the failure of [`broken`] unless an object of the type is alive at the address.
#[inline]
pub(super) fn check(address: usize, type_name: &'static str, argument: &str) -> Answer {
    if IS_CHECKED && let Some(fault) = fault_of(address, type_name) {
        return Err(broken(argument, &fault));
    }
    Ok(())
}

fn fault_of(address: usize, type_name: &'static str) -> Option<String> {
    match OBJECTS.lock().get(&address) {
        None => Some(format!("is no {type_name}")),
        Some(object) if object.type_name != type_name => Some(format!("is no {type_name} but an {}", object.type_name)),
        Some(object) if !object.is_alive => Some(format!("the {type_name} was freed")),
        Some(_) => None,
    }
}
