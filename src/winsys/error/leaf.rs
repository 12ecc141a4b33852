//! Errors that several operations share.

use crate::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::VaError,
    winsys::BoRuleError,
};

/// A value of the kernel that is out of range.
///
/// ```
/// use amdgpu_winsys::winsys::InvalidReply;
///
/// let error = InvalidReply { field: "bo_size", value: 5, reason: "not a positive number of pages" };
/// assert_eq!(error.to_string(), "the kernel reported bo_size = 0x5: not a positive number of pages");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernel reported {field} = {value:#x}: {reason}")]
pub struct InvalidReply {
    /// The field of the answer.
    pub field: &'static str,
    /// The reported value.
    pub value: u64,
    /// The reason why the value is out of range.
    pub reason: &'static str,
}

/// A range that is not inside its object.
///
/// ```
/// use amdgpu_winsys::winsys::Mapping;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let error = Mapping::new(&bo)?.read(8190, &mut [0; 4]).unwrap_err();
/// assert_eq!((error.offset, error.len, error.size), (8190, 4, 8192));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{len} bytes at offset {offset} are not inside the {size} bytes of {}", object(*handle))]
pub struct OutOfRange {
    /// The BO's handle; 0 if the object is not a BO.
    pub handle: u32,
    /// Start of the range in bytes.
    pub offset: u64,
    /// Length of the range in bytes.
    pub len: u64,
    /// Size of the object in bytes.
    pub size: u64,
}

/// A value that is not a multiple of the required alignment.
///
/// ```
/// use amdgpu_winsys::winsys::{AccessError, Mapping};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let AccessError::Misaligned(error) = Mapping::new(&bo)?.load_u32(2).unwrap_err() else { return Err("another error".into()) };
/// assert_eq!((error.value, error.alignment), (2, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {value:#x} is not a multiple of {alignment}")]
pub struct Misaligned {
    /// The name of the value.
    pub what: &'static str,
    /// The misaligned value.
    pub value: u64,
    /// The required alignment in bytes.
    pub alignment: u64,
}

/// The lack of host memory for the library's own data.
///
/// ```
/// use amdgpu_winsys::winsys::{BindError, HostMemory};
///
/// let error = BindError::from(HostMemory { what: "a binding" });
/// assert_eq!(error.to_string(), "no host memory for a binding");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no host memory for {what}")]
pub struct HostMemory {
    /// The object that was to be created.
    pub what: &'static str,
}

/// A request for a BO that breaks a rule which every kernel enforces.
///
/// ```
/// use amdgpu_winsys::winsys::{Bo, BoRequest, BoRuleError, CreateBoError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// let CreateBoError::Rule(broken) = Bo::create(&device, BoRequest { size: 0, ..request }).unwrap_err() else {
///     return Err("another error".into());
/// };
/// assert_eq!((broken.size, broken.rule), (0, BoRuleError::ZeroSize));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot create a BO of {size} bytes in {domains:?} with {flags:?}: {rule}")]
pub struct BrokenBoRule {
    /// Requested size in bytes.
    pub size: u64,
    /// Requested domains.
    pub domains: GemDomain,
    /// Requested flags.
    pub flags: GemCreateFlags,
    /// The rule that the request breaks.
    pub rule: BoRuleError,
}

/// Flags of a binding that are not supported.
///
/// ```
/// use amdgpu_winsys::{uapi::VaFlags, vamgr::VaRequest, winsys::{BindError, Binding}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let lease = device.addresses().allocate(VaRequest::new(8192))?;
/// let (_lease, error) = Binding::new(&bo, lease, VaFlags::PRT).unwrap_err();
/// assert!(matches!(error, BindError::Flags(refused) if refused.flags == VaFlags::PRT));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid flags {flags:?} of a binding: {reason}")]
pub struct UnsupportedVaFlags {
    /// The requested flags.
    pub flags: VaFlags,
    /// The reason why the flags are not supported.
    pub reason: &'static str,
}

/// The lack of GPU addresses for a BO.
///
/// ```
/// use amdgpu_winsys::{uapi::VaFlags, vamgr::VaRequest, winsys::{Bo, BoundRequest, CreateBoundError}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// let addresses = VaRequest::new(8192);
/// let bound = BoundRequest { bo: request, addresses, flags: VaFlags::READABLE, priority: 14, guard_page: false };
/// let first = Bo::create_bound(&device, &bound)?;
/// let there = BoundRequest { addresses: addresses.at(first.address()), ..bound };
/// let error = Bo::create_bound(&device, &there).unwrap_err();
/// assert!(matches!(error, CreateBoundError::Address(taken) if taken.is_fixed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no GPU addresses for a BO: {source}")]
pub struct NoAddress {
    /// `true` if the caller requested a fixed address.
    pub is_fixed: bool,
    /// The error of the VA manager.
    pub source: VaError,
}

/// A BO that the CPU cannot access.
///
/// ```
/// use amdgpu_winsys::{uapi::GemCreateFlags, winsys::{Bo, BoRequest, Mapping, Unmappable}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// let bo = Bo::create(&device, BoRequest { flags: GemCreateFlags::NO_CPU_ACCESS, ..request })?;
/// let hidden = Unmappable::NoCpuAccess { handle: bo.handle() };
/// assert_eq!(Mapping::new(&bo).unwrap_err(), hidden.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unmappable {
    /// The BO was created without CPU access.
    #[error("BO {handle} cannot be mapped: it was created without CPU access")]
    NoCpuAccess {
        /// The BO's handle.
        handle: u32,
    },
    /// The BO is memory of another GPU, which the CPU cannot map through this device.
    #[error("BO {handle} is memory of another GPU and cannot be mapped through this one")]
    ForeignMemory {
        /// The BO's handle.
        handle: u32,
    },
}

/// Names the object that a range should be inside of.
fn object(handle: u32) -> String {
    if handle == 0 { "the object".to_owned() } else { format!("BO {handle}") }
}
