//! Recording and submitting command streams.
//!
//! The lowest floor is here: packets as typed values. [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Each packet is described once, and that description both writes and reads it, so
//! the recorder, the dumper and the simulated GPU can not disagree. Nothing in these modules does I/O or allocates.
//!
//! Above it, a [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it into a [`CommandList`],
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
pub mod dump;
mod error;
mod excerpt;
mod fence;
mod field;
mod gang;
mod hang_report;
#[expect(unsafe_code, reason = "IBs are written through their CPU mapping")]
mod ib;
mod ib_placement;
mod ib_pool;
mod jobs;
pub mod layout;
mod marker;
mod marker_page;
mod packet;
mod planner;
pub mod pm4;
mod preambles;
mod queue;
mod queues;
pub mod registers;
pub mod sdma;
mod secondary;
mod snippet;
mod stream;
mod submission;
mod submitter;
mod user_fence;
mod wire;
mod working_set;

pub use self::{
    annotation::{Annotations, MAX_ANNOTATION_BYTES, annotations, read_annotation},
    breadcrumbs::{Breadcrumbs, Progress},
    burst::Burst,
    command_list::{ChainFault, CommandList, NotChained},
    error::{Error, Result},
    excerpt::Excerpt,
    fence::{Fence, PollableFence},
    field::FieldError,
    gang::{Gang, GangFault, MAX_GANG},
    hang_report::{DecodedPrinter, HangReport, IbPrinter, QueueTrace, RawPrinter},
    ib_placement::IbPlacement,
    ib_pool::IbPool,
    layout::Described,
    marker::Marker,
    packet::{DecodeError, DecodeFault, EncodeError, Language, Packet, Target},
    planner::{Call, CallLimits, Calls, MAX_IBS_PER_CALL, NoRoomForIbs, plan},
    preambles::{NotOneIb, Preambles},
    queue::{Queue, QueueKind},
    queues::Queues,
    secondary::{Execution, Inclusion},
    snippet::Snippet,
    stream::{MAX_IB_DWORDS, Stream},
    submission::{Listing, Patience, QueueOptions, Submission, SyncPoint},
    submitter::{OwnedSubmission, PendingFence, Submitter},
};
