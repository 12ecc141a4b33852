//! Environment of an engine besides memory: a clock and a job.

use super::{job::Job, memory::Memory, work::Shaders};

/// The GPU's reference counter, the one that `AMDGPU_INFO_TIMESTAMP` answers from.
pub trait Clock {
    /// The counter now. It never goes back.
    fn ticks(&self) -> u64;
}

/// All that an engine works on.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// The memory the packets see.
    pub memory: &'e dyn Memory,
    /// The counter that timestamps come from.
    pub clock: &'e dyn Clock,
    /// The job that is run.
    pub job: &'e dyn Job,
    /// Executes shaders; [`NoShaders`](crate::gpu::NoShaders) executes none.
    pub shaders: &'e dyn Shaders,
}
