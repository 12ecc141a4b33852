//! Calls that go through a layer to the kernel inside.

use std::{
    ffi::{c_int, c_void},
    fmt,
    os::fd::{AsFd, OwnedFd},
    ptr::NonNull,
};

use amdgpu_uapi::{Errno, Kernel, NotReserved, OpenFile, Protection, Request};

use super::{Answered, Ioctl, Mapped, Mmap, Munmap, Reserve, Reserved, Unmapped};

/// Decisions about the calls that pass through a [`Forward`]: each is forwarded, unless a method says otherwise.
///
/// A method takes a call and returns its outcome, which only the call itself can make. So a layer may look at calls, count,
/// delay and refuse them, and change the facts that INFO reports, all without `unsafe`. Saying that something was done which
/// was not is marked so.
///
/// ```
/// use amdgpu_layers::{Answered, Ioctl, Layer};
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_uapi::{Argument, GemCreate};
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, TableOptions}, winsys::Device};
/// use amdgpu_uapi::Errno;
///
/// /// A kernel that makes no BO of more than a mebibyte.
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
    /// A request.
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        call.forward()
    }

    /// A mapping.
    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        call.forward()
    }

    /// The end of a mapping.
    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        call.forward()
    }

    /// The end of a mapping whose addresses are kept.
    fn reserve<'c>(&self, call: Reserve<'c>) -> Reserved<'c> {
        call.forward()
    }

    /// Puts the layer around a kernel.
    fn over<K: Kernel>(self, kernel: K) -> Forward<K, Self>
    where
        Self: Sized,
    {
        Forward { inner: kernel, layer: self, descriptor: None }
    }
}

/// The layer that does nothing.
impl Layer for () {}

/// A kernel whose calls go through a [`Layer`] to the kernel inside.
pub struct Forward<K, L = ()> {
    inner: K,
    layer: L,
    /// By which the open file is known, where that is not the inner kernel's affair.
    descriptor: Option<OwnedFd>,
}

impl<K, L> Forward<K, L> {
    /// Returns the kernel inside.
    pub fn inner(&self) -> &K {
        &self.inner
    }

    /// Returns the layer.
    pub fn layer(&self) -> &L {
        &self.layer
    }

    /// Makes the layer's file that of a descriptor, instead of the inner kernel's.
    ///
    /// # Safety
    ///
    /// Nothing else reaches the inner kernel's file, or what does is known by a copy of this descriptor.
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

// SAFETY: a layer can make the outcome of a call only from the call itself: by passing it on unchanged, by refusing it
// before anything was done, by writing facts into the answer of INFO, or by what is `unsafe` and argued for there. So the
// promises are those of the kernel inside. The descriptor of `known_by` stays open as long as the value lives.
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
