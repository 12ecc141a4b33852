//! Queues, which submit command lists and keep their resources alive while they run.

use std::sync::Arc;

use super::{
    call::most_ibs,
    shared::{End, Shared},
    submit_buffers::Flags,
};
use crate::{
    cs::{
        CommandList, Error, Fence, QueueKind, QueueOptions, Result, Submission, Target, record::marker,
        retire::jobs::Jobs,
    },
    host_memory::{ArcRoom, NoHostMemory},
    winsys::{Context, Deadline, Ip, ResidencySet, Syncobj, Until, UserFence, WaitFor},
};

/// A queue of a context, identified by context, IP and ring. Its submissions run in order.
///
/// Only one object can exist for each queue; [`Queues`](crate::cs::Queues) creates them on demand. Several threads may submit to
/// it, and the kernel orders their submissions in the order of their ioctls. A submission that waits for sync objects without a
/// fence may spend seconds in the kernel, but does not block submissions of other threads. If a submission needs several kernel
/// calls ([`plan`](crate::cs::plan)), calls of other threads may come between them. A submission that the kernel blocks because
/// memory or space in the ring is short blocks other submissions, but not waiting and retiring: the lock of these is never held
/// during an ioctl, nor while resources are dropped.
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
    shared: Arc<Shared>,
    /// Ends the queue with the last handle. It is beside the state and not around it, so that a submission follows only one
    /// pointer.
    end: Arc<End>,
}

/// Handles are equal if they refer to the same queue.
impl PartialEq for Queue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Queue {}

impl Queue {
    /// Creates the queue of `context` for ring `ring` of `ip`.
    ///
    /// # Errors
    ///
    /// * [`Error::NoLanguage`] if `ip` is a video engine, which [`VideoQueue`](crate::cs::VideoQueue) supports;
    /// * [`Error::NoSuchRing`] if the IP does not have the ring;
    /// * [`Error::QueueTaken`] if this queue already exists;
    /// * [`Error::Winsys`] if an allocation fails.
    pub fn new(context: &Context, ip: Ip, ring: u32) -> Result<Self> {
        Self::with_options(context, ip, ring, QueueOptions::default())
    }

    /// Creates a queue like [`Queue::new`], with the given options.
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::new`].
    pub fn with_options(context: &Context, ip: Ip, ring: u32, options: QueueOptions) -> Result<Self> {
        let device = context.device();
        let target = Target::new(device.info().gfx_level, ip).ok_or(Error::NoLanguage { ip })?;
        let rings = device.info().ring_count(ip);
        if ring >= rings {
            return Err(Error::NoSuchRing { ip, ring, rings });
        }
        let of_queue = |error: NoHostMemory| error.of("a queue");
        let (room, room_for_end) = (ArcRoom::new().map_err(of_queue)?, ArcRoom::new().map_err(of_queue)?);
        let user_fence = UserFence::new(device)?;
        if !context.take_queue(ip, ring) {
            return Err(Error::QueueTaken { context: context.id(), ip, ring });
        }
        let context = context.clone();
        let most_ibs = most_ibs(device, ip);
        let jobs = Jobs::default();
        let shared = Shared { context, ip, ring, target, options, most_ibs, user_fence, jobs };
        let shared = room.fill(shared);
        let end = room_for_end.fill(End::new(Arc::clone(&shared)));
        Ok(Self { shared, end })
    }

    /// Returns the number of handles of the queue.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.end)
    }

    /// Returns the IP of the queue.
    pub fn ip(&self) -> Ip {
        self.shared.ip
    }

    /// Returns the ring index of the queue in its context. It does not identify a hardware ring: the kernel moves an idle queue to
    /// the least busy ring of its IP and priority (Linux 6.12 `sched_entity.c`, `drm_sched_entity_select_rq`).
    pub fn ring(&self) -> u32 {
        self.shared.ring
    }

    /// Returns the kind of hardware queue.
    pub fn kind(&self) -> QueueKind {
        QueueKind::Kernel
    }

    /// Returns the ring and generation for which streams must be recorded.
    pub fn target(&self) -> Target {
        self.shared.target
    }

    /// Returns the context of the queue.
    pub fn context(&self) -> &Context {
        &self.shared.context
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
    /// All objects of the submission stay alive until it has completed, even if the caller drops them, unless [`Submission::keep`]
    /// says otherwise.
    ///
    /// # Errors
    ///
    /// * [`Error::NothingToSubmit`] if the submission has no lists and no waits, and either no signals, or memory or sets;
    /// * [`Error::TooManyBos`] if it lists more BOs than the kernel accepts;
    /// * [`Error::WrongQueue`] if a list is for another ring or generation;
    /// * [`Error::NoRoomForIbs`] if its preambles use all IBs of a call;
    /// * [`Error::Winsys`] if an object belongs to another device, the GPU is lost, the kernel refuses, or the process has no
    ///   memory left ([`HostMemory`](crate::winsys::Error::HostMemory));
    /// * [`Error::PartlySubmitted`] if the kernel refuses a call after the first.
    ///
    /// Except in the last case nothing was submitted, and no sync object has changed.
    pub fn submit(&self, submission: &Submission<'_>) -> Result<Fence> {
        if submission.lists.is_empty() {
            return self.submit_nothing(submission);
        }
        self.shared.send(&[], submission)
    }

    /// Submits like [`Queue::submit`], but returns no [`Fence`], which saves reference counting. This is for drivers that wait for
    /// sync objects; [`Queue::last`] returns the fence of the last submission.
    ///
    /// ```
    /// use amdgpu_winsys::{
    ///     cs::{Queue, Stream, Submission, SyncPoint, pm4},
    ///     winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
    /// };
    ///
    /// # let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    /// let list = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish()?;
    /// let done = Syncobj::new(&device, false)?;
    /// let signals = &[SyncPoint::binary(&done)];
    /// queue.submit_without_fence(&Submission { lists: &[&list], signals, ..Submission::default() })?;
    /// assert!(done.wait(Deadline::NEVER)? && queue.last().wait(Deadline::NEVER)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::submit`].
    #[expect(clippy::inline_always, reason = "a call of its own costs more than what it does")]
    #[inline(always)]
    pub fn submit_without_fence(&self, submission: &Submission<'_>) -> Result<()> {
        if submission.lists.is_empty() {
            return self.submit_nothing(submission).map(drop);
        }
        self.shared.send_numbered(&[], submission).map(drop)
    }

    /// Submits lists that the caller keeps alive with everything that they use, like [`Keep::Nothing`](crate::cs::Keep::Nothing), and
    /// with the members of sets. Returns the sequence number. Reuses what was prepared for the previous submission; if that had the
    /// same lists and sets, little is left but the ioctl.
    ///
    /// Returns `None`, and does nothing, if the submission must be made by [`Queue::submit`]: if there is no list or one is `None`, if
    /// the lists do not fit into one kernel call, are chained, keep sets or are for another ring, if there are several sets, if the
    /// members of the set have changed, if another thread submits at the same time, or if the device has an observer.
    ///
    /// [`Queue::submit`] itself tries this for submissions without anything else. The call is for drivers that have their lists in
    /// another form than a slice.
    ///
    /// ```
    /// use amdgpu_winsys::{
    ///     cs::{Queue, Stream, pm4},
    ///     winsys::{Context, Deadline, Device, Ip, Priority},
    /// };
    ///
    /// # let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    /// let list = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?.finish()?;
    /// let lists = [&list, &list];
    /// for number in 1..=2 {
    ///     assert_eq!(queue.submit_lent(lists.iter().map(|&list| Some(list)), &[], false, false)?, Some(number));
    /// }
    /// assert!(queue.wait_idle(Deadline::NEVER)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the ioctl among those of [`Queue::submit`].
    #[inline]
    pub fn submit_lent<'l>(
        &self,
        lists: impl Iterator<Item = Option<&'l CommandList>> + Clone,
        sets: &[&ResidencySet],
        is_secure: bool,
        is_preemptible: bool,
    ) -> Result<Option<u64>> {
        let Some(taken) = self.shared.jobs.take_buffers(false) else { return Ok(None) };
        match self.shared.send_lent(taken, lists, sets, Flags { is_secure, is_preemptible }) {
            Ok(outcome) => outcome.map(Some),
            Err(_taken) => Ok(None),
        }
    }

    #[cold]
    fn submit_nothing(&self, submission: &Submission<'_>) -> Result<Fence> {
        let has_work = submission.memory.binding_count() > 0 || !submission.sets.is_empty();
        if submission.has_waits() {
            let idle = marker::record(self.shared.device(), self.shared.target, &[])?;
            return self.shared.send(&[], &Submission { lists: &[&idle], ..*submission });
        }
        if submission.signals.is_empty() || has_work {
            return Err(Error::NothingToSubmit);
        }
        self.shared.signal_with_last(submission.signals)
    }

    /// Returns the fence of the last submission, which signals when all submissions so far have completed. If the queue was never
    /// used, the fence is already signalled.
    pub fn last(&self) -> Fence {
        Fence::new(Arc::clone(&self.shared), self.shared.jobs.last())
    }

    /// Waits until all submissions so far have completed. Returns `false` if the deadline passes first.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`] with [`DeviceLost`](crate::winsys::Error::DeviceLost) if a job was lost.
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool> {
        self.last().wait(deadline)
    }

    /// Waits for points of sync objects like [`Syncobj::wait_points`], then [checks](Queue::check) that this queue still works, and
    /// [retires](Queue::retire). The check is necessary because a lost job signals its sync objects like a completed one.
    ///
    /// RADV does not check, so its waits succeed after a hang (Mesa 25.0.7 `src/vulkan/runtime/vk_drm_syncobj.c`).
    ///
    /// # Errors
    ///
    /// The errors of [`Syncobj::wait_points`], and [`DeviceLost`](crate::winsys::Error::DeviceLost) if work of this queue was lost,
    /// as [`Error::Winsys`].
    pub fn wait_points(
        &self,
        points: &[(&Syncobj, u64)],
        condition: WaitFor,
        deadline: Deadline,
    ) -> Result<Option<usize>> {
        let met = Syncobj::wait_points(points, condition, Until::Signalled, deadline)?;
        self.check()?;
        self.retire();
        Ok(met)
    }

    /// Returns an error with the kind of loss if the queue no longer works, see [`Context::check`].
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`] with [`DeviceLost`](crate::winsys::Error::DeviceLost) if work of the queue was lost.
    pub fn check(&self) -> Result<()> {
        Ok(self.shared.check()?)
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
    ///     winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
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
        self.shared.retire();
    }

    /// Retires completed submissions, and returns the number of submissions that have not completed.
    pub fn in_flight(&self) -> usize {
        self.shared.retire();
        self.shared.jobs.count_after(self.shared.user_fence.value())
    }

    /// Drops the state that makes later submissions cheaper. With [`BoListMode::Kept`], this releases memory that only the kept
    /// BO list still holds.
    ///
    /// [`BoListMode::Kept`]: crate::cs::BoListMode::Kept
    pub fn forget_memory(&self) {
        self.shared.forget_memory();
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

    pub(in crate::cs) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}
