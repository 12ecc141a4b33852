//! A thread that executes jobs in order, for queues that wait where their caller must not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{Builder, JoinHandle},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

use crate::winsys::Deadline;

/// Interval at which a waiting job checks whether its worker was dropped.
const LOOK: Duration = Duration::from_millis(50);

/// A thread that executes jobs `J` in order, each with an outcome `T`. Dropping it waits for the queued jobs; [`Stop`] tells those
/// that wait to end.
#[derive(Debug)]
pub(crate) struct Worker<J, T> {
    name: &'static str,
    /// Only `Drop` takes it, which ends the thread.
    inbox: Option<mpsc::Sender<Task<J, T>>>,
    thread: Option<JoinHandle<()>>,
    stop: Stop,
    /// Returns the outcome of a job that is never executed.
    abandoned: fn() -> T,
}

/// Tells a job whether its worker was dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// The outcome of a job, once it is known.
#[derive(Debug)]
pub(crate) struct Outcome<T>(Arc<(Mutex<Option<T>>, Condvar)>);

/// A job with the place of its outcome.
#[derive(Debug)]
struct Task<J, T> {
    job: J,
    outcome: Outcome<T>,
    abandoned: fn() -> T,
}

/// Ends all waits for a job that is never executed, because the worker was dropped or its thread has panicked.
impl<J, T> Drop for Task<J, T> {
    fn drop(&mut self) {
        let (outcome, known) = &*self.outcome.0;
        outcome.lock().get_or_insert_with(self.abandoned);
        known.notify_all();
    }
}

impl<T> Clone for Outcome<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Clone> Outcome<T> {
    /// Waits for the outcome. Returns `None` if the deadline passes first.
    pub(crate) fn wait(&self, deadline: Deadline) -> Option<T> {
        let (outcome, known) = &*self.0;
        let mut outcome = outcome.lock();
        known.wait_while_for(&mut outcome, |outcome| outcome.is_none(), deadline.remaining());
        outcome.clone()
    }
}

impl Stop {
    /// Calls `wait` with short deadlines until it returns `true`. Returns `false` if the worker is dropped first.
    pub(crate) fn unless_stopped<E>(&self, mut wait: impl FnMut(Deadline) -> Result<bool, E>) -> Result<bool, E> {
        while !wait(Deadline::after(LOOK))? {
            if self.0.load(Ordering::Acquire) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<J: Send + 'static, T: Send + 'static> Worker<J, T> {
    /// Starts a thread that executes jobs with `work`. `abandoned` returns the outcome of jobs that are never executed.
    ///
    /// # Errors
    ///
    /// The reason if the system cannot start a thread.
    pub(crate) fn start(
        name: &'static str,
        abandoned: fn() -> T,
        mut work: impl FnMut(&J, &Stop) -> T + Send + 'static,
    ) -> Result<Self, String> {
        let (inbox, tasks) = mpsc::channel::<Task<J, T>>();
        let stop = Stop::default();
        let seen = stop.clone();
        let run = move || {
            for task in tasks {
                let outcome = work(&task.job, &seen);
                *task.outcome.0.0.lock() = Some(outcome);
            }
        };
        let thread = Builder::new().name(name.to_owned()).spawn(run).map_err(|error| error.to_string())?;
        Ok(Self { name, inbox: Some(inbox), thread: Some(thread), stop, abandoned })
    }

    /// Queues a job and returns at once. Returns `None` if the thread has panicked.
    pub(crate) fn queue(&self, job: J) -> Option<Outcome<T>> {
        let outcome = Outcome(Arc::new((Mutex::new(None), Condvar::new())));
        let task = Task { job, outcome: outcome.clone(), abandoned: self.abandoned };
        self.inbox.as_ref()?.send(task).is_ok().then_some(outcome)
    }
}

impl<J, T> Drop for Worker<J, T> {
    fn drop(&mut self) {
        self.stop.0.store(true, Ordering::Release);
        self.inbox = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of a {} has panicked", self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(work: impl FnMut(&u32, &Stop) -> Option<u32> + Send + 'static) -> Worker<u32, Option<u32>> {
        Worker::start("test worker", || None, work).expect("a thread")
    }

    fn wait(outcome: &Outcome<Option<u32>>) -> Option<u32> {
        outcome.wait(Deadline::after(Duration::from_secs(20))).expect("an outcome")
    }

    #[test]
    fn jobs_are_executed_in_order() {
        let mut sum = 0;
        let worker = worker(move |job, _| {
            sum += job;
            Some(sum)
        });
        let outcomes: Vec<_> = (1..=10).map(|job| worker.queue(job).unwrap()).collect();
        assert_eq!(outcomes.iter().filter_map(wait).collect::<Vec<_>>(), [1, 3, 6, 10, 15, 21, 28, 36, 45, 55]);
    }

    #[test]
    fn dropping_it_ends_what_waits() {
        let worker = worker(|_, stop| stop.unless_stopped(|_| Ok::<_, ()>(false)).ok().map(u32::from));
        let outcomes = [1, 2, 3].map(|job| worker.queue(job).unwrap());
        assert_eq!(outcomes[0].wait(Deadline::POLL), None);
        drop(worker);
        assert_eq!(outcomes.each_ref().map(wait), [Some(0); 3], "each was told");
    }

    #[test]
    fn a_panic_abandons_its_job_and_all_later_ones() {
        let worker = worker(|job, _| if *job == 2 { panic!("on purpose") } else { Some(*job) });
        let outcomes: Vec<_> = (1..=3).filter_map(|job| worker.queue(job)).collect();
        assert_eq!(wait(&outcomes[0]), Some(1));
        assert!(outcomes[1..].iter().all(|outcome| wait(outcome).is_none()));
        while worker.queue(4).is_some() {}
    }
}
