//! mmap, munmap and reserve calls before they are forwarded, and their outcomes.

use std::{marker::PhantomData, ptr::NonNull};

use amdgpu_uapi::{Errno, Kernel, NotReserved, Protection};

/// An mmap call that a [`Layer`](super::Layer) can inspect, forward or refuse.
pub struct Mmap<'c> {
    kernel: &'c dyn Kernel,
    len: usize,
    protection: Protection,
    at: Option<NonNull<u8>>,
    offset: u64,
}

impl<'c> Mmap<'c> {
    /// Creates the call.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::mmap`].
    pub(super) unsafe fn new(
        kernel: &'c dyn Kernel,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Self {
        Self { kernel, len, protection, at, offset }
    }

    /// Returns the length of the mapping in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of what is wanted, not of a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the access that the mapping permits.
    pub fn protection(&self) -> Protection {
        self.protection
    }

    /// Returns the offset in the device node, bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Forwards the call to the kernel.
    pub fn forward(self) -> Mapped<'c> {
        let Self { kernel, len, protection, at, offset } = self;
        // SAFETY: the promises of the caller of `new`, passed on unchanged.
        let result = unsafe { kernel.mmap(len, protection, at, offset) };
        Mapped { result, len, protection, call: PhantomData }
    }

    /// Refuses the call without forwarding it.
    pub fn refuse(self, errno: Errno) -> Mapped<'c> {
        Mapped { result: Err(errno), len: self.len, protection: self.protection, call: PhantomData }
    }

    /// Returns memory to the caller that the kernel does not know.
    ///
    /// # Safety
    ///
    /// The memory must have the properties that [`Kernel::mmap`] promises, except that it is not a BO, and the kernel's `munmap`
    /// must be able to unmap it.
    pub unsafe fn give(self, address: NonNull<u8>) -> Mapped<'c> {
        Mapped { result: Ok(address), len: self.len, protection: self.protection, call: PhantomData }
    }
}

/// The outcome of an [`Mmap`], which a [`Layer`](super::Layer) returns.
#[must_use]
pub struct Mapped<'c> {
    result: Result<NonNull<u8>, Errno>,
    len: usize,
    protection: Protection,
    call: PhantomData<&'c ()>,
}

impl Mapped<'_> {
    /// Returns the result that the caller gets.
    ///
    /// # Errors
    ///
    /// The errno of the kernel or of the layer.
    pub fn result(&self) -> Result<NonNull<u8>, Errno> {
        self.result
    }

    /// Fills a new writable mapping with a byte, as if its memory had been used before.
    pub fn fill(&mut self, byte: u8) {
        if let (Ok(address), Protection::ReadWrite) = (self.result, self.protection) {
            // SAFETY: mapped just now, so long, writable, and not yet known to anything else.
            unsafe { address.as_ptr().write_bytes(byte, self.len) };
        }
    }
}

/// A munmap call that a [`Layer`](super::Layer) can inspect, forward or refuse.
pub struct Munmap<'c> {
    kernel: &'c dyn Kernel,
    address: NonNull<u8>,
    len: usize,
}

impl<'c> Munmap<'c> {
    /// Creates the call.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::munmap`].
    pub(super) unsafe fn new(kernel: &'c dyn Kernel, address: NonNull<u8>, len: usize) -> Self {
        Self { kernel, address, len }
    }

    /// Returns the start address of the mapping.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Returns the length of the mapping in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of a mapping, not of a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Forwards the call to the kernel, which ends the mapping.
    pub fn forward(self) -> Unmapped<'c> {
        // SAFETY: the promises of the caller of `new`, passed on unchanged; the call is used up.
        let result = unsafe { self.kernel.munmap(self.address, self.len) };
        Unmapped { result, call: PhantomData }
    }

    /// Refuses the call without forwarding it; the mapping remains.
    pub fn refuse(self, errno: Errno) -> Unmapped<'c> {
        Unmapped { result: Err(errno), call: PhantomData }
    }
}

/// The outcome of a [`Munmap`], which a [`Layer`](super::Layer) returns.
#[must_use]
pub struct Unmapped<'c> {
    result: Result<(), Errno>,
    call: PhantomData<&'c ()>,
}

impl Unmapped<'_> {
    /// Returns the result that the caller gets.
    ///
    /// # Errors
    ///
    /// The errno of the kernel or of the layer; the mapping then remains.
    pub fn result(&self) -> Result<(), Errno> {
        self.result
    }
}

/// A reserve call that a [`Layer`](super::Layer) can inspect, forward or refuse.
pub struct Reserve<'c> {
    kernel: &'c dyn Kernel,
    address: NonNull<u8>,
    len: usize,
}

impl<'c> Reserve<'c> {
    /// Creates the call.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::reserve`].
    pub(super) unsafe fn new(kernel: &'c dyn Kernel, address: NonNull<u8>, len: usize) -> Self {
        Self { kernel, address, len }
    }

    /// Returns the start address of the mapping.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Returns the length of the mapping in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of a mapping, not of a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Forwards the call to the kernel, which ends the mapping and keeps its addresses reserved.
    pub fn forward(self) -> Reserved<'c> {
        // SAFETY: the promises of the caller of `new`, passed on unchanged; the call is used up.
        let result = unsafe { self.kernel.reserve(self.address, self.len) };
        Reserved { result, call: PhantomData }
    }

    /// Refuses the call without forwarding it; the mapping remains.
    pub fn refuse(self, errno: Errno) -> Reserved<'c> {
        Reserved { result: Err(NotReserved { errno, is_mapped: true }), call: PhantomData }
    }
}

/// The outcome of a [`Reserve`], which a [`Layer`](super::Layer) returns.
#[must_use]
pub struct Reserved<'c> {
    result: Result<(), NotReserved>,
    call: PhantomData<&'c ()>,
}

impl Reserved<'_> {
    /// Returns the result that the caller gets.
    ///
    /// # Errors
    ///
    /// The errno, and whether the mapping remains.
    pub fn result(&self) -> Result<(), NotReserved> {
        self.result
    }
}
