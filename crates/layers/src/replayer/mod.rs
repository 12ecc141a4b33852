//! Replays: recordings in place of kernels.

mod error;
#[expect(unsafe_code, reason = "the seam: raw ioctl arguments and mmap")]
mod kernel;
#[expect(unsafe_code, reason = "the client's mappings")]
mod objects;
mod replay;
mod turns;

pub use self::{error::ReplayError, kernel::Replayer, replay::Replay};
