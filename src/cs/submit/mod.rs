//! Queues, gangs and submitters, which submit to the kernel, and the fences that they return.

mod call;
mod fence;
mod gang;
mod gang_fault;
mod planner;
mod queue;
mod queue_options;
mod queues;
mod send;
pub(super) mod shared;
mod submission;
pub(super) mod submit_buffers;
mod submitter;

pub use self::{
    fence::{Fence, PollableFence},
    gang::Gang,
    gang_fault::{GangFault, MAX_GANG},
    planner::{Call, CallLimits, Calls, MAX_IBS_PER_CALL, NoRoomForIbs, plan},
    queue::Queue,
    queue_options::{BoListMode, QueueKind, QueueOptions, RetryPolicy},
    queues::Queues,
    submission::{Keep, Submission, SyncPoint},
    submitter::{OwnedSubmission, PendingFence, Submitter},
};
