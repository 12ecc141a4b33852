//! Mappings of BOs in the GPU's page tables.

use std::sync::atomic::Ordering::Relaxed;

use triomphe::{Arc, UniqueArc};

use crate::{
    uapi::VaFlags,
    vamgr::{GpuVa, VaLease},
    winsys::{
        BindError, Bo, Device, OutOfRange, PAGE_SIZE,
        bo::{Block, NewBo},
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
/// let (submitted, leased) = (binding.clone(), device.addresses().leased_bytes());
/// drop(binding);
/// assert_eq!(submitted.handle_count(), 1); // the submission keeps the memory bound
/// drop(submitted);
/// assert_eq!(device.addresses().leased_bytes(), leased - (1 << 20));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Binding(
    /// A handle of the block that is bound. It is the BO's own block if they were created together.
    Bo,
);

/// Two handles are equal if they refer to the same binding.
impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.0, &other.0.0)
    }
}

impl Eq for Binding {}

impl Binding {
    /// Binds the whole BO at the start of `lease`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// The errors of [`Binding::of_part`].
    #[inline]
    pub fn new(bo: &Bo, lease: VaLease, flags: VaFlags) -> Result<Self, (VaLease, BindError)> {
        Self::of_part(bo, 0, bo.size(), lease, flags)
    }

    /// Binds the whole of a new BO, with a guard page as in [`Binding::with_guard_page`] if `guard_page` is set.
    #[inline]
    pub(crate) fn of_new(
        bo: NewBo,
        lease: VaLease,
        flags: VaFlags,
        guard_page: bool,
        priority: u32,
    ) -> Result<Self, BindError> {
        let mut block = bo.0;
        *block.priority.get_mut() = narrow(priority);
        Self::bound(block, lease, flags, guard_page)
    }

    /// Binds a block, and a guard page after it if `guard_page` is set.
    #[inline]
    fn bound(mut block: UniqueArc<Block>, lease: VaLease, flags: VaFlags, guard_page: bool) -> Result<Self, BindError> {
        let len = block.part().len;
        if guard_page && lease.len() < len.saturating_add(PAGE_SIZE) {
            let handle = block.handle();
            return Err(OutOfRange { handle, offset: len, len: PAGE_SIZE, size: lease.len() }.into());
        }
        block.bind(lease, flags).map_err(|(_lease, error)| error)?;
        if block.device().has_listeners() {
            block.announce_binding();
        }
        if guard_page {
            block.bind_guard_page()?;
        }
        Ok(Self(Bo(block.shareable())))
    }

    /// Binds a part of a BO at the start of `lease`: the `len` bytes that start at byte offset `offset`.
    ///
    /// Request: AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// On error, the lease is returned together with the error, so that the caller can try again.
    ///
    /// * [`BindError::OutOfRange`] if the part is empty, is not inside the BO or is longer than the lease.
    /// * [`BindError::Misaligned`] if the offset or the length is not a multiple of the page size.
    /// * [`BindError::Flags`] if `flags` contains PRT or unknown bits, or NOALLOC before DRM 3.47.
    /// * [`BindError::HostMemory`] if host memory is exhausted; no request is made.
    /// * [`BindError::Kernel`] if the kernel refuses the request: `EINVAL` if the range overlaps another binding or is outside
    ///   the managed addresses.
    #[inline]
    pub fn of_part(
        bo: &Bo,
        offset: u64,
        len: u64,
        lease: VaLease,
        flags: VaFlags,
    ) -> Result<Self, (VaLease, BindError)> {
        let mut block = match Block::of(bo, offset, len) {
            Ok(block) => block,
            Err(error) => return Err((lease, error.into())),
        };
        block.bind(lease, flags)?;
        block.announce_binding();
        Ok(Self(Bo(block.shareable())))
    }

    /// Binds the whole BO and, directly after it, its first page once more, read-only. The scalar loads of some chips read
    /// past the end of the requested range. The lease must be at least one page longer than the BO.
    ///
    /// Source: Mesa 26.2 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`.
    ///
    /// # Errors
    ///
    /// The errors of [`Binding::of_part`], without the lease. On error, no part remains bound.
    pub fn with_guard_page(bo: &Bo, lease: VaLease, flags: VaFlags) -> Result<Self, BindError> {
        Self::bound(Block::of(bo, 0, bo.size())?, lease, flags, true)
    }

    /// Returns the number of handles of the binding, including those held by lists, submissions and sets of memory. If the BO was
    /// created with the binding ([`Bo::create_bound`]), its handles count too, among them that of each CPU mapping.
    pub fn handle_count(&self) -> usize {
        Arc::count(&self.0.0)
    }

    #[inline]
    fn block(&self) -> &Block {
        &self.0.0
    }

    /// Returns the address of the shared state, which no other binding has while this one exists.
    #[inline]
    pub(crate) fn state_address(&self) -> usize {
        Arc::as_ptr(&self.0.0).addr()
    }

    /// Returns the bound BO. If it was created with the binding ([`Bo::create_bound`]), a clone of it keeps the memory bound.
    pub fn bo(&self) -> &Bo {
        self.block().other().unwrap_or(&self.0)
    }

    /// Returns the GEM handle of the BO.
    #[inline]
    pub(crate) fn bo_handle(&self) -> u32 {
        self.block().handle()
    }

    /// Returns the [address](Device::address) of the binding's device.
    #[inline]
    pub(crate) fn device_address(&self) -> usize {
        self.device().address()
    }

    /// Returns `true` if the binding belongs to `device`.
    #[inline]
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.device() == device
    }

    /// Returns the device that the binding belongs to.
    #[inline]
    pub fn device(&self) -> &Device {
        self.block().device()
    }

    /// Returns the first bound address.
    #[inline]
    pub fn address(&self) -> GpuVa {
        self.block().start()
    }

    /// Returns the offset of the bound part in the BO, in bytes.
    pub fn offset(&self) -> u64 {
        self.block().part().offset
    }

    /// Returns the number of bound bytes, a multiple of the page size.
    pub fn len(&self) -> u64 {
        self.block().part().len
    }

    /// Returns `false`, because a binding has at least one page.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the page after the bound range is bound too, read-only.
    pub fn has_guard_page(&self) -> bool {
        self.block().has_guard_page()
    }

    /// Returns the priority in the BO lists of submissions. If VRAM is full, memory with a higher priority is evicted
    /// later. The default is 14; RADV gives applications' memory at most 27, and the kernel treats values above 32 as 32.
    ///
    /// Source: Mesa 25.0.7 `radv_device_memory.c`, `radv_alloc_memory`; Linux 6.12 `amdgpu_bo_list.c`,
    /// `AMDGPU_BO_LIST_MAX_PRIORITY`.
    pub fn priority(&self) -> u32 {
        self.block().priority.load(Relaxed).into()
    }

    /// Sets the priority for later submissions; values above 255 become 255. A set of memory that was already listed keeps
    /// the old priority until the set changes.
    pub fn set_priority(&self, priority: u32) {
        self.block().priority.store(narrow(priority), Relaxed);
    }

    /// Returns the access rights of the pages and their MTYPE.
    pub fn flags(&self) -> VaFlags {
        self.block().part().flags
    }
}

#[inline]
fn narrow(priority: u32) -> u8 {
    priority.min(u8::MAX.into()) as u8
}
