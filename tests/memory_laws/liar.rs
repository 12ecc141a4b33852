//! A kernel that tells other numbers than the simulator's.
#![expect(unsafe_code, reason = "a kernel that lies")]

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::Arc,
};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Info, Request, query},
    winsys::{Kernel, OpenFile, Protection},
};
use nix::errno::Errno;
use parking_lot::Mutex;

/// Usage of VRAM, visible VRAM and GTT as MEMORY is to tell them; nothing: the truth.
pub(crate) type Told = Arc<Mutex<Option<[u64; 3]>>>;

pub(crate) struct Liar {
    pub(crate) inner: SimKernel,
    pub(crate) told: Told,
}

/// Where `heap_usage` of each pool is in the answer.
const USAGE: [usize; 3] = [16, 48, 80];

// SAFETY: every call is passed on to the simulator; what is changed afterwards is inside the answer's buffer, which is at
// least `return_size` bytes by the caller's promise.
unsafe impl Kernel for Liar {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        let is_info = request.number() == <Info as amdgpu_winsys::uapi::Argument>::REQUEST.number();
        // SAFETY: an INFO argument is an `Info`.
        let info = is_info.then(|| unsafe { argument.cast::<Info>().read() });
        let info = info.filter(|info| info.query == query::MEMORY && info.return_size >= 96);
        // SAFETY: the caller's promises are passed on unchanged.
        let result = unsafe { self.inner.ioctl(request, argument) };
        if let (Some(info), Some(told)) = (info, *self.told.lock()) {
            let answer = std::ptr::with_exposed_provenance_mut::<u8>(info.return_pointer as usize);
            for (offset, value) in USAGE.into_iter().zip(told) {
                let bytes = value.to_ne_bytes();
                // SAFETY: `offset + 8` is at most 96, which is at most `return_size`, which the caller promised to be
                // writable.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), answer.wrapping_add(offset), bytes.len()) };
            }
        }
        result
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }
}
