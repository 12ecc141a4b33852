//! CPU mappings.

use std::ptr::NonNull;

use amdgpu_winsys::{
    uapi::{Answered as _, GemMmap},
    winsys::Errno,
};

use crate::{border::Answer, kernel::Lent};

/// The mapping of a BO, made at the first call and counted.
#[derive(Default)]
pub(crate) struct CpuMapping {
    base: Option<NonNull<u8>>,
    len: usize,
    count: usize,
}

// SAFETY: the address is the client's to use, from any thread.
unsafe impl Send for CpuMapping {}

impl CpuMapping {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Counts up, and maps if it is the first time.
    pub(super) fn begin(&mut self, kernel: &Lent<'_>, handle: u32, size: u64) -> Answer<NonNull<u8>> {
        if let Some(base) = self.base {
            self.count += 1;
            return Ok(base);
        }
        let mut argument = GemMmap { handle, pad: 0 };
        kernel.plain(&mut argument)?;
        let len = usize::try_from(size).map_err(|_| Errno::EINVAL)?;
        let base = kernel.map(len, argument.answer().addr_ptr)?;
        *self = Self { base: Some(base), len, count: 1 };
        Ok(base)
    }

    /// Counts down, and unmaps if it was the last time.
    pub(super) fn take_back(&mut self) {
        if self.count > 1 {
            self.count -= 1;
        } else {
            self.end();
        }
    }

    /// Unmaps, whatever the count is.
    pub(super) fn end(&mut self) {
        let Self { base, len, .. } = std::mem::take(self);
        if let Some(base) = base {
            // SAFETY: mapped by `begin` with this length, and forgotten; the client has said that it uses the mapping no more.
            unsafe { libc::munmap(base.as_ptr().cast(), len) };
        }
    }

    /// Returns the offset of an address if the mapping contains it.
    pub(super) fn offset_of(&self, address: usize) -> Option<u64> {
        let offset = address.checked_sub(self.base?.addr().get())?;
        (offset < self.len).then_some(offset as u64)
    }
}
