//! Results of a check's body.

use std::{
    fmt::{Debug, Display},
    io::{self, Write},
};

/// The reason why a check did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It does not hold: the evidence.
    Fail(String),
    /// It cannot be tried here: the reason.
    Skip(String),
}

/// Result of a check's body: figures for its line, or the reason it stopped.
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
pub(crate) fn same<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Result<(), Stop> {
    ensure(found == expected, || format!("{what}: found {found:?}, expected {expected:?}"))
}

/// Fails unless the call ended with exactly this error.
#[expect(clippy::needless_pass_by_value, reason = "a code that was named for the comparison")]
pub(crate) fn ends_with<T, E: PartialEq + Debug>(what: &str, result: Result<T, E>, expected: E) -> Result<(), Stop> {
    match result {
        Err(error) if error == expected => Ok(()),
        Err(error) => fail(format!("{what}: {error:?} instead of {expected:?}")),
        Ok(_) => fail(format!("{what}: success instead of {expected:?}")),
    }
}

/// Fails with the first byte that differs.
pub(crate) fn same_bytes(what: &str, found: &[u8], expected: &[u8]) -> Result<(), Stop> {
    same(&format!("{what}, length"), found.len(), expected.len())?;
    let differs = found.iter().zip(expected).enumerate().find(|(_, (found, expected))| found != expected);
    match differs {
        Some((at, (found, expected))) => {
            fail(format!("{what}: byte {at:#x} is {found:#04x}, expected {expected:#04x}"))
        }
        None => Ok(()),
    }
}

/// Prints a line; a reader that went away is no reason to stop.
pub(crate) fn say(line: &str) {
    let _: io::Result<()> = writeln!(io::stdout(), "{line}");
}

/// An extension of results that adds the current operation to an error.
pub(crate) trait ErrorContext<T> {
    /// Turns the error into a failure with `what` before it.
    fn context(self, what: &str) -> Result<T, Stop>;
}

impl<T, E: Display> ErrorContext<T> for Result<T, E> {
    fn context(self, what: &str) -> Result<T, Stop> {
        self.map_err(|error| Stop::Fail(format!("{what}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_byte_is_named() {
        assert_eq!(same_bytes("it", &[1, 2, 3], &[1, 9, 3]), fail("it: byte 0x1 is 0x02, expected 0x09"));
        assert_eq!(same_bytes("it", &[1], &[1]), Ok(()));
        assert!(same_bytes("it", &[1], &[1, 2]).is_err());
    }

    #[test]
    fn a_call_must_end_with_the_very_error() {
        assert_eq!(ends_with("it", Err::<(), _>(5), 5), Ok(()));
        assert_eq!(ends_with("it", Err::<(), _>(5), 6), fail("it: 5 instead of 6"));
        assert_eq!(ends_with("it", Ok::<_, i32>(()), 6), fail("it: success instead of 6"));
    }
}
