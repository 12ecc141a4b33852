//! GPU page-table bindings.

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

/// A lease that the page tables point through: (part of) a BO at a GPU address.
///
/// A `Binding` is a handle: a clone of it is the same binding, and equal to it; submissions and sets of memory hold one each.
/// Dropping the last one unbinds, then gives the addresses back, never before the kernel has taken the binding away, and lets go of
/// the BO. The kernel orders the unbinding behind everything this file submitted before, so a running job
/// does not fault because of it (Linux 6.12 `amdgpu_vm.c`).
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
/// assert_eq!(watched.handle_count(), 1); // what was submitted keeps it bound
/// drop(submitted);
/// assert!(watched.upgrade().is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Binding(Arc<BindingState>);

/// A [`Binding`] that does not keep it bound.
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
    /// Returns the binding if there is still a handle of it.
    pub fn upgrade(&self) -> Option<Binding> {
        self.0.upgrade().map(Binding)
    }

    /// Returns the number of handles of the binding; 0 once it is unbound.
    pub fn handle_count(&self) -> usize {
        self.0.strong_count()
    }
}

/// Two handles are equal if they are of the same binding.
impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Binding {}

/// The state that all handles of a binding share.
#[derive(Debug)]
struct BindingState {
    /// Taken only by `Drop`.
    lease: Option<VaLease>,
    bo: Bo,
    offset: u64,
    len: u64,
    flags: VaFlags,
    has_guard_page: bool,
    /// The BO's, and where its device lies: kept here for submissions, which ask thousands of bindings for nothing else.
    bo_handle: u32,
    device_address: usize,
    priority: AtomicU8,
}

/// The bound part of a BO, and its access flags.
#[derive(Clone, Copy)]
struct Part {
    offset: u64,
    len: u64,
    flags: VaFlags,
}

/// Host memory for a binding, before there is one.
#[inline]
fn room() -> Result<ArcRoom<BindingState>> {
    ArcRoom::new().map_err(|error| error.of("a binding"))
}

/// Vulkan's default priority of 0.5, as RADV maps it.
const DEFAULT_PRIORITY: u8 = 14;

impl Binding {
    /// Binds all of a BO at the start of `lease`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// Those of [`Binding::of_part`].
    #[inline]
    pub fn new(bo: &Bo, lease: VaLease, flags: VaFlags) -> Result<Self, (VaLease, Error)> {
        Self::of_part(bo, 0, bo.size(), lease, flags)
    }

    /// Binds all of a BO, which it takes over, perhaps with a guard page as [`Binding::with_guard_page`] does.
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

    /// Binds `len` bytes from byte `offset` of a BO at the start of `lease`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// The lease comes back beside the error: retry elsewhere, or drop it.
    /// * [`Error::Range`]: the part is not inside the BO, or longer than the lease.
    /// * [`Error::Misaligned`]: offset or length is no multiple of the page size.
    /// * [`Error::VaFlags`]: PRT, unknown bits, or NOALLOC before minor 47.
    /// * [`Error::HostMemory`]: nothing was asked.
    /// * [`Error::Bind`]: the kernel refuses; `EINVAL` for an overlap or an address it does not manage.
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

    /// Binds all of a BO and, right behind it, its first page once more and read-only: some chips' scalar loads reach
    /// past the end of what they are told to load. The lease must be a page longer than the BO.
    ///
    /// Source: Mesa 26.2 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
    ///
    /// # Errors
    ///
    /// Those of [`Binding::of_part`], without the lease. Nothing stays bound.
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
        // The lease reaches a page further, so the address exists.
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

    /// Returns the number of its handles: the caller's, and those of lists, submissions and sets of memory.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Returns the address of the shared state, which no other binding has as long as this one lives.
    #[inline]
    pub(crate) fn state_address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the BO behind the addresses.
    pub fn bo(&self) -> &Bo {
        &self.0.bo
    }

    /// The handle of the BO, without following [`Binding::bo`].
    #[inline]
    pub(crate) fn bo_handle(&self) -> u32 {
        self.0.bo_handle
    }

    /// Returns the [address](Device::address) of its device.
    #[inline]
    pub(crate) fn device_address(&self) -> usize {
        self.0.device_address
    }

    /// Returns `true` if it belongs to this device. The BO keeps its device, so no other can be at that address.
    #[inline]
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.0.device_address == device.address()
    }

    /// Returns the device it belongs to.
    pub fn device(&self) -> &Device {
        self.0.bo.device()
    }

    /// Returns the first bound address.
    #[inline]
    pub fn address(&self) -> GpuVa {
        self.0.start()
    }

    /// Returns the offset of the binding in the BO, bytes.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Returns the number of bytes bound, a multiple of the page size.
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// Returns `false`: a binding has at least one page.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// Returns `true` if the page behind the binding is bound too, read-only.
    pub fn has_guard_page(&self) -> bool {
        self.0.has_guard_page
    }

    /// Returns the priority in submissions' BO lists: higher ones stay in VRAM longer when it is full. 0 to 31; 14 unless set, and an
    /// application's own end at 27.
    ///
    /// Source: Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`; the kernel takes up to 32 (Linux 6.12
    /// `amdgpu_bo_list.h`, `AMDGPU_BO_LIST_MAX_PRIORITY`).
    pub fn priority(&self) -> u32 {
        self.0.priority.load(Relaxed).into()
    }

    /// Sets the priority for submissions to come; 255 if it is more than that. A set of memory that was listed before keeps the old one until it
    /// changes.
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

/// Flags that GEM_VA takes besides DELAY_UPDATE and PRT.
const ACCESS: VaFlags = VaFlags::READABLE
    .union(VaFlags::WRITEABLE)
    .union(VaFlags::EXECUTABLE)
    .union(VaFlags::MTYPE_MASK)
    .union(VaFlags::NOALLOC)
    .union(VaFlags::DELAY_UPDATE);

/// The rules of GEM_VA about flags. Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`.
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

/// Binds, if there is nothing against it.
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
    /// Tells of the binding, which owns by now what it tells of.
    #[cold]
    fn announce(&self) {
        let (bo, at, len, flags) = (&self.bo, self.start(), self.len, self.flags);
        tracing::trace!(handle = self.bo_handle, %at, len, ?flags, "bound");
        tell_bound(bo, at, self.offset, len, flags);
    }

    /// Creates the owner of a binding that the kernel has made.
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
        // The lease is there until the binding is not.
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
            // The page tables may still point through these addresses: they must not be reused.
            device.strand(lease);
        }
        // The addresses have an owner again before observers hear of it.
        let guard_len = if has_guard_page { PAGE_SIZE } else { 0 };
        if let (true, Some(range)) = (bound.is_done(), VaRange::new(at, self.len + guard_len)) {
            device.tell(|| Event::Unbound { range });
        }
        bound.report(GemVa::NAME, self.bo_handle);
        guard.report(GemVa::NAME, self.bo_handle);
    }
}
