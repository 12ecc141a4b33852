//! Reference-counted objects behind handles, with a head that C may read.

use std::{
    alloc::Layout,
    cell::UnsafeCell,
    mem::ManuallyDrop,
    ptr::NonNull,
    sync::atomic::{AtomicUsize, Ordering, fence},
};

use super::{
    checked::{self, IS_CHECKED},
    failure::{Answer, Failure},
    hooks,
    result::AGW_ERROR_OUT_OF_HOST_MEMORY,
};

/// An opaque C type that refers to an object.
pub(crate) trait Handle: Sized + 'static {
    /// The type of the first bytes, which C may read.
    type Head;
    /// The type of the other contents.
    type Body: Send;
    /// Name of the type in C.
    const NAME: &'static str;
}

/// The object that a handle points to.
#[repr(C)]
pub(crate) struct Shell<H: Handle> {
    head: UnsafeCell<H::Head>,
    references: AtomicUsize,
    body: ManuallyDrop<H::Body>,
}

impl<H: Handle> Shell<H> {
    /// Returns the address of the head.
    pub(crate) fn head(&self) -> *mut H::Head {
        self.head.get()
    }

    pub(crate) fn body(&self) -> &H::Body {
        &self.body
    }
}

/// Creates an object with one reference.
///
/// # Errors
///
/// `AGW_ERROR_OUT_OF_HOST_MEMORY` if the allocator has no memory.
pub(crate) fn create<H: Handle>(head: H::Head, body: H::Body) -> Answer<*mut H> {
    let layout = Layout::new::<Shell<H>>();
    let Some(place) = hooks::allocate(layout) else {
        return Err(Failure::new(AGW_ERROR_OUT_OF_HOST_MEMORY, format!("no host memory for a {}", H::NAME)));
    };
    let place = place.cast::<Shell<H>>();
    let shell = Shell { head: UnsafeCell::new(head), references: AtomicUsize::new(1), body: ManuallyDrop::new(body) };
    // SAFETY: allocated for exactly this type.
    unsafe { place.write(shell) };
    checked::born(place.as_ptr().expose_provenance(), H::NAME);
    Ok(place.as_ptr().cast())
}

/// Returns the object behind a handle.
///
/// # Safety
///
/// `handle` is null, or came from [`create`] and is not freed as long as the result is used. Other calls may use the object at the
/// same time: the result is a shared reference, and what changes in the object is in cells with rules of their own.
#[inline]
pub(crate) unsafe fn shell<'a, H: Handle>(handle: *const H, argument: &str) -> Answer<&'a Shell<H>> {
    if handle.is_null() {
        return Err(Failure::null(argument));
    }
    checked::check(handle.addr(), H::NAME, argument)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { &*handle.cast::<Shell<H>>() })
}

/// Returns the body of the object behind a handle.
///
/// # Safety
///
/// The requirements of [`shell`].
#[inline]
pub(crate) unsafe fn get<'a, H: Handle>(handle: *const H, argument: &str) -> Answer<&'a H::Body> {
    // SAFETY: the caller's promise.
    unsafe { shell(handle, argument) }.map(Shell::body)
}

/// Adds a reference.
///
/// # Safety
///
/// The requirements of [`shell`].
pub(crate) unsafe fn reference<H: Handle>(handle: *mut H, argument: &str) -> *mut H {
    // A failure would allocate memory for its text.
    if handle.is_null() {
        return handle;
    }
    // SAFETY: the caller's promise.
    if let Ok(shell) = unsafe { shell::<H>(handle, argument) } {
        shell.references.fetch_add(1, Ordering::Relaxed);
    }
    handle
}

/// Removes a reference. The last one frees the object.
///
/// # Safety
///
/// The requirements of [`shell`]; the handle is not used afterwards unless there are other references.
pub(crate) unsafe fn release<H: Handle>(handle: *mut H, argument: &str) {
    // As in `reference`, no failure is created.
    if handle.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let Ok(shared) = (unsafe { shell::<H>(handle, argument) }) else { return };
    // No other thread can change a count of one, so the last reference needs no locked instruction.
    if shared.references.load(Ordering::Acquire) > 1 {
        if shared.references.fetch_sub(1, Ordering::Release) > 1 {
            return;
        }
        fence(Ordering::Acquire);
    }
    checked::freed(handle.addr());
    let place = handle.cast::<Shell<H>>();
    // SAFETY: it was the last reference, so nothing else uses the object.
    let shell = unsafe { &mut *place };
    // SAFETY: the body is not dropped again.
    let body = unsafe { ManuallyDrop::take(&mut shell.body) };
    // A panic in a drop is caught here, because nothing may unwind into C.
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(body))));
    // A checked build recognizes freed objects by their addresses, which are not reused.
    if !IS_CHECKED && let Some(place) = NonNull::new(place) {
        // SAFETY: allocated by `hooks::allocate`, and no part of it is used any more.
        unsafe { hooks::free(place.cast()) };
    }
}

/// Frees the memory of freed objects, which a checked build keeps to recognize them, and returns the number of live objects.
/// Their addresses may be reused afterwards. Returns 0 in other builds.
///
/// # Safety
///
/// No thread is in a call of the library, and the handles of freed objects are not used any more.
pub unsafe fn forget_freed() -> usize {
    let (freed, alive) = checked::take_freed();
    for address in freed {
        if let Some(place) = NonNull::new(std::ptr::with_exposed_provenance_mut(address)) {
            // SAFETY: `create` got it from `hooks::allocate`, and exposed it. The object was dropped, and the caller promises
            // that its address is not used.
            unsafe { hooks::free(place) };
        }
    }
    alive
}
