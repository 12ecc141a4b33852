//! The errors of operations on BOs, bindings and mappings: one type for each operation, whose variants are what can happen there.

use super::{
    any::Error,
    kernel_error::KernelError,
    leaf::{BrokenBoRule, HostMemory, InvalidReply, Misaligned, NoAddress, OutOfRange, Unmappable, UnsupportedVaFlags},
};
use crate::{uapi::Errno, winsys::Loss};

/// The error of [`Bo::create`](crate::winsys::Bo::create).
///
/// ```
/// use amdgpu_winsys::winsys::{Bo, BoRequest, CreateBoError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// match Bo::create(&device, BoRequest { alignment: 3, ..request }).unwrap_err() {
///     CreateBoError::Rule(broken) => assert_eq!(broken.rule.errno(), amdgpu_winsys::uapi::Errno::EINVAL),
///     CreateBoError::HostMemory(_) | CreateBoError::Kernel(_) => return Err("another error".into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateBoError {
    /// The request breaks a rule that every kernel enforces for new BOs. No request was made.
    #[error(transparent)]
    Rule(#[from] BrokenBoRule),
    /// Host memory is exhausted. No request was made.
    #[error(transparent)]
    HostMemory(#[from] HostMemory),
    /// The kernel refused the request, with `ENOMEM` if no allowed domain has room.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`Bo::from_user_memory`](crate::winsys::Bo::from_user_memory).
///
/// ```
/// use amdgpu_winsys::winsys::{Bo, UserMemory, UserMemoryError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let odd = std::ptr::NonNull::<u8>::dangling(); // the address 1
/// // SAFETY: the address is refused before it is used.
/// let error = unsafe { Bo::from_user_memory(&device, UserMemory::new(odd, 4096)) }.unwrap_err();
/// assert!(matches!(error, UserMemoryError::Misaligned(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserMemoryError {
    /// The address or the length is not a multiple of the page size.
    #[error(transparent)]
    Misaligned(#[from] Misaligned),
    /// The length is 0.
    #[error(transparent)]
    Rule(#[from] BrokenBoRule),
    /// Host memory is exhausted. No request was made.
    #[error(transparent)]
    HostMemory(#[from] HostMemory),
    /// The kernel refused the request.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`Bo::export`](crate::winsys::Bo::export).
///
/// ```
/// use amdgpu_winsys::{uapi::{Errno, GemCreateFlags}, winsys::{Bo, BoRequest, ExportError}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// let bo = Bo::create(&device, BoRequest { flags: GemCreateFlags::VM_ALWAYS_VALID, ..request })?;
/// let ExportError::Kernel(refused) = bo.export().unwrap_err() else { return Err("another error".into()) };
/// assert_eq!(refused.errno, Errno::EPERM);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// Host memory is exhausted. No request was made.
    #[error(transparent)]
    HostMemory(#[from] HostMemory),
    /// The kernel refused the request.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`Bo::import`](crate::winsys::Bo::import) and [`Bo::from_handle`](crate::winsys::Bo::from_handle).
///
/// ```
/// use amdgpu_winsys::winsys::{Bo, ImportError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let error = Bo::import(&device, std::fs::File::open("/dev/null")?).unwrap_err();
/// assert!(matches!(error, ImportError::Kernel(refused) if refused.request == "PRIME_FD_TO_HANDLE"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Host memory is exhausted.
    #[error(transparent)]
    HostMemory(#[from] HostMemory),
    /// The kernel reported a size that is not a positive number of pages.
    #[error(transparent)]
    InvalidReply(#[from] InvalidReply),
    /// The kernel refused a request.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`Bo::set_metadata`](crate::winsys::Bo::set_metadata).
///
/// ```
/// use amdgpu_winsys::winsys::SetMetadataError;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let error = bo.set_metadata_from(0, 0, &[0; 257]).unwrap_err();
/// assert!(matches!(error, SetMetadataError::OutOfRange(range) if range.size == 256));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetMetadataError {
    /// There are more than 256 bytes of data.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The kernel refused the request.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`Binding::new`](crate::winsys::Binding::new) and of the other functions that bind a BO.
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
/// let (lease, error) = Binding::of_part(&bo, 0, 12288, lease, VaFlags::READABLE).unwrap_err();
/// assert!(matches!(error, BindError::OutOfRange(_)));
/// assert!(Binding::new(&bo, lease, VaFlags::READABLE).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The part is empty, is not inside the BO, or is longer than the lease.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The offset or the length is not a multiple of the page size.
    #[error(transparent)]
    Misaligned(#[from] Misaligned),
    /// The flags are not supported.
    #[error(transparent)]
    Flags(#[from] UnsupportedVaFlags),
    /// Host memory is exhausted. No request was made.
    #[error(transparent)]
    HostMemory(#[from] HostMemory),
    /// The kernel refused the request.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of [`Bo::create_bound`](crate::winsys::Bo::create_bound).
///
/// ```
/// use amdgpu_winsys::{
///     uapi::{GemCreateFlags, GemDomain, VaFlags},
///     vamgr::VaRequest,
///     winsys::{BindError, Bo, BoRequest, BoundRequest, CreateBoundError},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let bo = BoRequest { size: 8192, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
/// let addresses = VaRequest::new(4096); // too few
/// let request = BoundRequest { bo, addresses, flags: VaFlags::READABLE, priority: 14, guard_page: false };
/// match Bo::create_bound(&device, &request).unwrap_err() {
///     CreateBoundError::Bind(BindError::OutOfRange(range)) => assert_eq!((range.len, range.size), (8192, 4096)),
///     CreateBoundError::Address(_) | CreateBoundError::Bo(_) | CreateBoundError::Bind(_) => return Err("another error".into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateBoundError {
    /// No GPU addresses are available.
    #[error(transparent)]
    Address(#[from] NoAddress),
    /// The BO could not be created.
    #[error(transparent)]
    Bo(#[from] CreateBoError),
    /// The BO could not be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// The error of [`Mapping::new`](crate::winsys::Mapping::new) and of the other functions that map a BO for the CPU.
///
/// ```
/// use amdgpu_winsys::{uapi::GemCreateFlags, winsys::{Bo, BoRequest, MapError, Mapping}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// let bo = Bo::create(&device, BoRequest { flags: GemCreateFlags::NO_CPU_ACCESS, ..request })?;
/// assert!(matches!(Mapping::new(&bo), Err(MapError::Unmappable(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// The requested CPU address is not a multiple of the page size.
    #[error(transparent)]
    Misaligned(#[from] Misaligned),
    /// The CPU cannot access the BO.
    #[error(transparent)]
    Unmappable(#[from] Unmappable),
    /// The kernel refused a request.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// The error of an access to mapped memory, such as [`Mapping::load_u32`](crate::winsys::Mapping::load_u32).
///
/// ```
/// use amdgpu_winsys::winsys::{AccessError, Mapping};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 8192, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let mapping = Mapping::new(&bo)?;
/// assert!(matches!(mapping.load_u32(8192), Err(AccessError::OutOfRange(_))));
/// assert!(matches!(mapping.load_u64(4), Err(AccessError::Misaligned(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The bytes are not inside the mapping.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The offset is not a multiple of the size of the value.
    #[error(transparent)]
    Misaligned(#[from] Misaligned),
}

/// Converts the errors of operations to the error of any operation, variant by variant.
macro_rules! into_error {
    ($($operation:ident: $($variant:ident)+;)+) => {
        $(impl From<$operation> for Error {
            #[cold]
            fn from(error: $operation) -> Self {
                match error {
                    $($operation::$variant(inner) => inner.into(),)+
                }
            }
        })+
    };
}

into_error! {
    CreateBoError: Rule HostMemory Kernel;
    UserMemoryError: Misaligned Rule HostMemory Kernel;
    ExportError: HostMemory Kernel;
    ImportError: HostMemory InvalidReply Kernel;
    SetMetadataError: OutOfRange Kernel;
    BindError: OutOfRange Misaligned Flags HostMemory Kernel;
    CreateBoundError: Address Bo Bind;
    MapError: Misaligned Unmappable Kernel;
    AccessError: OutOfRange Misaligned;
}

/// Gives errors the questions that [`Error`] answers.
macro_rules! answers {
    ($($error:ident)+) => {
        $(impl $error {
            /// Returns the errno that the kernel returned or would have returned; `None` if the error has none.
            pub fn errno(&self) -> Option<Errno> {
                Error::from(*self).errno()
            }

            /// Returns the loss of work that the error reports, if any.
            pub fn loss(&self) -> Option<Loss> {
                Error::from(*self).loss()
            }
        })+
    };
}

answers! { KernelError CreateBoError UserMemoryError ExportError ImportError SetMetadataError BindError CreateBoundError MapError AccessError }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_an_operation_has_the_text_and_the_results_of_the_common_one() {
        let (refused, none) = (KernelError::new("AMDGPU_GEM_CREATE", Errno::ENOMEM), HostMemory { what: "a BO" });
        let hidden = Unmappable::NoCpuAccess { handle: 3 };
        let pairs = [
            (
                CreateBoError::Kernel(refused).to_string(),
                Error::from(CreateBoundError::from(CreateBoError::from(refused))),
            ),
            (CreateBoundError::Bind(none.into()).to_string(), BindError::from(none).into()),
            (MapError::Unmappable(hidden).to_string(), hidden.into()),
        ];
        for (text, error) in pairs {
            assert_eq!(text, error.to_string());
        }
        assert_eq!(CreateBoError::from(refused).errno(), Some(Errno::ENOMEM));
        let results = [
            CreateBoError::from(refused).vk_result(),
            BindError::from(none).vk_result(),
            MapError::from(hidden).vk_result(),
        ];
        assert_eq!(
            results,
            [Error::from(refused).vk_result(), Error::from(none).vk_result(), Error::from(hidden).vk_result()]
        );
    }
}
