//! Arguments and results of C functions as Rust types.

use std::{
    ffi::{CStr, c_char, c_void},
    marker::PhantomData,
    slice,
};

use ash::vk;

use super::Failure;

/// An argument of an entry point, converted from the argument of the C function.
pub(crate) trait Argument<Raw>: Sized {
    /// The result of a panic in a command whose first argument this is.
    const LOST: vk::Result = vk::Result::ERROR_UNKNOWN;

    /// Converts an argument; `None` if it is null although it must not be, or is not a live handle.
    ///
    /// # Safety
    ///
    /// `raw` is an argument of a Vulkan command that was called as its valid usage demands.
    unsafe fn take(raw: Raw) -> Option<Self>;
}

impl<'a, T> Argument<*const T> for &'a T {
    unsafe fn take(raw: *const T) -> Option<Self> {
        // SAFETY: valid usage: "must be a valid pointer to a valid structure", for the length of the call.
        unsafe { raw.as_ref::<'a>() }
    }
}

impl<'a, T> Argument<*const T> for Option<&'a T> {
    unsafe fn take(raw: *const T) -> Option<Self> {
        // SAFETY: valid usage: null, or a valid pointer to a valid structure, for the length of the call.
        Some(unsafe { raw.as_ref::<'a>() })
    }
}

impl<'a, T> Argument<*mut T> for &'a mut T {
    unsafe fn take(raw: *mut T) -> Option<Self> {
        // SAFETY: valid usage: a valid pointer to a structure or number that this command alone has for the length of the
        // call. Its bytes came out of C, so they are some value of a type for which any bits are one.
        unsafe { raw.as_mut::<'a>() }
    }
}

impl<'a, T> Argument<*mut T> for Option<&'a mut T> {
    unsafe fn take(raw: *mut T) -> Option<Self> {
        // SAFETY: valid usage: null, or as above.
        Some(unsafe { raw.as_mut::<'a>() })
    }
}

/// Implements [`Argument`] for types that are the same in C and Rust.
macro_rules! plain {
    ($($T:ty),*) => {$(
        impl Argument<$T> for $T {
            unsafe fn take(raw: $T) -> Option<Self> {
                Some(raw)
            }
        }
    )*};
}

plain!(
    u32,
    u64,
    i32,
    f32,
    usize,
    vk::Buffer,
    vk::BufferUsageFlags,
    vk::CommandBufferResetFlags,
    vk::CommandPoolResetFlags,
    vk::CommandPoolTrimFlags,
    vk::DebugUtilsMessageSeverityFlagsEXT,
    vk::DebugUtilsMessageTypeFlagsEXT,
    vk::DependencyFlags,
    vk::DeviceMemory,
    vk::ExternalMemoryHandleTypeFlags,
    vk::Format,
    vk::Image,
    vk::ImageCreateFlags,
    vk::ImageLayout,
    vk::ImageTiling,
    vk::ImageType,
    vk::ImageUsageFlags,
    vk::MemoryMapFlags,
    vk::ObjectType,
    vk::PeerMemoryFeatureFlags,
    vk::PipelineStageFlags,
    vk::PipelineStageFlags2,
    vk::QueryControlFlags,
    vk::QueryResultFlags,
    vk::SampleCountFlags
);

/// Allocation callbacks. They are accepted but not used, because the library has no hook for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocator;

impl Argument<*const vk::AllocationCallbacks<'_>> for Allocator {
    unsafe fn take(_raw: *const vk::AllocationCallbacks<'_>) -> Option<Self> {
        Some(Self)
    }
}

/// An argument that a command does not use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ignored;

impl<Raw> Argument<Raw> for Ignored {
    unsafe fn take(_raw: Raw) -> Option<Self> {
        Some(Self)
    }
}

/// A name as a C string, or a null pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a>(pub(crate) Option<&'a CStr>);

impl Argument<*const c_char> for Name<'_> {
    unsafe fn take(raw: *const c_char) -> Option<Self> {
        if raw.is_null() {
            return Some(Self(None));
        }
        // SAFETY: valid usage: a null-terminated string, for the length of the call.
        Some(Self(Some(unsafe { CStr::from_ptr(raw) })))
    }
}

/// An array whose length is another argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array<'a, T>(*const T, PhantomData<&'a T>);

impl<T> Argument<*const T> for Array<'_, T> {
    unsafe fn take(raw: *const T) -> Option<Self> {
        Some(Self(raw, PhantomData))
    }
}

impl<'a, T> Array<'a, T> {
    /// Returns the elements. `count` is the argument that Vulkan names as this one's length.
    pub(crate) fn of(self, count: u32) -> &'a [T] {
        super::list::slice(self.0, count)
    }
}

/// Data whose length is another argument, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data<'a>(*const c_void, PhantomData<&'a u8>);

impl Argument<*const c_void> for Data<'_> {
    unsafe fn take(raw: *const c_void) -> Option<Self> {
        Some(Self(raw, PhantomData))
    }
}

impl<'a> Data<'a> {
    /// Returns the bytes. `size` is the argument that Vulkan names as this one's length.
    pub(crate) fn of(self, size: u64) -> &'a [u8] {
        if self.0.is_null() {
            return &[];
        }
        // SAFETY: valid usage: a valid pointer to an array of `size` bytes.
        unsafe { slice::from_raw_parts(self.0.cast(), size as usize) }
    }
}

/// An output parameter, whose memory may be uninitialized.
#[derive(Debug)]
pub(crate) struct Out<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<T> Argument<*mut T> for Out<'_, T> {
    unsafe fn take(raw: *mut T) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw, PhantomData))
    }
}

impl<T> Out<'_, T> {
    /// Writes the value of the output parameter.
    pub(crate) fn set(&mut self, value: T) {
        // SAFETY: not null, and by valid usage a valid pointer to a `T` that this command alone has.
        unsafe { self.0.write(value) }
    }
}

/// An output array, whose length is another argument, or a null pointer.
#[derive(Debug)]
pub(crate) struct OutArray<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<T> Argument<*mut T> for OutArray<'_, T> {
    unsafe fn take(raw: *mut T) -> Option<Self> {
        Some(Self(raw, PhantomData))
    }
}

impl<T> OutArray<'_, T> {
    /// Returns `true` if the program passed no array.
    pub(crate) const fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Writes element `index`, which must be below the length of the array.
    pub(crate) fn put(&mut self, index: usize, value: T) {
        if !self.0.is_null() {
            // SAFETY: valid usage: an array of more than `index` elements.
            let place = unsafe { self.0.add(index) };
            // SAFETY: an element of an array that this command alone has for the length of the call.
            unsafe { place.write(value) }
        }
    }

    /// Returns a list by Vulkan's protocol: without an array, writes the number of items; with an array, writes the items that fit,
    /// and returns [`vk::Result::INCOMPLETE`] if there are more.
    pub(crate) fn fill(&mut self, room: &mut u32, items: impl ExactSizeIterator<Item = T>) -> vk::Result {
        let all = u32::try_from(items.len()).unwrap_or(u32::MAX);
        if self.0.is_null() {
            *room = all;
            return vk::Result::SUCCESS;
        }
        *room = all.min(*room);
        items.take(*room as usize).enumerate().for_each(|(index, item)| self.put(index, item));
        if *room < all { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

impl<'a, T> OutArray<'a, T> {
    /// Returns the elements; `None` for a null pointer. This is for structures with a chain, which the caller has initialized.
    pub(crate) fn of(self, count: u32) -> Option<&'a mut [T]> {
        // SAFETY: valid usage: an array of `count` structures that this command alone has, whose type and chain are set.
        (!self.0.is_null()).then(|| unsafe { slice::from_raw_parts_mut(self.0, count as usize) })
    }
}

/// An output buffer, whose length in bytes is another argument.
#[derive(Debug)]
pub(crate) struct OutData<'a>(*mut c_void, PhantomData<&'a mut u8>);

impl Argument<*mut c_void> for OutData<'_> {
    unsafe fn take(raw: *mut c_void) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw, PhantomData))
    }
}

impl Argument<*mut c_void> for Option<OutData<'_>> {
    unsafe fn take(raw: *mut c_void) -> Option<Self> {
        Some((!raw.is_null()).then_some(OutData(raw, PhantomData)))
    }
}

impl OutData<'_> {
    /// Writes bytes at an offset. All bytes must be within the length of the buffer.
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8]) {
        // SAFETY: valid usage: memory of at least `offset + bytes.len()` bytes.
        let place = unsafe { self.0.cast::<u8>().add(offset) };
        // SAFETY: as above, and this command alone has it, so it does not overlap with `bytes`.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }
}

/// The result of an entry point.
pub(crate) trait Answer {
    /// The type of the result in C.
    type Raw;

    /// Returns the result for C.
    fn give(self) -> Self::Raw;

    /// Returns the result for C if the command could not be performed.
    fn failed(result: vk::Result) -> Self::Raw;
}

impl Answer for () {
    type Raw = ();

    fn give(self) {}

    fn failed(_result: vk::Result) {}
}

impl Answer for vk::Result {
    type Raw = Self;

    fn give(self) -> Self {
        self
    }

    fn failed(result: vk::Result) -> Self {
        result
    }
}

impl Answer for Result<(), Failure> {
    type Raw = vk::Result;

    fn give(self) -> vk::Result {
        self.map_or_else(|failure| failure.0, |()| vk::Result::SUCCESS)
    }

    fn failed(result: vk::Result) -> vk::Result {
        result
    }
}

impl Answer for Result<vk::Result, Failure> {
    type Raw = vk::Result;

    fn give(self) -> vk::Result {
        self.unwrap_or_else(|failure| failure.0)
    }

    fn failed(result: vk::Result) -> vk::Result {
        result
    }
}

impl Answer for u64 {
    type Raw = Self;

    fn give(self) -> Self {
        self
    }

    fn failed(_result: vk::Result) -> Self {
        0
    }
}

impl Answer for vk::PFN_vkVoidFunction {
    type Raw = Self;

    fn give(self) -> Self {
        self
    }

    fn failed(_result: vk::Result) -> Self {
        None
    }
}
