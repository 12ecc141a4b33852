//! Contexts and their entities.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering},
    },
};

use amdgpu_hw::Ip;
use amdgpu_uapi::{CtxStateFlags, Errno, priority};
use parking_lot::Mutex;

use crate::{
    features::Features,
    gpu,
    kernel::{process::ids::Ids, sync::fence::Fence},
};

/// The number of submissions of an entity that the kernel stores, which is the maximum number of outstanding ones (`sched_jobs`).
pub(crate) const REMEMBERED: u64 = 32;

/// Returns the number of entities of an IP in a context: the valid queue indices, regardless of the hardware.
///
/// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_num_entities`.
pub(crate) const fn entities_of(ip: Ip) -> u32 {
    match ip {
        Ip::Compute => 4,
        Ip::Sdma => 2,
        _ => 1,
    }
}

/// The contexts of a file.
pub(crate) type Contexts = Mutex<Ids<Arc<Context>>>;

/// A context of a file.
#[derive(Debug)]
pub(crate) struct Context {
    /// The device's reset counter when the context was created.
    resets_at_birth: u32,
    /// The reset counter at the last QUERY_STATE.
    resets_seen: AtomicU32,
    /// The VRAM-lost counter when the context was created.
    losses_at_birth: u32,
    guilty: AtomicBool,
    /// The scheduling priority of the context's jobs.
    priority: AtomicI32,
    entities: Mutex<HashMap<(Ip, u32), Arc<Entity>>>,
}

/// A queue of jobs for (context, IP, ring).
#[derive(Debug, Default)]
pub(crate) struct Entity {
    state: Mutex<EntityState>,
    /// The GPU state set by the entity's jobs, while none of them runs.
    pub(crate) gpu: Mutex<gpu::State>,
}

#[derive(Debug, Default)]
struct EntityState {
    /// The last sequence number.
    issued: u64,
    /// The fences of the last submissions, the oldest first. The last one has the sequence number `issued`.
    fences: VecDeque<Arc<Fence>>,
    /// The ring of the last job, and that job's fence, whether or not it has a sequence number.
    ring: u32,
    last: Option<Arc<Fence>>,
    /// The error of the last job that reached the hardware.
    error: Option<Errno>,
}

/// The meaning of a sequence number.
#[derive(Debug)]
pub(crate) enum Numbered {
    /// The job has completed so long ago that its fence is no longer stored, or there is none.
    Done,
    /// The fence of the job.
    Fence(Arc<Fence>),
}

/// The stable pstate of a device, which at most one context has set.
///
/// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_set_stable_pstate`.
#[derive(Debug, Default)]
pub(crate) struct Pstate {
    level: u32,
    owner: Weak<Context>,
}

impl Pstate {
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Sets the pstate for the context that has set it before, or for the first context that changes it; EBUSY for all others.
    pub(crate) fn set(&mut self, context: &Arc<Context>, level: u32) -> Result<(), Errno> {
        let owner = self.owner.upgrade();
        if owner.is_some_and(|owner| !Arc::ptr_eq(&owner, context)) {
            return Err(Errno::EBUSY);
        }
        if level != self.level {
            self.level = level;
            self.owner = Arc::downgrade(context);
        }
        Ok(())
    }

    /// Resets the pstate if the context, which is being destroyed, has set it.
    pub(crate) fn release(&mut self, context: &Arc<Context>) {
        if std::ptr::eq(self.owner.as_ptr(), Arc::as_ptr(context)) {
            *self = Self::default();
        }
    }
}

impl Context {
    pub(crate) fn new(resets: u32, losses: u32, priority: i32) -> Self {
        Self {
            resets_at_birth: resets,
            resets_seen: AtomicU32::new(resets),
            losses_at_birth: losses,
            guilty: AtomicBool::new(false),
            priority: AtomicI32::new(priority),
            entities: Mutex::default(),
        }
    }

    /// Returns the entity for IP type, instance and ring, after the checks of all requests.
    ///
    /// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_get_entity`.
    pub(crate) fn entity(&self, ip_type: u32, instance: u32, ring: u32) -> Result<(Ip, Arc<Entity>), Errno> {
        let ip = Ip::from_raw(ip_type).ok_or(Errno::EINVAL)?;
        if instance != 0 || ring >= entities_of(ip) {
            return Err(Errno::EINVAL);
        }
        let entity = Arc::clone(self.entities.lock().entry((ip, ring)).or_default());
        match entity.state.lock().error {
            Some(errno) => Err(errno),
            None => Ok((ip, Arc::clone(&entity))),
        }
    }

    /// Performs SCHED: overrides the priority of the context.
    pub(crate) fn override_priority(&self, priority: i32) {
        self.priority.store(priority, Ordering::Relaxed);
    }

    /// Returns the scheduler's level, of three: the highest is served first. An invalid priority counts as normal.
    ///
    /// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_to_drm_sched_prio`.
    pub(crate) fn level(&self) -> i32 {
        match self.priority.load(Ordering::Relaxed) {
            priority::VERY_LOW | priority::LOW => -1,
            priority::HIGH | priority::VERY_HIGH => 1,
            _ => 0,
        }
    }

    pub(crate) fn is_guilty(&self) -> bool {
        self.guilty.load(Ordering::Acquire)
    }

    /// Marks the context as guilty of hanging the GPU.
    pub(crate) fn blame(&self) {
        self.guilty.store(true, Ordering::Release);
    }

    /// Returns `true` if VRAM was lost since the context was created: all its submissions are then refused.
    pub(crate) fn is_stale(&self, losses: u32) -> bool {
        self.losses_at_birth != losses
    }

    /// Performs QUERY_STATE2. With [`Features::ENTITY_ERRORS`] a context is guilty while one of its entities has the error ETIME.
    ///
    /// Source: Linux 6.12 and 7.2 `amdgpu_ctx.c`, `amdgpu_ctx_query2`.
    pub(crate) fn state(&self, resets: u32, losses: u32, features: Features) -> CtxStateFlags {
        let has_hung = || self.entities.lock().values().any(|entity| entity.error() == Some(Errno::ETIME));
        let mut flags = CtxStateFlags::empty();
        flags.set(CtxStateFlags::RESET, resets != self.resets_at_birth);
        flags.set(CtxStateFlags::VRAMLOST, self.is_stale(losses));
        flags.set(CtxStateFlags::GUILTY, self.is_guilty() || features.contains(Features::ENTITY_ERRORS) && has_hung());
        flags
    }

    /// Performs QUERY_STATE: returns `true` if there was a reset since the last query.
    pub(crate) fn take_reset(&self, resets: u32) -> bool {
        self.resets_seen.swap(resets, Ordering::AcqRel) != resets
    }
}

impl Entity {
    /// Returns the ring of the last job, if that has not ended.
    pub(crate) fn busy_on(&self) -> Option<u32> {
        let state = self.state.lock();
        state.last.as_ref().filter(|last| !last.is_signalled()).map(|_| state.ring)
    }

    /// Sets the ring of the next job.
    pub(crate) fn settle_on(&self, ring: u32) {
        self.state.lock().ring = ring;
    }

    /// Records the fence of a queued job.
    pub(crate) fn queued(&self, fence: &Arc<Fence>) {
        self.state.lock().last = Some(Arc::clone(fence));
    }

    /// Assigns the next sequence number to a job's fence.
    pub(crate) fn issue(&self, fence: &Arc<Fence>) -> u64 {
        let mut state = self.state.lock();
        state.issued += 1;
        state.fences.push_back(Arc::clone(fence));
        if state.fences.len() as u64 > REMEMBERED {
            state.fences.pop_front();
        }
        state.issued
    }

    /// Returns the fence that must signal before another job may be submitted.
    pub(crate) fn oldest_outstanding(&self) -> Option<Arc<Fence>> {
        let state = self.state.lock();
        let full = state.fences.len() as u64 >= REMEMBERED;
        state.fences.front().filter(|_| full).cloned()
    }

    /// Returns the meaning of a sequence number.
    ///
    /// Source: Linux 6.12 `amdgpu_ctx.c`, `amdgpu_ctx_get_fence`.
    pub(crate) fn numbered(&self, number: u64) -> Result<Numbered, Errno> {
        let state = self.state.lock();
        let number = if number == u64::MAX { state.issued } else { number };
        if number > state.issued {
            return Err(Errno::EINVAL);
        }
        let back = state.issued - number;
        let index = (state.fences.len() as u64).checked_sub(back + 1);
        Ok(match index.and_then(|index| state.fences.get(index as usize)) {
            Some(fence) if number != 0 => Numbered::Fence(Arc::clone(fence)),
            _ => Numbered::Done,
        })
    }

    /// Records the error of a job, after which the entity accepts no further jobs.
    pub(crate) fn fail(&self, errno: Errno) {
        self.state.lock().error.get_or_insert(errno);
    }

    /// Records the error of a job that was on the hardware ring behind the one that failed: the last job's error counts.
    pub(crate) fn fail_again(&self, errno: Errno) {
        self.state.lock().error = Some(errno);
    }

    /// Returns the error of the entity's jobs, if one has failed.
    pub(crate) fn error(&self) -> Option<Errno> {
        self.state.lock().error
    }
}
