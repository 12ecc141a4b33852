//! Queues.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use amdgpu_winsys::{
    cs::{self, CommandList, Keep, OwnedSubmission, PendingFence, Submission, Submitter, SyncPoint},
    heaps::SparseQueue,
    winsys::{Context, Deadline, ResidencySet, Syncobj, Until, WaitFor},
};
use parking_lot::Mutex;

use super::{Family, Gpu, Payload};
use crate::border::Failure;

/// A wait of a submission.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    /// The semaphore's sync objects.
    pub(crate) payload: &'a Payload,
    /// The point of a timeline; `None` for a binary semaphore, which the wait resets.
    pub(crate) point: Option<u64>,
}

/// One submission.
#[derive(Debug, Default)]
pub(crate) struct Work<'a> {
    /// Command lists, in order.
    pub(crate) lists: Vec<CommandList>,
    /// Waits before them.
    pub(crate) waits: Vec<Wait<'a>>,
    /// Points of sync objects that signal after them; 0 is the binary state.
    pub(crate) signals: Vec<(Syncobj, u64)>,
}

/// Submissions that wait for something that was not submitted yet, and all behind them.
#[derive(Debug, Default)]
struct Late {
    submitter: Option<Submitter>,
    last: Option<PendingFence>,
}

impl Late {
    /// Returns `true` if a submission is still held back.
    ///
    /// # Errors
    ///
    /// That of the last one, if it could not be made.
    fn is_busy(&self) -> Result<bool, Failure> {
        match &self.last {
            Some(last) => Ok(last.submitted(Deadline::POLL)?.is_none()),
            None => Ok(false),
        }
    }
}

/// A `VkQueue`: a ring, through a context of its `VkDevice`.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Family and index.
    pub(crate) place: (u32, u32),
    gpu: Arc<Gpu>,
    ring: cs::Queue,
    late: Mutex<Late>,
    sparse: Mutex<Option<Arc<SparseQueue>>>,
    /// `true` if work was submitted since the last check.
    is_used: AtomicBool,
}

impl Queue {
    /// Opens ring `index` of a family.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub(crate) fn new(gpu: &Arc<Gpu>, context: &Context, family: Family, place: (u32, u32)) -> Result<Self, Failure> {
        let ring = cs::Queue::new(context, family.ip, place.1)?;
        let (late, sparse, is_used) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { place, gpu: Arc::clone(gpu), ring, late, sparse, is_used })
    }

    /// Submits: at once if everything that is waited for was submitted, else from a thread of its own, and with it all that
    /// comes later.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub(crate) fn submit(&self, work: Work<'_>) -> Result<(), Failure> {
        if work.lists.is_empty() && work.waits.is_empty() && work.signals.is_empty() {
            return Ok(());
        }
        self.is_used.store(true, Ordering::Release);
        let mut late = self.late.lock();
        if !late.is_busy()? && work.is_ready()? { self.submit_now(&work) } else { self.submit_late(&mut late, work) }
    }

    fn submit_now(&self, work: &Work<'_>) -> Result<(), Failure> {
        let waits: Vec<_> = work.waits.iter().map(|wait| (wait.payload.current(), wait.point.unwrap_or(0))).collect();
        let waits: Vec<_> = waits.iter().map(|(syncobj, point)| SyncPoint::timeline(syncobj, *point)).collect();
        let signals: Vec<_> =
            work.signals.iter().map(|(syncobj, point)| SyncPoint::timeline(syncobj, *point)).collect();
        let residents: &[&ResidencySet] = &[&self.gpu.residents];
        self.ring.submit(&Submission {
            lists: &work.lists.iter().collect::<Vec<_>>(),
            sets: if work.lists.is_empty() { &[] } else { residents },
            waits: &waits,
            signals: &signals,
            keep: Keep::Lists,
            ..Submission::default()
        })?;
        // The kernel has the fences; what signals a binary semaphore next is another one.
        work.waits.iter().filter(|wait| wait.point.is_none()).try_for_each(|wait| wait.payload.consume())
    }

    fn submit_late(&self, late: &mut Late, work: Work<'_>) -> Result<(), Failure> {
        let waits = work.waits.iter().map(|wait| match wait.point {
            Some(point) => Ok((wait.payload.current(), point)),
            None => Ok((wait.payload.take()?, 0)),
        });
        let submission = OwnedSubmission {
            waits: waits.collect::<Result<_, Failure>>()?,
            sets: if work.lists.is_empty() { Vec::new() } else { vec![self.gpu.residents.clone()] },
            lists: work.lists,
            signals: work.signals,
            keep: Keep::Lists,
            ..OwnedSubmission::default()
        };
        let submitter = match late.submitter.take() {
            Some(submitter) => submitter,
            None => Submitter::new(&self.ring)?,
        };
        late.last = Some(late.submitter.insert(submitter).submit(submission)?);
        Ok(())
    }

    /// Waits for everything submitted so far, and asks if any of it was lost.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST`, and those of the library.
    pub(crate) fn wait_idle(&self) -> Result<(), Failure> {
        let last = self.late.lock().last.clone();
        if let Some(last) = last {
            last.submitted(Deadline::NEVER)?;
        }
        self.ring.wait_idle(Deadline::NEVER)?;
        Ok(self.ring.check()?)
    }

    /// Asks if work was lost, where any was submitted since the last time: waiting for a sync object does not tell.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST`.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_used.swap(false, Ordering::AcqRel) {
            self.ring.check().inspect_err(|_| self.is_used.store(true, Ordering::Release))?;
            self.ring.retire();
        }
        Ok(())
    }

    /// Returns the queue's thread for sparse bindings, which the first of them starts.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` where the system gives no thread.
    pub(crate) fn sparse(&self) -> Result<Arc<SparseQueue>, Failure> {
        let mut sparse = self.sparse.lock();
        if let Some(queue) = &*sparse {
            return Ok(Arc::clone(queue));
        }
        Ok(Arc::clone(sparse.insert(Arc::new(SparseQueue::new(&self.gpu.device)?))))
    }
}

impl Work<'_> {
    /// Returns `true` if everything that is waited for was submitted.
    fn is_ready(&self) -> Result<bool, Failure> {
        let waits: Vec<_> = self.waits.iter().map(|wait| (wait.payload.current(), wait.point.unwrap_or(0))).collect();
        let waits: Vec<_> = waits.iter().map(|(syncobj, point)| (syncobj, *point)).collect();
        Ok(Syncobj::wait_points(&waits, WaitFor::All, Until::Submitted, Deadline::POLL)?.is_some())
    }
}
