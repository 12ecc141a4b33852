//! The errors of recording, submission and completion: one type for each operation, whose variants are what can happen there.
//!
//! Their shared source is [`winsys::Error`]. [`Error`](crate::cs::Error) is the error of any of them.

use crate::{
    cs::{EncodeError, Target},
    uapi::Errno,
    vamgr::VaError,
    winsys::{self, Ip},
};

/// The error of recording commands: of streams, lists and preambles.
///
/// ```
/// use amdgpu_winsys::cs::{RecordError, Stream, pm4};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let target = pm4::Target::gfx(device.info().gfx_level);
/// assert!(matches!(Stream::new(&device, target, 0), Err(RecordError::StreamCapacity { dwords: 0, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
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

    /// The library records no packets for this IP.
    #[error("{ip} accepts neither PM4 nor SDMA packets")]
    UnsupportedIp {
        /// The IP that was requested.
        ip: Ip,
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
    /// [`Stream::detour`](crate::cs::Stream::detour).
    #[error("a list with a detour cannot be executed in a stream")]
    DetouredList,

    /// The VA manager found no address for an IB of the stream.
    #[error(transparent)]
    Address(#[from] VaError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`Queue::new`](crate::cs::Queue::new) and [`Queues::get`](crate::cs::Queues::get).
///
/// ```
/// use amdgpu_winsys::{cs::{Queue, QueueError}, winsys::{Context, Ip, Priority}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let error = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 1).unwrap_err();
/// assert_eq!(error, QueueError::NoSuchRing { ip: Ip::Gfx, ring: 1, rings: 1 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
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

    /// Another [`Queue`](crate::cs::Queue) exists for this ring of the context.
    #[error("context {context} already has a queue for ring {ring} of {ip}")]
    QueueTaken {
        /// The kernel's ID of the context.
        context: u32,
        /// The IP of the queue.
        ip: Ip,
        /// Index of the ring.
        ring: u32,
    },

    /// The commands of the library itself could not be recorded.
    #[error(transparent)]
    Recording(#[from] RecordError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`Queue::submit`](crate::cs::Queue::submit) and [`Gang::submit`](crate::cs::Gang::submit).
///
/// ```
/// use amdgpu_winsys::{cs::{Queue, Submission, SubmitError}, winsys::{Context, Ip, Priority}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
/// assert_eq!(queue.submit(&Submission::default()).unwrap_err(), SubmitError::EmptySubmission);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// A submission without command lists and waits that signals nothing, or that names memory or sets although nothing would run.
    #[error("nothing to submit: no command lists, no waits, no signals")]
    EmptySubmission,

    /// A command list was submitted to a queue of another ring or generation than it was recorded for.
    #[error("a command list for {recorded} cannot be submitted to {queue}")]
    WrongQueue {
        /// The target that the list was recorded for.
        recorded: Target,
        /// The ring and generation of the queue.
        queue: Target,
    },

    /// The preambles use all IBs of a call.
    #[error(transparent)]
    NoRoomForIbs(#[from] NoRoomForIbs),

    /// More BOs than one submission can list.
    #[error("{count} BOs in one submission, at most {limit} are allowed", limit = crate::uapi::BO_LIST_MAX_ENTRIES)]
    TooManyBos {
        /// Number of BOs in the submission.
        count: usize,
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

    /// The shares of a gang are not as many as its followers.
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

    /// The commands of the library itself could not be recorded.
    #[error(transparent)]
    Recording(#[from] RecordError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`Gang::new`](crate::cs::Gang::new).
///
/// ```
/// use amdgpu_winsys::{cs::{Gang, GangError, GangFault, Queue}, winsys::{Context, Ip, Priority}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
/// assert_eq!(Gang::new(&queue, &[]).unwrap_err(), GangError::NoGang(GangFault::NoFollowers));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GangError {
    /// The queues cannot form a gang.
    #[error("the queues cannot form a gang: {0}")]
    NoGang(#[from] GangFault),

    /// The commands of the library itself could not be recorded.
    #[error(transparent)]
    Recording(#[from] RecordError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`Submitter`](crate::cs::Submitter) and of the [`PendingFence`](crate::cs::PendingFence)s of its submissions.
///
/// ```
/// use amdgpu_winsys::{VkResult, cs::SubmitterError};
///
/// assert_eq!(SubmitterError::Abandoned.vk_result(), VkResult::DeviceLost);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitterError {
    /// The submitter was dropped, or its thread ended, before it submitted this submission.
    #[error("the submitter ended before it made the submission")]
    Abandoned,

    /// The system could not start a thread.
    #[error("cannot start the thread of a submitter: {reason}")]
    Thread {
        /// The system's error message.
        reason: String,
    },

    /// The submission could not be made.
    #[error(transparent)]
    Submit(#[from] SubmitError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`UserQueue`](crate::cs::UserQueue).
///
/// ```
/// use amdgpu_winsys::{cs::{UserQueue, UserQueueError}, winsys::Ip};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let error = UserQueue::new(&device, Ip::VcnDec).unwrap_err();
/// assert_eq!(error, UserQueueError::UnsupportedIp { ip: Ip::VcnDec });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserQueueError {
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

    /// The submission is larger than the ring of the user queue, or the ring did not become free in time.
    #[error("no room for {dwords} dwords in the ring of a user queue")]
    RingFull {
        /// Dwords needed, or the size of the ring.
        dwords: usize,
    },

    /// The ring does not have this packet, or a value does not fit its field. Nothing was recorded.
    #[error(transparent)]
    Encode(#[from] EncodeError),

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// The error of [`Fence::to_pollable`](crate::cs::Fence::to_pollable).
///
/// ```
/// use amdgpu_winsys::{VkResult, cs::PollableError, winsys::Errno};
///
/// let error = PollableError::NoDescriptor { errno: Errno::EMFILE };
/// assert_eq!(error.vk_result(), VkResult::OutOfHostMemory);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PollableError {
    /// The process or the system has no free file descriptor.
    #[error("no file descriptor for a fence: {errno}")]
    NoDescriptor {
        /// The errno of the failed system call.
        errno: Errno,
    },

    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

/// Takes each error of the winsys layer, of any operation.
macro_rules! over_winsys {
    ($($operation:ident)+) => {
        $(impl<E: Into<winsys::Error>> From<E> for $operation {
            fn from(error: E) -> Self {
                Self::Winsys(error.into())
            }
        })+
    };
}

over_winsys! { RecordError QueueError SubmitError GangError SubmitterError UserQueueError PollableError }

/// The error of limits that leave no room for a single IB in a call.
///
/// ```
/// use amdgpu_winsys::cs::{CallLimits, NoRoomForIbs, plan};
///
/// let limits = CallLimits { per_call: 4, around_first: 4, around_further: 1 };
/// let error = plan([1].into_iter(), limits).err();
/// assert_eq!(error, Some(NoRoomForIbs { around: 4, per_call: 4 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{around} preamble and postamble IBs leave no room in a kernel submission of at most {per_call}")]
pub struct NoRoomForIbs {
    /// Number of preamble and postamble IBs.
    pub around: usize,
    /// The maximum number of IBs in one call.
    pub per_call: usize,
}

/// The maximum number of queues in a gang, including the leader.
///
/// Source: Linux 6.12 `amdgpu_cs.h`, `AMDGPU_CS_GANG_SIZE`.
pub const MAX_GANG: usize = 4;

/// The reason why queues cannot form a gang.
///
/// ```
/// use amdgpu_winsys::cs::{Gang, GangError, GangFault};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// assert_eq!(Gang::new(&queue, &[]).unwrap_err(), GangError::NoGang(GangFault::NoFollowers));
/// let five = Gang::new(&queue, &[&queue; 4]).unwrap_err();
/// assert_eq!(five, GangError::NoGang(GangFault::TooMany { count: 5 }));
/// assert_eq!(Gang::new(&queue, &[&queue]).unwrap_err(), GangError::NoGang(GangFault::Twice { at: 0 }));
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
        /// Number of shares passed to [`Gang::submit`](crate::cs::Gang::submit).
        given: usize,
        /// Number of followers of the gang.
        followers: usize,
    },
}
