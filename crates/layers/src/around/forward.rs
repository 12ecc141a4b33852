//! Kernels whose calls pass through a layer.

use std::{
    ffi::{c_int, c_void},
    fmt,
    os::fd::{AsFd, OwnedFd},
    ptr::NonNull,
};

use amdgpu_uapi::{Errno, Kernel, NotReserved, OpenFile, Protection, Request};

use super::{Answered, Ioctl, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};

/// A layer around a kernel, which sees every call before the kernel. By default it forwards each call.
///
/// Each method gets a call and returns its outcome, which only the call itself can create. A layer may therefore observe, count,
/// delay and refuse calls, and change the answers of INFO, all without `unsafe`. Reporting success for a call that was not made
/// requires `unsafe`.
///
/// ```
/// use amdgpu_layers::{Answered, Ioctl, Layer};
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_uapi::{Argument, GemCreate};
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, TableOptions}, winsys::Device};
/// use amdgpu_uapi::Errno;
///
/// /// A layer that refuses BOs of more than one mebibyte.
/// struct Small;
///
/// impl Layer for Small {
///     fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
///         if call.is(GemCreate::REQUEST) && call.read::<GemCreate>().bo_size > 1 << 20 {
///             return call.refuse(Errno::ENOMEM);
///         }
///         call.forward()
///     }
/// }
///
/// let device = Device::new(Small.over(SimKernel::open(profile("navi21").ok_or("no such chip")?)))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// assert!(manager.allocate(&AllocateInfo::new(0, 4096)).is_ok());
/// assert!(manager.allocate(&AllocateInfo::new(0, 2 << 20)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Layer: Send + Sync {
    /// Handles an ioctl.
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        call.forward()
    }

    /// Handles an mmap call.
    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        call.forward()
    }

    /// Handles a munmap call.
    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        call.forward()
    }

    /// Handles a reserve call, which ends a mapping and keeps its addresses reserved.
    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        call.forward()
    }

    /// Wraps a kernel in the layer.
    fn over<K: Kernel>(self, kernel: K) -> Forward<K, Self>
    where
        Self: Sized,
    {
        Forward { inner: kernel, layer: self, descriptor: None }
    }
}

/// The layer that forwards all calls.
impl Layer for () {}

/// A kernel whose calls pass through a [`Layer`] to an inner kernel.
pub struct Forward<K, L = ()> {
    inner: K,
    layer: L,
    /// Identifies the open file instead of the inner kernel's descriptor, if set.
    descriptor: Option<OwnedFd>,
}

impl<K, L> Forward<K, L> {
    /// Returns the inner kernel, which gets the forwarded calls.
    pub fn inner(&self) -> &K {
        &self.inner
    }

    /// Returns the layer that handles the calls.
    pub fn layer(&self) -> &L {
        &self.layer
    }

    /// Makes a descriptor identify the open file, instead of the inner kernel's.
    ///
    /// # Safety
    ///
    /// The inner kernel's file must not be accessed in another way, unless that way is identified by a copy of this descriptor.
    #[must_use]
    pub unsafe fn known_by(self, descriptor: OwnedFd) -> Self {
        Self { descriptor: Some(descriptor), ..self }
    }
}

impl<K: fmt::Debug, L: fmt::Debug> fmt::Debug for Forward<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forward").field("layer", &self.layer).field("inner", &self.inner).finish_non_exhaustive()
    }
}

// SAFETY: a layer can create the outcome of a call only from the call itself: by forwarding it unchanged, by refusing it before
// anything was done, by writing to the answer of INFO, or by an `unsafe` method with its own argument. The promises are therefore
// those of the inner kernel. The descriptor of `known_by` stays open as long as the value exists.
unsafe impl<K: Kernel, L: Layer> Kernel for Forward<K, L> {
    fn open_file(&self) -> OpenFile<'_> {
        match &self.descriptor {
            Some(descriptor) => OpenFile::Descriptor(descriptor.as_fd()),
            None => self.inner.open_file(),
        }
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the caller's promises hold until this call returns, and the outcome cannot leave it.
        let call = unsafe { Ioctl::new(&self.inner, request, argument) };
        self.layer.ioctl(call).result()
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        let call = unsafe { Mmap::new(&self.inner, len, protection, at, offset) };
        self.layer.mmap(call).result()
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        let call = unsafe { Munmap::new(&self.inner, address, len) };
        self.layer.munmap(call).result()
    }

    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's promises are passed on unchanged.
        let call = unsafe { Reserve::new(&self.inner, address, len) };
        self.layer.reserve(call).result()
    }
}
