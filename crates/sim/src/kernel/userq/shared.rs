//! The state that a user queue and its thread share.

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use amdgpu_hw::{GpuVa, Ip};
use amdgpu_packets::Target;

use super::{doorbells::Claim, slots::Slot, view::View};
use crate::{
    features::Features,
    gpu::{Client, FaultSource, Memory as _},
    kernel::{
        board::Board,
        mm::bo::{Bo, Pools},
        process::identity::Process,
        sched::{fault_cell::FaultCell, ring::Recovery, work::Meter},
    },
};

/// The validated parameters of a queue.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) ip: Ip,
    pub(crate) target: Target,
    /// The address of the ring.
    pub(crate) ring_va: u64,
    /// The size of the ring in bytes, a power of two.
    pub(crate) ring_bytes: u64,
    /// The address to which the read pointer is written.
    pub(crate) read_va: GpuVa,
    /// The address of the write pointer.
    pub(crate) write_va: GpuVa,
    /// The BO with the doorbell.
    pub(crate) doorbell: Arc<Bo>,
    /// The offset of the doorbell in its BO in bytes.
    pub(crate) doorbell_offset: u64,
    /// The right to the doorbell, where the kernel gives a doorbell to one queue alone.
    #[expect(dead_code, reason = "kept for the life of the queue, not used")]
    pub(crate) claim: Option<Claim>,
    /// The BO that the write pointer is in, which stays as long as the queue.
    #[expect(dead_code, reason = "kept alive, not used")]
    pub(crate) write_bo: Arc<Bo>,
    pub(crate) view: View,
    /// The addresses of all that the engine needs for the queue: the ring, its pointers and its own areas.
    pub(crate) areas: Vec<u64>,
    pub(crate) pools: Arc<Pools>,
    /// The number of BOs that had been evicted before those of the queue were last moved to where the GPU can use them.
    pub(crate) evicted: u64,
    pub(crate) slot: Slot,
    pub(crate) faults: Arc<FaultCell>,
    pub(crate) meter: Arc<Meter>,
    /// The file that owns the queue.
    pub(crate) owner: u64,
    /// The process that created the queue.
    pub(crate) process: Process,
}

/// The state that a user queue and its thread share.
pub(super) struct QueueState {
    pub(super) parts: Parts,
    pub(super) board: Arc<Board>,
    /// Only upgraded for short times: a queue does not keep its device alive.
    pub(super) gpu: Weak<dyn Recovery>,
    pub(super) is_stopping: AtomicBool,
    /// `true` after something that the queue could not execute.
    pub(super) is_hung: AtomicBool,
    /// `true` after the queue lost the memory that it needs: it is off until it is freed.
    pub(super) is_homeless: AtomicBool,
    pub(super) lockup_timeout: Duration,
    /// The number of resets that had lost VRAM when the queue was created.
    pub(super) losses_at_birth: u32,
}

impl fmt::Debug for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueState").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl QueueState {
    /// Returns the last write pointer in the doorbell.
    pub(super) fn doorbell(&self) -> u64 {
        let mut bytes = [0; 8];
        self.parts.doorbell.read(self.parts.doorbell_offset, &mut bytes);
        u64::from_le_bytes(bytes)
    }
    /// Writes the read pointer to the process's memory.
    pub(super) fn publish(&self, read: u64) {
        if let Err(fault) = self.parts.view.write(self.parts.read_va, &read.to_le_bytes()) {
            let source = FaultSource { client: Client::Packet, is_atomic: false, is_readable: false };
            self.parts.faults.record(fault, source, self.parts.target);
        }
    }

    /// Returns `true` if the queue should stop, or its GPU was unplugged.
    pub(super) fn is_over(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire) || self.gpu.upgrade().is_none_or(|gpu| gpu.is_unplugged())
    }

    pub(super) fn is_hung(&self) -> bool {
        self.is_hung.load(Ordering::Acquire)
    }

    /// Returns `true` if the queue runs nothing any more.
    pub(super) fn is_off(&self) -> bool {
        self.is_hung() || self.is_homeless.load(Ordering::Acquire)
    }

    /// Returns `true` if the queue has its memory: one of its areas is bound, or from Linux 7.3 on all are.
    ///
    /// Source: Linux 7.2 and 7.3 `amdgpu_userq.c`, `amdgpu_userq_buffer_vas_mapped`.
    pub(super) fn is_at_home(&self) -> bool {
        let Parts { areas, view, .. } = &self.parts;
        let is_bound = |&va: &u64| view.bo_at(va).is_some();
        if self.board.facts.has(Features::QUEUE_AREAS) {
            areas.iter().all(is_bound)
        } else {
            areas.iter().any(is_bound)
        }
    }

    /// Returns `true` if VRAM was lost since the creation of the queue, and the kernel does not run such queues again.
    ///
    /// Source: Linux 7.2 `amdgpu_userq.c`, `amdgpu_userq_post_reset`.
    pub(super) fn has_lost_vram(&self) -> bool {
        self.board.facts.has(Features::QUEUE_LOSSES)
            && self.gpu.upgrade().is_some_and(|gpu| gpu.losses() != self.losses_at_birth)
    }

    /// Returns `true` if a fence has been pending for longer than a job may run.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.parts.slot.waits_since().is_some_and(|since| now.duration_since(since) >= self.lockup_timeout)
    }
}
