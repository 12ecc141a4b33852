//! Queues, which submit command lists and keep their resources alive while they run.

use std::{mem, sync::Arc};

use super::{
    call::{Beside, most_ibs},
    shared::{End, Shared},
    submit_buffers::{Flags, SUBMISSION, SubmitBuffers},
};
use crate::{
    cs::{
        CommandList, Error, Fence, Keep, QueueKind, QueueOptions, Result, Submission, SyncPoint, Target,
        record::marker,
        retire::{
            buffers::{Parts, Taken},
            job::{Job, Unkept},
            jobs::Jobs,
            over::Over,
            resources::{has_lists, name_in_empty_job, name_resources},
            underway::Underway,
        },
    },
    host_memory::{ArcRoom, NoHostMemory},
    winsys::{Context, Deadline, Event, Ip, ResidencySet, Syncobj, Until, UserFence, WaitFor},
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

    /// Submits lists that the caller keeps alive with everything that they use, like [`Keep::Nothing`], and with the members of sets.
    /// Returns the sequence number. Reuses what was prepared for the previous submission; if that had the same lists and sets, little
    /// is left but the ioctl.
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

/// Runs when the queue and all its fences are dropped.
impl Drop for Shared {
    fn drop(&mut self) {
        if self.jobs.job_count() == 0 {
            return;
        }
        self.jobs.doubt();
        self.retire();
        let abandoned = self.jobs.abandon();
        if abandoned > 0 {
            tracing::error!(abandoned, "memory lost: the kernel does not report the end of submissions that use it");
        }
    }
}

/// Leftovers of a submission, which are dropped or reported without a lock.
#[derive(Default)]
struct Left {
    over: Over,
    unkept: Option<Unkept>,
    report: Option<Report>,
}

/// Events for observers or the error to return; few submissions have either.
#[derive(Default)]
struct Report {
    events: Vec<Event>,
    /// The reason why the kernel did not accept all of it. Not boxed, because there may be no memory for a box.
    error: Option<Error>,
}

impl Left {
    /// Returns `true` if there is nothing to drop and nothing to report.
    #[inline]
    fn is_empty(&self) -> bool {
        self.over.is_empty() && self.unkept.is_none() && self.report.is_none()
    }

    /// Stores the reason why the kernel did not accept all of the submission.
    #[cold]
    fn refuse(&mut self, error: Error) {
        self.report.get_or_insert_default().error = Some(error);
    }
}

impl Shared {
    /// Drops the state that makes later submissions cheaper.
    pub(super) fn forget_memory(&self) {
        // Dropped at the end of the function, without the lock.
        let _list = self.jobs.change_buffers(SubmitBuffers::take_kernel_list);
        drop(self.jobs.take_overtaking());
    }

    /// Submits lists to this queue and, for a gang, to the queues in `beside`.
    #[inline]
    pub(super) fn send(self: &Arc<Self>, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<Fence> {
        let sequence = self.send_numbered(beside, submission)?;
        Ok(Fence::new(Arc::clone(self), sequence))
    }

    /// Submits, and returns the sequence number that the kernel assigned.
    fn send_numbered(&self, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<u64> {
        if submission.keep != Keep::Nothing {
            return self.send_kept(beside, submission);
        }
        match self.jobs.take_buffers(!submission.waits.is_empty()) {
            Some(taken) => self.send_unkept(taken, beside, submission),
            None => self.send_kept(beside, submission),
        }
    }

    /// Reports a submission to subscribers of traces.
    #[inline]
    fn trace(&self, sequence: u64) {
        if tracing::level_enabled!(tracing::Level::TRACE) {
            self.trace_heard(sequence);
        }
    }

    #[cold]
    fn trace_heard(&self, sequence: u64) {
        tracing::trace!(ip = %self.ip, ring = self.ring, sequence, "submitted");
    }

    /// Makes the kernel call of a submission that has only lists and sets and keeps nothing. Returns the buffers, and does nothing, if
    /// it must be made in another way.
    #[inline]
    fn send_lent<'q, 'l>(
        &'q self,
        mut taken: Taken<'q, SubmitBuffers>,
        lists: impl Iterator<Item = Option<&'l CommandList>> + Clone,
        sets: &[&ResidencySet],
        flags: Flags,
    ) -> Result<Result<u64>, Taken<'q, SubmitBuffers>> {
        match taken.parts().buffers.send_lent(self, lists, sets, flags) {
            Some(Ok(sequence)) => {
                self.jobs.end_without_job(taken, sequence);
                self.retire_finished();
                self.trace(sequence);
                Ok(Ok(sequence))
            }
            Some(Err(error)) => {
                drop(taken);
                Ok(Err(self.refused(error.into())))
            }
            None => Err(taken),
        }
    }

    /// Retires what has finished, if any of it keeps resources.
    #[inline]
    fn retire_finished(&self) {
        if self.jobs.has_job_up_to(|| self.user_fence.value()) {
            self.retire();
        }
    }

    /// Makes the kernel calls of a submission that keeps nothing.
    #[inline(never)]
    fn send_unkept(
        &self,
        taken: Taken<'_, SubmitBuffers>,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
    ) -> Result<u64> {
        let is_plain = beside.is_empty()
            && submission.preambles.is_none()
            && !submission.has_sync()
            && submission.memory.binding_count() == 0;
        if !is_plain {
            return self.send_unkept_slowly(taken, beside, submission);
        }
        let lists = submission.lists.iter().map(|list| Some(*list));
        match self.send_lent(taken, lists, submission.sets, submission.flags()) {
            Ok(outcome) => outcome,
            Err(taken) => self.send_unkept_slowly(taken, beside, submission),
        }
    }

    /// Makes the kernel calls of any submission that keeps nothing.
    #[inline(never)]
    fn send_unkept_slowly(
        &self,
        mut taken: Taken<'_, SubmitBuffers>,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
    ) -> Result<u64> {
        let mut over = Over::default();
        let Parts { job, buffers } = taken.parts();
        // A panic may have left something.
        job.clear();
        let outcome = match name_in_empty_job(job, buffers, beside, submission) {
            Ok(()) => buffers.send(self, beside, submission, job, &mut over),
            Err(error) => Err(error.of(SUBMISSION).into()),
        };
        let sequence = job.sequence;
        let unkept = if job.sets.is_empty() { None } else { Some(job.take_sets()) };
        // Lists of preambles, chains and gangs. The caller holds references to all, but may drop them at any time after the call.
        let others = if job.lists.is_empty() { Vec::new() } else { mem::take(&mut job.lists) };
        job.clear();
        let events = buffers.take_events();
        if sequence > 0 {
            self.jobs.end_without_job(taken, sequence);
        } else {
            drop(taken);
        }
        // Resources are dropped, and observers called, without the lock.
        drop((unkept, others));
        drop(over);
        self.retire_finished();
        for event in events {
            self.device().tell(|| event);
        }
        match outcome {
            Ok(()) if sequence == 0 => Err(Error::NothingToSubmit),
            Ok(()) => {
                self.trace(sequence);
                Ok(sequence)
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// Makes the kernel calls of a submission that keeps resources.
    #[inline(never)]
    fn send_kept(&self, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<u64> {
        let mut left = Left::default();
        // Read first, so that the submission itself is not retired: the next one may run the same lists.
        let done = self.user_fence.value();
        let sequence = self.hand_over(done, beside, submission, &mut left);
        if left.is_empty() {
            // There is nothing to drop, and `forget` saves the checks of the drop.
            mem::forget(left);
        } else {
            self.finish(&mut left, done)?;
        }
        let sequence = sequence.ok_or(Error::NothingToSubmit)?;
        self.trace(sequence);
        Ok(sequence)
    }

    /// Drops the leftovers of a submission, and reports its events and error.
    #[inline(never)]
    fn finish(&self, left: &mut Left, done: u64) -> Result<()> {
        left.unkept = None;
        // From here on the job is kept alive, even if an observer panics.
        self.jobs.let_go(&mut left.over, done);
        left.report.take().map_or(Ok(()), |report| self.report(report))
    }

    /// Notifies observers of a submission, and returns the reason why the kernel did not accept all of it.
    #[cold]
    fn report(&self, report: Report) -> Result<()> {
        let Report { events, error } = report;
        for event in events {
            self.device().tell(|| event);
        }
        error.map_or(Ok(()), |error| Err(self.refused(error)))
    }

    /// Notes the loss that an error of a submission reports, and returns the error.
    #[cold]
    fn refused(&self, error: Error) -> Error {
        if let Error::Winsys(error) | Error::PartlySubmitted { source: error, .. } = &error {
            self.note_loss(error);
        }
        error
    }

    /// Makes the kernel calls of a submission, and keeps its resources alive. Returns the last sequence number that the kernel
    /// assigned.
    ///
    /// The kernel waits inside the ioctl for sync objects that have no fence yet; other threads are not blocked by this.
    #[expect(clippy::inline_always, reason = "the one call that nearly all submissions make")]
    #[inline(always)]
    fn hand_over(
        &self,
        done: u64,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        left: &mut Left,
    ) -> Option<u64> {
        let is_same = |job: &Job| has_lists(job, beside, submission);
        let mut underway = Underway::of(&self.jobs);
        if let Err(error) = underway.begin(done, !submission.waits.is_empty(), is_same) {
            left.refuse(error.of(SUBMISSION).into());
            return None;
        }
        self.hand_over_resources(&mut underway, beside, submission, left);
        underway.end(done, &mut left.over)
    }

    /// Names the resources of a submission, and makes its kernel calls.
    #[expect(clippy::inline_always, reason = "a part of the one call that nearly all submissions make")]
    #[inline(always)]
    fn hand_over_resources(
        &self,
        underway: &mut Underway<'_, SubmitBuffers>,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        left: &mut Left,
    ) {
        // Uses `match`, because a closure here is a call, and its captures go through memory.
        match name_resources(underway, &mut left.over, beside, submission) {
            Ok(()) => {
                if let Some((job, buffers)) = underway.parts()
                    && let Err(error) = buffers.send(self, beside, submission, job, &mut left.over)
                {
                    left.refuse(error);
                }
            }
            Err(error) => left.refuse(error.of(SUBMISSION).into()),
        }
        if let Some((job, buffers)) = underway.parts() {
            if submission.keep != Keep::Everything {
                if !job.sets.is_empty() {
                    left.unkept = Some(job.take_sets());
                }
                if submission.keep == Keep::Nothing {
                    // The caller holds references to all lists.
                    job.lists.clear();
                }
            }
            if !buffers.events.is_empty() {
                left.report.get_or_insert_default().events = buffers.take_events();
            }
        }
    }

    /// Makes sync objects signal when the last submission has completed.
    fn signal_with_last(self: &Arc<Self>, signals: &[SyncPoint<'_>]) -> Result<Fence> {
        for signal in signals {
            self.own("sync object", signal.syncobj.device())?;
        }
        let last = self.jobs.last();
        let fence =
            if self.has_reached(last) { None } else { Some(self.context.fence_to_syncobj(self.ip, self.ring, last)?) };
        for SyncPoint { syncobj, point } in signals {
            match (&fence, point) {
                (Some(fence), _) => syncobj.transfer(*point, fence, 0)?,
                (None, 0) => syncobj.signal()?,
                (None, _) => syncobj.signal_point(*point)?,
            }
        }
        Ok(Fence::new(Arc::clone(self), last))
    }
}
