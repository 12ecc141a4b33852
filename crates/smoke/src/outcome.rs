//! How a check says what it found.

use std::fmt::Display;

/// Why a check did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It does not hold: the evidence.
    Fail(String),
    /// It cannot be tried here: the reason.
    Skip(String),
}

/// What a check returns: figures for the report, or why it stopped.
pub(crate) type Outcome = Result<String, Stop>;

/// Ends a check as failed.
pub(crate) fn fail<T>(evidence: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fail(evidence.into()))
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

/// Says what was being done when an error stopped it.
pub(crate) trait Doing<T> {
    /// Turns the error into a failure with `what` before it.
    fn doing(self, what: &str) -> Result<T, Stop>;
}

impl<T, E: Display> Doing<T> for Result<T, E> {
    fn doing(self, what: &str) -> Result<T, Stop> {
        self.map_err(|error| Stop::Fail(format!("{what}: {error}")))
    }
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
    fail(format!("byte {at:#x} of {:#x}: found {}, expected {}", found.len(), around(found), around(expected)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_byte_is_named() {
        let Err(Stop::Fail(evidence)) = same_bytes(&[1, 2, 3], &[1, 9, 3]) else { panic!("passed") };
        assert_eq!(evidence, "byte 0x1 of 0x3: found 02 03, expected 09 03");
        assert!(same_bytes(&[1, 2], &[1, 2]).is_ok());
        assert!(same_bytes(&[1], &[1, 2]).is_err());
    }

    #[test]
    fn a_refusal_must_come_and_for_the_right_reason() {
        assert_eq!(refused("it", Err::<(), _>(22), |&errno| errno == 22), Ok(()));
        let failed = |text: &str| Err(Stop::Fail(text.to_owned()));
        assert_eq!(refused("it", Ok::<_, i32>(()), |_| true), failed("it was not refused"));
        assert_eq!(
            refused("it", Err::<(), _>(5), |&errno| errno == 22),
            failed("it was refused for another reason: 5")
        );
    }
}
