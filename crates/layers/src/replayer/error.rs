//! Why replays end early.

use nix::errno::Errno;

use crate::format::FileError;

/// Why a replay did not go on. Calls are numbered from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording cannot be read on.
    #[error("the recording cannot be read: {0}")]
    File(#[from] FileError),
    /// The client does something else than it did when it was recorded.
    #[error("call {call} diverges: recorded {recorded}, came {came}")]
    Diverged {
        /// Which call.
        call: u64,
        /// What was recorded.
        recorded: String,
        /// What came.
        came: String,
    },
    /// The client goes on after the recording's last call.
    #[error("the recording ends before call {call}: {came}")]
    Ended {
        /// Which call it would have been.
        call: u64,
        /// What came.
        came: String,
    },
    /// A thread waited for its turn in vain: the call before its own never came.
    #[error("call {call} did not come, while {came} waited for it: recorded {recorded}")]
    Stalled {
        /// Which call.
        call: u64,
        /// What was recorded.
        recorded: String,
        /// What waited.
        came: String,
    },
    /// The recording says what no kernel could have done.
    #[error("call {call} cannot be replayed: {why}")]
    Nonsense {
        /// Which call.
        call: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The host has no room for what was recorded.
    #[error("call {call} cannot be replayed on this host: {errno}")]
    Host {
        /// Which call.
        call: u64,
        /// Why not.
        errno: Errno,
    },
    /// The client ended before the recording did.
    #[error("call {call} was recorded and did not come: {recorded}")]
    Unplayed {
        /// Which call.
        call: u64,
        /// What was recorded.
        recorded: String,
    },
}
