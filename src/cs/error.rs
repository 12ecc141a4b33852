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

    /// More dwords at once than one IB holds. Nothing was recorded.
    #[error("{needed} dwords at once, an IB holds {most}")]
    TooLong {
        /// Dwords asked for.
        needed: usize,
        /// Dwords that one IB has for packets.
        most: usize,
    },

    /// A stream capacity of zero, or beyond what an IB's size field holds.
    #[error("a stream cannot begin with {dwords} dwords, only with 1 to {most}")]
    StreamCapacity {
        /// Dwords asked for.
        dwords: usize,
        /// Dwords that one IB has for packets.
        most: usize,
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

    /// A list was to run in a stream for another ring.
    #[error("recorded for {recorded}, run in a stream for {stream}")]
    WrongStream {
        /// What the list was recorded for.
        recorded: Target,
        /// What the stream is for.
        stream: Target,
    },

    /// A list that calls others was to run in a stream that is itself to be called: calls do not nest.
    #[error("a list that calls others cannot run in a secondary stream")]
    NestedCall,

    /// A submission without command lists.
    #[error("a submission needs at least one command list")]
    NothingToSubmit,

    /// The kernel took some calls of a submission that has more IBs than fit into one, and refused the next. What it
    /// took runs and is kept alive; no sync object is signalled.
    #[error("call {part} of {parts} of a submission was refused: {source}")]
    PartlySubmitted {
        /// The call that was refused, from 0.
        part: usize,
        /// Calls in all.
        parts: usize,
        /// Why.
        source: winsys::Error,
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
