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
//! | [`Queue::submit`] | all, before the kernel is asked | |
//! | [`Stream::new`], [`Stream::push`] and the like | all; a BO and its binding before the kernel is asked | |
//! | [`Stream::keep`], [`Stream::keep_set`] | all, by poisoning the stream | |
//! | [`Stream::finish`] | all | |
//! | [`CommandList::record_again`], [`Stream::clear`] | allocate nothing | |
//! | [`Queue::new`], [`IbPool::new`], [`Context::new`](crate::winsys::Context::new) | all | |
//! | [`Syncobj::new`](crate::winsys::Syncobj::new), import, [`Fence::to_syncobj`], [`Syncobj::wait_points`](crate::winsys::Syncobj::wait_points) | all | |
//! | [`MemoryManager::allocate`](crate::heaps::MemoryManager::allocate), import, export and [`DeviceMemory::map`](crate::heaps::DeviceMemory::map) | all | |
//! | [`Gang::submit`] | as [`Queue::submit`] | the arrays of its lists |
//! | [`VideoQueue::submit`] | all, before the kernel is asked | |
//! | [`UserQueue::submit`] | all, before the doorbell | |
//! | [`ResidencySet`](crate::winsys::ResidencySet), sub-allocation, sparse memory, names of BOs, and whatever a driver makes once: devices, managers, threads | | the containers and the objects |
//!
//! Objects with several owners are behind an `Arc`, which has no fallible constructor in stable Rust. So memory of the object's
//! size is asked for first, before the kernel is, and given back right before the object is made. Allocators keep what a thread freed
//! last for its next request of that size; only where another thread takes just this memory in between, in a process that has no
//! other left, the process ends. `tests/no_host_memory/` fails each allocation of the operations of the second column, and does
//! each with room for no allocation, for one, for two, and so on until it works.
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
