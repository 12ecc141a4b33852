//! Mappings on their way.

use std::{marker::PhantomData, ptr::NonNull};

use amdgpu_uapi::{Errno, Kernel, NotReserved, Protection};

/// A mapping that has not been made yet.
pub struct Mmap<'c> {
    kernel: &'c dyn Kernel,
    len: usize,
    protection: Protection,
    at: Option<NonNull<u8>>,
    offset: u64,
}

impl<'c> Mmap<'c> {
    /// Takes a call.
    ///
    /// # Safety
    ///
    /// As [`Kernel::mmap`].
    pub(super) unsafe fn new(
        kernel: &'c dyn Kernel,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Self {
        Self { kernel, len, protection, at, offset }
    }

    /// Returns its length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of what is wanted, not of a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the access that it allows.
    pub fn protection(&self) -> Protection {
        self.protection
    }

    /// Returns the offset in the node.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Makes the mapping.
    pub fn forward(self) -> Mapped<'c> {
        let Self { kernel, len, protection, at, offset } = self;
        // SAFETY: the promises of the caller of `new`, passed on unchanged.
        let result = unsafe { kernel.mmap(len, protection, at, offset) };
        Mapped { result, len, protection, call: PhantomData }
    }

    /// Refuses the mapping.
    pub fn refuse(self, errno: Errno) -> Mapped<'c> {
        Mapped { result: Err(errno), len: self.len, protection: self.protection, call: PhantomData }
    }

    /// Gives the caller a mapping that the kernel knows nothing of.
    ///
    /// # Safety
    ///
    /// It is what [`Kernel::mmap`] says but for being a BO's memory, and the kernel's `munmap` ends it.
    pub unsafe fn give(self, address: NonNull<u8>) -> Mapped<'c> {
        Mapped { result: Ok(address), len: self.len, protection: self.protection, call: PhantomData }
    }
}

/// The outcome of a mapping.
#[must_use]
pub struct Mapped<'c> {
    result: Result<NonNull<u8>, Errno>,
    len: usize,
    protection: Protection,
    call: PhantomData<&'c ()>,
}

impl Mapped<'_> {
    /// Returns the result for the caller.
    ///
    /// # Errors
    ///
    /// The errno.
    pub fn result(&self) -> Result<NonNull<u8>, Errno> {
        self.result
    }

    /// Fills a mapping that may be written, as if its memory had been used before.
    pub fn fill(&mut self, byte: u8) {
        if let (Ok(address), Protection::ReadWrite) = (self.result, self.protection) {
            // SAFETY: mapped just now, so long, writable, and not yet known to anything else.
            unsafe { address.as_ptr().write_bytes(byte, self.len) };
        }
    }
}

/// The end of a mapping, not come yet.
pub struct Munmap<'c> {
    kernel: &'c dyn Kernel,
    address: NonNull<u8>,
    len: usize,
}

impl<'c> Munmap<'c> {
    /// Takes a call.
    ///
    /// # Safety
    ///
    /// As [`Kernel::munmap`].
    pub(super) unsafe fn new(kernel: &'c dyn Kernel, address: NonNull<u8>, len: usize) -> Self {
        Self { kernel, address, len }
    }

    /// Returns the start address.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Returns its length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of a mapping, not of a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Ends the mapping.
    pub fn forward(self) -> Unmapped<'c> {
        // SAFETY: the promises of the caller of `new`, passed on unchanged; the call is used up.
        let result = unsafe { self.kernel.munmap(self.address, self.len) };
        Unmapped { result, call: PhantomData }
    }

    /// Refuses to: the mapping stays.
    pub fn refuse(self, errno: Errno) -> Unmapped<'c> {
        Unmapped { result: Err(errno), call: PhantomData }
    }
}

/// The outcome of the end of a mapping.
#[must_use]
pub struct Unmapped<'c> {
    result: Result<(), Errno>,
    call: PhantomData<&'c ()>,
}

impl Unmapped<'_> {
    /// Returns the result for the caller.
    ///
    /// # Errors
    ///
    /// The errno; the mapping is then still there.
    pub fn result(&self) -> Result<(), Errno> {
        self.result
    }
}

/// The end of a mapping whose addresses are kept, not come yet.
pub struct Reserve<'c> {
    kernel: &'c dyn Kernel,
    address: NonNull<u8>,
    len: usize,
}

impl<'c> Reserve<'c> {
    /// Takes a call.
    ///
    /// # Safety
    ///
    /// As [`Kernel::reserve`].
    pub(super) unsafe fn new(kernel: &'c dyn Kernel, address: NonNull<u8>, len: usize) -> Self {
        Self { kernel, address, len }
    }

    /// Returns the start address.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Returns its length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "the length of a mapping, not of a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Ends the mapping and keeps its addresses.
    pub fn forward(self) -> Reserved<'c> {
        // SAFETY: the promises of the caller of `new`, passed on unchanged; the call is used up.
        let result = unsafe { self.kernel.reserve(self.address, self.len) };
        Reserved { result, call: PhantomData }
    }

    /// Refuses to: the mapping stays.
    pub fn refuse(self, errno: Errno) -> Reserved<'c> {
        Reserved { result: Err(NotReserved { errno, is_mapped: true }), call: PhantomData }
    }
}

/// The outcome of the end of a mapping whose addresses are kept.
#[must_use]
pub struct Reserved<'c> {
    result: Result<(), NotReserved>,
    call: PhantomData<&'c ()>,
}

impl Reserved<'_> {
    /// Returns the result for the caller.
    ///
    /// # Errors
    ///
    /// The errno, and whether the mapping is still there.
    pub fn result(&self) -> Result<(), NotReserved> {
        self.result
    }
}
