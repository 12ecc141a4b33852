//! Recording and submitting command streams.
//!
//! The packets are the crate `amdgpu-packets`, re-exported here: [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Above it, a [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it into a [`CommandList`],
//! and a [`Queue`] submits lists with the memory they touch. What a submission uses lives until its [`Fence`].
//!
//! [`commands`] spares one the packets: copies, fills, barriers, timestamps and the like, the same on every ring.
//!
//! [`Queues`] has all queues of a context, a [`Gang`] runs several of them together, and a [`Submitter`] waits on a thread of
//! its own for what nobody has submitted yet. [`plan`] cuts a submission into calls of the kernel. When work is lost, the
//! error tells [how](crate::winsys::Loss), and a [`HangReport`] where, with the help of [`Breadcrumbs`].
mod annotation;
mod breadcrumbs;
mod burst;
mod call;
mod command_list;
pub mod commands;
mod error;
mod excerpt;
mod excerpt_text;
mod fence;
mod gang;
mod gang_fault;
mod hang_report;
#[expect(unsafe_code, reason = "IBs are written through their CPU mapping")]
mod ib;
mod ib_home;
mod ib_placement;
mod ib_pool;
mod jobs;
mod marker;
mod marker_page;
mod planner;
mod preambles;
mod queue;
mod queue_options;
mod queues;
mod record_again;
mod secondary;
mod sender;
mod shared;
mod snippet;
mod stream;
mod submission;
mod submitter;
mod working_set;

pub use self::{
    breadcrumbs::{Breadcrumbs, Progress},
    burst::Burst,
    command_list::{ChainFault, CommandList, NotChained},
    error::{Error, Result},
    excerpt::Excerpt,
    excerpt_text::IbPrinter,
    fence::{Fence, PollableFence},
    gang::Gang,
    gang_fault::{GangFault, MAX_GANG},
    hang_report::{DecodedPrinter, HangReport, QueueTrace, RawPrinter},
    ib_placement::IbPlacement,
    ib_pool::IbPool,
    marker::Marker,
    planner::{Call, CallLimits, Calls, MAX_IBS_PER_CALL, NoRoomForIbs, plan},
    preambles::{NotOneIb, Preambles},
    queue::{Queue, QueueKind},
    queue_options::{Listing, Patience, QueueOptions},
    queues::Queues,
    secondary::{Execution, Inclusion},
    snippet::Snippet,
    stream::{MAX_IB_DWORDS, Stream},
    submission::{Submission, SyncPoint},
    submitter::{OwnedSubmission, PendingFence, Submitter},
};
pub use amdgpu_packets::{
    Annotations, DecodeError, DecodeFault, Described, EncodeError, FieldError, Language, MAX_ANNOTATION_BYTES, Packet,
    Target, annotation, annotations, dump, layout, pm4, read_annotation, registers, sdma,
};
