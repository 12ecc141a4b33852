//! BOs that are bound as soon as they are made.

use crate::{
    uapi::VaFlags,
    vamgr::VaRequest,
    winsys::{Binding, Bo, BoRequest, Device, DeviceRef, DeviceRefs, Error, Result},
};

/// A request of [`Bo::create_bound`].
///
/// ```
/// use amdgpu_winsys::{
///     uapi::{GemCreateFlags, GemDomain, VaFlags},
///     vamgr::VaRequest,
///     winsys::{Bo, BoRequest, BoundRequest},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let flags = GemCreateFlags::empty();
/// let shader_code = BoundRequest {
///     bo: BoRequest { size: 4096, alignment: 0, domains: GemDomain::VRAM, flags },
///     addresses: VaRequest::new(8192), // a page more, for the guard page
///     flags: VaFlags::READABLE | VaFlags::EXECUTABLE,
///     priority: 20,
///     guard_page: true,
/// };
/// let binding = Bo::create_bound(&device, &shader_code)?;
/// assert!(binding.has_guard_page() && binding.len() == 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BoundRequest {
    /// The BO.
    pub bo: BoRequest,
    /// The addresses: at least as many bytes as the BO has, and a page more with a guard page.
    pub addresses: VaRequest,
    /// Access rights and memory type of the binding.
    pub flags: VaFlags,
    /// Priority in submissions, see [`Binding::priority`].
    pub priority: u32,
    /// `true` for a page behind the BO, see [`Binding::with_guard_page`].
    pub guard_page: bool,
}

impl Bo {
    /// Creates a BO at a GPU address: what a winsys calls `buffer_create`. Addresses first, then the BO, then the binding;
    /// whichever fails, the earlier ones are undone.
    ///
    /// Requests: AMDGPU_GEM_CREATE, AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// [`Error::Address`]: no address, or the fixed one is not free; those of [`Bo::create`] and [`Binding::new`].
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_winsys::{
    ///     uapi::{GemCreateFlags, GemDomain, VaFlags},
    ///     vamgr::{VaRequest, VaWindow},
    ///     winsys::{Bo, BoRequest, BoundRequest, Device},
    /// };
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let device = Device::new(kernel)?;
    /// let flags = GemCreateFlags::CPU_ACCESS_REQUIRED;
    /// let binding = Bo::create_bound(&device, &BoundRequest {
    ///     bo: BoRequest { size: 1 << 16, alignment: 4096, domains: GemDomain::VRAM, flags },
    ///     addresses: VaRequest::new(1 << 16).within(VaWindow::High32),
    ///     flags: VaFlags::READABLE | VaFlags::WRITEABLE,
    ///     priority: 14,
    ///     guard_page: false,
    /// })?;
    /// assert_eq!((binding.bo().size(), binding.len(), binding.priority()), (1 << 16, 1 << 16, 14));
    /// # Ok(()) }
    /// ```
    pub fn create_bound(device: &Device, request: &BoundRequest) -> Result<Binding> {
        create_bound(DeviceRef::new(device).map_err(|error| error.of("a BO"))?, request)
    }
}

impl DeviceRefs {
    /// Creates a BO at a GPU address as [`Bo::create_bound`] does, at less cost: the BO has one of these shares in the device and
    /// none of its own, and addresses that the thread gave back lately come first, if some fit.
    ///
    /// Requests: AMDGPU_GEM_CREATE, AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// Those of [`Bo::create_bound`].
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_winsys::{
    ///     uapi::{GemCreateFlags, GemDomain, VaFlags},
    ///     vamgr::VaRequest,
    ///     winsys::{BoRequest, BoundRequest, Device, DeviceRefs},
    /// };
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let shares = DeviceRefs::new(&Device::new(kernel)?);
    /// let request = BoundRequest {
    ///     bo: BoRequest { size: 1 << 16, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() },
    ///     addresses: VaRequest::new(1 << 16),
    ///     flags: VaFlags::READABLE | VaFlags::WRITEABLE,
    ///     priority: 14,
    ///     guard_page: false,
    /// };
    /// let (one, other) = (shares.create_bound(&request)?, shares.create_bound(&request)?);
    /// assert_eq!((one.len(), one.device() == other.device()), (1 << 16, true));
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn create_bound(&self, request: &BoundRequest) -> Result<Binding> {
        create_bound(self.share(), request)
    }
}

#[inline]
fn create_bound(device: DeviceRef, request: &BoundRequest) -> Result<Binding> {
    let &BoundRequest { ref bo, addresses, flags, priority, guard_page } = request;
    let refused = |source| Error::Address { is_fixed: addresses.is_fixed(), source };
    let rested = device.addresses().rested(&addresses);
    let lease = rested.map_or_else(|| device.addresses().allocate(addresses).map_err(refused), Ok)?;
    let bo = Bo::create_with(device, bo)?;
    Binding::owning(bo, lease, flags, guard_page, priority)
}
