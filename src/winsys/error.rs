//! Errors between the library and the kernel.

use std::path::PathBuf;

use super::{BoRuleError, Feature, Loss, Priority};
use crate::{
    host_memory::NoHostMemory,
    uapi::{CtxStateFlags, Errno, GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, LimitsError, VaError},
};

/// The result of a winsys call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the winsys layer. Each variant holds what the caller needs to act on it.
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
/// assert_eq!(error.loss(), None); // the device goes on
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A node could not be opened.
    #[error("cannot open {}: {errno}", path.display())]
    Open {
        /// The node.
        path: PathBuf,
        /// The cause.
        errno: Errno,
    },

    /// A device of this process works on this open file already, through this descriptor, a copy of it, or this kernel.
    #[error("another device of this process uses this open file")]
    FileInUse,

    /// It is not possible to determine whether a device of this process already uses this open file.
    #[error("cannot determine if another device of this process uses this open file: {errno}")]
    FilesNotCompared {
        /// The errno of the last way that was tried.
        errno: Errno,
    },

    /// The node belongs to another driver.
    #[error("the driver is {name:?}, not amdgpu")]
    NotAmdgpu {
        /// The driver's name in VERSION.
        name: String,
    },

    /// The driver speaks another interface or is too old: the BO list inside CS needs 3.27 (Linux 4.20).
    #[error("amdgpu {major}.{minor} is not supported, 3.{} or a later 3.x is needed", crate::winsys::MINIMUM_MINOR)]
    DriverVersion {
        /// `version_major`.
        major: i32,
        /// `version_minor`.
        minor: i32,
    },

    /// ACCEL_WORKING answered 0: the kernel could not start the GPU.
    #[error("the kernel reports that acceleration does not work")]
    NoAcceleration,

    /// The kernel has no sync objects (CAP_SYNCOBJ is 0).
    #[error("the kernel has no sync objects")]
    NoSyncobj,

    /// Neither graphics nor compute has a ring.
    #[error("neither the graphics nor the compute block has a ring")]
    NoRings,

    /// A chip that no table knows.
    #[error("unknown chip: family {family}, external revision {external_rev:#x}")]
    UnknownChip {
        /// `family` of DEV_INFO.
        family: u32,
        /// `external_rev` of DEV_INFO.
        external_rev: u32,
    },

    /// A graphics IP version that no table knows.
    #[error("unknown graphics IP version {major}.{minor}")]
    UnknownGfxVersion {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
    },

    /// A question that the kernel refused.
    #[error("INFO {query}: {errno}")]
    Info {
        /// The question's name.
        query: &'static str,
        /// The cause.
        errno: Errno,
    },

    /// An answer that cannot be true. The kernel's word is input like any other.
    #[error("the kernel answered {field} = {value:#x}: {reason}")]
    Absurd {
        /// The field of the answer.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The fault.
        reason: &'static str,
    },

    /// Address ranges that no address space can have.
    #[error("the kernel answered impossible address ranges: {0}")]
    Addresses(#[from] LimitsError),

    /// No addresses for a BO.
    #[error("no addresses for a BO: {source}")]
    Address {
        /// `true` if certain addresses were asked for.
        is_fixed: bool,
        /// The cause.
        source: VaError,
    },

    /// A request about no object in particular was refused.
    #[error("{request}: {errno}")]
    Ioctl {
        /// The request's name.
        request: &'static str,
        /// The cause.
        errno: Errno,
    },

    /// The kernel made no BO.
    #[error("no BO of {size} bytes aligned to {alignment} in {domains:?} with {flags:?}: {errno}")]
    CreateBo {
        /// Bytes asked for.
        size: u64,
        /// Alignment asked for, bytes.
        alignment: u64,
        /// Requested domains.
        domains: GemDomain,
        /// Requested flags.
        flags: GemCreateFlags,
        /// The cause.
        errno: Errno,
    },

    /// A BO that no kernel would make.
    #[error("no BO of {size} bytes in {domains:?} with {flags:?}: {rule}")]
    BoRule {
        /// Bytes asked for.
        size: u64,
        /// Requested domains.
        domains: GemDomain,
        /// Requested flags.
        flags: GemCreateFlags,
        /// The rule it breaks.
        rule: BoRuleError,
    },

    /// Access rights that no kernel would set.
    #[error("a binding with {flags:?}: {reason}")]
    VaFlags {
        /// The flags.
        flags: VaFlags,
        /// The fault.
        reason: &'static str,
    },

    /// Memory of another GPU, which the CPU cannot map through this one.
    #[error("BO {handle} is another GPU's memory and cannot be mapped through this one")]
    ForeignMemory {
        /// The BO's handle.
        handle: u32,
    },

    /// A request about a BO was refused.
    #[error("{request} of BO {handle}: {errno}")]
    Bo {
        /// The request's name.
        request: &'static str,
        /// The BO's handle.
        handle: u32,
        /// The cause.
        errno: Errno,
    },

    /// A request on a descriptor that came from outside was refused.
    #[error("{request} of descriptor {fd}: {errno}")]
    Descriptor {
        /// The request's name.
        request: &'static str,
        /// The descriptor.
        fd: i32,
        /// The cause.
        errno: Errno,
    },

    /// A range that is not inside its object.
    #[error("{len} bytes at offset {offset} are not inside the {size} bytes of BO {handle}")]
    Range {
        /// The BO's handle.
        handle: u32,
        /// Start of the range, bytes.
        offset: u64,
        /// Length of the range, bytes.
        len: u64,
        /// The object's size, bytes.
        size: u64,
    },

    /// A value that must be a multiple of something and is not.
    #[error("{what} {value:#x} is not a multiple of {alignment}")]
    Misaligned {
        /// The object.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The unit it must be a multiple of, bytes.
        alignment: u64,
    },

    /// An object created without CPU access, or one that has none by nature.
    #[error("BO {handle} cannot be mapped: it was created without CPU access")]
    NotMappable {
        /// The BO's handle.
        handle: u32,
    },

    /// The page tables were not changed.
    #[error("{request} of BO {handle}, {len} bytes at {at}: {errno}")]
    Bind {
        /// The request's name.
        request: &'static str,
        /// The BO's handle.
        handle: u32,
        /// GPU address.
        at: GpuVa,
        /// Length, bytes.
        len: u64,
        /// The cause.
        errno: Errno,
    },

    /// Objects of two devices were mixed.
    #[error("{what} belongs to another device")]
    ForeignDevice {
        /// The object.
        what: &'static str,
    },

    /// A wait ended before what was waited for.
    #[error("{what} was not done at the deadline")]
    Timeout {
        /// The object waited for.
        what: &'static str,
    },

    /// The process may not have contexts of this priority: above normal needs CAP_SYS_NICE or the DRM master.
    #[error("a context of {priority:?} priority needs CAP_SYS_NICE or the DRM master")]
    NotPermitted {
        /// The priority asked for.
        priority: Priority,
    },

    /// The driver or the chip does not have it.
    #[error("the driver or the chip has no {feature}")]
    Unsupported {
        /// The feature requested.
        feature: Feature,
    },

    /// Another context has pinned the clocks.
    #[error("another context has pinned the clocks")]
    ClocksTaken,

    /// The BOs of a submission do not fit into memory together, or the kernel ran out of its own. Nothing was submitted
    /// and nothing is lost: with less memory in use the same submission can succeed.
    #[error("{request}: ENOMEM: no memory for a submission with {bos} BOs")]
    OutOfMemory {
        /// The request's name.
        request: &'static str,
        /// BOs that the submission lists.
        bos: usize,
    },

    /// The process has no memory for the library's own bookkeeping. Nothing has changed.
    #[error("no host memory for {what}")]
    HostMemory {
        /// The object that was to be made.
        what: &'static str,
    },

    /// The work that a submission waits for was not submitted within the five seconds that the kernel grants. Nothing was
    /// submitted and nothing is lost.
    #[error("{request}: the work that a sync object waits for was not submitted within five seconds")]
    NotSubmitted {
        /// The request's name.
        request: &'static str,
    },

    /// A submission depends on another queue that has lost work, and whose submissions the kernel knows no more. Nothing
    /// was submitted; this context is well.
    #[error("{request} on context {context}: a queue that it depends on has lost work: {errno}")]
    DependencyLost {
        /// The request's name.
        request: &'static str,
        /// The context's id.
        context: u32,
        /// ECANCELED, ENODATA or ETIME.
        errno: Errno,
    },

    /// Work was lost, and the queue or the whole context with it.
    #[error("{request} on context {context}: {loss}: {errno}")]
    DeviceLost {
        /// The request that reported it.
        request: &'static str,
        /// The context's id.
        context: u32,
        /// ECANCELED, ENODATA, ETIME, ENODEV or EHWPOISON.
        errno: Errno,
        /// The kernel's account of the loss.
        loss: Loss,
    },
}

impl NoHostMemory {
    /// Returns the error of making `what`.
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

    /// Returns the loss of work that the error reports, if any. ENODEV of any request means that the GPU is gone.
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
