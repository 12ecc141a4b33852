//! Recording and submitting command streams.
//!
//! The packets are the crate `amdgpu-packets`, re-exported here: [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Above it, a [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it into a [`CommandList`],
//! and a [`Queue`] submits lists with the memory they touch. The resources of a submission live until its [`Fence`] has signalled.
//!
//! [`commands`] records copies, fills, barriers, timestamps and other commands, with the same methods on every ring.
//!
//! [`Queues`] has all queues of a context, a [`Gang`] runs several of them together, and a [`Submitter`] waits on a thread of
//! its own for what has not been submitted yet. [`plan`] cuts a submission into calls of the kernel. When work is lost, the
//! error says [how](crate::winsys::Loss), and a [`HangReport`] where, with the help of [`Breadcrumbs`].
pub mod commands;
mod diagnose;
mod error;
mod ib;
mod record;
mod retire;
mod submit;

pub use self::{
    diagnose::{Breadcrumbs, DecodedPrinter, Excerpt, HangReport, IbPrinter, Progress, QueueTrace, RawPrinter},
    error::{Error, Result},
    ib::IbPlacement,
    record::{
        AnyStream, ChainFault, CommandList, Execution, IbPool, Inclusion, MAX_IB_DWORDS, Marker, NotOneIb, PacketBuf,
        PacketWriter, Preambles, Stream,
    },
    submit::{
        BoListMode, Call, CallLimits, Calls, Fence, Gang, GangFault, Keep, MAX_GANG, MAX_IBS_PER_CALL, NoRoomForIbs,
        OwnedSubmission, PendingFence, PollableFence, Queue, QueueKind, QueueOptions, Queues, RetryPolicy, Submission,
        Submitter, SyncPoint, plan,
    },
};
pub use amdgpu_packets::{
    Annotations, DecodeError, DecodeFault, Described, EncodeError, FieldError, Language, MAX_ANNOTATION_BYTES, Packet,
    Target, annotation, annotations, dump, layout, pm4, read_annotation, registers, sdma,
};
