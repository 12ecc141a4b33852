//! Objects behind handles: reference counted, with a head that C may read.

use std::{
    alloc::Layout,
    cell::UnsafeCell,
    mem::ManuallyDrop,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence},
};

use super::{
    failure::{Answer, Failure},
    hooks,
    result::AGW_ERROR_OUT_OF_HOST_MEMORY,
};

/// An opaque type of C, which stands for an object.
pub(crate) trait Handle: Sized + 'static {
    /// The first bytes, which C may read.
    type Head;
    /// The rest.
    type Body: Send;
    /// Name of the type in C.
    const NAME: &'static str;
    /// A number that no other type has.
    const TAG: u32;
}

/// The tag of an object that was freed.
const FREED: u32 = 0xdead;

/// An object: what a handle points to.
#[repr(C)]
pub(crate) struct Shell<H: Handle> {
    head: UnsafeCell<H::Head>,
    tag: AtomicU32,
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

/// Makes an object with one reference.
///
/// # Errors
///
/// `AGW_ERROR_OUT_OF_HOST_MEMORY`.
pub(crate) fn create<H: Handle>(head: H::Head, body: H::Body) -> Answer<*mut H> {
    let layout = Layout::new::<Shell<H>>();
    let Some(place) = hooks::allocate(layout) else {
        return Err(Failure::new(AGW_ERROR_OUT_OF_HOST_MEMORY, format!("no host memory for a {}", H::NAME)));
    };
    let place = place.cast::<Shell<H>>();
    let shell = Shell {
        head: UnsafeCell::new(head),
        tag: AtomicU32::new(H::TAG),
        references: AtomicUsize::new(1),
        body: ManuallyDrop::new(body),
    };
    // SAFETY: freshly allocated for just this type.
    unsafe { place.write(shell) };
    Ok(place.as_ptr().cast())
}

/// Returns the object behind a handle.
///
/// # Safety
///
/// `handle` is null, or came from [`create`] and was not freed.
#[inline]
pub(crate) unsafe fn shell<'a, H: Handle>(handle: *const H, argument: &str) -> Answer<&'a Shell<H>> {
    if handle.is_null() {
        return Err(Failure::argument(argument, "is null"));
    }
    // SAFETY: the caller's promise.
    unsafe { check(handle, argument) };
    // SAFETY: the caller's promise.
    Ok(unsafe { &*handle.cast::<Shell<H>>() })
}

/// Returns the body of the object behind a handle.
///
/// # Safety
///
/// As for [`shell`].
#[inline]
pub(crate) unsafe fn get<'a, H: Handle>(handle: *const H, argument: &str) -> Answer<&'a H::Body> {
    // SAFETY: the caller's promise.
    unsafe { shell(handle, argument) }.map(Shell::body)
}

/// Adds a reference.
///
/// # Safety
///
/// As for [`shell`].
pub(crate) unsafe fn reference<H: Handle>(handle: *mut H) -> *mut H {
    // SAFETY: the caller's promise.
    if let Ok(shell) = unsafe { shell::<H>(handle, "object") } {
        shell.references.fetch_add(1, Ordering::Relaxed);
    }
    handle
}

/// Removes a reference, and with the last one the object.
///
/// # Safety
///
/// As for [`shell`]; the handle is not used afterwards unless there are other references.
pub(crate) unsafe fn release<H: Handle>(handle: *mut H) {
    // SAFETY: the caller's promise.
    let Ok(shared) = (unsafe { shell::<H>(handle, "object") }) else { return };
    if shared.references.fetch_sub(1, Ordering::Release) > 1 {
        return;
    }
    fence(Ordering::Acquire);
    shared.tag.store(FREED, Ordering::Relaxed);
    let place = handle.cast::<Shell<H>>();
    // SAFETY: it was the last reference, so nothing else uses the object.
    let shell = unsafe { &mut *place };
    // SAFETY: nothing drops the body again.
    let body = unsafe { ManuallyDrop::take(&mut shell.body) };
    // What panics in a drop stays inside, as nothing may unwind into C.
    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(body))));
    // A checked build recognises freed objects by their tags, so their shells stay for ever.
    if !cfg!(feature = "checked")
        && let Some(place) = NonNull::new(place)
    {
        // SAFETY: it came from `hooks::allocate`, and nothing is left in it that is used.
        unsafe { hooks::free(place.cast()) };
    }
}

/// In a checked build, ends the process if a handle is not of an object of its type that is alive.
///
/// # Safety
///
/// `handle` points to as many readable bytes as an object has.
#[inline]
#[cfg_attr(not(feature = "checked"), expect(unused_variables, reason = "nothing is checked"))]
unsafe fn check<H: Handle>(handle: *const H, argument: &str) {
    #[cfg(feature = "checked")]
    {
        // SAFETY: the caller's promise; the tag is an integer whatever the object is.
        let tag = unsafe { &(*handle.cast::<Shell<H>>()).tag }.load(Ordering::Relaxed);
        if tag != H::TAG {
            let fault = if tag == FREED { "was freed" } else { "is no such object" };
            hooks::abort(&format!("amdgpu_winsys: argument {argument}: the {} {fault}", H::NAME));
        }
    }
}
