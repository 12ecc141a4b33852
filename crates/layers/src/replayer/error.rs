//! Errors that end a replay early.

use amdgpu_uapi::Errno;

use crate::format::FileError;

/// The reason why a replay ended early. Calls are numbered from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording cannot be read on.
    #[error("the recording cannot be read: {0}")]
    File(#[from] FileError),
    /// The client does something else than it did when it was recorded.
    #[error("call {call} diverges: recorded {recorded}, came {came}")]
    Diverged {
        /// Number of the call.
        call: u64,
        /// The recorded call.
        recorded: String,
        /// The call that came.
        came: String,
    },
    /// The client goes on after the recording's last call.
    #[error("the recording ends before call {call}: {came}")]
    Ended {
        /// Number that the call would have had.
        call: u64,
        /// The call that came.
        came: String,
    },
    /// A thread waited for its turn in vain: the call before its own never came.
    #[error("call {call} did not come, while {came} waited for it: recorded {recorded}")]
    Stalled {
        /// Number of the call.
        call: u64,
        /// The recorded call.
        recorded: String,
        /// The call that waited.
        came: String,
    },
    /// The recording says what no kernel could have done.
    #[error("call {call} cannot be replayed: {why}")]
    Nonsense {
        /// Number of the call.
        call: u64,
        /// The fault.
        why: &'static str,
    },
    /// The host has no room for what was recorded.
    #[error("call {call} cannot be replayed on this host: {errno}")]
    Host {
        /// Number of the call.
        call: u64,
        /// The cause.
        errno: Errno,
    },
    /// The client ended before the recording did.
    #[error("call {call} was recorded and did not come: {recorded}")]
    Unplayed {
        /// Number of the call.
        call: u64,
        /// The recorded call.
        recorded: String,
    },
}
