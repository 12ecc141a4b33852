//! The jobs of rings.

use std::sync::Arc;

use amdgpu_hw::GpuVa;

use crate::{
    gpu::Ib,
    kernel::{
        mm::{bo::Bo, space::Space},
        sched::{
            context::{Context, Entity},
            fault_cell::FaultCell,
            gang::Gang,
            shadow::Shadow,
            work::Meter,
        },
        strict::RetiredJobs,
        sync::fence::Fence,
    },
};

/// A submission to one ring.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) ibs: Vec<Ib>,
    /// The IBs for the constant engine.
    pub(crate) constant: Vec<Ib>,
    pub(crate) space: Space,
    pub(crate) context: Arc<Context>,
    pub(crate) entity: Arc<Entity>,
    pub(crate) fence: Arc<Fence>,
    /// The fences that must have signalled.
    pub(crate) dependencies: Vec<Arc<Fence>>,
    /// The fences whose jobs must have started.
    pub(crate) scheduled: Vec<Arc<Fence>>,
    /// The gang of the job, if any.
    pub(crate) gang: Option<Gang>,
    /// The destination of the sequence number.
    pub(crate) user_fence: Option<(Arc<Bo>, u64, u64)>,
    /// The shadow area, if registers are shadowed.
    pub(crate) shadow: Option<Shadow>,
    pub(crate) faults: Arc<FaultCell>,
    /// The process that submitted the job.
    pub(crate) pid: libc::pid_t,
    /// The meter to which the job's time is added.
    pub(crate) meter: Arc<Meter>,
    /// The BOs that are kept alive until the job has ended.
    pub(crate) keep: Vec<Arc<Bo>>,
    /// `true` if the job is already on the hardware ring, after the running job: it no longer sees errors of its entity.
    pub(crate) is_on_the_ring: bool,
    /// The number of the submission, and the work that the CPU knew to be over then, in the strict mode.
    pub(crate) known: Option<(u64, Arc<RetiredJobs>)>,
    /// `true` if its process was killed while it was queued: it does not run.
    pub(crate) is_killed: bool,
}

impl Job {
    /// Returns `true` if all dependencies are satisfied. A killed job waits for the end of every dependency.
    ///
    /// Source: Linux 6.12 `sched_entity.c`, `drm_sched_entity_kill_jobs_cb`, for killed jobs.
    pub(super) fn is_due(&self) -> bool {
        let is_ready = if self.is_killed { Fence::is_signalled } else { Fence::has_started };
        self.dependencies.iter().all(|fence| fence.is_signalled()) && self.scheduled.iter().all(|fence| is_ready(fence))
    }

    /// Returns `true` if the job's gang may start, or if it has none. This makes the gang the starting gang, so only a job that is
    /// about to run calls it.
    pub(super) fn may_start(&self) -> bool {
        self.is_killed || self.gang.as_ref().is_none_or(Gang::may_start)
    }

    /// Returns `true` if the file submitted the job, and the job is not yet on the hardware ring.
    pub(super) fn is_queued_by(&self, file: u64) -> bool {
        self.fence.owner() == Some(file) && !self.is_on_the_ring
    }
}

/// Returns an IB for an address of a submission, of which the kernel uses 48 bits.
pub(crate) const fn ib(va: u64, bytes: u32) -> Ib {
    Ib { va: GpuVa::from_48_bits(va), dwords: bytes / 4 }
}
