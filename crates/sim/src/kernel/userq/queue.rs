//! User queues and their threads.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use amdgpu_hw::Ip;
use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use super::{
    batch::{Batch, Halt},
    shared::{Parts, QueueState},
};
use crate::{
    features::Features,
    kernel::{
        board::Board,
        hangs::{HangEnd, HangRecord},
        mm::bo::Bo,
        sched::ring::Recovery,
        sync::{events::Until, fence::Fence},
    },
};

/// The interval between two polls of the doorbell of a queue without work: shortly after work, and after a while.
const SOONEST: Duration = Duration::from_micros(50);
const LATEST: Duration = Duration::from_millis(4);
/// The time that the destruction of a queue waits for its last fence.
///
/// Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_wait_for_last_fence`.
const GRACE: Duration = Duration::from_millis(100);

/// A user queue. Dropping it stops its work.
#[derive(Debug)]
pub(crate) struct UserQueue {
    shared: Arc<QueueState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl UserQueue {
    /// Starts a queue and its thread, which does not keep the device alive.
    ///
    /// # Errors
    ///
    /// ENOMEM if the host cannot create a thread.
    pub(crate) fn start(parts: Parts, board: Arc<Board>, gpu: Weak<dyn Recovery>) -> Result<Self, Errno> {
        // The doorbell is cleared, so that values of an earlier queue have no effect.
        parts.doorbell.write(parts.doorbell_offset, &[0; 8]);
        let lockup_timeout = board.facts.options.lockup_timeout.of_work(parts.ip, board.facts.options.features);
        let losses_at_birth = gpu.upgrade().map_or(0, |gpu| gpu.losses());
        let [is_stopping, is_hung, is_homeless] = [(); 3].map(|()| AtomicBool::new(false));
        let shared =
            QueueState { parts, board, gpu, is_stopping, is_hung, is_homeless, lockup_timeout, losses_at_birth };
        let shared = Arc::new(shared);
        let worker = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name(format!("user {}", shared.parts.ip))
            .spawn(move || worker.run())
            .map_err(|_| Errno::ENOMEM)?;
        shared.board.power.begin_use();
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Performs SIGNAL: returns a fence for all work up to the current write pointer.
    ///
    /// # Errors
    ///
    /// EINVAL if the write pointer is no longer mapped.
    pub(crate) fn signal(&self) -> Result<Arc<Fence>, Errno> {
        let Parts { view, write_va, slot, owner, .. } = &self.shared.parts;
        let write = view.read_u64(*write_va).map_err(|_| Errno::EINVAL)?;
        let fence = slot.fence(write, &self.shared.board.events, *owner);
        self.shared.board.events.wake_all();
        Ok(fence)
    }

    /// Returns the IP whose engine the queue is for.
    pub(crate) fn ip(&self) -> Ip {
        self.shared.parts.ip
    }

    /// Returns `true` if the queue needs a BO that is bound.
    pub(crate) fn needs(&self, bo: &Arc<Bo>) -> bool {
        let Parts { areas, view, .. } = &self.shared.parts;
        areas.iter().any(|&va| view.bo_at(va).is_some_and(|bound| Arc::ptr_eq(&bound, bo)))
    }

    /// Waits for the last fence, as long as a fence may be pending.
    ///
    /// Source: Linux 7.2 `amdgpu_eviction_fence.c`; `amdgpu_userq.c`, `amdgpu_userq_evict`.
    pub(crate) fn pause(&self) {
        let is_done = || (self.shared.parts.slot.is_idle() || self.shared.is_off()).then_some(());
        let until = Instant::now().checked_add(self.shared.lockup_timeout).map_or(Until::Never, Until::At);
        self.shared.board.events.wait(until, is_done);
    }

    /// Lets the queue run on if it still has its memory.
    ///
    /// Source: Linux 7.2 `amdgpu_userq.c`, `amdgpu_userq_restore_all`.
    pub(crate) fn resume(&self) {
        if !self.shared.is_at_home() && !self.shared.is_homeless.swap(true, Ordering::AcqRel) {
            let target = self.shared.parts.target;
            let complaint = format!("a user queue of {target} stays off: what it needs is not bound any more");
            self.shared.board.complaints.report(complaint);
            self.shared.board.events.wake_all();
        }
    }

    /// Waits for the last fence for a short time, and stops the queue.
    pub(crate) fn finish(&self) {
        self.finish_by(Instant::now() + GRACE);
    }

    /// Waits for the last fence until a time, and stops the queue.
    pub(crate) fn finish_by(&self, deadline: Instant) {
        let slot = &self.shared.parts.slot;
        let is_done = || (slot.is_idle() || self.shared.is_off()).then_some(());
        self.shared.board.events.wait(Until::At(deadline), is_done);
        self.stop();
    }

    fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.board.events.wake_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.thread().unpark();
            // A thread that panicked has already printed a message.
            let _ = thread.join();
        }
        self.shared.parts.slot.cancel();
    }
}

impl Drop for UserQueue {
    fn drop(&mut self) {
        self.stop();
        self.shared.board.power.end_use();
    }
}

impl QueueState {
    fn run(&self) {
        let parts = &self.parts;
        let mut engine = self.board.engine(parts.target);
        let (mut read, mut pause, mut evicted) = (0, SOONEST, parts.evicted);
        while !self.is_over() {
            if self.board.is_asleep.load(Ordering::Acquire) {
                let is_awake = || (self.is_over() || !self.board.is_asleep.load(Ordering::Acquire)).then_some(());
                self.board.events.wait(Until::Never, is_awake);
                continue;
            }
            if !self.is_hung() && self.has_lost_vram() {
                self.mark_lost();
            }
            let is_whole = evicted == parts.pools.evicted() || self.restore(&mut evicted);
            let write = self.doorbell();
            if write == read || self.is_off() || !is_whole {
                self.give_up_if_overdue();
                let has_news = || is_whole && !self.is_off() && (self.doorbell() != read || self.has_lost_vram());
                let look = || (self.is_over() || has_news()).then_some(());
                let found = self.board.events.wait(Until::At(Instant::now() + pause), look);
                pause = if found.is_some() { SOONEST } else { (pause * 2).min(LATEST) };
                continue;
            }
            let timed = (parts.meter.start(), self.board.power.activity.start(parts.ip));
            let ran = Batch::new(self, parts.target, read).run(&mut engine, write);
            drop(timed);
            match ran {
                Ok(()) => read = write,
                Err(_) if self.has_lost_vram() => {}
                Err(halt) => self.hang(&halt),
            }
            pause = SOONEST;
        }
        parts.slot.cancel();
    }

    /// Moves evicted BOs of the file to where the GPU can use them, because the queue may use any. Returns `false` if they do not fit.
    ///
    /// Source: Linux 7.2 `amdgpu_eviction_fence.c`; `amdgpu_userq.c`, `amdgpu_userq_restore_worker`.
    fn restore(&self, evicted: &mut u64) -> bool {
        let Parts { pools, view, owner, .. } = &self.parts;
        let before = pools.evicted();
        let bound = view.bos();
        let is_whole = pools.restore(*owner, bound.iter().map(|bo| &bo.allocation)).is_ok();
        if is_whole {
            // What this evicted itself is other files' business, or is seen next time.
            *evicted = before;
        }
        is_whole
    }

    /// Hangs until the queue is freed, because a reset of the GPU lost its memory: pending work is lost.
    fn mark_lost(&self) {
        self.is_hung.store(true, Ordering::Release);
        self.parts.slot.cancel();
        self.board.events.wake_all();
    }

    /// Hangs until the queue is freed. The kernel only detects this by a pending fence.
    fn hang(&self, why: &Halt) {
        if self.is_over() {
            return;
        }
        if let Some(fault) = why.fetch() {
            self.parts.faults.record_fetch(fault, Some(self.parts.target));
        }
        self.board.complaints.report(format!("a user queue of {} hangs: {why}", self.parts.target));
        self.board.complaints.hung(HangRecord {
            ring: format!("a user queue of {}", self.parts.target),
            ip_type: None,
            why: why.to_string(),
            saved: None,
            header: None,
            jobs: (0, 0),
            ibs: Vec::new(),
            pasid: self.parts.faults.pasid(),
            vmid: self.parts.faults.vmid(),
            process: None,
            fault: self.parts.faults.last(),
            rings: Vec::new(),
            started: Instant::now(),
            recovered: None,
            end: HangEnd::Pending,
        });
        self.is_hung.store(true, Ordering::Release);
        self.board.events.wake_all();
    }

    /// Resets a hung queue once one of its fences is overdue: pending work is lost.
    ///
    /// Source: Linux 6.19 `amdgpu_userq.c`, `amdgpu_userq_start_hang_detect_work`; `amdgpu_userq_fence.c`,
    /// `amdgpu_userq_fence_driver_force_completion`.
    fn give_up_if_overdue(&self) {
        if self.is_off() && self.is_overdue(Instant::now()) {
            if let Some(gpu) = self.gpu.upgrade() {
                gpu.recovered(&|| false);
            }
            let is_named = self.board.facts.has(Features::QUEUE_CULPRITS);
            self.board.report_reset(Some(&self.parts.process).filter(|_| is_named));
            self.parts.slot.cancel();
        }
    }
}
