//! Mappings of BOs in the GPU's page tables.

use std::{
    ptr,
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
};

use super::{
    binding_ref::BindingRef,
    binding_state::{BindingState, Part, bind, operate, room, tell_bound},
};
use crate::{
    uapi::{VaFlags, VaOperation},
    vamgr::{GpuVa, SpareObject, VaLease},
    winsys::{Bo, BoRequest, Device, DeviceRef, Error, PAGE_SIZE, Result},
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
pub struct Binding(BindingRef);

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
        self.0.upgrade().map(|state| Binding(state.into()))
    }

    /// Returns the number of handles of the binding; 0 if the memory is no longer bound.
    pub fn handle_count(&self) -> usize {
        self.0.strong_count()
    }
}

/// Two handles are equal if they refer to the same binding.
impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(&raw const *self.0, &raw const *other.0)
    }
}

impl Eq for Binding {}

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
        let state = room.fill(BindingState::bound(bo, lease, part, narrow(priority)));
        if is_heard {
            state.announce();
        }
        Ok(Self(state.into()))
    }

    /// Allocates a BO and binds the whole BO, with a guard page if requested. Without one it reuses the host memory of a released
    /// binding if `spare` is that.
    #[inline]
    pub(crate) fn create(
        device: &DeviceRef,
        spare: Option<SpareObject>,
        request: &BoRequest,
        lease: VaLease,
        flags: VaFlags,
        guard_page: bool,
        priority: u32,
    ) -> Result<Self> {
        if !guard_page
            && let Some(spare) = spare
            && let Ok(mut released) = spare.downcast::<BindingState>()
            && let Some(state) = Arc::get_mut(&mut released)
        {
            state.rebind(device, request, lease, flags, narrow(priority))?;
            return Ok(Self(released.into()));
        }
        Self::owning(Bo::create_with(device.clone(), request)?, lease, flags, guard_page, priority)
    }

    /// Drops this handle; see `BindingRef::release_to`.
    #[inline]
    pub(super) fn release_to(self, device: &Device) {
        self.0.release_to(device);
    }

    /// Binds a part of a BO at the start of `lease`: the `len` bytes that start at byte offset `offset`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// On error, the lease is returned together with the error, so that the caller can try again.
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
        let state = room.fill(BindingState::bound(bo.clone(), lease, Part { offset, len, flags }, DEFAULT_PRIORITY));
        state.announce();
        Ok(Self(state.into()))
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
        Ok(Self(room.fill(state).into()))
    }

    /// Returns a weak handle, which does not keep the memory bound.
    pub fn downgrade(&self) -> WeakBinding {
        WeakBinding(self.0.downgrade())
    }

    /// Returns the number of handles of the binding, including those held by lists, submissions and sets of memory.
    pub fn handle_count(&self) -> usize {
        self.0.count()
    }

    /// Returns the address of the shared state, which no other binding has while this one exists.
    #[inline]
    pub(crate) fn state_address(&self) -> usize {
        ptr::from_ref(&*self.0).addr()
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
    /// later. The default is 14; RADV gives applications' memory at most 27, and the kernel treats values above 32 as 32.
    ///
    /// Source: Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`; Linux 6.12 `amdgpu_bo_list.c`,
    /// `AMDGPU_BO_LIST_MAX_PRIORITY`.
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
