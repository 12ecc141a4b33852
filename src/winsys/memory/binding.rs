//! Mappings of BOs in the GPU's page tables.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU8, Ordering::Relaxed},
};

use crate::{
    host_memory::ArcRoom,
    uapi::{Argument, GemVa, VaFlags, VaOperation},
    vamgr::{GpuVa, VaLease, VaRange},
    winsys::{
        Bo, Device, Error, Event, PAGE_SIZE, Result,
        kernel::{send, send_quietly},
        release::{Release, release},
    },
};

/// A mapping of a BO, or part of one, in the GPU's page tables, at the addresses of a lease.
///
/// A `Binding` is a reference-counted handle: its clones are the same binding and compare equal. Submissions and sets of
/// memory hold clones. Dropping the last one unmaps the addresses, then frees them, and releases the BO; addresses are
/// never freed while the kernel still maps them. The kernel unmaps only after the jobs that this file has already
/// submitted, so a running job does not fault because of it (Linux 6.12 `amdgpu_vm.c`).
///
/// # Examples
///
/// ```
/// use amdgpu_winsys::{
///     uapi::{GemCreateFlags, GemDomain, VaFlags},
///     vamgr::VaRequest,
///     winsys::{Binding, Bo, BoRequest, Device},
/// };
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?;
/// let request = BoRequest { size: 1 << 20, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let bo = Bo::create(&device, request)?;
/// let lease = device.addresses().allocate(VaRequest::new(bo.size()).aligned(1 << 16))?;
/// let binding = Binding::new(&bo, lease, VaFlags::READABLE | VaFlags::WRITEABLE).map_err(|(_lease, error)| error)?;
/// let (submitted, watched) = (binding.clone(), binding.downgrade());
/// drop(binding);
/// assert_eq!(watched.handle_count(), 1); // the submission keeps the memory bound
/// drop(submitted);
/// assert!(watched.upgrade().is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Binding(Arc<BindingState>);

/// A weak handle of a [`Binding`], which does not keep the memory bound.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(0, 4096))?;
/// let watched = memory.binding().downgrade();
/// assert_eq!(watched.upgrade().as_ref(), Some(memory.binding()));
/// drop(memory);
/// assert_eq!((watched.handle_count(), watched.upgrade()), (0, None)); // unbound
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WeakBinding(Weak<BindingState>);

impl WeakBinding {
    /// Returns the binding if at least one handle of it is left.
    pub fn upgrade(&self) -> Option<Binding> {
        self.0.upgrade().map(Binding)
    }

    /// Returns the number of handles of the binding; 0 if the memory is no longer bound.
    pub fn handle_count(&self) -> usize {
        self.0.strong_count()
    }
}

/// Two handles are equal if they refer to the same binding.
impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Binding {}

/// The state that all handles of a binding share.
#[derive(Debug)]
struct BindingState {
    /// `Some` until `Drop` takes it.
    lease: Option<VaLease>,
    bo: Bo,
    offset: u64,
    len: u64,
    flags: VaFlags,
    has_guard_page: bool,
    /// Copies of the BO's handle and of its device's address. Submissions read them for thousands of bindings and need
    /// nothing else of the BO.
    bo_handle: u32,
    device_address: usize,
    priority: AtomicU8,
}

/// The bound part of a BO, with its access flags.
#[derive(Clone, Copy)]
struct Part {
    offset: u64,
    len: u64,
    flags: VaFlags,
}

/// Allocates the host memory of a binding, before the kernel binds it.
#[inline]
fn room() -> Result<ArcRoom<BindingState>> {
    ArcRoom::new().map_err(|error| error.of("a binding"))
}

/// Vulkan's default priority of 0.5, as RADV maps it.
const DEFAULT_PRIORITY: u8 = 14;

impl Binding {
    /// Binds the whole BO at the start of `lease`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// The errors of [`Binding::of_part`].
    #[inline]
    pub fn new(bo: &Bo, lease: VaLease, flags: VaFlags) -> Result<Self, (VaLease, Error)> {
        Self::of_part(bo, 0, bo.size(), lease, flags)
    }

    /// Binds the whole BO and takes ownership of it, with a guard page as in [`Binding::with_guard_page`] if `guard_page`
    /// is set.
    #[inline]
    pub(crate) fn owning(bo: Bo, lease: VaLease, flags: VaFlags, guard_page: bool, priority: u32) -> Result<Self> {
        if guard_page {
            let binding = Self::with_guard_page(&bo, lease, flags)?;
            binding.set_priority(priority);
            return Ok(binding);
        }
        let (len, is_heard) = (bo.size(), bo.device().is_heard());
        let room = room()?;
        bind(&bo, 0, len, &lease, flags)?;
        let part = Part { offset: 0, len, flags };
        let binding = Self(room.fill(BindingState::bound(bo, lease, part, narrow(priority))));
        if is_heard {
            binding.0.announce();
        }
        Ok(binding)
    }

    /// Binds `len` bytes of a BO from byte offset `offset` on, at the start of `lease`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// On error the lease is returned beside the error, for another attempt.
    ///
    /// * [`Error::Range`] if the part is empty, is not inside the BO or is longer than the lease.
    /// * [`Error::Misaligned`] if the offset or the length is not a multiple of the page size.
    /// * [`Error::VaFlags`] if `flags` contains PRT or unknown bits, or NOALLOC before DRM 3.47.
    /// * [`Error::HostMemory`] if host memory is exhausted; no request is made.
    /// * [`Error::Bind`] if the kernel refuses the request: `EINVAL` if the range overlaps another binding or is outside
    ///   the managed addresses.
    #[inline]
    pub fn of_part(bo: &Bo, offset: u64, len: u64, lease: VaLease, flags: VaFlags) -> Result<Self, (VaLease, Error)> {
        let asked = room().and_then(|room| bind(bo, offset, len, &lease, flags).map(|()| room));
        let room = match asked {
            Ok(room) => room,
            Err(error) => return Err((lease, error)),
        };
        let binding =
            Self(room.fill(BindingState::bound(bo.clone(), lease, Part { offset, len, flags }, DEFAULT_PRIORITY)));
        binding.0.announce();
        Ok(binding)
    }

    /// Binds the whole BO and, directly after it, its first page once more, read-only. The scalar loads of some chips read
    /// past the end of the requested range. The lease must be at least one page longer than the BO.
    ///
    /// Source: Mesa 26.2 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
    ///
    /// # Errors
    ///
    /// The errors of [`Binding::of_part`], without the lease. On error, no part remains bound.
    pub fn with_guard_page(bo: &Bo, lease: VaLease, flags: VaFlags) -> Result<Self> {
        let size = bo.size();
        if lease.len() < size.saturating_add(PAGE_SIZE) {
            return Err(Error::Range { handle: bo.handle(), offset: size, len: PAGE_SIZE, size: lease.len() });
        }
        let room = room()?;
        bind(bo, 0, size, &lease, flags)?;
        let part = Part { offset: 0, len: size, flags };
        let mut state = BindingState::bound(bo.clone(), lease, part, DEFAULT_PRIORITY);
        state.announce();
        // The lease is at least one page longer, so this address exists.
        if let Some(behind) = state.start().checked_add(size) {
            let rights = flags - VaFlags::WRITEABLE;
            operate(bo, VaOperation::Map, behind, 0, PAGE_SIZE, rights)?;
            state.has_guard_page = true;
            tell_bound(bo, behind, 0, PAGE_SIZE, rights);
        }
        Ok(Self(room.fill(state)))
    }

    /// Returns a weak handle, which does not keep the memory bound.
    pub fn downgrade(&self) -> WeakBinding {
        WeakBinding(Arc::downgrade(&self.0))
    }

    /// Returns the number of handles of the binding, including those held by lists, submissions and sets of memory.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Returns the address of the shared state, which no other binding has while this one exists.
    #[inline]
    pub(crate) fn state_address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the bound BO.
    pub fn bo(&self) -> &Bo {
        &self.0.bo
    }

    /// Returns the GEM handle of the BO, from a copy beside the binding.
    #[inline]
    pub(crate) fn bo_handle(&self) -> u32 {
        self.0.bo_handle
    }

    /// Returns the [address](Device::address) of the binding's device.
    #[inline]
    pub(crate) fn device_address(&self) -> usize {
        self.0.device_address
    }

    /// Returns `true` if the binding belongs to `device`. The BO keeps its device alive, so no other device can have the
    /// same address.
    #[inline]
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.0.device_address == device.address()
    }

    /// Returns the device that the binding belongs to.
    pub fn device(&self) -> &Device {
        self.0.bo.device()
    }

    /// Returns the first bound address.
    #[inline]
    pub fn address(&self) -> GpuVa {
        self.0.start()
    }

    /// Returns the offset of the bound part in the BO, in bytes.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the number of bound bytes, a multiple of the page size.
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// Returns `false`, because a binding has at least one page.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// Returns `true` if the page after the bound range is bound too, read-only.
    pub fn has_guard_page(&self) -> bool {
        self.0.has_guard_page
    }

    /// Returns the priority in the BO lists of submissions. If VRAM is full, memory with a higher priority is evicted
    /// later. The default is 14; RADV gives applications' memory at most 27, and the kernel accepts at most 31.
    ///
    /// Source: Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`; the kernel has 32 levels (Linux 6.12
    /// `amdgpu_bo_list.h`, `AMDGPU_BO_LIST_MAX_PRIORITY`).
    pub fn priority(&self) -> u32 {
        self.0.priority.load(Relaxed).into()
    }

    /// Sets the priority for later submissions; values above 255 become 255. A set of memory that was already listed keeps
    /// the old priority until the set changes.
    pub fn set_priority(&self, priority: u32) {
        self.0.priority.store(narrow(priority), Relaxed);
    }

    /// Returns the access rights of the pages and their MTYPE.
    pub fn flags(&self) -> VaFlags {
        self.0.flags
    }
}

#[inline]
fn narrow(priority: u32) -> u8 {
    priority.min(u8::MAX.into()) as u8
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
fn bind(bo: &Bo, offset: u64, len: u64, lease: &VaLease, flags: VaFlags) -> Result<()> {
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
fn operate(bo: &Bo, operation: VaOperation, at: GpuVa, offset: u64, len: u64, flags: VaFlags) -> Result<()> {
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
fn tell_bound(bo: &Bo, at: GpuVa, bo_offset: u64, len: u64, flags: VaFlags) {
    if let Some(range) = VaRange::new(at, len) {
        bo.device().tell(|| Event::Bound { range, handle: bo.handle(), bo_offset, flags });
    }
}

impl BindingState {
    /// Reports the binding to the observer, once it owns its addresses.
    #[cold]
    fn announce(&self) {
        let (bo, at, len, flags) = (&self.bo, self.start(), self.len, self.flags);
        tracing::trace!(handle = self.bo_handle, %at, len, ?flags, "bound");
        tell_bound(bo, at, self.offset, len, flags);
    }

    /// Creates the owner of a binding that exists in the kernel.
    #[inline]
    fn bound(bo: Bo, lease: VaLease, part: Part, priority: u8) -> Self {
        let Part { offset, len, flags } = part;
        Self {
            lease: Some(lease),
            bo_handle: bo.handle(),
            device_address: bo.device().address(),
            bo,
            offset,
            len,
            flags,
            has_guard_page: false,
            priority: AtomicU8::new(priority),
        }
    }

    /// Returns the first bound address.
    #[inline]
    fn start(&self) -> GpuVa {
        // Only `Drop` takes the lease, after the last use of the address.
        self.lease.as_ref().map_or(GpuVa::from_48_bits(0), VaLease::start)
    }
}

impl Drop for BindingState {
    fn drop(&mut self) {
        let has_guard_page = self.has_guard_page;
        let (at, device) = (self.start(), self.bo.device());
        let unbind = |at, offset, len, flags| {
            let mut argument = argument(self.bo_handle, VaOperation::Unmap, at, offset, len, flags);
            release(|| send_quietly(device.kernel(), &mut argument))
        };
        let behind = if has_guard_page { at.checked_add(self.len) } else { None };
        let guard =
            behind.map_or(Release::DONE, |behind| unbind(behind, 0, PAGE_SIZE, self.flags - VaFlags::WRITEABLE));
        let bound = unbind(at, self.offset, self.len, self.flags);
        let Some(lease) = self.lease.take() else { return };
        if bound.is_done() && guard.is_done() {
            device.addresses().free(lease);
        } else {
            // The page tables may still map these addresses, so they must not be reused.
            device.strand(lease);
        }
        // The addresses are freed before the observer hears of it.
        let guard_len = if has_guard_page { PAGE_SIZE } else { 0 };
        if let (true, Some(range)) = (bound.is_done(), VaRange::new(at, self.len + guard_len)) {
            device.tell(|| Event::Unbound { range });
        }
        bound.report(GemVa::NAME, self.bo_handle);
        guard.report(GemVa::NAME, self.bo_handle);
    }
}
