//! Types that callers in C pass by address.

use amdgpu_winsys::uapi;

/// A type that C callers pass by address.
///
/// # Safety
///
/// Every bit pattern is a value of the type.
pub(crate) unsafe trait CValue: Copy {}

macro_rules! values {
    ($($type:ty),* $(,)?) => {
        $(
            // SAFETY: an integer or a raw pointer, or a structure of these that the kernel's header declares.
            unsafe impl CValue for $type {}
        )*
    };
}

values! {
    u8, u32, i32, u64, usize,
    uapi::BoListEntry, uapi::CsChunk, uapi::CsChunkDep, uapi::CsChunkFence, uapi::InfoHwIp, uapi::UqFwAreas,
    uapi::UserqSignal, uapi::UserqWait,
}

// SAFETY: every bit pattern is a raw pointer.
unsafe impl<T> CValue for *const T {}
// SAFETY: every bit pattern is a raw pointer.
unsafe impl<T> CValue for *mut T {}
