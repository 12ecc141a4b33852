//! The buffers of a queue, which one submission has at a time.

use std::{sync::atomic::Ordering, time::Duration};

use super::job::Job;
use crate::sync::{AtomicBool, BriefGuard, BriefLock, WaitQueue};

/// The longest wait for another thread's submission before the state is checked again.
const LOOK: Duration = Duration::from_millis(1);

/// The buffers `B` in which submissions are built.
///
/// The submission that has them holds a lock until its kernel calls are done. Releasing it is a plain store. No thread waits inside
/// the lock, because the kernel may take long: a thread that finds it taken sleeps, or uses buffers of its own while the holder waits
/// for sync objects.
#[derive(Debug, Default)]
pub(super) struct Buffers<B> {
    lock: BriefLock<Parts<B>>,
    /// `true` while the submission that has the buffers waits for sync objects, for which the kernel may take seconds.
    is_overtakable: AtomicBool,
    waiting: WaitQueue,
}

/// The buffers, and an empty job for submissions that keep nothing.
#[derive(Debug, Default)]
pub(in crate::cs) struct Parts<B> {
    pub(in crate::cs) job: Job,
    pub(in crate::cs) buffers: B,
}

/// The buffers of a submission. Dropping the value returns them. The fields are dropped in this order.
#[derive(Debug)]
pub(in crate::cs) struct Taken<'q, B> {
    _overtakable: Option<Overtakable<'q>>,
    parts: BriefGuard<'q, Parts<B>>,
    _wake: Wake<'q>,
}

/// Ends, when dropped, the time in which other submissions may overtake.
#[derive(Debug)]
struct Overtakable<'q>(&'q AtomicBool);

impl Drop for Overtakable<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Wakes, when dropped, the threads that wait for the buffers.
#[derive(Debug)]
struct Wake<'q>(&'q WaitQueue);

impl Drop for Wake<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.wake_all();
    }
}

impl<B> Taken<'_, B> {
    /// Returns the buffers, and the job for a submission that keeps nothing.
    #[inline]
    pub(in crate::cs) fn parts(&mut self) -> &mut Parts<B> {
        &mut self.parts
    }
}

impl<B> Buffers<B> {
    /// Takes the buffers if no submission has them. `waits` is `true` if the kernel may have to wait for sync objects of the
    /// submission.
    #[inline]
    pub(super) fn take_if_free(&self, waits: bool) -> Option<Taken<'_, B>> {
        let parts = self.lock.try_lock()?;
        let overtakable = waits.then(|| {
            self.is_overtakable.store(true, Ordering::Release);
            Overtakable(&self.is_overtakable)
        });
        Some(Taken { _overtakable: overtakable, parts, _wake: Wake(&self.waiting) })
    }

    /// Takes the buffers when no submission has them. Returns `None` if the submission that has them waits for sync objects.
    #[inline]
    pub(super) fn take_or_overtake(&self, waits: bool) -> Option<Taken<'_, B>> {
        loop {
            if let Some(taken) = self.take_if_free(waits) {
                return Some(taken);
            }
            if self.is_overtakable.load(Ordering::Acquire) {
                return None;
            }
            self.wait();
        }
    }

    /// Takes the buffers when no submission has them.
    pub(super) fn take(&self) -> Taken<'_, B> {
        loop {
            if let Some(taken) = self.take_if_free(false) {
                return taken;
            }
            self.wait();
        }
    }

    /// Waits until the buffers are returned, for a limited time: they may then belong to a submission that can be overtaken.
    #[cold]
    fn wait(&self) {
        self.waiting.wait_unless(LOOK, || self.lock.try_lock().is_some());
    }
}
