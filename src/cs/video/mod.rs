//! Rings of video engines: UVD, VCE, VCN, JPEG and VPE.
//!
//! The library has no packets for these engines: the caller records the commands itself, into memory of its own or into a
//! [`VideoStream`]. Each engine has its own language, mostly of structures that a codec fills in, and a video driver contains these
//! in any case. From this library it needs only memory, a ring and its fences. Sessions on encrypted memory begin with such commands, so they are recorded by the caller too. The kernel
//! refuses user fences on these rings (Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_p2_ib`: EINVAL). The end of a submission is therefore
//! observed by a query for its sequence number or by a sync object, never in memory.

mod error;
mod fence;
mod ib;
mod kept;
mod list;
mod queue;
mod record_again;
mod state;
mod stream;
mod submission;

pub use self::{
    error::VideoError,
    fence::VideoFence,
    ib::{VideoIb, VideoIbFault},
    list::VideoList,
    queue::VideoQueue,
    stream::VideoStream,
    submission::VideoSubmission,
};
