//! The jobs of an open file, which may run on after the file was closed.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use crate::kernel::card::Gpu;

/// The jobs of an open file. They outlive the file, and this value keeps neither the file nor the device.
#[derive(Clone, Debug)]
pub struct Jobs {
    gpu: Weak<Gpu>,
    file: u64,
    /// `true` if the file's later submissions are dropped.
    killed: Arc<AtomicBool>,
}

impl Jobs {
    pub(crate) fn new(gpu: &Arc<Gpu>, file: u64, killed: &Arc<AtomicBool>) -> Self {
        Self { gpu: Arc::downgrade(gpu), file, killed: Arc::clone(killed) }
    }

    /// Returns `true` if no job of the file waits or runs.
    pub fn are_over(&self) -> bool {
        self.gpu.upgrade().is_none_or(|gpu| !gpu.rings.started().iter().any(|ring| ring.has_jobs(self.file)))
    }

    /// Ends all jobs of the file, also the one that runs; its waves and copies end within milliseconds. Their fences signal with
    /// ESRCH once their dependencies have. Jobs that are submitted later do not run.
    ///
    /// This is not what the kernel does when a process dies: there, jobs on the hardware rings run on until they are done or time
    /// out ([`SimKernel::kill`](crate::SimKernel::kill)). But there they take the GPU's time, and here that of the host's
    /// processors, which nobody waits for any more.
    pub fn end(&self) {
        self.killed.store(true, Ordering::Release);
        let Some(gpu) = self.gpu.upgrade() else { return };
        let rings = {
            // A submission is either in all of its queues, or detects that its process has ended.
            let _device_order = gpu.queues.submitting.lock();
            let rings = gpu.rings.started();
            for ring in &rings {
                ring.abandon(self.file);
            }
            rings
        };
        while rings.iter().any(|ring| ring.end_killed()) {}
        gpu.machine.events.wake_all();
    }
}
