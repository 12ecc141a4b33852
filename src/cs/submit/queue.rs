//! Queues: where command lists are submitted, and what keeps their resources alive meanwhile.

use std::{mem, sync::Arc};

use super::{
    call::most_ibs,
    shared::{End, Shared},
    submit_buffers::{SUBMISSION, SubmitBuffers},
};
use crate::{
    cs::{
        CommandList, Error, Fence, Keep, QueueKind, QueueOptions, Result, Submission, SyncPoint, Target,
        record::marker,
        retire::{
            job::{Job, Unkept},
            jobs::{Jobs, Over, Underway},
            resources::{has_lists, name_resources},
        },
    },
    host_memory::{ArcRoom, NoHostMemory},
    winsys::{Context, Deadline, Event, Ip, Syncobj, Until, UserFence, WaitFor},
};

/// One queue of a context: the entity (context, IP, ring). Submissions to it run one after the other.
///
/// There is one object for each; [`Queues`](crate::cs::Queues) makes them on demand. Several threads may submit to it: the
/// kernel orders their submissions as it takes them. A submission that waits for sync objects, which the kernel may take
/// seconds for when nothing was submitted for them yet, keeps no other thread waiting; the calls of one that needs several
/// ([`plan`](crate::cs::plan)) may then have those of other threads between them. One that the kernel keeps waiting for memory,
/// or for room in the ring, keeps others from submitting, and from nothing else: the lock that waiting and retiring take is never
/// held during an ioctl, nor while something is let go of.
///
/// Dropping a queue waits for its last submission, for two seconds at most unless it was [abandoned](Queue::abandon); [`Fence`]s may see a later end.
///
/// # Lost work
///
/// A loss ends no job by itself: the kernel first tries to stop the hung job alone, and what is queued behind it then runs
/// (Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`). So what a submission uses is let go of only when the GPU has written
/// its number, or when the kernel reports that the queue is idle.
///
/// A `Queue` is a handle: a clone of it is the same queue, and equal to it. The rules for dropping a queue hold for the
/// last one.
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
    /// Ends the queue with the last handle. Beside the state and not around it, so that a submission follows one pointer.
    end: Arc<End>,
}

/// Two handles are equal if they are of the same queue.
impl PartialEq for Queue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Queue {}

impl Queue {
    /// Opens the queue of `context` on ring `ring` of `ip`.
    ///
    /// # Errors
    ///
    /// [`Error::NoLanguage`] for a video block, which [`VideoQueue`](crate::cs::VideoQueue) submits to;
    /// [`Error::NoSuchRing`], [`Error::QueueTaken`], or [`Error::Winsys`] without memory.
    pub fn new(context: &Context, ip: Ip, ring: u32) -> Result<Self> {
        Self::with_options(context, ip, ring, QueueOptions::default())
    }

    /// Creates a queue with the given options.
    ///
    /// # Errors
    ///
    /// Those of [`Queue::new`].
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

    /// Returns the number of its handles.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.end)
    }

    /// Returns the IP.
    pub fn ip(&self) -> Ip {
        self.shared.ip
    }

    /// Returns the ring: a queue index of the context. It names no hardware ring: an idle queue is moved to the least busy one
    /// of its IP and priority (Linux 6.12 `sched_entity.c`, `drm_sched_entity_select_rq`).
    pub fn ring(&self) -> u32 {
        self.shared.ring
    }

    /// Returns the kind of hardware queue.
    pub fn kind(&self) -> QueueKind {
        QueueKind::Kernel
    }

    /// Returns the target that streams for this queue are recorded for.
    pub fn target(&self) -> Target {
        self.shared.target
    }

    /// Returns the context.
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// Submits. One ioctl; nothing is allocated once the queue has seen a submission of this size.
    ///
    /// More IBs than the kernel takes at once go in several calls: the first waits, the last signals, and the fence is
    /// the last one's. RADV signals with each of them, which wakes waiters early (Mesa 25.0.7
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`).
    ///
    /// Without lists, and with nothing to wait for, nothing is given to the GPU: the signals are those of what was
    /// submitted last. With something to wait for, a list that does nothing runs in its turn.
    ///
    /// Everything named in the submission stays alive until it is done, whatever the caller drops meanwhile, unless
    /// [`Submission::keep`] says otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToSubmit`], [`Error::TooManyBos`], [`Error::WrongQueue`], [`Error::NoRoomForIbs`]; [`Error::Winsys`]
    /// for objects of another device, a lost GPU, and what the kernel refuses. Nothing was then submitted, and no sync
    /// object has changed. The same holds for [`HostMemory`](crate::winsys::Error::HostMemory): what a submission needs is there
    /// before the kernel is asked. Two things are not fallible, because an `Arc` cannot be: the copy of a set that has changed
    /// since a submission, and the list that runs where there is none. [`Error::PartlySubmitted`] when a call after the first is refused.
    pub fn submit(&self, submission: &Submission<'_>) -> Result<Fence> {
        if submission.lists.is_empty() {
            return self.submit_nothing(submission);
        }
        self.shared.send(&[], submission)
    }

    /// Submits as [`Queue::submit`] does, and makes no [`Fence`], which costs a count of references up and down. It is for
    /// drivers whose waits go by sync objects; [`Queue::last`] has the place of what was submitted.
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
    /// Those of [`Queue::submit`].
    pub fn submit_without_fence(&self, submission: &Submission<'_>) -> Result<()> {
        if submission.lists.is_empty() {
            return self.submit_nothing(submission).map(drop);
        }
        self.shared.send_numbered(&[], submission).map(drop)
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

    /// Returns the place of what was submitted last: it has signalled when all submissions so far are done. That of a queue
    /// that was never used has.
    pub fn last(&self) -> Fence {
        Fence::new(Arc::clone(&self.shared), self.shared.jobs.last())
    }

    /// Waits for everything submitted so far; false when the deadline came first.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`] when a job was lost.
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool> {
        self.last().wait(deadline)
    }

    /// Waits for points of sync objects, and then asks whether this queue still works: waiting for a sync object tells
    /// nothing about a loss, because a lost job signals what it was to signal. As [`Syncobj::wait_points`] otherwise. Then
    /// [retires](Queue::retire).
    ///
    /// RADV does not ask, so that its waits succeed after a hang (Mesa 25.0.7 `src/vulkan/runtime/vk_drm_syncobj.c`).
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`], with [`DeviceLost`](crate::winsys::Error::DeviceLost) when work of this queue was lost.
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

    /// Returns an error if the queue no longer works, with the kind of loss. See [`Context::check`].
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`], with [`DeviceLost`](crate::winsys::Error::DeviceLost) when it does not.
    pub fn check(&self) -> Result<()> {
        Ok(self.shared.check()?)
    }

    /// Lets go of what finished submissions used, without an ioctl unless work was lost.
    ///
    /// [`Queue::submit`] and [`Fence::wait`] do the same. A driver that waits for sync objects of its own calls this before
    /// it expects memory, lists or pooled IBs back; with [`Keep::Nothing`] it need not.
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
    /// assert!(done.wait(Deadline::NEVER)?); // the queue has not noticed
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

    /// Retires, and returns the number of submissions that were not yet seen to be done.
    pub fn in_flight(&self) -> usize {
        self.shared.retire();
        self.shared.jobs.len()
    }

    /// Drops the state that makes later submissions cheaper. With [`BoListMode::Kept`], this releases memory that only the kept
    /// BO list still holds.
    ///
    /// [`BoListMode::Kept`]: crate::cs::BoListMode::Kept
    pub fn forget_memory(&self) {
        self.shared.forget_memory();
    }

    /// Makes the last handle of the queue wait for nothing when it is dropped, for a driver that gives up a device whose GPU
    /// may be busy for long.
    ///
    /// Submissions that run then end in their own time. The kernel keeps the memory that they use until they have; the lists of
    /// those that have not ended when the last [`Fence`] of the queue is dropped too are never freed, because the GPU may still
    /// read them.
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

/// The last of a queue and its fences.
impl Drop for Shared {
    fn drop(&mut self) {
        if self.jobs.len() == 0 {
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

/// Leftovers of a submission, which are dropped or reported under no lock.
#[derive(Default)]
struct Left {
    over: Over,
    unkept: Option<Unkept>,
    report: Option<Report>,
}

/// Events to tell of a submission, or the error to return: few have either.
#[derive(Default)]
struct Report {
    events: Vec<Event>,
    /// The reason why the kernel did not take all of it. Not in a box, for which there may be no memory.
    error: Option<Error>,
}

impl Left {
    /// Returns `true` if there is nothing to drop and nothing to report.
    #[inline]
    fn is_empty(&self) -> bool {
        self.over.is_empty() && self.unkept.is_none() && self.report.is_none()
    }

    /// Notes the reason why the kernel did not take all of the submission.
    #[cold]
    fn refuse(&mut self, error: Error) {
        self.report.get_or_insert_default().error = Some(error);
    }
}

impl Shared {
    /// Gives up what is kept only so that later submissions are cheap.
    pub(super) fn forget_memory(&self) {
        // Destroyed when they go, without the lock.
        let _list = self.jobs.change_buffers(SubmitBuffers::take_kernel_list);
        drop(self.jobs.take_overtaking());
    }

    /// Submits, with what runs beside it on other queues.
    #[inline]
    pub(super) fn send(
        self: &Arc<Self>,
        beside: &[(&Self, &[&CommandList])],
        submission: &Submission<'_>,
    ) -> Result<Fence> {
        let sequence = self.send_numbered(beside, submission)?;
        Ok(Fence::new(Arc::clone(self), sequence))
    }

    /// Submits, and returns the number that the kernel gave the submission.
    fn send_numbered(&self, beside: &[(&Self, &[&CommandList])], submission: &Submission<'_>) -> Result<u64> {
        let mut left = Left::default();
        // Read before, so that the submission itself is not among those that are let go of: the next one may run the same lists.
        let done = self.user_fence.value();
        let sequence = self.hand_over(done, beside, submission, &mut left);
        if left.is_empty() {
            // Nothing needs to be dropped, and to find that out takes longer.
            mem::forget(left);
        } else {
            self.finish(&mut left, done)?;
        }
        tracing::trace!(ip = %self.ip, ring = self.ring, ?sequence, "submitted");
        sequence.ok_or(Error::NothingToSubmit)
    }

    /// Lets go of what a submission leaves, and reports.
    #[inline(never)]
    fn finish(&self, left: &mut Left, done: u64) -> Result<()> {
        left.unkept = None;
        // From here on the job is kept, whatever an observer does.
        self.jobs.let_go(&mut left.over, done);
        left.report.take().map_or(Ok(()), |report| self.report(report))
    }

    /// Tells observers of a submission, and returns the reason why the kernel did not take all of it.
    #[cold]
    fn report(&self, report: Report) -> Result<()> {
        let Report { events, error } = report;
        for event in events {
            self.device().tell(|| event);
        }
        let Some(error) = error else { return Ok(()) };
        if let Error::Winsys(error) | Error::PartlySubmitted { source: error, .. } = &error {
            self.note_loss(error);
        }
        Err(error)
    }

    /// Hands a submission to the kernel, and keeps what it uses. Returns the last number that the kernel gave it.
    ///
    /// The kernel waits inside the request for sync objects that have no fence yet; other threads need not wait for that.
    #[expect(clippy::inline_always, reason = "the one call that nearly all submissions make")]
    #[inline(always)]
    fn hand_over(
        &self,
        done: u64,
        beside: &[(&Self, &[&CommandList])],
        submission: &Submission<'_>,
        left: &mut Left,
    ) -> Option<u64> {
        let is_same = |job: &Job| has_lists(job, beside, submission);
        let mut underway = Underway::of(&self.jobs);
        if let Err(error) = underway.begin(done, !submission.waits.is_empty(), is_same) {
            left.refuse(error.of(SUBMISSION).into());
            return None;
        }
        // Matches, because a closure here is a call, and what it captures goes through memory.
        match name_resources(&mut underway, &mut left.over, beside, submission) {
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
                    // The caller has references to all of them.
                    job.lists.clear();
                }
            }
            if !buffers.events.is_empty() {
                left.report.get_or_insert_default().events = buffers.take_events();
            }
        }
        underway.end(done, &mut left.over)
    }

    /// Makes sync objects signal when what was submitted last is done.
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
