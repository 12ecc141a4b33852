//! A request that the kernel refused: the source of the errors of all operations.

use std::fmt;

use crate::{
    uapi::{Errno, GemCreateFlags, GemDomain},
    vamgr::GpuVa,
};

/// A request that the kernel refused. The error of each operation of the winsys layer has it as its source.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest, CreateBoError, Errno, Subject}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let flags = GemCreateFlags::empty();
/// let request = BoRequest { size: 1 << 50, alignment: 0, domains: GemDomain::VRAM, flags };
/// let error = Bo::create(&device, request).unwrap_err(); // no GPU has so much memory
/// let CreateBoError::Kernel(refused) = error else { return Err(error.into()) };
/// assert_eq!((refused.request, refused.errno), ("AMDGPU_GEM_CREATE", Errno::ENOMEM));
/// assert!(matches!(refused.subject, Subject::NewBo { alignment: 0, .. }));
/// assert_eq!(refused.loss(), None); // the device still works
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// The request's name.
    pub request: &'static str,
    /// The object that the request was about.
    pub subject: Subject,
    /// The kernel's errno.
    pub errno: Errno,
}

/// The object that a refused request was about.
///
/// ```
/// use amdgpu_winsys::winsys::{Errno, KernelError, Subject};
///
/// let error = KernelError::of_descriptor("PRIME_FD_TO_HANDLE", 3, Errno::EINVAL);
/// assert_eq!(error.subject, Subject::Descriptor { fd: 3 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// No particular object.
    None,
    /// A BO.
    Bo {
        /// The BO's handle.
        handle: u32,
    },
    /// A BO that was to be created.
    NewBo {
        /// Requested size in bytes.
        size: u64,
        /// Requested alignment in bytes.
        alignment: u64,
        /// Requested domains.
        domains: GemDomain,
        /// Requested flags.
        flags: GemCreateFlags,
    },
    /// A range of GPU addresses that was to be bound or unbound.
    Range {
        /// The BO's handle; 0 if the range has no BO.
        handle: u32,
        /// First GPU address of the range.
        at: GpuVa,
        /// Length of the range in bytes.
        len: u64,
    },
    /// A descriptor that the caller passed.
    Descriptor {
        /// The file descriptor.
        fd: i32,
    },
    /// An INFO query; the request's name is that of the query.
    Query,
}

impl KernelError {
    /// Returns the error of a request about no particular object.
    pub const fn new(request: &'static str, errno: Errno) -> Self {
        Self { request, subject: Subject::None, errno }
    }

    /// Returns the error of a request about a BO.
    pub const fn of_bo(request: &'static str, handle: u32, errno: Errno) -> Self {
        Self { request, subject: Subject::Bo { handle }, errno }
    }

    /// Returns the error of a request about a descriptor.
    pub const fn of_descriptor(request: &'static str, fd: i32, errno: Errno) -> Self {
        Self { request, subject: Subject::Descriptor { fd }, errno }
    }

    /// Returns the error of an INFO query.
    pub const fn of_query(query: &'static str, errno: Errno) -> Self {
        Self { request: query, subject: Subject::Query, errno }
    }

    /// Returns the error of a change of the page tables.
    pub const fn of_range(request: &'static str, handle: u32, at: GpuVa, len: u64, errno: Errno) -> Self {
        Self { request, subject: Subject::Range { handle, at, len }, errno }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self { request, subject, errno } = self;
        match subject {
            Subject::None => write!(f, "{request}: {errno}"),
            Subject::Bo { handle } => write!(f, "{request} of BO {handle}: {errno}"),
            Subject::NewBo { size, alignment, domains, flags } => {
                write!(
                    f,
                    "cannot create a BO of {size} bytes aligned to {alignment} in {domains:?} with {flags:?}: {errno}"
                )
            }
            Subject::Range { handle, at, len } => write!(f, "{request} of BO {handle}, {len} bytes at {at}: {errno}"),
            Subject::Descriptor { fd } => write!(f, "{request} of descriptor {fd}: {errno}"),
            Subject::Query => write!(f, "INFO {request}: {errno}"),
        }
    }
}

impl std::error::Error for KernelError {}
