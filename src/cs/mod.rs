//! Recording and submitting command streams.
//!
//! The packets come from the crate `amdgpu-packets`, re-exported here: [`pm4`] is the packet language of the graphics and compute
//! rings, [`sdma`] that of the copy engines. A [`Stream`] records packets into GPU-visible memory, [`Stream::finish`] closes it
//! into a [`CommandList`], and a [`Queue`] submits lists together with the memory they access. The resources of a submission stay
//! alive until its [`Fence`] has signalled.
//!
//! [`commands`] records copies, fills, barriers, timestamps and other commands, with the same methods on every ring.
//!
//! A [`UserQueue`] submits without an ioctl, on kernels and chips that have user queues.
//!
//! A [`VideoQueue`] submits commands to rings of UVD, VCE, VCN, JPEG and VPE. The caller encodes them itself, into its own memory
//! or a [`VideoStream`].
//!
//! [`Queues`] holds all queues of a context, a [`Gang`] runs jobs of several queues at the same time, and a [`Submitter`] waits on
//! its own thread for dependencies that are not submitted yet. [`plan`] splits a submission into kernel calls. If work is lost, the
//! error gives the [cause](crate::winsys::Loss), and a [`HangReport`] shows the place, with the help of [`Breadcrumbs`].
//!
//! # Host memory
//!
//! These operations return an error that becomes `VK_ERROR_OUT_OF_HOST_MEMORY` ([`HostMemory`](crate::winsys::Error::HostMemory))
//! if the process has no memory left, and then have no effect:
//!
//! | operation | fallible allocations | allocations that end the process if they fail |
//! |---|---|---|
//! | [`Queue::submit`] | all, before the ioctl | |
//! | [`Stream::new`], [`Stream::push`] and similar methods | all; for a BO and its binding before the ioctls | |
//! | [`Stream::keep`], [`Stream::keep_set`] | all, by poisoning the stream | |
//! | [`Stream::finish`] | all | |
//! | [`CommandList::record_again`], [`Stream::clear`] | allocate nothing | |
//! | [`Queue::new`], [`IbPool::new`], [`Context::new`](crate::winsys::Context::new) | all | |
//! | [`Syncobj::new`](crate::winsys::Syncobj::new), import, [`Fence::to_syncobj`], [`Syncobj::wait_points`](crate::winsys::Syncobj::wait_points) | all | |
//! | [`MemoryManager::allocate`](crate::heaps::MemoryManager::allocate), import, export and [`DeviceMemory::map`](crate::heaps::DeviceMemory::map) | all | |
//! | [`Gang::submit`] | those of [`Queue::submit`] | the arrays of its lists |
//! | [`VideoQueue::submit`] | all, before the ioctl | |
//! | [`UserQueue::submit`] | all, before the doorbell | |
//! | [`ResidencySet`](crate::winsys::ResidencySet), sub-allocation, sparse memory, names of BOs, and objects that a driver creates once: devices, managers, threads | | the containers and the objects |
//!
//! Objects with several owners are in an `Arc`, which has no fallible constructor in stable Rust. Such an operation therefore first
//! allocates memory of the object's size, before it calls the kernel, and frees it right before it creates the object. Allocators
//! keep the memory that a thread freed last for its next request of that size. The process ends only if another thread takes
//! exactly this memory in between and none is left. `tests/no_host_memory/` fails each allocation of the operations of the second
//! column, and runs each operation with memory for no allocation, for one, for two, and so on until it succeeds.
pub mod commands;
mod diagnose;
mod error;
mod ib;
mod record;
mod submit;
mod user_queue;
mod video;

pub use self::{
    diagnose::{Breadcrumbs, DecodedPrinter, Excerpt, HangReport, IbPrinter, Progress, QueueTrace, RawPrinter},
    error::{
        Error, GangError, GangFault, MAX_GANG, NoRoomForIbs, PollableError, QueueError, RecordError, RecordResult,
        Result, SubmitError, SubmitterError, UserQueueError,
    },
    ib::IbPlacement,
    record::{
        AnyStream, ChainFault, CommandList, Execution, IbPool, Inclusion, MAX_IB_DWORDS, Marker, NotOneIb, PacketBuf,
        PacketWriter, Preambles, Stream,
    },
    submit::{
        BoListMode, Call, CallLimits, Calls, Fence, Gang, Keep, MAX_IBS_PER_CALL, OwnedSubmission, PendingFence,
        PollableFence, Queue, QueueKind, QueueOptions, Queues, RetryPolicy, Submission, Submitter, SyncPoint, plan,
    },
    user_queue::{UserQueue, UserQueueFence},
    video::{VideoError, VideoFence, VideoIb, VideoIbFault, VideoList, VideoQueue, VideoStream, VideoSubmission},
};
pub use amdgpu_packets::{
    Annotations, DecodeError, DecodeFault, Described, EncodeError, FieldError, Language, MAX_ANNOTATION_BYTES, Packet,
    Target, annotation, annotations, dump, layout, pm4, read_annotation, registers, sdma,
};
