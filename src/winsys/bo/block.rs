//! The life of a BO and of a binding: the one place that decides when memory is bound, and when its addresses are free again.
//!
//! A [`Block`] is one allocation of host memory. It is a BO, and its binding too if the BO was created with one; or it is the binding
//! of a BO that another block is. It begins with [`Block::blank`] or [`Block::of`], is bound by [`Block::bind`], and ends in `Drop`.
//! Binding and unbinding may fail in the kernel, and the addresses must never be free while the page tables map them. That holds
//! because:
//!
//! 1. The host memory is allocated before the kernel is asked to bind, so no binding of the kernel is ever without an owner here.
//! 2. `lease` is `Some` exactly while the kernel may have a binding at the addresses: `bind` stores it after the kernel has agreed, and
//!    returns it to the caller otherwise. A GEM_VA request that is refused binds nothing (Linux 6.12 `amdgpu_gem.c`,
//!    `amdgpu_gem_va_ioctl`).
//! 3. All handles of the binding, and those of a BO that was created with it, share the block through one count without weak
//!    references. `Drop` therefore runs once, on the thread that drops the last handle, and no one else can reach the block meanwhile.
//! 4. `Drop` is the only code that takes the lease. It gives the lease to one of two places: to the address manager if the kernel has
//!    confirmed that every binding at the addresses is gone, and to the device's list of leaked leases otherwise.
//! 5. The kernel confirms that in one of two ways. It accepts the requests that unbind, one for the memory and one for its guard
//!    page. Or it closes the BO's last handle, which removes all bindings of the BO (`amdgpu_gem_object_close`); this counts only if
//!    the BO has no other handle in the file, so only for a BO that was never shared, and that no other block binds.
//! 6. The BO's handle is open while the kernel is asked to unbind, because `source` is dropped after the body of `Drop` has run.
//! 7. Between the kernel's answer and the step 4 no code of a caller runs: observers and subscribers of traces, which may panic, hear
//!    of the outcome afterwards. A panic there finds the lease already in its place.

use std::sync::atomic::AtomicU8;

use triomphe::{Arc, UniqueArc};

use super::handle::Handle;
use crate::{
    host_memory::unique,
    uapi::{Argument, GemCreateFlags, GemDomain, GemVa, VaFlags, VaOperation},
    vamgr::{GpuVa, VaLease, VaRange},
    winsys::{
        BindError, Device, Event, HostMemory, KernelError, Misaligned, OutOfRange, PAGE_SIZE, UnsupportedVaFlags,
        own::{send, send_quietly},
        release::{Release, release},
    },
};

/// A GEM buffer object. A `Bo` is a reference-counted handle: its clones are the same object and compare equal. Dropping
/// the last clone closes the GEM handle; the kernel frees the storage once the GPU no longer uses it.
///
/// # Examples
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest, Device}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?;
/// let request = BoRequest { size: 1 << 20, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let bo = Bo::create(&device, request)?;
/// let kept = bo.clone();
/// drop(bo);
/// assert_eq!(kept.size(), 1 << 20);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Bo(pub(in crate::winsys) Arc<Block>);

/// The BO of a block.
#[derive(Debug)]
pub(super) struct BoState {
    pub(super) handle: Handle,
    pub(super) size: u64,
    pub(super) domains: GemDomain,
    pub(super) flags: GemCreateFlags,
}

/// Two handles are equal if they refer to the same object.
impl PartialEq for Bo {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.state(), other.state())
    }
}

impl Eq for Bo {}

impl Bo {
    /// Returns the BO's state.
    #[inline]
    pub(super) fn state(&self) -> &BoState {
        self.0.bo()
    }

    /// Closes the GEM handle before the BO is dropped, if nothing else refers to the BO and it was neither shared nor named. Returns
    /// the outcome, which the caller [reports](Handle::report_closed).
    #[inline]
    pub(super) fn close_unshared(&mut self) -> Option<Release> {
        Arc::get_mut(&mut self.0).and_then(Block::close_unshared)
    }
}

impl BoState {
    /// Creates the state of a BO that does not exist yet.
    #[inline]
    pub(super) fn blank(device: &Device) -> Self {
        let handle = Handle::blank(device.clone());
        Self { handle, size: 0, domains: GemDomain::empty(), flags: GemCreateFlags::empty() }
    }

    /// Stores a handle without any other owner in a blank state, and charges it. Observers are not told: see
    /// [`announce`](Self::announce).
    #[inline]
    pub(super) fn own(&mut self, raw: u32, size: u64, domains: GemDomain, flags: GemCreateFlags) {
        let entry = self.handle.device().usage_tracker().enter_bo(domains, flags, size);
        self.handle.open(raw, entry);
        (self.size, self.domains, self.flags) = (size, domains, flags);
    }

    /// Reports the BO to the observers, once it owns its handle and its charge.
    #[cold]
    pub(super) fn announce(&self) {
        let &Self { ref handle, size, domains, flags } = self;
        tracing::trace!(handle = handle.raw(), size, ?domains, ?flags, "BO opened");
        handle.device().notify(|| Event::BoOpened { handle: handle.raw(), size, domains, flags });
    }
}

/// A BO, a binding, or a BO with its binding; see the module for the rules of its life.
#[derive(Debug)]
pub(in crate::winsys) struct Block {
    /// `None` unless the memory is bound.
    lease: Option<VaLease>,
    flags: VaFlags,
    has_guard_page: bool,
    pub(in crate::winsys) priority: AtomicU8,
    source: Source,
}

/// The memory of a block.
#[derive(Debug)]
#[cfg_attr(interleaved, expect(clippy::large_enum_variant, reason = "the scheduler's atomic numbers are large"))]
enum Source {
    /// A BO, all of which is bound if anything is.
    Own(BoState),
    /// `len` bytes of the BO of another block, from byte `offset` on.
    Of { bo: Bo, offset: u64, len: u64 },
}

/// Vulkan's default priority of 0.5, as RADV maps it.
const DEFAULT_PRIORITY: u8 = 14;

/// The bound part of a BO, with its access flags.
#[derive(Clone, Copy, Debug)]
pub(in crate::winsys) struct Part {
    pub(in crate::winsys) offset: u64,
    pub(in crate::winsys) len: u64,
    pub(in crate::winsys) flags: VaFlags,
}

impl Part {
    /// Returns the read-only page that follows the binding of a whole BO: the BO's first page.
    #[inline]
    fn guard_page(self) -> Self {
        Self { offset: 0, len: PAGE_SIZE, flags: self.flags - VaFlags::WRITEABLE }
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
    fn map(self, bo: &Handle, at: GpuVa) -> Result<(), KernelError> {
        let mut argument = self.request(VaOperation::Map, bo.raw(), at);
        send(bo.device().kernel(), &mut argument)
            .map_err(|errno| KernelError::of_range(GemVa::NAME, bo.raw(), at, self.len, errno))?;
        bo.device().page_table_changes().note();
        Ok(())
    }

    #[inline]
    fn unmap(self, bo: &Handle, at: GpuVa) -> Release {
        let (kernel, mut argument) = (bo.device().kernel(), self.request(VaOperation::Unmap, bo.raw(), at));
        release(move || send_quietly(kernel, &mut argument))
    }

    fn notify_bound(self, bo: &Handle, at: GpuVa) {
        let Self { offset: bo_offset, len, flags } = self;
        if let Some(range) = VaRange::new(at, len) {
            bo.device().notify(|| Event::Bound { range, handle: bo.raw(), bo_offset, flags });
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
fn check_flags(device: &Device, flags: VaFlags) -> Result<(), UnsupportedVaFlags> {
    let refused = |reason| Err(UnsupportedVaFlags { flags, reason });
    if flags.contains(VaFlags::PRT) {
        return refused("partially resident addresses have no BO");
    }
    if !ACCESS.contains(flags) {
        return refused("unknown bits");
    }
    if flags.contains(VaFlags::NOALLOC) && device.info().driver.minor < 47 {
        return refused("NOALLOC needs amdgpu 3.47");
    }
    Ok(())
}

impl Block {
    /// Allocates the host memory of a BO that does not exist yet.
    #[inline]
    pub(super) fn blank(device: &Device) -> Result<UniqueArc<Self>, HostMemory> {
        Self::allocate(Source::Own(BoState::blank(device)), "a BO")
    }

    /// Allocates the host memory of a binding that does not exist yet, of `len` bytes of a BO from byte `offset` on.
    #[inline]
    pub(in crate::winsys) fn of(bo: &Bo, offset: u64, len: u64) -> Result<UniqueArc<Self>, HostMemory> {
        Self::allocate(Source::Of { bo: bo.clone(), offset, len }, "a binding")
    }

    #[inline]
    fn allocate(source: Source, what: &'static str) -> Result<UniqueArc<Self>, HostMemory> {
        let (flags, priority) = (VaFlags::empty(), AtomicU8::new(DEFAULT_PRIORITY));
        unique(Self { lease: None, flags, has_guard_page: false, priority, source }).map_err(|error| error.of(what))
    }

    /// Stores a BO in a blank block.
    pub(super) fn put(&mut self, bo: BoState) {
        self.source = Source::Own(bo);
    }

    /// Stores a handle without any other owner in a blank block, and charges it. Observers are not told: see [`BoState::announce`].
    #[inline]
    pub(super) fn own(&mut self, raw: u32, size: u64, domains: GemDomain, flags: GemCreateFlags) {
        if let Source::Own(bo) = &mut self.source {
            bo.own(raw, size, domains, flags);
        }
    }

    /// Returns the BO.
    #[inline]
    pub(super) fn bo(&self) -> &BoState {
        match &self.source {
            Source::Own(bo) => bo,
            Source::Of { bo, .. } => bo.state(),
        }
    }

    /// Returns the GEM handle of the BO.
    #[inline]
    pub(in crate::winsys) fn handle(&self) -> u32 {
        self.bo().handle.raw()
    }

    /// Returns the device of the BO.
    #[inline]
    pub(in crate::winsys) fn device(&self) -> &Device {
        self.bo().handle.device()
    }

    /// Returns the handle of the BO if another block is the BO.
    #[inline]
    pub(in crate::winsys) fn other(&self) -> Option<&Bo> {
        match &self.source {
            Source::Own(_) => None,
            Source::Of { bo, .. } => Some(bo),
        }
    }

    /// Returns the part of the BO that is bound, if anything is.
    #[inline]
    pub(in crate::winsys) fn part(&self) -> Part {
        let (offset, len) = match &self.source {
            Source::Own(bo) => (0, bo.size),
            &Source::Of { offset, len, .. } => (offset, len),
        };
        Part { offset, len, flags: self.flags }
    }

    /// Returns `true` if the page after the bound part is bound too.
    #[inline]
    pub(in crate::winsys) fn has_guard_page(&self) -> bool {
        self.has_guard_page
    }

    /// Checks the arguments, binds the part at the start of the lease, and takes the lease. On error, returns the lease.
    #[inline]
    pub(in crate::winsys) fn bind(&mut self, lease: VaLease, flags: VaFlags) -> Result<(), (VaLease, BindError)> {
        self.flags = flags;
        let bound = self.check(&lease).and_then(|()| Ok(self.part().map(&self.bo().handle, lease.start())?));
        match bound {
            Ok(()) => {
                self.lease = Some(lease);
                Ok(())
            }
            Err(error) => Err((lease, error)),
        }
    }

    /// Checks that the part is inside the BO and fits the lease, and the access flags.
    #[inline]
    fn check(&self, lease: &VaLease) -> Result<(), BindError> {
        let (bo, Part { offset, len, flags }) = (self.bo(), self.part());
        let is_inside = match &self.source {
            // A BO has at least one page, and only whole ones.
            Source::Own(_) => true,
            Source::Of { .. } => {
                for (what, value) in [("offset in the BO", offset), ("bound length", len)] {
                    if !value.is_multiple_of(PAGE_SIZE) {
                        return Err(Misaligned { what, value, alignment: PAGE_SIZE }.into());
                    }
                }
                len != 0 && offset.checked_add(len).is_some_and(|end| end <= bo.size)
            }
        };
        if !is_inside || len > lease.len() {
            return Err(OutOfRange { handle: bo.handle.raw(), offset, len, size: bo.size.min(lease.len()) }.into());
        }
        Ok(check_flags(bo.handle.device(), flags)?)
    }

    /// Binds the guard page after the bound memory. The lease must be long enough.
    #[cold]
    pub(in crate::winsys) fn bind_guard_page(&mut self) -> Result<(), KernelError> {
        let part = self.part();
        // The lease extends beyond this address, so it exists.
        if let Some(behind) = self.start().checked_add(part.len) {
            let page = part.guard_page();
            page.map(&self.bo().handle, behind)?;
            self.has_guard_page = true;
            page.notify_bound(&self.bo().handle, behind);
        }
        Ok(())
    }

    /// Reports the binding to listeners, once it owns its addresses.
    #[cold]
    pub(in crate::winsys) fn announce_binding(&self) {
        let (bo, at, part) = (&self.bo().handle, self.start(), self.part());
        tracing::trace!(handle = bo.raw(), %at, part.len, flags = ?part.flags, "bound");
        part.notify_bound(bo, at);
    }

    /// Returns the first bound address.
    #[inline]
    pub(in crate::winsys) fn start(&self) -> GpuVa {
        // A binding is handed out only after it was bound.
        self.lease.as_ref().map_or(GpuVa::from_48_bits(0), VaLease::start)
    }

    /// Closes the BO if it is this block, nothing is bound here, and the handle was neither shared nor named. Returns the outcome, which
    /// the caller [reports](Handle::report_closed).
    #[inline]
    pub(super) fn close_unshared(&mut self) -> Option<Release> {
        match &mut self.source {
            Source::Own(bo) if self.lease.is_none() => bo.handle.close_unshared(),
            _ => None,
        }
    }

    /// Asks the kernel to remove the guard page, if there is one, and the binding at `at` before it. Returns the outcomes, that of the
    /// guard page second.
    #[inline]
    fn request_unbinding(&self, at: GpuVa) -> [Release; 2] {
        let (bo, part) = (&self.bo().handle, self.part());
        let behind = if self.has_guard_page { at.checked_add(part.len) } else { None };
        let guard = behind.map_or(Release::DONE, |behind| part.guard_page().unmap(bo, behind));
        [part.unmap(bo, at), guard]
    }

    /// Closes the BO in place of unbinding it, where 5. allows that. Returns the outcome, which the caller
    /// [reports](Handle::report_closed); `None` if it is not allowed, and nothing has changed.
    #[inline]
    fn close_instead(&mut self) -> Option<Release> {
        let device = self.device();
        if !device.unbinds_by_closing() || device.is_observed() {
            return None;
        }
        match &mut self.source {
            Source::Own(bo) => bo.handle.close_unshared(),
            Source::Of { bo, .. } => bo.close_unshared(),
        }
    }
}

impl Drop for Block {
    /// Unbinds the memory, and frees the addresses if that succeeded.
    #[inline]
    fn drop(&mut self) {
        if self.lease.is_none() {
            return;
        }
        let at = self.start();
        let closed = self.close_instead();
        let [memory, guard] = match closed {
            Some(closed) if closed.is_done() => [Release::DONE; 2],
            _ => self.request_unbinding(at),
        };
        let Some(lease) = self.lease.take() else { return };
        let (bo, len) = (&self.bo().handle, self.part().len);
        let device = bo.device();
        if memory.is_done() && guard.is_done() {
            device.addresses().free(lease);
        } else {
            device.leak(lease);
        }
        let guard_len = if self.has_guard_page { PAGE_SIZE } else { 0 };
        if memory.is_done()
            && device.is_observed()
            && let Some(range) = VaRange::new(at, len + guard_len)
        {
            device.notify(|| Event::Unbound { range });
        }
        memory.report(GemVa::NAME, bo.raw());
        guard.report(GemVa::NAME, bo.raw());
        if let Some(closed) = closed {
            bo.report_closed(closed);
        }
    }
}
