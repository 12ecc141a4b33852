//! Jobs of rings.

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
        sync::fence::Fence,
    },
};

/// One submission to one ring.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) ibs: Vec<Ib>,
    /// IBs of the constant engine.
    pub(crate) constant: Vec<Ib>,
    pub(crate) space: Space,
    pub(crate) context: Arc<Context>,
    pub(crate) entity: Arc<Entity>,
    pub(crate) fence: Arc<Fence>,
    /// Must have signalled.
    pub(crate) dependencies: Vec<Arc<Fence>>,
    /// Must have started.
    pub(crate) scheduled: Vec<Arc<Fence>>,
    /// The gang it belongs to, when it is not alone.
    pub(crate) gang: Option<Gang>,
    /// Destination of the sequence number.
    pub(crate) user_fence: Option<(Arc<Bo>, u64, u64)>,
    /// Place of its registers, if they lie in memory.
    pub(crate) shadow: Option<Shadow>,
    pub(crate) faults: Arc<FaultCell>,
    /// Meter that its time is added to.
    pub(crate) meter: Arc<Meter>,
    /// BOs that live until the job has ended.
    pub(crate) keep: Vec<Arc<Bo>>,
    /// `true` if it is on the hardware ring already, behind the one that runs: errors of its entity come too late for it.
    pub(crate) is_on_the_ring: bool,
    /// `true` if its process was killed while it was queued: it does not run.
    pub(crate) is_killed: bool,
}

impl Job {
    /// Returns `true` if what it waits for is there. A killed job waits for the end of every dependency.
    ///
    /// Source: Linux 6.12 `sched_entity.c`, `drm_sched_entity_kill_jobs_cb`, for killed jobs.
    pub(super) fn is_due(&self) -> bool {
        let is_ready = if self.is_killed { Fence::is_signalled } else { Fence::has_started };
        self.dependencies.iter().all(|fence| fence.is_signalled()) && self.scheduled.iter().all(|fence| is_ready(fence))
    }

    /// Returns `true` if its gang may start, if it has one. A gang that may is the one that starts, so only a job that is
    /// about to run asks.
    pub(super) fn may_start(&self) -> bool {
        self.is_killed || self.gang.as_ref().is_none_or(Gang::may_start)
    }

    /// Returns `true` if the file submitted it, and it is not on the hardware ring yet.
    pub(super) fn is_queued_by(&self, file: u64) -> bool {
        self.fence.owner() == Some(file) && !self.is_on_the_ring
    }
}

/// The address of an IB as the kernel takes it: 48 bits of it count.
pub(crate) const fn ib(va: u64, bytes: u32) -> Ib {
    Ib { va: GpuVa::from_48_bits(va), dwords: bytes / 4 }
}
