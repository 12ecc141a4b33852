//! Recording and submitting command streams.
//!
//! The packets are the crate `amdgpu-packets`, re-exported here: [`pm4`] is the language of the graphics and compute rings,
//! [`sdma`] that of the copy engines. Above it, a [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it into a [`CommandList`],
//! and a [`Queue`] submits lists with the memory they touch. The resources of a submission live until its [`Fence`] has signalled.
//!
//! [`commands`] records copies, fills, barriers, timestamps and other commands, with the same methods on every ring.
//!
//! A [`UserQueue`] submits without an ioctl where the kernel has user queues.
//!
//! A [`VideoQueue`] submits to UVD, VCE, VCN and JPEG what the caller has recorded itself.
//!
//! [`Queues`] has all queues of a context, a [`Gang`] runs several of them together, and a [`Submitter`] waits on a thread of
//! its own for what has not been submitted yet. [`plan`] cuts a submission into calls of the kernel. When work is lost, the
//! error says [how](crate::winsys::Loss), and a [`HangReport`] where, with the help of [`Breadcrumbs`].
//!
//! # Host memory
//!
//! `VK_ERROR_OUT_OF_HOST_MEMORY` is what these operations answer when the process has no memory left
//! ([`HostMemory`](crate::winsys::Error::HostMemory)), and nothing has then changed:
//!
//! | operation | fallible | not: ends the process |
//! |---|---|---|
//! | [`Queue::submit`] | all, before the kernel is asked | the copy of a [`ResidencySet`](crate::winsys::ResidencySet) that has changed since; the list that runs where there is none, and only waits |
//! | [`Stream::push`] and the like | the growth into memory that the stream or its pool has | the BO and the binding of new memory |
//! | [`Stream::keep`], [`Stream::keep_set`] | all, by poisoning the stream | |
//! | [`Stream::finish`] | the containers | the list itself, one allocation |
//! | [`CommandList::record_again`], [`Stream::clear`] | allocate nothing | |
//! | [`Syncobj::wait_points`](crate::winsys::Syncobj::wait_points) | all | |
//! | [`MemoryManager::allocate`](crate::heaps::MemoryManager::allocate) | addresses | the BO and the binding, one allocation each |
//! | [`Gang::submit`] | as [`Queue::submit`] | the arrays of its lists |
//! | whatever opens or makes an object once | | the object |
//!
//! The objects of the third column are behind an `Arc`, which has no fallible constructor in stable Rust. `tests/no_host_memory/main.rs` fails each allocation of
//! the operations of the second column, and counts those of the third.
pub mod commands;
mod diagnose;
mod error;
mod ib;
mod record;
mod retire;
mod submit;
mod user_queue;
mod video;

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
    user_queue::{UserQueue, UserQueueFence},
    video::{VideoError, VideoFence, VideoIb, VideoIbFault, VideoQueue, VideoSubmission},
};
pub use amdgpu_packets::{
    Annotations, DecodeError, DecodeFault, Described, EncodeError, FieldError, Language, MAX_ANNOTATION_BYTES, Packet,
    Target, annotation, annotations, dump, layout, pm4, read_annotation, registers, sdma,
};
