//! Kernels whose calls are recorded.

#[expect(unsafe_code, reason = "the addresses in INFO's argument")]
mod generation;
#[expect(unsafe_code, reason = "the client's mappings")]
mod journal;
#[expect(unsafe_code, reason = "a wrapper of the seam is a kernel itself")]
mod kernel;
mod recording;

pub use self::{kernel::Recorder, recording::Recording};
