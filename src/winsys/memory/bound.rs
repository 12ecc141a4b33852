//! Creation of a BO together with its GPU addresses and its binding.

use crate::{
    uapi::VaFlags,
    vamgr::VaRequest,
    winsys::{Binding, Bo, BoRequest, CreateBoundError, Device, NewBo, NoAddress},
};

/// The arguments of [`Bo::create_bound`].
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
///     addresses: VaRequest::new(8192), // one more page, for the guard page
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
    /// The arguments of GEM_CREATE.
    pub bo: BoRequest,
    /// The GPU addresses: at least as many bytes as the BO has, plus one page if `guard_page` is set.
    pub addresses: VaRequest,
    /// Access rights and MTYPE of the binding.
    pub flags: VaFlags,
    /// Priority in BO lists: see [`Binding::priority`].
    pub priority: u32,
    /// `true` to bind a guard page after the BO: see [`Binding::with_guard_page`].
    pub guard_page: bool,
}

impl Bo {
    /// Creates a BO and binds it at GPU addresses, like the `buffer_create` of a Mesa winsys. It allocates the addresses,
    /// then the BO, then binds; if a step fails, the earlier ones are undone. Addresses that this thread freed recently are reused
    /// first if they fit.
    ///
    /// BO and binding are one object: the memory stays bound until the last handle of either is dropped.
    ///
    /// Requests: AMDGPU_GEM_CREATE, AMDGPU_GEM_VA (map).
    ///
    /// # Errors
    ///
    /// * [`CreateBoundError::Address`] if no free address range fits, or if the fixed range is in use;
    /// * [`CreateBoundError::Bo`] and [`CreateBoundError::Bind`] with the errors of [`Bo::create`] and [`Binding::new`].
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
    #[inline]
    pub fn create_bound(device: &Device, request: &BoundRequest) -> Result<Binding, CreateBoundError> {
        let &BoundRequest { bo, addresses, flags, priority, guard_page } = request;
        let refused = |source| NoAddress { is_fixed: addresses.is_fixed(), source };
        let cached = device.addresses().cached(&addresses);
        let lease = cached.map_or_else(|| device.addresses().allocate(addresses).map_err(refused), Ok)?;
        Ok(Binding::of_new(NewBo::create(device, bo)?, lease, flags, guard_page, priority)?)
    }
}
