//! Errors that end a replay.

use amdgpu_uapi::Errno;

use crate::format::FileError;

/// The reason why a replay ended early. Calls are numbered from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording cannot be read: its file is missing, damaged or cut off.
    #[error("the recording cannot be read: {0}")]
    File(#[from] FileError),
    /// The client made a different call than the recorded one.
    #[error("call {call} diverges: recorded {recorded}, made {came}")]
    Diverged {
        /// Number of the call in the recording.
        call: u64,
        /// The recorded call.
        recorded: String,
        /// The call that the client made.
        came: String,
    },
    /// The client made a call after the last recorded call.
    #[error("the recording ends before call {call}: {came}")]
    Ended {
        /// Number that the call would have.
        call: u64,
        /// The call that the client made.
        came: String,
    },
    /// A thread waited too long for its turn, because another thread did not make the recorded call that precedes it.
    #[error("call {call} was not made, while {came} waited for it: recorded {recorded}")]
    Stalled {
        /// Number of the missing call in the recording.
        call: u64,
        /// The missing call as recorded.
        recorded: String,
        /// The call of the waiting thread.
        came: String,
    },
    /// The recording contains a result that no kernel could have returned.
    #[error("call {call} cannot be replayed: {why}")]
    Nonsense {
        /// Number of the call in the recording.
        call: u64,
        /// The reason why no kernel could have returned this result.
        why: &'static str,
    },
    /// The host lacks the resources for the recorded call.
    #[error("call {call} cannot be replayed on this host: {errno}")]
    Host {
        /// Number of the call in the recording.
        call: u64,
        /// The error of the host.
        errno: Errno,
    },
    /// The client ended before the end of the recording.
    #[error("call {call} was recorded but not made: {recorded}")]
    Unplayed {
        /// Number of the first call that was not made.
        call: u64,
        /// The first call that was not made, as recorded.
        recorded: String,
    },
}
