//! What can go wrong between recording and completion.

use super::{EncodeError, Target};
use crate::{vamgr::VaError, winsys, winsys::Ip};

/// The result of a command-submission call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the command-submission layer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A packet that does not exist for the ring, or whose value does not fit. Nothing was recorded.
    #[error(transparent)]
    Encode(#[from] EncodeError),

    /// The stream's IB has no room for the packet. Nothing was recorded.
    #[error("the stream has {left} of {capacity} dwords left, {needed} are needed")]
    StreamFull {
        /// Dwords the packet takes.
        needed: usize,
        /// Dwords left.
        left: usize,
        /// Dwords the stream holds.
        capacity: usize,
    },

    /// A stream capacity of zero, or beyond what an IB's size field holds.
    #[error("a stream cannot hold {dwords} dwords, only 1 to {most}", most = super::MAX_IB_DWORDS)]
    StreamCapacity {
        /// Dwords asked for.
        dwords: usize,
    },

    /// The chip has no ring of this IP, or fewer.
    #[error("ring {ring} of {ip} does not exist: the chip has {rings}")]
    NoSuchRing {
        /// The IP.
        ip: Ip,
        /// The ring asked for.
        ring: u32,
        /// Rings there are.
        rings: u32,
    },

    /// The library records no packets for this IP.
    #[error("{ip} takes neither PM4 nor SDMA packets")]
    NoLanguage {
        /// The IP.
        ip: Ip,
    },

    /// A stream was recorded for another ring than the one it is submitted to.
    #[error("recorded for {recorded}, submitted to {queue}")]
    WrongQueue {
        /// What the stream was recorded for.
        recorded: Target,
        /// What the queue reads.
        queue: Target,
    },

    /// A submission without command lists.
    #[error("a submission needs at least one command list")]
    NothingToSubmit,

    /// More IBs than one submission may carry.
    #[error("{count} IBs in one submission to {ip}, at most {limit} are allowed")]
    TooManyIbs {
        /// IBs given.
        count: usize,
        /// The IP.
        ip: Ip,
        /// The kernel's limit.
        limit: u32,
    },

    /// More BOs than one submission may list.
    #[error("{count} BOs in one submission, at most {limit} are allowed", limit = crate::uapi::BO_LIST_MAX_ENTRIES)]
    TooManyBos {
        /// BOs given.
        count: usize,
    },

    /// No address for the stream's IB.
    #[error(transparent)]
    Address(#[from] VaError),

    /// The layer below refused.
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
}
