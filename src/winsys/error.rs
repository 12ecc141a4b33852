//! Errors of the winsys layer.

use std::path::PathBuf;

use super::{BoRuleError, Feature, Loss, Priority};
use crate::{
    host_memory::NoHostMemory,
    uapi::{CtxStateFlags, Errno, GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, LimitsError, VaError},
};

/// The result of a winsys call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the winsys layer. Each variant holds the values that a caller needs to handle it.
///
/// ```
/// use amdgpu_winsys::{
///     uapi::{GemCreateFlags, GemDomain},
///     winsys::{Bo, BoRequest, BoRuleError, Error, Mapping},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let flags = GemCreateFlags::NO_CPU_ACCESS;
/// let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::VRAM, flags };
/// let bo = Bo::create(&device, request)?;
/// assert_eq!(Mapping::new(&bo).unwrap_err(), Error::NotMappable { handle: bo.handle() });
/// let error = Bo::create(&device, BoRequest { size: 0, ..request }).unwrap_err();
/// assert!(matches!(error, Error::BoRule { size: 0, rule: BoRuleError::ZeroSize, .. }));
/// assert_eq!(error.loss(), None); // the device still works
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A node could not be opened.
    #[error("cannot open {}: {errno}", path.display())]
    Open {
        /// Path of the node.
        path: PathBuf,
        /// The errno of `open`.
        errno: Errno,
    },

    /// A device of this process already uses the open file, through the same descriptor, a duplicate of it, or the same
    /// kernel.
    #[error("another device of this process uses this open file")]
    FileInUse,

    /// The library cannot determine whether a device of this process already uses the open file.
    #[error("cannot determine if another device of this process uses this open file: {errno}")]
    FilesNotCompared {
        /// The errno of the last method tried.
        errno: Errno,
    },

    /// The node belongs to another driver.
    #[error("the driver is {name:?}, not amdgpu")]
    NotAmdgpu {
        /// The driver's name in VERSION.
        name: String,
    },

    /// The driver version is not supported: 3.27 or a later 3.x is needed, for BO lists inside CS (Linux 4.20).
    #[error("amdgpu {major}.{minor} is not supported, 3.{} or a later 3.x is needed", crate::winsys::MINIMUM_MINOR)]
    DriverVersion {
        /// Major version of the driver (`version_major`).
        major: i32,
        /// Minor version of the driver (`version_minor`).
        minor: i32,
    },

    /// The kernel could not start the GPU (ACCEL_WORKING is 0).
    #[error("the kernel reports that acceleration does not work")]
    NoAcceleration,

    /// The kernel has no sync objects (CAP_SYNCOBJ is 0).
    #[error("the kernel has no sync objects")]
    NoSyncobj,

    /// Neither graphics nor compute has a ring.
    #[error("neither the graphics nor the compute block has a ring")]
    NoRings,

    /// The chip is not in the library's tables.
    #[error("unknown chip: family {family}, external revision {external_rev:#x}")]
    UnknownChip {
        /// The chip family (`family` of DEV_INFO).
        family: u32,
        /// The external revision (`external_rev` of DEV_INFO).
        external_rev: u32,
    },

    /// The graphics IP version is not in the library's tables.
    #[error("unknown graphics IP version {major}.{minor}")]
    UnknownGfxVersion {
        /// Major version of the graphics IP.
        major: u32,
        /// Minor version of the graphics IP.
        minor: u32,
    },

    /// The kernel refused an INFO query.
    #[error("INFO {query}: {errno}")]
    Info {
        /// The query's name.
        query: &'static str,
        /// The kernel's errno.
        errno: Errno,
    },

    /// The kernel returned a value that is out of range.
    #[error("the kernel reported {field} = {value:#x}: {reason}")]
    InvalidReply {
        /// The field of the answer.
        field: &'static str,
        /// The reported value.
        value: u64,
        /// The reason why the value is out of range.
        reason: &'static str,
    },

    /// The kernel reported address ranges that no GPU can have.
    #[error("the kernel reported impossible address ranges: {0}")]
    Addresses(#[from] LimitsError),

    /// No GPU addresses were available for a BO.
    #[error("no GPU addresses for a BO: {source}")]
    Address {
        /// `true` if the caller requested a fixed address.
        is_fixed: bool,
        /// The error of the VA manager.
        source: VaError,
    },

    /// The kernel refused a request that concerns no particular object.
    #[error("{request}: {errno}")]
    Ioctl {
        /// The request's name.
        request: &'static str,
        /// The kernel's errno.
        errno: Errno,
    },

    /// The kernel refused to create a BO.
    #[error("cannot create a BO of {size} bytes aligned to {alignment} in {domains:?} with {flags:?}: {errno}")]
    CreateBo {
        /// Requested size in bytes.
        size: u64,
        /// Requested alignment in bytes.
        alignment: u64,
        /// Requested domains.
        domains: GemDomain,
        /// Requested flags.
        flags: GemCreateFlags,
        /// The kernel's errno.
        errno: Errno,
    },

    /// The request breaks a rule that every kernel enforces for new BOs.
    #[error("cannot create a BO of {size} bytes in {domains:?} with {flags:?}: {rule}")]
    BoRule {
        /// Requested size in bytes.
        size: u64,
        /// Requested domains.
        domains: GemDomain,
        /// Requested flags.
        flags: GemCreateFlags,
        /// The rule that the request breaks.
        rule: BoRuleError,
    },

    /// The flags of a binding are not supported.
    #[error("invalid flags {flags:?} of a binding: {reason}")]
    VaFlags {
        /// The requested flags.
        flags: VaFlags,
        /// The reason why the flags are not supported.
        reason: &'static str,
    },

    /// The BO is memory of another GPU, which the CPU cannot map through this device.
    #[error("BO {handle} is memory of another GPU and cannot be mapped through this one")]
    ForeignMemory {
        /// The BO's handle.
        handle: u32,
    },

    /// The kernel refused a request that concerns a BO.
    #[error("{request} of BO {handle}: {errno}")]
    Bo {
        /// The request's name.
        request: &'static str,
        /// The BO's handle.
        handle: u32,
        /// The kernel's errno.
        errno: Errno,
    },

    /// The kernel refused a request that concerns a descriptor passed by the caller.
    #[error("{request} of descriptor {fd}: {errno}")]
    Descriptor {
        /// The request's name.
        request: &'static str,
        /// The file descriptor that the caller passed.
        fd: i32,
        /// The kernel's errno.
        errno: Errno,
    },

    /// A range is not inside its object.
    #[error("{len} bytes at offset {offset} are not inside the {size} bytes of {}", object(*handle))]
    Range {
        /// The BO's handle; 0 if the object is not a BO.
        handle: u32,
        /// Start of the range in bytes.
        offset: u64,
        /// Length of the range in bytes.
        len: u64,
        /// Size of the object in bytes.
        size: u64,
    },

    /// A value is not a multiple of the required alignment.
    #[error("{what} {value:#x} is not a multiple of {alignment}")]
    Misaligned {
        /// The name of the value.
        what: &'static str,
        /// The misaligned value.
        value: u64,
        /// The required alignment in bytes.
        alignment: u64,
    },

    /// The BO has no CPU access.
    #[error("BO {handle} cannot be mapped: it was created without CPU access")]
    NotMappable {
        /// The BO's handle.
        handle: u32,
    },

    /// The kernel refused to change the page tables.
    #[error("{request} of BO {handle}, {len} bytes at {at}: {errno}")]
    Bind {
        /// The request's name.
        request: &'static str,
        /// The BO's handle.
        handle: u32,
        /// First GPU address of the range.
        at: GpuVa,
        /// Length of the range in bytes.
        len: u64,
        /// The kernel's errno.
        errno: Errno,
    },

    /// An object belongs to another device.
    #[error("{what} belongs to another device")]
    ForeignDevice {
        /// The kind of object.
        what: &'static str,
    },

    /// The deadline passed before the wait ended.
    #[error("{what} did not finish before the deadline")]
    Timeout {
        /// The object that was waited for.
        what: &'static str,
    },

    /// The process may not create contexts of this priority: priorities above normal need CAP_SYS_NICE or the DRM master.
    #[error("a context of {priority:?} priority needs CAP_SYS_NICE or the DRM master")]
    NotPermitted {
        /// The requested priority.
        priority: Priority,
    },

    /// The driver or the chip does not support a feature.
    #[error("the driver or the chip does not support {feature}")]
    Unsupported {
        /// The requested feature.
        feature: Feature,
    },

    /// Another context has pinned the clocks.
    #[error("another context has pinned the clocks")]
    ClocksTaken,

    /// The BOs of a submission do not fit into memory together, or the kernel is out of memory. No work was submitted or
    /// lost; the same submission can succeed once less memory is in use.
    #[error("{request}: ENOMEM: no memory for a submission with {bos} BOs")]
    OutOfMemory {
        /// The request's name.
        request: &'static str,
        /// Number of BOs that the submission lists.
        bos: usize,
    },

    /// Host memory for the library's own data is exhausted. No state has changed.
    #[error("no host memory for {what}")]
    HostMemory {
        /// The object that was to be created.
        what: &'static str,
    },

    /// The work behind a sync object was not submitted within the kernel's limit of five seconds. No work was submitted or
    /// lost.
    #[error("{request}: the work that a sync object waits for was not submitted within five seconds")]
    NotSubmitted {
        /// The request's name.
        request: &'static str,
    },

    /// A submission depends on another queue that has lost work. No work was submitted, and this context still works.
    #[error("{request} on context {context}: a queue that it depends on has lost work: {errno}")]
    DependencyLost {
        /// The request's name.
        request: &'static str,
        /// The kernel's ID of the context.
        context: u32,
        /// The kernel's errno: ECANCELED, ENODATA or ETIME.
        errno: Errno,
    },

    /// The queue, or the whole context, has lost work.
    #[error("{request} on context {context}: {loss}: {errno}")]
    DeviceLost {
        /// The name of the request that reported the loss.
        request: &'static str,
        /// The kernel's ID of the context.
        context: u32,
        /// The kernel's errno: ECANCELED, ENODATA, ETIME, ENODEV or EHWPOISON.
        errno: Errno,
        /// The kernel's report of the loss.
        loss: Loss,
    },
}

/// Names the object that a range should be inside of.
fn object(handle: u32) -> String {
    if handle == 0 { "the object".to_owned() } else { format!("BO {handle}") }
}

impl NoHostMemory {
    /// Returns the error for an object that could not be created; `what` names it.
    #[cold]
    pub(crate) const fn of(self, what: &'static str) -> Error {
        let Self = self;
        Error::HostMemory { what }
    }
}

impl Error {
    /// Returns the errno that the kernel returned or would have returned; `None` if the error has none.
    pub fn errno(&self) -> Option<Errno> {
        match *self {
            Self::BoRule { rule, .. } => Some(rule.errno()),
            Self::Open { errno, .. }
            | Self::FilesNotCompared { errno }
            | Self::Info { errno, .. }
            | Self::Ioctl { errno, .. }
            | Self::CreateBo { errno, .. }
            | Self::Bo { errno, .. }
            | Self::Descriptor { errno, .. }
            | Self::Bind { errno, .. }
            | Self::DependencyLost { errno, .. }
            | Self::DeviceLost { errno, .. } => Some(errno),
            _ => None,
        }
    }

    /// Returns the loss of work that the error reports, if any. ENODEV from any request means that the GPU was removed.
    pub fn loss(&self) -> Option<Loss> {
        match *self {
            Self::DeviceLost { loss, .. } => Some(loss),
            _ if self.errno() == Some(Errno::ENODEV) => Some(Loss::new(Errno::ENODEV, CtxStateFlags::empty())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::winsys::LossReason;

    const EIO: Errno = Errno::EIO;

    #[test]
    fn an_error_that_the_kernel_is_behind_has_its_errno() {
        let (domains, flags) = (GemDomain::GTT, GemCreateFlags::empty());
        let loss = Loss::new(EIO, CtxStateFlags::empty());
        for error in [
            Error::Open { path: PathBuf::new(), errno: EIO },
            Error::FilesNotCompared { errno: EIO },
            Error::Info { query: "", errno: EIO },
            Error::Ioctl { request: "", errno: EIO },
            Error::CreateBo { size: 1, alignment: 0, domains, flags, errno: EIO },
            Error::Bo { request: "", handle: 1, errno: EIO },
            Error::Descriptor { request: "", fd: 1, errno: EIO },
            Error::Bind { request: "", handle: 1, at: GpuVa::NULL, len: 1, errno: EIO },
            Error::DependencyLost { request: "", context: 1, errno: EIO },
            Error::DeviceLost { request: "", context: 1, errno: EIO, loss },
        ] {
            assert_eq!(error.errno(), Some(EIO), "{error}");
            assert_eq!(error.loss(), matches!(error, Error::DeviceLost { .. }).then_some(loss), "{error}");
        }
        let rule = |rule| Error::BoRule { size: 0, domains, flags, rule }.errno();
        assert_eq!([rule(BoRuleError::ZeroSize), rule(BoRuleError::NoTmz)], [Some(Errno::ENOSPC), Some(Errno::EINVAL)]);
        for error in [Error::FileInUse, Error::NoRings, Error::ClocksTaken, Error::NotMappable { handle: 1 }] {
            assert_eq!((error.errno(), error.loss()), (None, None), "{error}");
        }
    }

    #[test]
    fn a_gpu_that_was_removed_is_lost_whatever_was_asked() {
        let removed = Error::Ioctl { request: "", errno: Errno::ENODEV };
        assert_eq!(removed.loss().map(|loss| loss.reason), Some(LossReason::Unplugged));
    }
}
