//! Errors of recording, submission and completion.

pub use self::operations::{
    GangError, GangFault, MAX_GANG, NoRoomForIbs, PollableError, QueueError, RecordError, SubmitError, SubmitterError,
    UserQueueError,
};
use crate::{
    vk_result::VkResult,
    winsys::{self, Loss},
};

mod operations;

/// The result of recording commands.
pub type RecordResult<T, E = RecordError> = std::result::Result<T, E>;

/// The result of an operation of the command-submission layer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of any operation of the command-submission layer. Each operation has an error of its own, which converts to this one.
///
/// ```
/// use amdgpu_winsys::{cs::{Error, Queue, QueueError, SubmitError, Submission}, winsys::Ip};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// let error = Queue::new(&context, Ip::Gfx, 3).unwrap_err();
/// assert_eq!(error, QueueError::NoSuchRing { ip: Ip::Gfx, ring: 3, rings: 1 });
/// let error = Queue::new(&context, Ip::Gfx, 0).unwrap_err(); // it exists already
/// assert_eq!(error, QueueError::QueueTaken { context: context.id(), ip: Ip::Gfx, ring: 0 });
/// let error = queue.submit(&Submission::default()).unwrap_err();
/// assert_eq!(error, SubmitError::EmptySubmission);
/// assert_eq!(Error::from(error).loss(), None); // no work was lost
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Commands could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A queue could not be created.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A submission could not be made.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// A gang could not be created.
    #[error(transparent)]
    Gang(#[from] GangError),
    /// The thread of a submitter could not be started, or a submission of it was not made.
    #[error(transparent)]
    Submitter(#[from] SubmitterError),
    /// An operation on a user queue failed.
    #[error(transparent)]
    UserQueue(#[from] UserQueueError),
    /// A fence for an event loop could not be created.
    #[error(transparent)]
    Pollable(#[from] PollableError),
    /// The kernel or the winsys layer refused a request.
    #[error(transparent)]
    Winsys(winsys::Error),
}

impl<E: Into<winsys::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Winsys(error.into())
    }
}

/// Gives each error the questions about its source and its result. `$source` finds the error of the winsys layer below it, `$own` is
/// the result of an error without one.
macro_rules! questions {
    ($($operation:ident $source:expr, $own:expr;)+) => {
        $(impl $operation {
            /// Returns the error of the winsys layer that is the source of this one, if there is one.
            pub fn winsys(&self) -> Option<&winsys::Error> {
                let source: fn(&Self) -> Option<&winsys::Error> = $source;
                source(self)
            }

            /// Returns the loss of work that the error reports, if any. All other errors are recoverable, except
            /// [`SubmitterError::Abandoned`], after which the submitter submits nothing more. Out of memory is recoverable too,
            /// although RADV reports it as a lost device (Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`, `radv_queue_submit`).
            pub fn loss(&self) -> Option<Loss> {
                self.winsys().and_then(winsys::Error::loss)
            }

            /// Returns the result that a Vulkan driver returns for this error.
            ///
            /// Follows RADV (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit` and `radv_amdgpu_ctx_create`), except that a
            /// device is lost only if its own work was lost, or if a submitter has
            /// [abandoned](SubmitterError::Abandoned) a submission. A submission that came too early, or that depends on a lost
            /// queue of another client, is a recoverable error.
            pub fn vk_result(&self) -> VkResult {
                let own: fn(&Self) -> VkResult = $own;
                self.winsys().map_or_else(|| own(self), winsys::Error::vk_result)
            }
        })+
    };
}

questions! {
    RecordError |error| match error {
        Self::Winsys(source) => Some(source),
        _ => None,
    }, |error| if matches!(error, Self::Address(_)) { VkResult::OutOfDeviceMemory } else { VkResult::Unknown };
    QueueError |error| match error {
        Self::Winsys(source) => Some(source),
        Self::Recording(error) => error.winsys(),
        _ => None,
    }, |error| if let Self::Recording(error) = error { error.vk_result() } else { VkResult::Unknown };
    SubmitError |error| match error {
        Self::Winsys(source) | Self::PartlySubmitted { source, .. } => Some(source),
        Self::Recording(error) => error.winsys(),
        _ => None,
    }, |error| match error {
        Self::TooManyBos { .. } => VkResult::OutOfDeviceMemory,
        Self::Recording(error) => error.vk_result(),
        _ => VkResult::Unknown,
    };
    GangError |error| match error {
        Self::Winsys(source) => Some(source),
        Self::Recording(error) => error.winsys(),
        Self::NoGang(_) => None,
    }, |error| if let Self::Recording(error) = error { error.vk_result() } else { VkResult::Unknown };
    SubmitterError |error| match error {
        Self::Winsys(source) => Some(source),
        Self::Submit(error) => error.winsys(),
        Self::Abandoned | Self::Thread { .. } => None,
    }, |error| match error {
        Self::Thread { .. } => VkResult::OutOfHostMemory,
        Self::Abandoned => VkResult::DeviceLost,
        Self::Submit(error) => error.vk_result(),
        Self::Winsys(error) => error.vk_result(),
    };
    UserQueueError |error| match error {
        Self::Winsys(source) => Some(source),
        _ => None,
    }, |_| VkResult::Unknown;
    PollableError |error| match error {
        Self::Winsys(source) => Some(source),
        Self::NoDescriptor { .. } => None,
    }, |_| VkResult::OutOfHostMemory;
    Error |error| match error {
        Self::Record(error) => error.winsys(),
        Self::Queue(error) => error.winsys(),
        Self::Submit(error) => error.winsys(),
        Self::Gang(error) => error.winsys(),
        Self::Submitter(error) => error.winsys(),
        Self::UserQueue(error) => error.winsys(),
        Self::Pollable(error) => error.winsys(),
        Self::Winsys(error) => Some(error),
    }, |error| match error {
        Self::Record(error) => error.vk_result(),
        Self::Queue(error) => error.vk_result(),
        Self::Submit(error) => error.vk_result(),
        Self::Gang(error) => error.vk_result(),
        Self::Submitter(error) => error.vk_result(),
        Self::UserQueue(error) => error.vk_result(),
        Self::Pollable(error) => error.vk_result(),
        Self::Winsys(error) => error.vk_result(),
    };
}
