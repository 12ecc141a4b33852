//! Errors of calls, before they are returned to C.

use amdgpu_winsys::{
    cs,
    heaps::{
        self, AllocateError, AllocateMemoryError, FlushError, ImportFdError, ImportHostPointerError, MemoryError,
        SparseRangeError,
    },
    vamgr::VaError,
    winsys::{self, BoRuleError, BrokenBoRule, Errno, Error, Loss},
};

use super::result::{
    AGW_ERROR_DEPENDENCY_LOST, AGW_ERROR_DEVICE_LOST, AGW_ERROR_FEATURE_NOT_PRESENT, AGW_ERROR_IN_USE,
    AGW_ERROR_INVALID_ARGUMENT, AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, AGW_ERROR_NOT_SUBMITTED,
    AGW_ERROR_OUT_OF_DEVICE_MEMORY, AGW_ERROR_OUT_OF_HOST_MEMORY, AGW_ERROR_PARTLY_SUBMITTED, AGW_ERROR_UNKNOWN,
};

/// The result of a call, before it is converted to a number.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// An error of a call.
#[derive(Debug)]
pub(crate) struct Failure {
    code: i32,
    /// `None` for results that are not errors, such as a wait that timed out, so that they allocate nothing.
    details: Option<Box<Details>>,
}

#[derive(Debug, Default)]
pub(super) struct Details {
    /// The kernel's errno; 0 if there is none.
    pub(super) errno: i32,
    pub(super) loss: Option<Loss>,
    pub(super) text: String,
}

impl Failure {
    pub(crate) fn new(code: i32, text: impl Into<String>) -> Self {
        Self { code, details: Some(Box::new(Details { errno: 0, loss: None, text: text.into() })) }
    }

    /// Creates the failure for a result that is not an error.
    pub(crate) fn outcome(code: i32) -> Self {
        Self { code, details: None }
    }

    /// Creates the failure for an invalid argument.
    #[cold]
    #[inline(never)]
    pub(crate) fn argument(what: &str, fault: &str) -> Self {
        Self::new(AGW_ERROR_INVALID_ARGUMENT, format!("{what}: {fault}"))
    }

    /// Creates the failure for an argument that must not be null.
    #[cold]
    #[inline(never)]
    pub(crate) fn null(argument: &str) -> Self {
        Self::argument(argument, "is null")
    }

    /// Replaces the result number.
    #[must_use]
    pub(crate) fn with_code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    pub(crate) fn code(&self) -> i32 {
        self.code
    }

    pub(crate) fn text(&self) -> &str {
        self.details.as_ref().map_or("", |details| &details.text)
    }

    pub(super) fn details(&self) -> Option<&Details> {
        self.details.as_deref()
    }
}

fn is_unknown(error: &Error) -> bool {
    error.vk_result() as i32 == AGW_ERROR_UNKNOWN
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            _ if error.loss().is_some() => AGW_ERROR_DEVICE_LOST,
            Error::NotSubmitted { .. } => AGW_ERROR_NOT_SUBMITTED,
            Error::DependencyLost { .. } => AGW_ERROR_DEPENDENCY_LOST,
            Error::OutOfMemory { .. } => AGW_ERROR_OUT_OF_HOST_MEMORY,
            Error::ClocksTaken => AGW_ERROR_IN_USE,
            Error::VaFlags(_) | Error::OutOfRange(_) | Error::ForeignDevice { .. } => AGW_ERROR_INVALID_ARGUMENT,
            error @ Error::Misaligned(_) if is_unknown(error) => AGW_ERROR_INVALID_ARGUMENT,
            Error::BoRule(BrokenBoRule { rule, .. }) if is_wrong_everywhere(rule) => AGW_ERROR_INVALID_ARGUMENT,
            // For any request: the kernel has no memory, or the process has no descriptor for it.
            error
                if is_unknown(error)
                    && matches!(error.errno(), Some(Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE)) =>
            {
                AGW_ERROR_OUT_OF_HOST_MEMORY
            }
            error => error.vk_result() as i32,
        };
        let errno = error.errno().map_or(0, Errno::raw);
        let text = match argument_of(&error) {
            Some(argument) => format!("{argument}: {error}"),
            None => error.to_string(),
        };
        Self { code, details: Some(Box::new(Details { errno, loss: error.loss(), text })) }
    }
}

/// Converts the errors of operations.
macro_rules! of_operations {
    ($($operation:ident)+) => {
        $(impl From<winsys::$operation> for Failure {
            #[cold]
            fn from(error: winsys::$operation) -> Self {
                Error::from(error).into()
            }
        })+
    };
}

of_operations! { BindError CreateBoError ExportError ImportError KernelError MapError SetMetadataError UserMemoryError }

/// Returns `true` if no kernel and no chip accepts what breaks the rule.
fn is_wrong_everywhere(rule: &BoRuleError) -> bool {
    use BoRuleError::{Alignment, Domain, Flag, MixedDomains, ZeroSize};
    matches!(rule, ZeroSize | Alignment { .. } | Domain(_) | MixedDomains(_) | Flag(_))
}

/// Returns the name of the argument or field that an error is about, if it has the same name in all functions.
fn argument_of(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::VaFlags(_) => "va_flags",
        Error::BoRule(BrokenBoRule { rule, .. }) => match rule {
            BoRuleError::ZeroSize | BoRuleError::SizeOverflow { .. } => "size",
            BoRuleError::Alignment { .. } => "alignment",
            BoRuleError::Domain(_) | BoRuleError::MixedDomains(_) => "domains",
            _ => "flags",
        },
        _ => return None,
    })
}

impl From<cs::RecordError> for Failure {
    fn from(error: cs::RecordError) -> Self {
        let (code, text) = (error.vk_result() as i32, error.to_string());
        let failure = match error {
            cs::RecordError::Winsys(error) => error.into(),
            cs::RecordError::UnsupportedIp { .. } => Self::new(AGW_ERROR_FEATURE_NOT_PRESENT, ""),
            cs::RecordError::Address(error) => error.into(),
            cs::RecordError::StreamCapacity { .. } | cs::RecordError::WrongStream { .. } => {
                Self::new(AGW_ERROR_INVALID_ARGUMENT, "")
            }
            cs::RecordError::Encode(_)
            | cs::RecordError::TooLong { .. }
            | cs::RecordError::NestedCall
            | cs::RecordError::ChainedList
            | cs::RecordError::DetouredList => Self::new(code, ""),
        };
        failure.with_text(text)
    }
}

impl From<cs::QueueError> for Failure {
    fn from(error: cs::QueueError) -> Self {
        let text = error.to_string();
        let failure = match error {
            cs::QueueError::Winsys(error) => error.into(),
            cs::QueueError::Recording(error) => error.into(),
            cs::QueueError::QueueTaken { .. } => Self::new(AGW_ERROR_IN_USE, ""),
            cs::QueueError::NoSuchRing { .. } | cs::QueueError::UnsupportedIp { .. } => {
                Self::new(AGW_ERROR_FEATURE_NOT_PRESENT, "")
            }
        };
        failure.with_text(text)
    }
}

impl From<cs::SubmitError> for Failure {
    fn from(error: cs::SubmitError) -> Self {
        let (code, loss, text) = (error.vk_result() as i32, error.loss(), error.to_string());
        let failure = match error {
            cs::SubmitError::Winsys(error) => error.into(),
            cs::SubmitError::Recording(error) => error.into(),
            cs::SubmitError::PartlySubmitted { source, .. } if loss.is_none() => {
                Self::from(source).with_code(AGW_ERROR_PARTLY_SUBMITTED)
            }
            cs::SubmitError::WrongQueue { .. } => Self::new(AGW_ERROR_INVALID_ARGUMENT, ""),
            cs::SubmitError::PartlySubmitted { .. }
            | cs::SubmitError::EmptySubmission
            | cs::SubmitError::NoRoomForIbs(_)
            | cs::SubmitError::TooManyBos { .. }
            | cs::SubmitError::NoGang(_)
            | cs::SubmitError::GangTooLong { .. } => {
                let mut failure = Self::new(code, "");
                failure.details.get_or_insert_default().loss = loss;
                failure
            }
        };
        failure.with_text(text)
    }
}

impl From<cs::UserQueueError> for Failure {
    fn from(error: cs::UserQueueError) -> Self {
        let (code, text) = (error.vk_result() as i32, error.to_string());
        let failure = match error {
            cs::UserQueueError::Winsys(error) => error.into(),
            cs::UserQueueError::UnsupportedIp { .. } => Self::new(AGW_ERROR_FEATURE_NOT_PRESENT, ""),
            cs::UserQueueError::WrongQueue { .. } => Self::new(AGW_ERROR_INVALID_ARGUMENT, ""),
            cs::UserQueueError::RingFull { .. } | cs::UserQueueError::Encode(_) => Self::new(code, ""),
        };
        failure.with_text(text)
    }
}

impl From<cs::GangError> for Failure {
    fn from(error: cs::GangError) -> Self {
        let (code, text) = (error.vk_result() as i32, error.to_string());
        let failure = match error {
            cs::GangError::Winsys(error) => error.into(),
            cs::GangError::Recording(error) => error.into(),
            cs::GangError::NoGang(_) => Self::new(code, ""),
        };
        failure.with_text(text)
    }
}

impl From<cs::VideoError> for Failure {
    fn from(error: cs::VideoError) -> Self {
        let (code, text) = (error.vk_result() as i32, error.to_string());
        let failure = match error {
            cs::VideoError::Winsys(error) => error.into(),
            cs::VideoError::QueueTaken { .. } => Self::new(AGW_ERROR_IN_USE, ""),
            cs::VideoError::Recording(error) => error.into(),
            cs::VideoError::NoIb { .. }
            | cs::VideoError::TooManyIbs { .. }
            | cs::VideoError::Ib { .. }
            | cs::VideoError::OtherEngine { .. } => Self::new(AGW_ERROR_INVALID_ARGUMENT, ""),
            _ => Self::new(code, ""),
        };
        failure.with_text(text)
    }
}

impl Failure {
    /// Adds a reason to the text.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        let text = &mut self.details.get_or_insert_default().text;
        *text = format!("{hint} ({text})");
        self
    }

    fn with_text(mut self, text: String) -> Self {
        self.details.get_or_insert_default().text = text;
        self
    }
}

impl From<VaError> for Failure {
    fn from(error: VaError) -> Self {
        let (code, argument) = match error {
            VaError::ZeroSize => (AGW_ERROR_INVALID_ARGUMENT, "size: "),
            VaError::SizeOverflow { .. } => (AGW_ERROR_OUT_OF_DEVICE_MEMORY, "size: "),
            VaError::AlignmentOverflow { .. } | VaError::ZeroAlignment => (AGW_ERROR_INVALID_ARGUMENT, "alignment: "),
            VaError::HostMemory { .. } => (AGW_ERROR_OUT_OF_HOST_MEMORY, ""),
            error if error.is_about_the_address() => (AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "address: "),
            _ => (AGW_ERROR_OUT_OF_DEVICE_MEMORY, ""),
        };
        Self::new(code, format!("{argument}{error}"))
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        if let MemoryError::SparseRange(SparseRangeError::Address(error)) = error {
            return error.into();
        }
        if let Some(source) = error.winsys() {
            return source.into();
        }
        let (code, text) = (error.vk_result() as i32, error.to_string());
        let is_argument = matches!(
            error,
            MemoryError::Allocate(AllocateMemoryError::Request(AllocateError::NoSuchType { .. }))
                | MemoryError::ImportFd(ImportFdError::Request(_))
                | MemoryError::ImportHostPointer(ImportHostPointerError::Request(_))
                | MemoryError::Flush(FlushError::Range { .. })
        );
        // RADV returns success for a size of zero; here every failure is an error.
        Self::new(if is_argument || code >= 0 { AGW_ERROR_INVALID_ARGUMENT } else { code }, text)
    }
}

/// Converts the errors of operations on device memory.
macro_rules! of_memory {
    ($($operation:ident)+) => {
        $(impl From<heaps::$operation> for Failure {
            #[cold]
            fn from(error: heaps::$operation) -> Self {
                MemoryError::from(error).into()
            }
        })+
    };
}

of_memory! { AllocateMemoryError CreateManagerError ExportImageError ExportMemoryError FdTypesError FlushError }
of_memory! { ImportFdError ImportHostPointerError MapPlacedError SparseQueueError SparseRangeError UnmapError }
of_memory! { UnsupportedHandleType }
