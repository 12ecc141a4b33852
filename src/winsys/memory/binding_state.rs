//! The life of a binding: the one place that decides when memory is bound, and when its addresses are free again.
//!
//! A binding is one allocation of host memory: the BO, the lease of the addresses, and the access flags. It begins with
//! [`BindingState::new`] and [`BindingState::bind`], and ends in `Drop`. Both may fail in the kernel, and the addresses must never be
//! free while the page tables map them. That holds because:
//!
//! 1. The host memory is allocated before the kernel is asked to bind, so no binding of the kernel is ever without an owner here.
//! 2. `lease` is `Some` exactly while the kernel may have a binding at the addresses: `bind` stores it after the kernel has agreed, and
//!    returns it to the caller otherwise. A GEM_VA request that is refused binds nothing (Linux 6.12 `amdgpu_gem.c`,
//!    `amdgpu_gem_va_ioctl`).
//! 3. All handles of the binding share this state through a count without weak references. `Drop` therefore runs once, on the thread
//!    that drops the last handle, and no one else can reach the state meanwhile.
//! 4. `Drop` is the only code that takes the lease. It gives the lease to one of two places: to the address manager if the kernel has
//!    confirmed that every binding at the addresses is gone, and to the device's list of leaked leases otherwise.
//! 5. The kernel confirms that in one of two ways. It accepts the requests that unbind, one for the memory and one for its guard
//!    page. Or it closes the BO's last handle, which removes all bindings of the BO (`amdgpu_gem_object_close`); this counts only if
//!    the BO has no other handle in the file, so only for a BO that was never shared, and that nothing else here refers to.
//! 6. The BO's handle is open while the kernel is asked to unbind, because the BO is dropped after the body of `Drop` has run.
//! 7. Between the kernel's answer and the step 4 no code of a caller runs: observers and subscribers of traces, which may panic, hear
//!    of the outcome afterwards. A panic there finds the lease already in its place.

use std::sync::atomic::AtomicU8;

use triomphe::UniqueArc;

use crate::{
    host_memory::unique,
    uapi::{Argument, GemVa, VaFlags, VaOperation},
    vamgr::{GpuVa, VaLease, VaRange},
    winsys::{
        BindError, Bo, Device, Event, HostMemory, KernelError, Misaligned, OutOfRange, PAGE_SIZE, UnsupportedVaFlags,
        own::{send, send_quietly},
        release::{Release, release},
    },
};

/// The state that all handles of a binding share; see the module for the rules of its life.
#[derive(Debug)]
pub(super) struct BindingState {
    /// `None` before the memory is bound.
    lease: Option<VaLease>,
    pub(super) bo: Bo,
    pub(super) part: Part,
    pub(super) has_guard_page: bool,
    /// Copies of the BO's handle and of its device's address. Submissions read them for thousands of bindings and need
    /// nothing else of the BO.
    pub(super) bo_handle: u32,
    pub(super) device_address: usize,
    pub(super) priority: AtomicU8,
}

/// The bound part of a BO, with its access flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) flags: VaFlags,
}

impl Part {
    /// Returns the whole of a BO.
    #[inline]
    pub(super) fn whole(bo: &Bo, flags: VaFlags) -> Self {
        Self { offset: 0, len: bo.size(), flags }
    }

    /// Returns the read-only page that follows the binding of a whole BO: the BO's first page.
    #[inline]
    pub(super) fn guard_page(self) -> Self {
        Self { offset: 0, len: PAGE_SIZE, flags: self.flags - VaFlags::WRITEABLE }
    }

    /// Checks that the part is inside the BO and fits the lease.
    #[inline]
    fn check(self, bo: &Bo, lease: &VaLease) -> Result<(), BindError> {
        let Self { offset, len, flags } = self;
        for (what, value) in [("offset in the BO", offset), ("bound length", len)] {
            if !value.is_multiple_of(PAGE_SIZE) {
                return Err(Misaligned { what, value, alignment: PAGE_SIZE }.into());
            }
        }
        let inside = offset.checked_add(len).is_some_and(|end| end <= bo.size());
        if len == 0 || !inside || len > lease.len() {
            return Err(OutOfRange { handle: bo.handle(), offset, len, size: bo.size().min(lease.len()) }.into());
        }
        Ok(check_flags(bo, flags)?)
    }

    /// Returns the request that maps or unmaps the part at an address.
    #[inline]
    fn request(self, operation: VaOperation, handle: u32, at: GpuVa) -> GemVa {
        let Self { offset, len, flags } = self;
        GemVa {
            handle,
            pad: 0,
            operation: operation as u32,
            flags: flags.bits(),
            va_address: at.as_u64(),
            offset_in_bo: offset,
            map_size: len,
        }
    }

    #[inline]
    fn map(self, bo: &Bo, at: GpuVa) -> Result<(), KernelError> {
        let mut argument = self.request(VaOperation::Map, bo.handle(), at);
        send(bo.device().kernel(), &mut argument)
            .map_err(|errno| KernelError::of_range(GemVa::NAME, bo.handle(), at, self.len, errno))?;
        bo.device().page_table_changes().note();
        Ok(())
    }

    #[inline]
    fn unmap(self, device: &Device, handle: u32, at: GpuVa) -> Release {
        let mut argument = self.request(VaOperation::Unmap, handle, at);
        release(|| send_quietly(device.kernel(), &mut argument))
    }

    fn notify_bound(self, bo: &Bo, at: GpuVa) {
        let Self { offset: bo_offset, len, flags } = self;
        if let Some(range) = VaRange::new(at, len) {
            bo.device().notify(|| Event::Bound { range, handle: bo.handle(), bo_offset, flags });
        }
    }
}

/// Flags that GEM_VA accepts for a BO; PRT is not among them.
const ACCESS: VaFlags = VaFlags::READABLE
    .union(VaFlags::WRITEABLE)
    .union(VaFlags::EXECUTABLE)
    .union(VaFlags::MTYPE_MASK)
    .union(VaFlags::NOALLOC)
    .union(VaFlags::DELAY_UPDATE);

/// Checks flags against the rules of GEM_VA. Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`.
#[inline]
fn check_flags(bo: &Bo, flags: VaFlags) -> Result<(), UnsupportedVaFlags> {
    let refused = |reason| Err(UnsupportedVaFlags { flags, reason });
    if flags.contains(VaFlags::PRT) {
        return refused("partially resident addresses have no BO");
    }
    if !ACCESS.contains(flags) {
        return refused("unknown bits");
    }
    if flags.contains(VaFlags::NOALLOC) && bo.device().info().driver.minor < 47 {
        return refused("NOALLOC needs amdgpu 3.47");
    }
    Ok(())
}

impl BindingState {
    /// Allocates the host memory of a binding that does not exist yet.
    #[inline]
    pub(super) fn new(bo: Bo, part: Part, priority: u8) -> Result<UniqueArc<Self>, HostMemory> {
        let state = Self {
            lease: None,
            part,
            has_guard_page: false,
            bo_handle: bo.handle(),
            device_address: bo.device().address(),
            priority: AtomicU8::new(priority),
            bo,
        };
        unique(state).map_err(|error| error.of("a binding"))
    }

    /// Checks the arguments, binds the part at the start of the lease, and takes the lease. On error, returns the lease.
    #[inline]
    pub(super) fn bind(&mut self, lease: VaLease) -> Result<(), (VaLease, BindError)> {
        let bound = self.part.check(&self.bo, &lease).and_then(|()| Ok(self.part.map(&self.bo, lease.start())?));
        match bound {
            Ok(()) => {
                self.lease = Some(lease);
                Ok(())
            }
            Err(error) => Err((lease, error)),
        }
    }

    /// Binds the guard page after the bound memory. The lease must be long enough.
    #[cold]
    pub(super) fn bind_guard_page(&mut self) -> Result<(), KernelError> {
        // The lease extends beyond this address, so it exists.
        if let Some(behind) = self.start().checked_add(self.part.len) {
            let page = self.part.guard_page();
            page.map(&self.bo, behind)?;
            self.has_guard_page = true;
            page.notify_bound(&self.bo, behind);
        }
        Ok(())
    }

    /// Reports the binding to listeners, once it owns its addresses.
    #[cold]
    pub(super) fn announce(&self) {
        let (bo, at, Part { len, flags, .. }) = (&self.bo, self.start(), self.part);
        tracing::trace!(handle = self.bo_handle, %at, len, ?flags, "bound");
        self.part.notify_bound(bo, at);
    }

    /// Returns the first bound address.
    #[inline]
    pub(super) fn start(&self) -> GpuVa {
        // A binding is handed out only after it was bound.
        self.lease.as_ref().map_or(GpuVa::from_48_bits(0), VaLease::start)
    }

    /// Asks the kernel to remove the guard page, if there is one, and the binding at `at` before it. Returns the outcomes, that of the
    /// guard page second.
    #[inline]
    fn request_unbinding(&self, at: GpuVa) -> [Release; 2] {
        let (device, handle) = (self.bo.device(), self.bo_handle);
        let behind = if self.has_guard_page { at.checked_add(self.part.len) } else { None };
        let guard = behind.map_or(Release::DONE, |behind| self.part.guard_page().unmap(device, handle, behind));
        [self.part.unmap(device, handle, at), guard]
    }

    /// Unbinds the memory, and frees the addresses if that succeeded.
    #[inline]
    fn unbind(&mut self) {
        let at = self.start();
        let [memory, guard] = self.request_unbinding(at);
        let Some(lease) = self.lease.take() else { return };
        let device = self.bo.device();
        if memory.is_done() && guard.is_done() {
            device.addresses().free(lease);
        } else {
            device.leak(lease);
        }
        let guard_len = if self.has_guard_page { PAGE_SIZE } else { 0 };
        if let (true, Some(range)) = (memory.is_done(), VaRange::new(at, self.part.len + guard_len)) {
            device.notify(|| Event::Unbound { range });
        }
        memory.report(GemVa::NAME, self.bo_handle);
        guard.report(GemVa::NAME, self.bo_handle);
    }

    /// Closes the BO in place of unbinding it, where 5. allows that. Unbinds the memory if the kernel does not close the BO. Returns
    /// `false` if it is not allowed; nothing has changed then.
    #[inline]
    fn unbind_by_closing(&mut self) -> bool {
        let device = self.bo.device();
        if !device.unbinds_by_closing() || device.is_observed() {
            return false;
        }
        let Some(closed) = self.bo.close_unshared() else { return false };
        if closed.is_done() {
            if let Some(lease) = self.lease.take() {
                self.bo.device().addresses().free(lease);
            }
        } else {
            self.unbind();
        }
        self.bo.report_closed(closed);
        true
    }
}

impl Drop for BindingState {
    #[inline]
    fn drop(&mut self) {
        if self.lease.is_some() && !self.unbind_by_closing() {
            self.unbind();
        }
    }
}
