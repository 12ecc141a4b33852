//! Queues, and submissions to them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use amdgpu_winsys::{
    cs::{self, CommandList, Keep, OwnedSubmission, Submission, SyncPoint},
    heaps::SparseQueue,
    winsys::{Context, Deadline, ResidencySet, Syncobj, Until, WaitFor},
};
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::{Loss, late::Late};
use crate::{
    border::Failure,
    objects::{Family, Gpu, Payload},
};

/// The interval at which waits check for the loss of the device.
pub(crate) const STEP: Duration = Duration::from_millis(50);

/// A wait of a submission.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    /// The sync objects of the semaphore.
    pub(crate) payload: &'a Payload,
    /// The point of a timeline; `None` for a binary semaphore, which the wait resets.
    pub(crate) point: Option<u64>,
}

/// A submission to a queue.
#[derive(Debug, Default)]
pub(crate) struct Work<'a> {
    /// The command lists, in order. A few of them need no heap allocation.
    pub(crate) lists: SmallVec<[&'a CommandList; 4]>,
    /// The waits before the command lists.
    pub(crate) waits: Vec<Wait<'a>>,
    /// The points of sync objects that signal after the command lists; 0 is the binary state.
    pub(crate) signals: SmallVec<[(Syncobj, u64); 2]>,
}

/// A `VkQueue`: a ring, used through a context of its `VkDevice`.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The queue family and the index in it.
    pub(crate) place: (u32, u32),
    gpu: Arc<Gpu>,
    ring: cs::Queue,
    late: Mutex<Late>,
    /// `true` if `late` may hold back a submission. It is only changed under the lock.
    is_holding: AtomicBool,
    sparse: Mutex<Option<Arc<SparseQueue>>>,
    loss: Loss,
    /// A number that increases before and after each submission. Programs synchronize submissions, so it is updated by plain
    /// stores.
    submitted: AtomicU64,
    /// The number of submissions that were held back and have been made.
    settled: AtomicU64,
    /// The sum of both numbers when all work was last known to be complete without loss.
    checked: AtomicU64,
}

impl Queue {
    /// Creates the queue for ring `index` of a family.
    ///
    /// # Errors
    ///
    /// The errors of the library.
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        context: &Context,
        family: Family,
        place: (u32, u32),
        loss: &Loss,
    ) -> Result<Self, Failure> {
        let ring = cs::Queue::new(context, family.ip, place.1)?;
        let (gpu, loss) = (Arc::clone(gpu), loss.clone());
        let (late, is_holding, sparse, submitted, settled, checked) = Default::default();
        Ok(Self { place, gpu, ring, late, is_holding, sparse, loss, submitted, settled, checked })
    }

    /// Submits `work`. If its waits depend on work that has not been submitted yet, a separate thread makes this and all later
    /// submissions.
    ///
    /// # Errors
    ///
    /// The errors of the library; `VK_ERROR_DEVICE_LOST` if an earlier submission that was held back could not be made.
    #[inline]
    pub(crate) fn submit(&self, work: &mut Work<'_>) -> Result<(), Failure> {
        let is_held = self.check_held()?;
        if work.lists.is_empty() && work.waits.is_empty() && work.signals.is_empty() {
            return Ok(());
        }
        self.count();
        let outcome = if !is_held && work.is_ready()? { self.submit_now(work) } else { self.submit_late(work) };
        self.count();
        outcome
    }

    /// Counts the start or the end of a submission.
    fn count(&self) {
        self.submitted.store(self.submitted.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Returns `true` if a submission is held back.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST` if a submission of any queue could not be made.
    #[inline]
    pub(crate) fn check_held(&self) -> Result<bool, Failure> {
        let is_held = self.is_holding.load(Ordering::Acquire) && self.settle();
        self.loss.check()?;
        Ok(is_held)
    }

    /// Checks which of the held-back submissions have been made. Returns `true` if one is still held back.
    #[cold]
    fn settle(&self) -> bool {
        let mut late = self.late.lock();
        self.settled.fetch_add(late.settle(&self.loss), Ordering::AcqRel);
        let is_held = late.first().is_some();
        self.is_holding.store(is_held, Ordering::Release);
        is_held
    }

    #[inline]
    fn submit_now(&self, work: &Work<'_>) -> Result<(), Failure> {
        if work.waits.is_empty() && work.signals.is_empty() {
            return self.hand_over(work, &[], &[]);
        }
        let waits: Vec<_> = work.waits.iter().map(|wait| (wait.payload.current(), wait.point.unwrap_or(0))).collect();
        let point = |(syncobj, point)| SyncPoint::timeline(syncobj, point);
        let waits: SmallVec<[_; 2]> = waits.iter().map(|(syncobj, at)| point((syncobj, *at))).collect();
        let signals: SmallVec<[_; 2]> = work.signals.iter().map(|(syncobj, at)| point((syncobj, *at))).collect();
        self.hand_over(work, &waits, &signals)?;
        // The kernel has the fences; what signals a binary semaphore next is another one.
        work.waits.iter().filter(|wait| wait.point.is_none()).try_for_each(|wait| wait.payload.consume())
    }

    /// Submits the command lists of `work` to the kernel, with these points.
    #[inline]
    fn hand_over(&self, work: &Work<'_>, waits: &[SyncPoint<'_>], signals: &[SyncPoint<'_>]) -> Result<(), Failure> {
        let residents: &[&ResidencySet] = &[&self.gpu.residents];
        self.ring.submit(&Submission {
            lists: &work.lists,
            sets: if work.lists.is_empty() { &[] } else { residents },
            waits,
            signals,
            keep: Keep::Lists,
            ..Submission::default()
        })?;
        Ok(())
    }

    #[cold]
    fn submit_late(&self, work: &mut Work<'_>) -> Result<(), Failure> {
        let work = std::mem::take(work);
        let waits = work.waits.iter().map(|wait| match wait.point {
            Some(point) => Ok((wait.payload.current(), point)),
            None => Ok((wait.payload.take()?, 0)),
        });
        let submission = OwnedSubmission {
            waits: waits.collect::<Result<_, Failure>>()?,
            sets: if work.lists.is_empty() { Vec::new() } else { vec![self.gpu.residents.clone()] },
            lists: work.lists.into_iter().cloned().collect(),
            signals: work.signals.into_vec(),
            keep: Keep::Lists,
            ..OwnedSubmission::default()
        };
        let mut late = self.late.lock();
        late.submit(&self.ring, submission)?;
        self.is_holding.store(true, Ordering::Release);
        Ok(())
    }

    /// Waits until all submissions so far have completed, and checks that none was lost.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST` if work was lost; the errors of the library.
    pub(crate) fn wait_idle(&self) -> Result<(), Failure> {
        while self.check_held()? {
            let first = self.late.lock().first();
            // An error is told by the next check.
            let _ = first.map(|first| first.submitted(Deadline::after(STEP)));
        }
        self.ring.wait_idle(Deadline::NEVER)?;
        Ok(self.ring.check()?)
    }

    /// Checks that no work was lost, which a wait for a sync object does not report. The kernel is queried until all submissions
    /// have completed.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST` if work was lost.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let is_held = self.check_held()?;
        let submitted = self.submitted.load(Ordering::Acquire).wrapping_add(self.settled.load(Ordering::Acquire));
        if !is_held && submitted == self.checked.load(Ordering::Acquire) {
            return Ok(());
        }
        let is_idle = self.ring.wait_idle(Deadline::POLL)?;
        self.ring.check()?;
        self.ring.retire();
        if is_idle && !is_held {
            self.checked.store(submitted, Ordering::Release);
        }
        Ok(())
    }

    /// Returns the queue's thread for sparse bindings. The first sparse binding starts it.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` if the system cannot start a thread; `VK_ERROR_DEVICE_LOST` if the device is lost.
    pub(crate) fn sparse(&self) -> Result<Arc<SparseQueue>, Failure> {
        self.loss.check()?;
        let mut sparse = self.sparse.lock();
        if let Some(queue) = &*sparse {
            return Ok(Arc::clone(queue));
        }
        Ok(Arc::clone(sparse.insert(Arc::new(SparseQueue::new(&self.gpu.device)?))))
    }
}

impl Work<'_> {
    /// Returns `true` if all work that the waits depend on has been submitted.
    fn is_ready(&self) -> Result<bool, Failure> {
        if self.waits.is_empty() {
            return Ok(true);
        }
        let waits: Vec<_> = self.waits.iter().map(|wait| (wait.payload.current(), wait.point.unwrap_or(0))).collect();
        let waits: Vec<_> = waits.iter().map(|(syncobj, point)| (syncobj, *point)).collect();
        Ok(Syncobj::wait_points(&waits, WaitFor::All, Until::Submitted, Deadline::POLL)?.is_some())
    }
}
