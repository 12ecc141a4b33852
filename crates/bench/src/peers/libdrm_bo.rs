//! BOs of libdrm_amdgpu: allocated, given addresses, mapped to them.
#![expect(unsafe_code, reason = "calls into a C library")]

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use libloading::Library;

use super::libdrm::{LIBRARY, Libdrm, Missing};
use crate::contest::race::Allocator as _;

const VRAM: u32 = 4;
const MAP: u32 = 1;
const UNMAP: u32 = 2;

/// `struct amdgpu_bo_alloc_request`.
#[repr(C)]
struct Request {
    size: u64,
    alignment: u64,
    heap: u32,
    flags: u64,
}

type BoAlloc = unsafe extern "C" fn(*mut c_void, *mut Request, *mut *mut c_void) -> c_int;
type BoFree = unsafe extern "C" fn(*mut c_void) -> c_int;
type VaOp = unsafe extern "C" fn(*mut c_void, u64, u64, u64, u64, u32) -> c_int;

/// A device of libdrm, and its functions for BOs.
///
/// # Invariants
///
/// The functions are the library's, which stays loaded as long as they are here.
pub(crate) struct LibdrmBos {
    addresses: Libdrm,
    alloc: BoAlloc,
    free: BoFree,
    operate: VaOp,
    _library: Library,
}

/// A BO at an address.
pub(crate) struct BoundBo {
    bo: *mut c_void,
    range: <Libdrm as crate::contest::race::Allocator>::Lease,
    size: u64,
}

impl LibdrmBos {
    pub(crate) fn open() -> Result<Self, Missing> {
        let addresses = Libdrm::open()?;
        // SAFETY: libdrm's initialisers do nothing that matters here.
        let library = unsafe { Library::new(LIBRARY) }?;
        // SAFETY: the signature is that of amdgpu.h.
        let alloc: BoAlloc = *unsafe { library.get(b"amdgpu_bo_alloc\0") }?;
        // SAFETY: as above.
        let free: BoFree = *unsafe { library.get(b"amdgpu_bo_free\0") }?;
        // SAFETY: as above.
        let operate: VaOp = *unsafe { library.get(b"amdgpu_bo_va_op\0") }?;
        Ok(Self { addresses, alloc, free, operate, _library: library })
    }

    #[inline]
    pub(crate) fn allocate(&mut self, size: u64, alignment: u64) -> BoundBo {
        let mut request = Request { size, alignment, heap: VRAM, flags: 0 };
        let mut bo = ptr::null_mut();
        // SAFETY: the device is live, and the pointers are to live variables.
        let answer = unsafe { (self.alloc)(self.addresses.device(), &raw mut request, &raw mut bo) };
        assert_eq!(answer, 0, "the null kernel refuses nothing");
        let range = self.addresses.take(size, alignment).expect("there is room");
        // SAFETY: the BO is live and the range just taken.
        unsafe { (self.operate)(bo, 0, size, range.1, 0, MAP) };
        BoundBo { bo, range, size }
    }

    #[inline]
    pub(crate) fn free(&mut self, BoundBo { bo, range, size }: BoundBo) {
        // SAFETY: the BO is live and mapped there.
        unsafe { (self.operate)(bo, 0, size, range.1, 0, UNMAP) };
        self.addresses.give(range);
        // SAFETY: the BO is live and not used again.
        unsafe { (self.free)(bo) };
    }
}
