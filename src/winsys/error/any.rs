//! The error of any operation.

use super::{
    kernel_error::KernelError,
    leaf::{BrokenBoRule, HostMemory, InvalidReply, Misaligned, NoAddress, OutOfRange, Unmappable, UnsupportedVaFlags},
    open_error::OpenError,
};
use crate::{
    host_memory::NoHostMemory,
    uapi::{CtxStateFlags, Errno},
    winsys::{Feature, Loss, Priority},
};

/// The result of a winsys call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of any operation of the winsys layer. Operations on BOs, bindings and mappings have errors of their own, which convert
/// to this one.
///
/// ```
/// use amdgpu_winsys::{
///     uapi::{GemCreateFlags, GemDomain},
///     winsys::{Bo, BoRequest, BoRuleError, CreateBoError, Error, MapError, Mapping, Unmappable},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let flags = GemCreateFlags::NO_CPU_ACCESS;
/// let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::VRAM, flags };
/// let bo = Bo::create(&device, request)?;
/// let hidden = Unmappable::NoCpuAccess { handle: bo.handle() };
/// assert_eq!(Mapping::new(&bo).unwrap_err(), MapError::Unmappable(hidden));
/// let error = Bo::create(&device, BoRequest { size: 0, ..request }).unwrap_err();
/// assert!(matches!(error, CreateBoError::Rule(broken) if broken.rule == BoRuleError::ZeroSize));
/// let error = Error::from(error);
/// assert!(matches!(error, Error::BoRule(_)));
/// assert_eq!(error.loss(), None); // the device still works
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),

    /// The kernel returned a value that is out of range.
    #[error(transparent)]
    InvalidReply(#[from] InvalidReply),

    /// No GPU addresses were available for a BO.
    #[error(transparent)]
    Address(#[from] NoAddress),

    /// The kernel refused a request.
    #[error(transparent)]
    Kernel(#[from] KernelError),

    /// The request breaks a rule that every kernel enforces for new BOs.
    #[error(transparent)]
    BoRule(#[from] BrokenBoRule),

    /// The flags of a binding are not supported.
    #[error(transparent)]
    VaFlags(#[from] UnsupportedVaFlags),

    /// The CPU cannot map the BO.
    #[error(transparent)]
    Unmappable(#[from] Unmappable),

    /// A range is not inside its object.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),

    /// A value is not a multiple of the required alignment.
    #[error(transparent)]
    Misaligned(#[from] Misaligned),

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
    #[error(transparent)]
    HostMemory(#[from] HostMemory),

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

impl NoHostMemory {
    /// Returns the error for an object that could not be created; `what` names it.
    #[cold]
    pub(crate) const fn of(self, what: &'static str) -> HostMemory {
        let Self = self;
        HostMemory { what }
    }
}

impl Error {
    /// Returns the errno that the kernel returned or would have returned; `None` if the error has none.
    pub fn errno(&self) -> Option<Errno> {
        match *self {
            Self::BoRule(BrokenBoRule { rule, .. }) => Some(rule.errno()),
            Self::Kernel(KernelError { errno, .. })
            | Self::Open(OpenError::Node { errno, .. } | OpenError::FilesNotCompared { errno })
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
    use crate::{
        uapi::{GemCreateFlags, GemDomain},
        winsys::{BoRuleError, LossReason, Subject},
    };

    const EIO: Errno = Errno::EIO;

    #[test]
    fn an_error_that_the_kernel_is_behind_has_its_errno() {
        let (domains, flags) = (GemDomain::GTT, GemCreateFlags::empty());
        let loss = Loss::new(EIO, CtxStateFlags::empty());
        for error in [
            Error::Open(OpenError::Node { path: "/nowhere".into(), errno: EIO }),
            Error::Open(OpenError::FilesNotCompared { errno: EIO }),
            Error::Kernel(KernelError::new("", EIO)),
            Error::Kernel(KernelError {
                subject: Subject::NewBo { size: 1, alignment: 0, domains, flags },
                ..KernelError::new("", EIO)
            }),
            Error::DependencyLost { request: "", context: 1, errno: EIO },
            Error::DeviceLost { request: "", context: 1, errno: EIO, loss },
        ] {
            assert_eq!(error.errno(), Some(EIO), "{error}");
            assert_eq!(error.loss(), matches!(error, Error::DeviceLost { .. }).then_some(loss), "{error}");
        }
        let rule = |rule| Error::BoRule(BrokenBoRule { size: 0, domains, flags, rule }).errno();
        assert_eq!([rule(BoRuleError::ZeroSize), rule(BoRuleError::NoTmz)], [Some(Errno::ENOSPC), Some(Errno::EINVAL)]);
        let unmappable = Error::Unmappable(Unmappable::NoCpuAccess { handle: 1 });
        for error in [OpenError::FileInUse.into(), OpenError::NoRings.into(), Error::ClocksTaken, unmappable] {
            assert_eq!((error.errno(), error.loss()), (None, None), "{error}");
        }
    }

    #[test]
    fn a_gpu_that_was_removed_is_lost_whatever_was_asked() {
        let removed = Error::Kernel(KernelError::new("", Errno::ENODEV));
        assert_eq!(removed.loss().map(|loss| loss.reason), Some(LossReason::Unplugged));
    }
}
