//! Queues, which submit command lists and keep their resources alive while they run.

use std::sync::Arc;

use super::{
    in_flight::InFlightList,
    state::{QueueEnd, QueueState},
};
use crate::{
    cs::{
        Fence, MAX_IBS_PER_CALL, Preambles, QueueError, QueueKind, QueueOptions, Submission, SubmitError, Target,
        record::marker,
    },
    host_memory::{ArcRoom, NoHostMemory},
    winsys::{self, Context, Deadline, Ip, Syncobj, Until, UserFence, WaitFor},
};

/// A queue of a context, identified by context, IP and ring. Its submissions run in order.
///
/// Only one object can exist for each queue; [`Queues`](crate::cs::Queues) creates them on demand. Several threads may submit to
/// it at the same time, and the kernel orders their submissions in the order of their ioctls. A submission that waits for sync
/// objects without a fence may spend seconds in the kernel, but does not block submissions of other threads. If a submission needs
/// several kernel calls ([`plan`](crate::cs::plan)), calls of other threads may come between them. Waiting and retiring are not
/// blocked either: no lock of the queue is held during an ioctl, nor while resources are dropped. Code of the caller ([`Resident`](crate::winsys::Resident), observers) is never called
/// with a lock of the queue held.
///
/// Dropping a queue waits for its last submission, for at most two seconds, unless the queue was [abandoned](Queue::abandon).
/// [`Fence`]s may outlive the queue and observe a later end.
///
/// # Lost work
///
/// The loss of work does not by itself end all jobs: the kernel first tries to stop only the hung job, and the jobs queued after it
/// then run (Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`). The resources of a submission are therefore dropped only when the
/// GPU has written its sequence number, or when the kernel reports that the queue is idle.
///
/// A `Queue` is a handle: a clone refers to the same queue and is equal to it. Only dropping the last handle waits.
///
/// ```
/// use amdgpu_winsys::{cs::{Queue, Stream, Submission, pm4}, winsys::{Context, Deadline, Ip, Priority}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Compute, 1)?;
/// let list = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 64)?.finish()?;
/// let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?;
/// assert!(queue.wait_idle(Deadline::NEVER)? && fence.is_signalled());
/// assert_eq!((queue.ip(), queue.ring(), queue.in_flight()), (Ip::Compute, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Queue {
    state: Arc<QueueState>,
    /// Ends the queue with the last handle.
    end: Arc<QueueEnd>,
}

/// Handles are equal if they refer to the same queue.
impl PartialEq for Queue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Eq for Queue {}

impl Queue {
    /// Creates the queue of `context` for ring `ring` of `ip`.
    ///
    /// # Errors
    ///
    /// * [`QueueError::UnsupportedIp`] if `ip` is a video engine, which [`VideoQueue`](crate::cs::VideoQueue) supports;
    /// * [`QueueError::NoSuchRing`] if the IP does not have the ring;
    /// * [`QueueError::QueueTaken`] if this queue already exists;
    /// * [`QueueError::Winsys`] or [`QueueError::Recording`] if an allocation fails.
    pub fn new(context: &Context, ip: Ip, ring: u32) -> Result<Self, QueueError> {
        Self::with_options(context, ip, ring, QueueOptions::default())
    }

    /// Creates a queue like [`Queue::new`], with the given options.
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::new`].
    pub fn with_options(context: &Context, ip: Ip, ring: u32, options: QueueOptions) -> Result<Self, QueueError> {
        let device = context.device();
        let target = Target::new(device.info().gfx_level, ip).ok_or(QueueError::UnsupportedIp { ip })?;
        let rings = device.info().ring_count(ip);
        if ring >= rings {
            return Err(QueueError::NoSuchRing { ip, ring, rings });
        }
        let of_queue = |error: NoHostMemory| error.of("a queue");
        let (room, room_for_end) = (ArcRoom::new().map_err(of_queue)?, ArcRoom::new().map_err(of_queue)?);
        let user_fence = UserFence::new(device)?;
        let acquires = match target {
            Target::Pm4(target) if options.acquires => Some(Preambles::acquire(device, target)?),
            _ => None,
        };
        if !context.take_queue(ip, ring) {
            return Err(QueueError::QueueTaken { context: context.id(), ip, ring });
        }
        let context = context.clone();
        let most_ibs = device.info().max_ibs.get(ip.index()).map_or(1, |&most| most.max(1) as usize);
        let most_ibs = most_ibs.min(MAX_IBS_PER_CALL);
        let in_flight = InFlightList::default();
        let state =
            room.fill(QueueState { context, ip, ring, target, most_ibs, options, acquires, user_fence, in_flight });
        let end = room_for_end.fill(QueueEnd::new(Arc::clone(&state)));
        Ok(Self { state, end })
    }

    /// Returns the number of handles of the queue.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.end)
    }

    /// Returns the IP of the queue.
    pub fn ip(&self) -> Ip {
        self.state.ip
    }

    /// Returns the ring index of the queue in its context. It does not identify a hardware ring: the kernel moves an idle queue to
    /// the least busy ring of its IP and priority (Linux 6.12 `sched_entity.c`, `drm_sched_entity_select_rq`).
    pub fn ring(&self) -> u32 {
        self.state.ring
    }

    /// Returns the kind of hardware queue.
    pub fn kind(&self) -> QueueKind {
        QueueKind::Kernel
    }

    /// Returns the ring and generation for which streams must be recorded.
    pub fn target(&self) -> Target {
        self.state.target
    }

    /// Returns the context of the queue.
    pub fn context(&self) -> &Context {
        &self.state.context
    }

    /// Submits command lists. This takes one ioctl, and allocates nothing once the queue has seen a submission of this size.
    ///
    /// A submission with more IBs than the kernel accepts is split into several calls: the first one waits, the last one signals,
    /// and the fence is that of the last one. RADV signals with each call, which wakes waiters early (Mesa 25.0.7
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`).
    ///
    /// A submission without lists and waits is not sent to the GPU: its sync objects signal when the last submission has completed.
    /// A submission without lists that waits runs an empty list.
    ///
    /// Each kernel call begins with the invalidation of all caches, unless the submission has
    /// [`preambles`](Submission::preambles) of its own or [`QueueOptions::acquires`] is `false`.
    ///
    /// All objects of the submission stay alive until it has completed, even if the caller drops them, unless [`Submission::keep`]
    /// says otherwise.
    ///
    /// # Errors
    ///
    /// * [`SubmitError::EmptySubmission`] if the submission has no lists and no waits, and either no signals, or memory or sets;
    /// * [`SubmitError::TooManyBos`] if it lists more BOs than the kernel accepts;
    /// * [`SubmitError::WrongQueue`] if a list is for another ring or generation;
    /// * [`SubmitError::NoRoomForIbs`] if its preambles use all IBs of a call;
    /// * [`SubmitError::Winsys`] if an object belongs to another device, the GPU is lost, the kernel refuses, or the process has no
    ///   memory left ([`HostMemory`](crate::winsys::Error::HostMemory));
    /// * [`SubmitError::PartlySubmitted`] if the kernel refuses a call after the first.
    ///
    /// Except in the last case nothing was submitted, and no sync object has changed.
    pub fn submit(&self, submission: &Submission<'_>) -> Result<Fence, SubmitError> {
        let sequence = if submission.lists.is_empty() {
            self.submit_nothing(submission)?
        } else {
            self.state.submit(&[], submission)?
        };
        Ok(Fence::new(Arc::clone(&self.state), sequence))
    }

    #[cold]
    fn submit_nothing(&self, submission: &Submission<'_>) -> Result<u64, SubmitError> {
        let has_work = submission.memory.binding_count() > 0 || !submission.sets.is_empty();
        if submission.has_waits() {
            let idle = marker::record(self.state.device(), self.state.target, &[])?;
            return self.state.submit(&[], &Submission { lists: &[&idle], ..*submission });
        }
        if submission.signals.is_empty() || has_work {
            return Err(SubmitError::EmptySubmission);
        }
        self.state.signal_with_last(submission.signals)
    }

    /// Returns the fence of the last submission, which signals when all submissions so far have completed. If the queue was never
    /// used, the fence is already signalled.
    pub fn last(&self) -> Fence {
        Fence::new(Arc::clone(&self.state), self.state.in_flight.last())
    }

    /// Waits until all submissions so far have completed. Returns `false` if the deadline passes first.
    ///
    /// # Errors
    ///
    /// [`DeviceLost`](crate::winsys::Error::DeviceLost) if a job was lost.
    pub fn wait_idle(&self, deadline: Deadline) -> winsys::Result<bool> {
        self.last().wait(deadline)
    }

    /// Waits for points of sync objects like [`Syncobj::wait_points`], then [checks](Queue::check) that this queue still works, and
    /// [retires](Queue::retire). The check is necessary because a lost job signals its sync objects like a completed one.
    ///
    /// RADV does not check, so its waits succeed after a hang (Mesa 25.0.7 `src/vulkan/runtime/vk_drm_syncobj.c`).
    ///
    /// # Errors
    ///
    /// The errors of [`Syncobj::wait_points`], and [`DeviceLost`](crate::winsys::Error::DeviceLost) if work of this queue was lost.
    pub fn wait_points(
        &self,
        points: &[(&Syncobj, u64)],
        condition: WaitFor,
        deadline: Deadline,
    ) -> winsys::Result<Option<usize>> {
        let met = Syncobj::wait_points(points, condition, Until::Signalled, deadline)?;
        self.check()?;
        self.retire();
        Ok(met)
    }

    /// Returns an error with the kind of loss if the queue no longer works, see [`Context::check`].
    ///
    /// # Errors
    ///
    /// [`DeviceLost`](crate::winsys::Error::DeviceLost) if work of the queue was lost.
    pub fn check(&self) -> winsys::Result<()> {
        self.state.check()
    }

    /// Releases the resources of completed submissions. Makes no ioctl unless work was lost.
    ///
    /// [`Queue::submit`] and [`Fence::wait`] also do this. A driver that waits for its own sync objects must call it before it
    /// expects memory, lists or pooled IBs back, unless it uses [`Keep::Nothing`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{
    ///     cs::{Queue, Stream, Submission, SyncPoint, pm4},
    ///     winsys::{self, Context, Deadline, Device, Ip, Priority, Syncobj},
    /// };
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    /// let target = pm4::Target::gfx(device.info().gfx_level);
    /// let (list, done) = (Stream::new(&device, target, 64)?.finish()?, Syncobj::new(&device, false)?);
    /// queue.submit(&Submission { lists: &[&list], signals: &[SyncPoint::binary(&done)], ..Submission::default() })?;
    /// assert!(done.wait(Deadline::NEVER)?); // the queue has not retired it
    /// # while !queue.last().is_signalled() {}
    /// queue.retire();
    /// let stream = list.record_again(target).map_err(|_list| "the queue keeps it")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Keep::Nothing`]: crate::cs::Keep::Nothing
    pub fn retire(&self) {
        self.state.retire();
    }

    /// Retires completed submissions, and returns the number of submissions that have not completed.
    pub fn in_flight(&self) -> usize {
        self.state.retire();
        self.state.in_flight.count_after(self.state.user_fence.value())
    }

    /// Drops the state that makes later submissions cheaper. With [`BoListMode::Kept`], this releases memory that only the kept
    /// BO list still holds.
    ///
    /// [`BoListMode::Kept`]: crate::cs::BoListMode::Kept
    pub fn forget_memory(&self) {
        self.state.forget_memory();
    }

    /// Makes dropping the last handle of the queue return without waiting. This is for a driver that destroys a device whose GPU
    /// may be busy for a long time.
    ///
    /// Running submissions continue, and the kernel keeps their memory until they have ended. If a submission has not ended when
    /// the last [`Fence`] of the queue is dropped, its lists are never freed, because the GPU may still read them.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{cs::Queue, winsys::{Context, Device, Ip, Priority}};
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let context = Context::new(&device, Priority::Normal)?;
    /// let queue = Queue::new(&context, Ip::Gfx, 0)?;
    /// queue.abandon();
    /// drop(queue);
    /// assert!(Queue::new(&context, Ip::Gfx, 0).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn abandon(&self) {
        self.end.abandon();
    }

    pub(in crate::cs) fn state(&self) -> &Arc<QueueState> {
        &self.state
    }
}
