//! Errors of gangs.

/// The most queues that run together, leader included.
///
/// Source: Linux 6.12 `amdgpu_cs.h`, `AMDGPU_CS_GANG_SIZE`.
pub const MAX_GANG: usize = 4;

/// The reason why queues cannot form a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GangFault {
    /// A leader alone.
    #[error("a leader without followers")]
    NoFollowers,
    /// More than [`MAX_GANG`].
    #[error("{count} queues, at most {MAX_GANG} run together")]
    TooMany {
        /// Queues, leader included.
        count: usize,
    },
    /// A queue is named twice.
    #[error("follower {at} is in the gang already")]
    Twice {
        /// Index of the member, from 0.
        at: usize,
    },
    /// A queue of another context.
    #[error("follower {at} belongs to another context than the leader")]
    OtherContext {
        /// Index of the member, from 0.
        at: usize,
    },
    /// Not one share for each follower.
    #[error("{given} shares for {followers} followers")]
    Shares {
        /// Shares given.
        given: usize,
        /// Followers there are.
        followers: usize,
    },
}
