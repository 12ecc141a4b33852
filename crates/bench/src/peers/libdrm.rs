//! The VA manager of libdrm_amdgpu, loaded at run time.
#![expect(unsafe_code, reason = "calls into a C library")]

use std::{
    ffi::{c_int, c_void},
    fs::File,
    os::fd::AsRawFd,
    ptr::{self, NonNull},
};

use libloading::Library;

use crate::contest::race::Allocator;

pub(crate) const LIBRARY: &str = "libdrm_amdgpu.so.1";
/// `amdgpu_gpu_va_range_general`.
const GENERAL: c_int = 0;
/// `AMDGPU_VA_RANGE_HIGH`.
const HIGH: u64 = 2;

type Initialize = unsafe extern "C" fn(c_int, *mut u32, *mut u32, *mut *mut c_void) -> c_int;
type Deinitialize = unsafe extern "C" fn(*mut c_void) -> c_int;
type Alloc = unsafe extern "C" fn(*mut c_void, c_int, u64, u64, u64, *mut u64, *mut *mut c_void, u64) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The reason why libdrm cannot be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Missing {
    #[error(transparent)]
    Library(#[from] libloading::Error),
    #[error("no render node: {0}")]
    Node(#[from] std::io::Error),
    #[error("amdgpu_device_initialize answers {0}")]
    Initialize(c_int),
}

/// A device of libdrm.
///
/// # Invariants
///
/// `device` is live, and the functions are the library's, which stays loaded as long as they are here.
pub(crate) struct Libdrm {
    device: NonNull<c_void>,
    alloc: Alloc,
    free: Free,
    deinitialize: Deinitialize,
    _node: File,
    _library: Library,
}

impl Libdrm {
    pub(crate) fn open() -> Result<Self, Missing> {
        let node = File::options().read(true).write(true).open("/dev/dri/renderD128")?;
        // SAFETY: libdrm's initialisers do nothing that matters here.
        let library = unsafe { Library::new(LIBRARY) }?;
        // SAFETY: the signature is that of amdgpu.h.
        let initialize: Initialize = *unsafe { library.get(b"amdgpu_device_initialize\0") }?;
        // SAFETY: as above.
        let deinitialize: Deinitialize = *unsafe { library.get(b"amdgpu_device_deinitialize\0") }?;
        // SAFETY: as above.
        let alloc: Alloc = *unsafe { library.get(b"amdgpu_va_range_alloc\0") }?;
        // SAFETY: as above.
        let free: Free = *unsafe { library.get(b"amdgpu_va_range_free\0") }?;
        let (mut major, mut minor, mut device) = (0, 0, ptr::null_mut());
        // SAFETY: the descriptor is open, and the pointers are to live variables.
        let answer = unsafe { initialize(node.as_raw_fd(), &raw mut major, &raw mut minor, &raw mut device) };
        match NonNull::new(device) {
            Some(device) if answer == 0 => {
                Ok(Self { device, alloc, free, deinitialize, _node: node, _library: library })
            }
            _ => Err(Missing::Initialize(answer)),
        }
    }
}

impl Libdrm {
    /// The library's handle.
    pub(super) fn device(&self) -> *mut c_void {
        self.device.as_ptr()
    }
}

impl Drop for Libdrm {
    fn drop(&mut self) {
        // SAFETY: the device is live (invariant) and not used again.
        unsafe { (self.deinitialize)(self.device.as_ptr()) };
    }
}

impl Allocator for Libdrm {
    /// libdrm's handle and the first address.
    type Lease = (NonNull<c_void>, u64);

    #[inline]
    fn take(&mut self, size: u64, align: u64) -> Option<Self::Lease> {
        let (mut start, mut handle) = (0, ptr::null_mut());
        // SAFETY: the device is live (invariant), and the pointers are to live variables.
        let answer = unsafe {
            (self.alloc)(self.device.as_ptr(), GENERAL, size, align, 0, &raw mut start, &raw mut handle, HIGH)
        };
        NonNull::new(handle).filter(|_| answer == 0).map(|handle| (handle, start))
    }

    #[inline]
    fn give(&mut self, lease: Self::Lease) {
        // SAFETY: `take` made the handle, and a lease is given once.
        unsafe { (self.free)(lease.0.as_ptr()) };
    }

    fn start(lease: &Self::Lease) -> u64 {
        lease.1
    }
}
