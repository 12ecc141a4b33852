//! Results of a check's body.

use std::{error::Error, fmt::Display};

use amdgpu_winsys::{
    cs, heaps,
    winsys::{self, KernelError, Subject},
};

use crate::result::{
    cells::Cells,
    evidence::{Difference, Refusal},
};

/// The reason why a check did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It does not hold.
    Fail(Box<Failure>),
    /// It cannot be tried here: the reason.
    Skip(String),
}

/// The finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// In one line.
    pub(crate) detail: String,
    /// The first bytes that differ.
    pub(crate) difference: Option<Difference>,
    /// The request that the kernel refused.
    pub(crate) refusal: Option<Refusal>,
    /// The bytes of memory that did not hold their pattern, counted.
    pub(crate) cells: Option<Cells>,
}

impl Stop {
    /// A failure with no more evidence than a line.
    pub(crate) fn failed(detail: impl Into<String>) -> Self {
        Self::Fail(Box::new(Failure { detail: detail.into(), ..Failure::default() }))
    }

    /// The same with what it is about before it.
    pub(crate) fn of(self, what: impl Display) -> Self {
        match self {
            Self::Fail(failure) => {
                let detail = format!("{what}: {}", failure.detail);
                Self::Fail(Box::new(Failure { detail, ..*failure }))
            }
            skip @ Self::Skip(_) => skip,
        }
    }
}

/// Result of a check's body: figures for the report, or the reason it stopped.
pub(crate) type Outcome = Result<String, Stop>;

/// Ends a check as failed.
pub(crate) fn fail<T>(evidence: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::failed(evidence))
}

/// Ends a check as skipped.
pub(crate) fn skip<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Skip(reason.into()))
}

/// Fails unless the condition holds.
pub(crate) fn ensure(condition: bool, evidence: impl FnOnce() -> String) -> Result<(), Stop> {
    if condition { Ok(()) } else { fail(evidence()) }
}

/// Fails unless what was found is what was expected.
#[expect(clippy::needless_pass_by_value, reason = "both are mostly figures that were made for the comparison")]
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Stop> {
    ensure(found == expected, || format!("{what}: found {found:?}, expected {expected:?}"))
}

/// An extension of results that adds the current operation to an error.
pub(crate) trait ErrorContext<T> {
    /// Turns the error into a failure with `what` before it.
    fn context(self, what: &str) -> Result<T, Stop>;
}

impl<T, E: Error + 'static> ErrorContext<T> for Result<T, E> {
    fn context(self, what: &str) -> Result<T, Stop> {
        self.map_err(|error| {
            let refusal = kernels(&error).as_ref().and_then(refusal);
            Stop::Fail(Box::new(Failure { detail: format!("{what}: {error}"), refusal, ..Failure::default() }))
        })
    }
}

/// The error of the lowest layer, where there is one.
fn kernels(error: &(dyn Error + 'static)) -> Option<winsys::Error> {
    macro_rules! operations {
        ($($operation:ident)+) => {
            None$(.or_else(|| error.downcast_ref::<winsys::$operation>().copied().map(Into::into)))+
        };
    }
    macro_rules! submissions {
        ($($operation:ident)+) => {
            None$(.or_else(|| error.downcast_ref::<cs::$operation>().and_then(|error| error.winsys().cloned())))+
        };
    }
    let submissions =
        || submissions![Error GangError PollableError QueueError RecordError SubmitError SubmitterError UserQueueError];
    macro_rules! memory {
        ($($operation:ident)+) => {
            None$(.or_else(|| error.downcast_ref::<heaps::$operation>().and_then(heaps::$operation::winsys)))+
        };
    }
    let allocating = || {
        memory![AllocateMemoryError CreateManagerError ExportImageError ExportMemoryError FdTypesError ImportFdError
            ImportHostPointerError MapPlacedError MemoryError SparseQueueError SparseRangeError UnmapError
            WorkingSetError]
    };
    let any = || error.downcast_ref::<winsys::Error>().cloned();
    operations![CreateBoError UserMemoryError ExportError ImportError SetMetadataError BindError CreateBoundError MapError KernelError]
        .or_else(any)
        .or_else(submissions)
        .or_else(allocating)
}

fn refusal(error: &winsys::Error) -> Option<Refusal> {
    let request = match error {
        winsys::Error::Open(winsys::OpenError::Node { .. }) => "open".to_owned(),
        winsys::Error::Kernel(KernelError { request, subject: Subject::Query, .. }) => format!("AMDGPU_INFO {request}"),
        winsys::Error::Kernel(KernelError { request, .. }) | winsys::Error::DeviceLost { request, .. } => {
            (*request).to_owned()
        }
        _ => return None,
    };
    let errno = error.errno()?;
    Some(Refusal { request, errno: errno.raw(), name: format!("{errno:?}") })
}

/// Fails unless the call was refused, with an error that `right` accepts.
pub(crate) fn refused<T, E: Display>(
    what: &str,
    result: Result<T, E>,
    right: impl FnOnce(&E) -> bool,
) -> Result<(), Stop> {
    match result {
        Ok(_) => fail(format!("{what} was not refused")),
        Err(error) if right(&error) => Ok(()),
        Err(error) => fail(format!("{what} was refused for another reason: {error}")),
    }
}

/// Bytes shown from the first that differs.
const SHOWN: usize = 8;

/// Fails with the first byte that differs.
pub(crate) fn same_bytes(found: &[u8], expected: &[u8]) -> Result<(), Stop> {
    let Some(at) = found.iter().zip(expected).position(|(found, expected)| found != expected) else {
        return ensure(found.len() == expected.len(), || {
            format!("{} bytes instead of {}", found.len(), expected.len())
        });
    };
    let around = |bytes: &[u8]| {
        let shown = bytes.iter().skip(at).take(SHOWN);
        shown.map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
    };
    let wrong = found.iter().zip(expected).filter(|(found, expected)| found != expected).count();
    let difference = Difference {
        offset: at as u64,
        of: found.len() as u64,
        found: around(found),
        expected: around(expected),
        bytes: wrong as u64,
    };
    let detail =
        format!("byte {at:#x} of {:#x}: found {}, expected {}", found.len(), difference.found, difference.expected);
    Err(Stop::Fail(Box::new(Failure { detail, difference: Some(difference), ..Failure::default() })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_byte_is_named() {
        let Err(Stop::Fail(evidence)) = same_bytes(&[1, 2, 3], &[1, 9, 3]) else { panic!("passed") };
        assert_eq!(evidence.detail, "byte 0x1 of 0x3: found 02 03, expected 09 03");
        let difference = evidence.difference.unwrap();
        assert_eq!((difference.offset, difference.of, difference.bytes), (1, 3, 1));
        assert!(same_bytes(&[1, 2], &[1, 2]).is_ok());
        assert!(same_bytes(&[1], &[1, 2]).is_err());
    }

    #[test]
    fn a_refusal_must_come_and_for_the_right_reason() {
        assert_eq!(refused("it", Err::<(), _>(22), |&errno| errno == 22), Ok(()));
        let failed = |text: &str| Err(Stop::failed(text));
        assert_eq!(refused("it", Ok::<_, i32>(()), |_| true), failed("it was not refused"));
        assert_eq!(
            refused("it", Err::<(), _>(5), |&errno| errno == 22),
            failed("it was refused for another reason: 5")
        );
    }

    #[test]
    fn what_the_kernel_refused_is_found_under_each_layers_error() {
        let errno = amdgpu_winsys::winsys::Errno::EPERM;
        let refused = KernelError::new("AMDGPU_CS", errno);
        let inner = || winsys::Error::Kernel(refused);
        for failed in [
            Err::<(), _>(inner()).context("a"),
            Err(cs::Error::from(inner())).context("a"),
            Err(heaps::MemoryError::from(inner())).context("a"),
            Err(heaps::AllocateMemoryError::Bo(refused.into())).context("a"),
            Err(winsys::CreateBoundError::Bo(refused.into())).context("a"),
            Err(refused).context("a"),
        ] {
            let Err(Stop::Fail(failure)) = failed else { panic!("passed") };
            let refusal = failure.refusal.unwrap();
            assert_eq!((&*refusal.request, refusal.errno, &*refusal.name), ("AMDGPU_CS", 1, "EPERM"));
        }
    }

    #[test]
    fn a_failure_keeps_its_evidence_when_its_subject_is_added() {
        let stop = same_bytes(&[1], &[2]).unwrap_err().of("type 3");
        let Stop::Fail(failure) = stop else { panic!("skipped") };
        assert_eq!(failure.detail, "type 3: byte 0x0 of 0x1: found 01, expected 02");
        assert!(failure.difference.is_some());
        assert_eq!(Stop::Skip("why".to_owned()).of("it"), Stop::Skip("why".to_owned()));
    }
}
