//! The shared state of a binding, with the requests that bind and unbind it.

use std::{mem, sync::atomic::AtomicU8};

use crate::{
    host_memory::ArcRoom,
    uapi::{Argument, GemVa, VaFlags, VaOperation},
    vamgr::{GpuVa, VaLease, VaRange},
    winsys::{
        Bo, BoRequest, Device, DeviceRef, Error, Event, PAGE_SIZE, Result,
        bo::Closed,
        kernel::{send, send_quietly},
        release::{Release, release},
    },
};

/// The state that all handles of a binding share.
#[derive(Debug)]
pub(super) struct BindingState {
    /// `None` once the addresses were freed.
    lease: Option<VaLease>,
    /// `true` until the memory is unbound, which the addresses may outlive.
    is_bound: bool,
    pub(super) bo: Bo,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) flags: VaFlags,
    pub(super) has_guard_page: bool,
    /// Copies of the BO's handle and of its device's address. Submissions read them for thousands of bindings and need
    /// nothing else of the BO.
    pub(super) bo_handle: u32,
    pub(super) device_address: usize,
    pub(super) priority: AtomicU8,
    /// A reference for the next binding in this host memory; see `BindingRef::release_to`.
    kept: Option<DeviceRef>,
}

/// The bound part of a BO, with its access flags.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) flags: VaFlags,
}

/// Allocates the host memory of a binding, before the kernel binds it.
#[inline]
pub(super) fn room() -> Result<ArcRoom<BindingState>> {
    ArcRoom::new().map_err(|error| error.of("a binding"))
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
fn check_flags(bo: &Bo, flags: VaFlags) -> Result<()> {
    let refused = |reason| Err(Error::VaFlags { flags, reason });
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

/// Checks the arguments and binds the part.
#[inline]
pub(super) fn bind(bo: &Bo, offset: u64, len: u64, lease: &VaLease, flags: VaFlags) -> Result<()> {
    let at = lease.start();
    check(bo, offset, len, lease)?;
    check_flags(bo, flags)?;
    operate(bo, VaOperation::Map, at, offset, len, flags)
}

#[inline]
fn check(bo: &Bo, offset: u64, len: u64, lease: &VaLease) -> Result<()> {
    for (what, value) in [("offset in the BO", offset), ("bound length", len)] {
        if !value.is_multiple_of(PAGE_SIZE) {
            return Err(Error::Misaligned { what, value, alignment: PAGE_SIZE });
        }
    }
    let inside = offset.checked_add(len).is_some_and(|end| end <= bo.size());
    if len == 0 || !inside || len > lease.len() {
        return Err(Error::Range { handle: bo.handle(), offset, len, size: bo.size().min(lease.len()) });
    }
    Ok(())
}

#[inline]
pub(super) fn operate(bo: &Bo, operation: VaOperation, at: GpuVa, offset: u64, len: u64, flags: VaFlags) -> Result<()> {
    let mut argument = argument(bo.handle(), operation, at, offset, len, flags);
    send(bo.device().kernel(), &mut argument).map_err(|errno| Error::Bind {
        request: GemVa::NAME,
        handle: bo.handle(),
        at,
        len,
        errno,
    })
}

#[inline]
fn argument(handle: u32, operation: VaOperation, at: GpuVa, offset_in_bo: u64, len: u64, flags: VaFlags) -> GemVa {
    let (operation, flags) = (operation as u32, flags.bits());
    GemVa { handle, pad: 0, operation, flags, va_address: at.as_u64(), offset_in_bo, map_size: len }
}

#[inline]
pub(super) fn tell_bound(bo: &Bo, at: GpuVa, bo_offset: u64, len: u64, flags: VaFlags) {
    if let Some(range) = VaRange::new(at, len) {
        bo.device().tell(|| Event::Bound { range, handle: bo.handle(), bo_offset, flags });
    }
}

impl BindingState {
    /// Reports the binding to the observer, once it owns its addresses.
    #[cold]
    pub(super) fn announce(&self) {
        let (bo, at, len, flags) = (&self.bo, self.start(), self.len, self.flags);
        tracing::trace!(handle = self.bo_handle, %at, len, ?flags, "bound");
        tell_bound(bo, at, self.offset, len, flags);
    }

    /// Creates the owner of a binding that exists in the kernel.
    #[inline]
    pub(super) fn bound(bo: Bo, lease: VaLease, part: Part, priority: u8) -> Self {
        let Part { offset, len, flags } = part;
        Self {
            lease: Some(lease),
            is_bound: true,
            bo_handle: bo.handle(),
            device_address: bo.device().address(),
            bo,
            offset,
            len,
            flags,
            has_guard_page: false,
            priority: AtomicU8::new(priority),
            kept: None,
        }
    }

    /// Returns the first bound address.
    #[inline]
    pub(super) fn start(&self) -> GpuVa {
        // Only a release takes the lease, after the last use of the address.
        self.lease.as_ref().map_or(GpuVa::from_48_bits(0), VaLease::start)
    }

    /// Unbinds the memory, and closes the BO unless it has other handles. Returns the device if the state can be
    /// [reused](Self::rebind). The caller then frees the [rest of the addresses](Self::take_unbound).
    ///
    /// The kernel removes all bindings of a BO with its last handle (Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_object_close`), so that
    /// closing the only handle is enough on a device that [allows it](Device::unbind_by_closing).
    #[inline]
    pub(super) fn release(&mut self) -> Option<DeviceRef> {
        let device = self.bo.device();
        let keeps_lease = self.bo.is_plain() && !device.is_heard();
        let closes = keeps_lease && device.unbinds_by_closing();
        if !closes {
            self.unbind(keeps_lease);
        }
        let Closed { device, is_done } = self.bo.close()?;
        if mem::take(&mut self.is_bound) && !is_done {
            self.unbind_from(&device);
        }
        Some(device)
    }

    /// Removes the binding from the page tables of a BO that could not be closed.
    #[cold]
    fn unbind_from(&mut self, device: &Device) {
        let Some(lease) = self.lease.take() else { return };
        let outcomes = self.request_unbinding(device, lease.start());
        let is_done = outcomes.iter().all(|outcome| outcome.is_done());
        for outcome in outcomes {
            outcome.report(GemVa::NAME, self.bo_handle);
        }
        if is_done { device.addresses().free(lease) } else { device.strand(lease) }
    }

    /// Returns the addresses of a state that was [released](Self::release), if they are still to be freed.
    #[inline]
    pub(super) fn take_unbound(&mut self) -> Option<VaLease> {
        self.lease.take()
    }

    /// Stores a reference to the device for the next binding, in a state that was [released](Self::release).
    #[inline]
    pub(super) fn keep(&mut self, device: DeviceRef) {
        self.kept = Some(device);
    }

    /// Allocates a BO and binds the whole BO, in a state that was [released](Self::release). The BO takes the stored reference to
    /// the device, otherwise a clone of `device`.
    #[inline]
    pub(super) fn rebind(
        &mut self,
        device: &DeviceRef,
        request: &BoRequest,
        lease: VaLease,
        flags: VaFlags,
        priority: u8,
    ) -> Result<()> {
        let is_heard = device.is_heard();
        let device = self.kept.take().unwrap_or_else(|| device.clone());
        self.bo.recreate(device, request)?;
        let len = self.bo.size();
        bind(&self.bo, 0, len, &lease, flags)?;
        (self.lease, self.is_bound) = (Some(lease), true);
        (self.bo_handle, self.device_address) = (self.bo.handle(), self.bo.device().address());
        (self.offset, self.len, self.flags, self.has_guard_page) = (0, len, flags, false);
        *self.priority.get_mut() = priority;
        if is_heard {
            self.announce();
        }
        Ok(())
    }

    /// Asks the kernel to remove the binding at `at`, and its guard page before it. Returns the outcomes, that of the guard page second.
    #[inline]
    fn request_unbinding(&self, device: &Device, at: GpuVa) -> [Release; 2] {
        let unbind = |at, offset, len, flags| {
            let mut argument = argument(self.bo_handle, VaOperation::Unmap, at, offset, len, flags);
            release(|| send_quietly(device.kernel(), &mut argument))
        };
        let behind = if self.has_guard_page { at.checked_add(self.len) } else { None };
        let guard =
            behind.map_or(Release::DONE, |behind| unbind(behind, 0, PAGE_SIZE, self.flags - VaFlags::WRITEABLE));
        [unbind(at, self.offset, self.len, self.flags), guard]
    }

    /// Removes the binding from the page tables, then frees the addresses. With `keeps_lease`, which is for a device without
    /// observers, the addresses stay in the state if the kernel removed the binding at once. Does nothing if the binding was
    /// removed before.
    #[inline]
    fn unbind(&mut self, keeps_lease: bool) {
        if !self.is_bound {
            return;
        }
        self.is_bound = false;
        let (at, device) = (self.start(), self.bo.device());
        let [bound, guard] = self.request_unbinding(device, at);
        if keeps_lease && bound.is_done_at_once() && guard.is_done_at_once() {
            return;
        }
        let Some(lease) = self.lease.take() else { return };
        if bound.is_done() && guard.is_done() {
            device.addresses().free(lease);
        } else {
            // The page tables may still map these addresses, so they must not be reused.
            device.strand(lease);
        }
        // The addresses are freed before the observer hears of it.
        let guard_len = if self.has_guard_page { PAGE_SIZE } else { 0 };
        if let (true, Some(range)) = (bound.is_done(), VaRange::new(at, self.len + guard_len)) {
            device.tell(|| Event::Unbound { range });
        }
        bound.report(GemVa::NAME, self.bo_handle);
        guard.report(GemVa::NAME, self.bo_handle);
    }
}

impl Drop for BindingState {
    fn drop(&mut self) {
        self.unbind(false);
    }
}
