//! Checks of a checked build: handles that are alive and of the right type, and arguments that no caller can mean.
//!
//! The code is compiled in every build, and leaves nothing in one without the feature.

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

/// Names the functions of C, in the names of the closures that they run.
const PREFIX: &str = "agw_";

thread_local! {
    /// The type of the closure that the current call runs, whose name has the function's name in it.
    static CALL: Cell<&'static str> = const { Cell::new("") };
}

/// Every object that was made, by its address. Those that were freed stay, and so does their memory, so that no other object
/// gets the address.
static OBJECTS: Mutex<BTreeMap<usize, Object>> = Mutex::new(BTreeMap::new());

/// `true` if faults are answers.
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// Has a checked build answer `AGW_ERROR_INVALID_ARGUMENT` where it would end the process, with the fault as the last error's text, until
/// the process ends. A function without a result then does nothing. For tests that make many broken calls; other builds do not
/// look, and there is nothing to answer.
pub fn answer_faults() {
    ANSWERS.store(true, Ordering::Relaxed);
}

/// Forgets the objects that were freed, and returns their addresses and the number of objects that are alive.
pub(super) fn take_freed() -> (Vec<usize>, usize) {
    let mut objects = OBJECTS.lock();
    let freed = objects.iter().filter(|(_, object)| !object.is_alive).map(|(&address, _)| address).collect();
    objects.retain(|_, object| object.is_alive);
    (freed, objects.len())
}

struct Object {
    /// Name of its type in C.
    type_name: &'static str,
    is_alive: bool,
}

/// Notes which function of C the thread is in: the one that `F` is a closure of.
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

/// Returns the failure of an argument that breaks the rules of C. A checked build ends the process instead, with the function,
/// the argument and the fault on standard error, unless [`answer_faults`] was called.
#[cold]
#[inline(never)]
pub(crate) fn broken(argument: &str, fault: &str) -> Failure {
    if IS_CHECKED && !ANSWERS.load(Ordering::Relaxed) {
        stop(argument, fault);
    }
    Failure::argument(argument, fault)
}

/// Ends the process.
fn stop(argument: &str, fault: &str) -> ! {
    let function = CALL.get().split("::").find(|part| part.starts_with(PREFIX)).unwrap_or("amdgpu_winsys");
    // There is nothing left to do for a standard error that is closed.
    let _ = writeln!(std::io::stderr(), "{function}: argument {argument}: {fault}");
    process::abort()
}

/// Remembers a new object.
pub(super) fn born(address: usize, type_name: &'static str) {
    if IS_CHECKED {
        OBJECTS.lock().insert(address, Object { type_name, is_alive: true });
    }
}

/// Remembers that an object was freed.
pub(super) fn freed(address: usize) {
    if IS_CHECKED && let Some(object) = OBJECTS.lock().get_mut(&address) {
        object.is_alive = false;
    }
}

/// In a checked build, finds an argument [`broken`] unless an object of the type is alive at the address.
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
