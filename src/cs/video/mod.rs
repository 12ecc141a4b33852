//! Rings of video engines: UVD, VCE, VCN and JPEG.
//!
//! Their commands are the caller's: the library has no packets for them. Nor has the kernel a user fence there (Linux 6.12
//! `amdgpu_cs.c`, `amdgpu_cs_p2_ib`: EINVAL), so a queue learns of the end by asking for the sequence number or by a sync
//! object, and never from memory.

mod error;
mod fence;
mod ib;
mod queue;
mod state;
mod submission;

pub use self::{
    error::VideoError,
    fence::VideoFence,
    ib::{VideoIb, VideoIbFault},
    queue::VideoQueue,
    submission::VideoSubmission,
};
