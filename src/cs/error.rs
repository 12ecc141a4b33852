//! Errors of recording, submission and completion.

use super::{EncodeError, GangFault, NoRoomForIbs, Target};
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
/// let error = Queue::new(&context, Ip::Gfx, 0).unwrap_err(); // there is one already
/// assert_eq!(error, Error::QueueTaken { context: context.id(), ip: Ip::Gfx, ring: 0 });
/// let error = queue.submit(&Submission::default()).unwrap_err();
/// assert_eq!((error.loss(), error), (None, Error::NothingToSubmit)); // nothing is lost: try another one
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        /// The target that the stream was recorded for.
        recorded: Target,
        /// The target that the queue reads.
        queue: Target,
    },

    /// A list was to run in a stream for another ring.
    #[error("recorded for {recorded}, run in a stream for {stream}")]
    WrongStream {
        /// The target that the list was recorded for.
        recorded: Target,
        /// The target of the stream.
        stream: Target,
    },

    /// A list that calls others was to run in a stream that is itself to be called: calls do not nest.
    #[error("a list that calls others cannot run in a secondary stream")]
    NestedCall,

    /// A list that others are chained to was to run in a stream.
    #[error("a list with another one chained to it cannot run in a stream")]
    ChainedList,

    /// A list that leads through memory which is not its own was to run in a stream.
    #[error("a list with a detour cannot run in a stream")]
    DetouredList,

    /// Another object stands for this queue of the context.
    #[error("ring {ring} of {ip} of context {context} is taken: a queue has one object")]
    QueueTaken {
        /// The context's id.
        context: u32,
        /// The IP.
        ip: Ip,
        /// The ring.
        ring: u32,
    },

    /// A submission without command lists that neither waits for anything nor signals anything.
    #[error("nothing to submit: no command list, nothing to wait for, nothing to signal")]
    NothingToSubmit,

    /// The preambles take all IBs of a call.
    #[error(transparent)]
    NoRoomForIbs(#[from] NoRoomForIbs),

    /// Queues that cannot run together.
    #[error("not a gang: {0}")]
    NoGang(#[from] GangFault),

    /// A share of a gang does not fit into one call of the kernel, and gangs cannot be split.
    #[error("{ibs} IBs for ring {ring} of {ip} in a gang, at most {limit} fit")]
    GangTooLong {
        /// The IP.
        ip: Ip,
        /// The ring.
        ring: u32,
        /// IBs given.
        ibs: usize,
        /// IBs that fit.
        limit: usize,
    },

    /// The thread of a submitter has ended, or its submitter was dropped before it came to the submission.
    #[error("the submitter was dropped before it came to the submission")]
    Abandoned,

    /// The system could not start a thread.
    #[error("cannot start the thread of a submitter: {reason}")]
    Thread {
        /// The system's message.
        reason: String,
    },

    /// The system has no free descriptor.
    #[error("no descriptor for a fence: {errno}")]
    NoDescriptor {
        /// The cause.
        errno: Errno,
    },

    /// The kernel took some calls of a submission that has more IBs than fit into one, and refused the next. The calls
    /// that it took run and are kept alive; no sync object is signalled.
    #[error("call {part} of {parts} of a submission was refused: {source}")]
    PartlySubmitted {
        /// The call that was refused, from 0.
        part: usize,
        /// Calls in all.
        parts: usize,
        /// The cause.
        source: winsys::Error,
    },

    /// A submission that the ring of a user queue has no room for, or had none for long.
    #[error("no room for {dwords} dwords in the ring of a user queue")]
    RingFull {
        /// Dwords needed, or all that the ring has.
        dwords: usize,
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
    /// As RADV does (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit` and `radv_amdgpu_ctx_create`), but a device is lost only
    /// when work was, or when a submitter has [abandoned](Error::Abandoned) it: a submission that came too early, or that depends on
    /// another client's queue which was lost, is a recoverable error.
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
