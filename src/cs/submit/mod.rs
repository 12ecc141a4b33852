//! Queues, gangs and submitters, which submit to the kernel, and the fences that they return.
//!
//! A submission goes down through these files: `queue.rs` takes a `submission.rs` with `options.rs`; `ioctl.rs` has its steps;
//! `in_flight` has what runs; `plan.rs` is what the kernel is told, kept for the next submission; `listing.rs` makes
//! it, with the BOs in `bo_list.rs` and the calls in `batch.rs`. `state.rs` and `fence.rs` wait and retire. `gang.rs`, `queues.rs` and
//! `submitter.rs` stand on top.

mod batch;
pub(super) mod bo_list;
mod fence;
mod gang;
pub(super) mod in_flight;
mod ioctl;
mod listing;
mod options;
mod plan;
mod queue;
mod queues;
pub(super) mod state;
mod submission;
mod submitter;

pub use self::{
    batch::{Call, CallLimits, Calls, MAX_IBS_PER_CALL, plan},
    fence::{Fence, PollableFence},
    gang::Gang,
    options::{BoListMode, Keep, QueueKind, QueueOptions, RetryPolicy},
    queue::Queue,
    queues::Queues,
    submission::{Submission, SyncPoint},
    submitter::{OwnedSubmission, PendingFence, Submitter},
};
