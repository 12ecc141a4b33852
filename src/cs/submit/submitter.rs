//! Submission on a separate thread, after the dependencies were submitted.

use crate::{
    cs::{CommandList, Fence, Keep, Preambles, Queue, Submission, SubmitError, SubmitterError, SyncPoint},
    winsys::{Binding, Deadline, Error as WinsysError, ResidencySet, Syncobj, Until, WaitFor},
    worker::{Outcome, Stop, Worker},
};

/// A [`Submission`] that owns its resources, so that it can be queued for a [`Submitter`].
///
/// ```
/// use amdgpu_winsys::{cs::{OwnedSubmission, Submitter}, winsys::{Deadline, Syncobj}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let rendered = Syncobj::new(&device, false)?;
/// let submission = OwnedSubmission { lists: vec![list], signals: vec![(rendered.clone(), 0)], ..Default::default() };
/// let submitter = Submitter::new(&queue)?;
/// submitter.submit(submission)?; // takes ownership
/// assert!(rendered.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OwnedSubmission {
    /// The lists to execute, see [`Submission::lists`].
    pub lists: Vec<CommandList>,
    /// The preambles and postambles, see [`Submission::preambles`].
    pub preambles: Option<Preambles>,
    /// The memory that the lists access, see [`Submission::memory`].
    pub memory: Vec<Binding>,
    /// Sets of further memory, see [`Submission::sets`]. The members at the time of the kernel call are used.
    pub sets: Vec<ResidencySet>,
    /// Points of sync objects that must signal before the lists run. A [`Submitter`] waits without a time limit until the work
    /// behind them has been submitted.
    pub waits: Vec<(Syncobj, u64)>,
    /// Points of sync objects that signal when the lists have completed, see [`Submission::signals`].
    pub signals: Vec<(Syncobj, u64)>,
    /// Submissions that must have completed first, see [`Submission::after`].
    pub after: Vec<Fence>,
    /// Submissions that must have started first, see [`Submission::after_start`].
    pub after_start: Vec<Fence>,
    /// The resources that the queue keeps alive, see [`Submission::keep`].
    pub keep: Keep,
    /// `true` if the lists access encrypted memory (TMZ), see [`Submission::is_secure`].
    pub is_secure: bool,
    /// `true` if the graphics ring may be preempted within the lists, see [`Submission::is_preemptible`].
    pub is_preemptible: bool,
}

/// A thread that submits to a queue in order, each submission as soon as the work that it depends on has been submitted.
///
/// Vulkan allows a wait for a point of a timeline before the work that signals it was submitted. The kernel waits for this at most
/// five seconds within the submission ioctl, and then refuses it (Linux 6.12 `drm_syncobj.c`, `drm_syncobj_find_fence`). The
/// submitter waits first, without a time limit and without a lock.
///
/// A direct submission to the queue overtakes submissions that are still waiting here. Dropping the submitter abandons the waiting
/// submissions.
///
/// ```
/// use amdgpu_winsys::{cs::{OwnedSubmission, Submitter}, winsys::{Deadline, Syncobj}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let timeline = Syncobj::new(&device, false)?;
/// let submitter = Submitter::new(&queue)?;
/// let waits = vec![(timeline.clone(), 5)]; // no work was submitted for this point
/// let pending = submitter.submit(OwnedSubmission { lists: vec![list], waits, ..Default::default() })?;
/// assert!(pending.submitted(Deadline::POLL)?.is_none());
/// timeline.signal_point(5)?;
/// assert!(pending.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Submitter {
    queue: Queue,
    worker: Worker<OwnedSubmission, Result<Fence, SubmitterError>>,
}

/// The fence of a submission that a [`Submitter`] may not have made yet.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{OwnedSubmission, Submitter, SubmitterError},
///     winsys::{Deadline, Syncobj},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let never = Syncobj::new(&device, false)?;
/// let submitter = Submitter::new(&queue)?;
/// let first = submitter.submit(OwnedSubmission { lists: vec![list.clone()], ..Default::default() })?;
/// let fence = first.submitted(Deadline::NEVER)?.ok_or("not submitted")?;
/// assert!(fence.wait(Deadline::NEVER)?);
/// let second = submitter.submit(OwnedSubmission { lists: vec![list], waits: vec![(never, 0)], ..Default::default() })?;
/// drop(submitter); // abandons the waiting submission
/// assert_eq!(second.wait(Deadline::NEVER), Err(SubmitterError::Abandoned));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PendingFence {
    outcome: Outcome<Result<Fence, SubmitterError>>,
}

impl PendingFence {
    /// Waits until the submission was made and returns its fence; `None` if the deadline passes first.
    ///
    /// # Errors
    ///
    /// The errors of [`Queue::submit`], and [`SubmitterError::Abandoned`] if the submitter was dropped before the submission was made.
    pub fn submitted(&self, deadline: Deadline) -> Result<Option<Fence>, SubmitterError> {
        self.outcome.wait(deadline).transpose()
    }

    /// Waits until the submission has completed. Returns `false` if the deadline passes first.
    ///
    /// # Errors
    ///
    /// The errors of [`PendingFence::submitted`] and [`Fence::wait`].
    pub fn wait(&self, deadline: Deadline) -> Result<bool, SubmitterError> {
        match self.submitted(deadline)? {
            Some(fence) => Ok(fence.wait(deadline)?),
            None => Ok(false),
        }
    }
}

impl Submitter {
    /// Creates a submitter for a queue and starts its thread.
    ///
    /// # Errors
    ///
    /// [`SubmitterError::Thread`] if the system cannot start a thread.
    pub fn new(queue: &Queue) -> Result<Self, SubmitterError> {
        let target = queue.clone();
        let work = move |submission: &OwnedSubmission, stop: &Stop| {
            submission.wait_for_submitters(&target, stop)?;
            Ok(submission.submit(&target)?)
        };
        let worker = Worker::start("submitter", || Err(SubmitterError::Abandoned), work)
            .map_err(|reason| SubmitterError::Thread { reason })?;
        Ok(Self { queue: queue.clone(), worker })
    }

    /// Returns the queue to which the thread submits.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Queues a submission for the thread and returns immediately.
    ///
    /// # Errors
    ///
    /// [`SubmitterError::Abandoned`] if the thread has ended. Errors of the submission itself are returned by the [`PendingFence`].
    pub fn submit(&self, submission: OwnedSubmission) -> Result<PendingFence, SubmitterError> {
        self.worker.queue(submission).map(|outcome| PendingFence { outcome }).ok_or(SubmitterError::Abandoned)
    }
}

impl OwnedSubmission {
    /// Waits until work was submitted for all points that the submission waits for.
    fn wait_for_submitters(&self, queue: &Queue, stop: &Stop) -> Result<(), SubmitterError> {
        let points: Vec<_> = self.waits.iter().map(|(syncobj, point)| (syncobj, *point)).collect();
        let mut devices = points.iter().map(|(syncobj, _)| syncobj.device());
        if devices.any(|device| device != queue.context().device()) {
            return Err(WinsysError::ForeignDevice { what: "sync object" }.into());
        }
        let wait =
            |deadline| Syncobj::wait_points(&points, WaitFor::All, Until::Submitted, deadline).map(|met| met.is_some());
        if stop.unless_stopped(wait)? { Ok(()) } else { Err(SubmitterError::Abandoned) }
    }

    fn submit(&self, queue: &Queue) -> Result<Fence, SubmitError> {
        let lists: Vec<_> = self.lists.iter().collect();
        let sets: Vec<_> = self.sets.iter().collect();
        let waits: Vec<_> = self.waits.iter().map(|(syncobj, point)| SyncPoint::timeline(syncobj, *point)).collect();
        let signals: Vec<_> =
            self.signals.iter().map(|(syncobj, point)| SyncPoint::timeline(syncobj, *point)).collect();
        let (after, after_start): (Vec<_>, Vec<_>) = (self.after.iter().collect(), self.after_start.iter().collect());
        queue.submit(&Submission {
            lists: &lists,
            preambles: self.preambles.as_ref(),
            memory: &self.memory,
            sets: &sets,
            waits: &waits,
            signals: &signals,
            after: &after,
            after_start: &after_start,
            keep: self.keep,
            is_secure: self.is_secure,
            is_preemptible: self.is_preemptible,
        })
    }
}
