//! The environment of an engine: memory, clock, job and shaders.

use super::{caches::CacheObserver, job::Job, memory::Memory, work::Shaders};

/// The GPU's reference clock counter, which `AMDGPU_INFO_TIMESTAMP` reads.
pub trait Clock {
    /// Returns the current value of the counter, which never decreases.
    fn ticks(&self) -> u64;
}

/// The environment in which an engine executes a job.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// The memory that packets access.
    pub memory: &'e dyn Memory,
    /// The clock counter for timestamps.
    pub clock: &'e dyn Clock,
    /// The job that is executed.
    pub job: &'e dyn Job,
    /// The executor of shaders. [`NoShaders`](crate::gpu::NoShaders) ignores them.
    pub shaders: &'e dyn Shaders,
    /// The observer of caches, if there is one.
    pub observer: Option<&'e dyn CacheObserver>,
}
