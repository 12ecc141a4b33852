//! Rings of video engines: UVD, VCE, VCN and JPEG.
//!
//! Their commands are the caller's: the library has no packets for them, and is not meant to. Each engine has a language of its own,
//! most of it structures that a codec fills in, and a driver of video has all of that anyway; what it needs below is memory, a ring
//! and its fences. Sessions on encrypted memory begin with such commands, so they are the caller's too. Nor has the kernel a user fence there (Linux 6.12
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
