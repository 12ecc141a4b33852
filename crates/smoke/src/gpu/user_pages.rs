//! Anonymous pages of this process that the GPU may read and write.

use std::{num::NonZeroUsize, ptr::NonNull};

use amdgpu_winsys::{
    uapi::VaFlags,
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, Device, UserMemory},
};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::result::outcome::{ErrorContext, Stop, ensure, fail};

/// Private pages, bound where the GPU finds them.
///
/// # Invariants
///
/// `base` is the start of `len` anonymous, readable and writable bytes that only `Drop` unmaps, and that only this
/// object and the GPU touch.
pub(crate) struct UserPages {
    base: NonNull<u8>,
    len: usize,
    /// Taken by `Drop`, before the pages.
    binding: Option<Binding>,
}

impl UserPages {
    /// Maps `len` bytes, a multiple of the page size, and lets the GPU at them.
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self, Stop> {
        let Some(size) = NonZeroUsize::new(len) else { return fail("no pages asked for") };
        let (protection, flags) = (ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE);
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap_anonymous(None, size, protection, flags) }.context("mapping anonymous pages")?;
        // INVARIANT: the kernel just mapped these bytes for us alone.
        let mut pages = Self { base: base.cast(), len, binding: None };
        pages.binding = Some(pages.bind(device)?);
        Ok(pages)
    }

    fn bind(&self, device: &Device) -> Result<Binding, Stop> {
        // SAFETY: the pages belong to this object alone (invariant), which makes no references into them. `Drop` lets go
        // of the BO before it unmaps them, and leaves them mapped while anyone else holds the binding.
        let bo = unsafe { Bo::from_user_memory(device, UserMemory::new(self.base, self.len as u64)) }
            .context("sharing the pages")?;
        let request = VaRequest::new(self.len as u64);
        let lease = device.addresses().allocate(request).context("leasing addresses for the pages")?;
        let bound = Binding::new(&bo, lease, VaFlags::READABLE | VaFlags::WRITEABLE);
        bound.map_err(|(_lease, error)| error).context("binding the pages")
    }

    /// The binding, to list in a submission.
    pub(crate) fn binding(&self) -> Result<&Binding, Stop> {
        self.binding.as_ref().map_or_else(|| fail("not bound"), Ok)
    }

    /// Returns their GPU address.
    pub(crate) fn address(&self) -> Result<GpuVa, Stop> {
        Ok(self.binding()?.address())
    }

    /// Stores bytes from the start on.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Stop> {
        ensure(bytes.len() <= self.len, || format!("{} bytes do not fit {}", bytes.len(), self.len))?;
        for (at, &byte) in bytes.iter().enumerate() {
            // SAFETY: `at < bytes.len() <= self.len`, so the address is inside the mapping (invariant).
            let address = unsafe { self.base.add(at) };
            // SAFETY: in bounds as above; volatile, because the GPU may look at any time.
            unsafe { address.write_volatile(byte) };
        }
        Ok(())
    }

    /// Loads everything.
    pub(crate) fn read(&self) -> Vec<u8> {
        let load = |at| {
            // SAFETY: `at < self.len`, so the address is inside the mapping (invariant).
            let address = unsafe { self.base.add(at) };
            // SAFETY: in bounds as above; volatile, because the GPU may write at any time.
            unsafe { address.read_volatile() }
        };
        (0..self.len).map(load).collect()
    }
}

impl Drop for UserPages {
    fn drop(&mut self) {
        if self.binding.take().is_some_and(|binding| binding.handle_count() > 1) {
            // A queue whose job never ended still holds it: the GPU may yet write there, so the pages stay.
            tracing::warn!("pages are left mapped, because a job still uses them");
            return;
        }
        // SAFETY: the mapping is live (invariant), its BO is closed, and `self` is going away, so nothing uses it.
        if let Err(errno) = unsafe { munmap(self.base.cast(), self.len) } {
            tracing::warn!(%errno, "munmap refused");
        }
    }
}
