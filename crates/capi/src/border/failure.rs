//! Errors of calls, before they are returned to C.

use amdgpu_winsys::{
    cs,
    heaps::{AllocateError, MemoryError},
    vamgr::VaError,
    winsys::{BoRuleError, Errno, Error, Loss},
};

use super::result::{
    AGW_ERROR_DEPENDENCY_LOST, AGW_ERROR_DEVICE_LOST, AGW_ERROR_FEATURE_NOT_PRESENT, AGW_ERROR_IN_USE,
    AGW_ERROR_INCOMPATIBLE_DRIVER, AGW_ERROR_INITIALIZATION_FAILED, AGW_ERROR_INVALID_ARGUMENT,
    AGW_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, AGW_ERROR_NOT_SUBMITTED, AGW_ERROR_OUT_OF_DEVICE_MEMORY,
    AGW_ERROR_OUT_OF_HOST_MEMORY, AGW_ERROR_PARTLY_SUBMITTED, AGW_ERROR_UNKNOWN,
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
            Error::NotAmdgpu { .. }
            | Error::DriverVersion { .. }
            | Error::UnknownChip { .. }
            | Error::UnknownGfxVersion { .. } => AGW_ERROR_INCOMPATIBLE_DRIVER,
            Error::Open { .. }
            | Error::NoAcceleration
            | Error::NoSyncobj
            | Error::NoRings
            | Error::FileInUse
            | Error::FilesNotCompared { .. } => AGW_ERROR_INITIALIZATION_FAILED,
            Error::NotSubmitted { .. } => AGW_ERROR_NOT_SUBMITTED,
            Error::DependencyLost { .. } => AGW_ERROR_DEPENDENCY_LOST,
            Error::OutOfMemory { .. } => AGW_ERROR_OUT_OF_HOST_MEMORY,
            Error::ClocksTaken => AGW_ERROR_IN_USE,
            Error::VaFlags { .. } | Error::Range { .. } | Error::ForeignDevice { .. } => AGW_ERROR_INVALID_ARGUMENT,
            error @ Error::Misaligned { .. } if is_unknown(error) => AGW_ERROR_INVALID_ARGUMENT,
            Error::BoRule { rule, .. } if is_wrong_everywhere(rule) => AGW_ERROR_INVALID_ARGUMENT,
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

/// Returns `true` if no kernel and no chip accepts what breaks the rule.
fn is_wrong_everywhere(rule: &BoRuleError) -> bool {
    use BoRuleError::{Alignment, Domain, Flag, MixedDomains, ZeroSize};
    matches!(rule, ZeroSize | Alignment { .. } | Domain(_) | MixedDomains(_) | Flag(_))
}

/// Returns the name of the argument or field that an error is about, if it has the same name in all functions.
fn argument_of(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::VaFlags { .. } => "va_flags",
        Error::BoRule { rule, .. } => match rule {
            BoRuleError::ZeroSize | BoRuleError::SizeOverflow { .. } => "size",
            BoRuleError::Alignment { .. } => "alignment",
            BoRuleError::Domain(_) | BoRuleError::MixedDomains(_) => "domains",
            _ => "flags",
        },
        _ => return None,
    })
}

impl From<cs::Error> for Failure {
    fn from(error: cs::Error) -> Self {
        let text = error.to_string();
        let failure = match error {
            cs::Error::Winsys(error) => error.into(),
            cs::Error::PartlySubmitted { source, .. } if source.loss().is_none() => {
                Self::from(source).with_code(AGW_ERROR_PARTLY_SUBMITTED)
            }
            cs::Error::QueueTaken { .. } => Self::new(AGW_ERROR_IN_USE, ""),
            cs::Error::NoSuchRing { .. } | cs::Error::UnsupportedIp { .. } => {
                Self::new(AGW_ERROR_FEATURE_NOT_PRESENT, "")
            }
            cs::Error::Address(error) => error.into(),
            cs::Error::StreamCapacity { .. } | cs::Error::WrongQueue { .. } | cs::Error::WrongStream { .. } => {
                Self::new(AGW_ERROR_INVALID_ARGUMENT, "")
            }
            error => {
                let loss = error.loss();
                let mut failure = Self::new(error.vk_result() as i32, "");
                failure.details.get_or_insert_default().loss = loss;
                failure
            }
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
        let (code, text) = (error.vk_result() as i32, error.to_string());
        match error {
            MemoryError::Winsys(error) => error.into(),
            MemoryError::SparseAddress(error) => error.into(),
            MemoryError::Request(AllocateError::NoSuchType { .. }) | MemoryError::MappedRange { .. } => {
                Self::new(AGW_ERROR_INVALID_ARGUMENT, text)
            }
            // RADV returns success for a size of zero; here every failure is an error.
            _ if code >= 0 => Self::new(AGW_ERROR_INVALID_ARGUMENT, text),
            _ => Self::new(code, text),
        }
    }
}
