//! Errors of recording, submission and completion.

use super::{EncodeError, MAX_GANG, NoRoomForIbs, Target};
use crate::{
    uapi::Errno,
    vamgr::VaError,
    vk_result::VkResult,
    winsys::{self, Ip, Loss},
};

/// The result of a command-submission call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the command-submission layer.
///
/// ```
/// use amdgpu_winsys::{cs::{Error, Queue, Submission}, heaps::VkResult, winsys::Ip};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// let error = Queue::new(&context, Ip::Gfx, 3).unwrap_err();
/// assert_eq!(error, Error::NoSuchRing { ip: Ip::Gfx, ring: 3, rings: 1 });
/// let error = Queue::new(&context, Ip::Gfx, 0).unwrap_err(); // it exists already
/// assert_eq!(error, Error::QueueTaken { context: context.id(), ip: Ip::Gfx, ring: 0 });
/// let error = queue.submit(&Submission::default()).unwrap_err();
/// assert_eq!((error.loss(), error), (None, Error::EmptySubmission)); // no work was lost
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ring does not have this packet, or a value does not fit its field. Nothing was recorded.
    #[error(transparent)]
    Encode(#[from] EncodeError),

    /// More dwords in one call than an IB can hold. Nothing was recorded.
    #[error("{needed} dwords in one call, an IB holds at most {most}")]
    TooLong {
        /// Number of dwords requested.
        needed: usize,
        /// The maximum number of dwords that an IB can hold, not counting its end.
        most: usize,
    },

    /// A stream capacity of zero, or above the limit of an IB's size field.
    #[error("a stream cannot begin with {dwords} dwords: the capacity must be 1 to {most}")]
    StreamCapacity {
        /// Number of dwords requested.
        dwords: usize,
        /// The maximum number of dwords that an IB can hold, not counting its end.
        most: usize,
    },

    /// The chip has no ring of this IP, or no ring with this index.
    #[error("ring {ring} of {ip} does not exist: the chip has {rings} rings")]
    NoSuchRing {
        /// The IP that was requested.
        ip: Ip,
        /// The requested index of the ring, from 0.
        ring: u32,
        /// Number of rings that the IP has.
        rings: u32,
    },

    /// The library records no packets for this IP.
    #[error("{ip} accepts neither PM4 nor SDMA packets")]
    UnsupportedIp {
        /// The IP that was requested.
        ip: Ip,
    },

    /// A command list was submitted to a queue of another ring or generation than it was recorded for.
    #[error("a command list for {recorded} cannot be submitted to {queue}")]
    WrongQueue {
        /// The target that the list was recorded for.
        recorded: Target,
        /// The ring and generation of the queue.
        queue: Target,
    },

    /// A command list was executed in a stream for another ring or generation.
    #[error("commands for {recorded} cannot be executed in a stream for {stream}")]
    WrongStream {
        /// The target that the list was recorded for.
        recorded: Target,
        /// The ring and generation of the stream.
        stream: Target,
    },

    /// A command list that calls others was executed in a secondary stream. Calls cannot be nested.
    #[error("a list that calls others cannot be executed in a secondary stream")]
    NestedCall,

    /// A command list with another one chained to it was executed in a stream.
    #[error("a list with another one chained to it cannot be executed in a stream")]
    ChainedList,

    /// A command list that jumps through commands outside it was executed in a stream, see
    /// [`Stream::detour`](super::Stream::detour).
    #[error("a list with a detour cannot be executed in a stream")]
    DetouredList,

    /// Another [`Queue`](super::Queue) exists for this ring of the context.
    #[error("context {context} already has a queue for ring {ring} of {ip}")]
    QueueTaken {
        /// The kernel's ID of the context.
        context: u32,
        /// The IP of the queue.
        ip: Ip,
        /// Index of the ring.
        ring: u32,
    },

    /// A submission without command lists and waits that signals nothing, or that names memory or sets although nothing would run.
    #[error("nothing to submit: no command lists, no waits, no signals")]
    EmptySubmission,

    /// The preambles use all IBs of a call.
    #[error(transparent)]
    NoRoomForIbs(#[from] NoRoomForIbs),

    /// The queues cannot form a gang.
    #[error("the queues cannot form a gang: {0}")]
    NoGang(#[from] GangFault),

    /// The part of one queue in a gang submission does not fit into one kernel call, and a gang submission cannot be split.
    #[error("{ibs} IBs for ring {ring} of {ip} in a gang, at most {limit} fit into one call")]
    GangTooLong {
        /// The IP of the queue.
        ip: Ip,
        /// Index of the ring.
        ring: u32,
        /// Number of IBs of this part.
        ibs: usize,
        /// The maximum number of IBs that fit.
        limit: usize,
    },

    /// The submitter was dropped, or its thread ended, before it submitted this submission.
    #[error("the submitter ended before it made the submission")]
    Abandoned,

    /// The system could not start a thread.
    #[error("cannot start the thread of a submitter: {reason}")]
    Thread {
        /// The system's error message.
        reason: String,
    },

    /// The process or the system has no free file descriptor.
    #[error("no file descriptor for a fence: {errno}")]
    NoDescriptor {
        /// The errno of the failed system call.
        errno: Errno,
    },

    /// A submission with more IBs than fit into one kernel call was split, and the kernel refused a call after it had accepted
    /// earlier ones. The accepted calls run, and their resources stay alive. No sync object is signalled.
    #[error("call {part} of {parts} of a submission was refused: {source}")]
    PartlySubmitted {
        /// Index of the refused call, from 0.
        part: usize,
        /// Number of kernel calls of the submission.
        parts: usize,
        /// The error of the refused kernel call.
        source: winsys::Error,
    },

    /// The submission is larger than the ring of the user queue, or the ring did not become free in time.
    #[error("no room for {dwords} dwords in the ring of a user queue")]
    RingFull {
        /// Dwords needed, or the size of the ring.
        dwords: usize,
    },

    /// More BOs than one submission can list.
    #[error("{count} BOs in one submission, at most {limit} are allowed", limit = crate::uapi::BO_LIST_MAX_ENTRIES)]
    TooManyBos {
        /// Number of BOs in the submission.
        count: usize,
    },

    /// The VA manager found no address for an IB of the stream.
    #[error(transparent)]
    Address(#[from] VaError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
}

impl Error {
    /// Returns the loss of work that the error reports, if any. All other errors are recoverable, except [`Error::Abandoned`],
    /// after which the submitter submits nothing more. Out of memory is recoverable too, although RADV reports it as a lost
    /// device (Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_queue_submit`).
    pub fn loss(&self) -> Option<Loss> {
        match self {
            Self::Winsys(error) | Self::PartlySubmitted { source: error, .. } => error.loss(),
            _ => None,
        }
    }

    /// Returns the result that a Vulkan driver returns for this error.
    ///
    /// Follows RADV (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit` and `radv_amdgpu_ctx_create`), except that a device is
    /// lost only if its own work was lost, or if a submitter has [abandoned](Error::Abandoned) a submission. A submission that came
    /// too early, or that depends on a lost queue of another client, is a recoverable error.
    pub fn vk_result(&self) -> VkResult {
        match self {
            _ if self.loss().is_some() => VkResult::DeviceLost,
            Self::Winsys(error) | Self::PartlySubmitted { source: error, .. } => error.vk_result(),
            Self::Address(_) | Self::TooManyBos { .. } => VkResult::OutOfDeviceMemory,
            Self::Thread { .. } | Self::NoDescriptor { .. } => VkResult::OutOfHostMemory,
            Self::Abandoned => VkResult::DeviceLost,
            _ => VkResult::Unknown,
        }
    }
}

/// The reason why queues cannot form a gang.
///
/// ```
/// use amdgpu_winsys::cs::{Error, Gang, GangFault};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// assert_eq!(Gang::new(&queue, &[]).unwrap_err(), Error::NoGang(GangFault::NoFollowers));
/// let five = Gang::new(&queue, &[&queue; 4]).unwrap_err();
/// assert_eq!(five, Error::NoGang(GangFault::TooMany { count: 5 }));
/// assert_eq!(Gang::new(&queue, &[&queue]).unwrap_err(), Error::NoGang(GangFault::Twice { at: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GangFault {
    /// The gang has a leader but no followers.
    #[error("there are no followers")]
    NoFollowers,
    /// The gang has more than [`MAX_GANG`] queues.
    #[error("{count} queues, a gang has at most {MAX_GANG}")]
    TooMany {
        /// Number of queues, including the leader.
        count: usize,
    },
    /// A queue occurs twice in the gang.
    #[error("follower {at} is already in the gang")]
    Twice {
        /// Index of the follower, from 0.
        at: usize,
    },
    /// A follower and the leader belong to different contexts.
    #[error("follower {at} belongs to another context than the leader")]
    OtherContext {
        /// Index of the follower, from 0.
        at: usize,
    },
    /// The number of shares differs from the number of followers.
    #[error("{given} shares for {followers} followers")]
    Shares {
        /// Number of shares passed to [`Gang::submit`](super::Gang::submit).
        given: usize,
        /// Number of followers of the gang.
        followers: usize,
    },
}
