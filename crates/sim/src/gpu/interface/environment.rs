//! The environment of an engine: memory, clock, job and shaders.

use super::{
    caches::{CacheObserver, OBSERVERS_ARE_BUILT},
    job::Job,
    memory::Memory,
    work::Shaders,
};

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

impl<'e> Environment<'e> {
    /// Returns the observer of caches; `None` if the strict mode is not built, so that nothing of it is left in the way of a packet.
    pub(crate) fn observer(&self) -> Option<&'e dyn CacheObserver> {
        if OBSERVERS_ARE_BUILT { self.observer } else { None }
    }
}
