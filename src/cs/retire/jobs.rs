//! Resources of running submissions.

use std::{array, collections::VecDeque, mem, sync::Arc};

use crate::{
    cs::record::list::recorded::Recorded,
    host_memory::{NoHostMemory, TryBox},
    sync::BriefLock,
    winsys::{Binding, Residents},
};

/// Resources of one running submission. Boxed, because moving it by value right after filling it costs more than the
/// filling.
#[derive(Debug, Default)]
pub(in crate::cs) struct Job {
    /// The last number that the kernel gave it; 0 as long as it took no part of it.
    pub(in crate::cs) sequence: u64,
    pub(in crate::cs) lists: Vec<Arc<Recorded>>,
    pub(in crate::cs) memory: Vec<Binding>,
    pub(in crate::cs) sets: Vec<Residents>,
}

impl Job {
    /// Takes out what it uses, if that is little.
    #[inline]
    fn take_few(&mut self) -> Option<Few> {
        let fits = self.lists.len() <= Few::LISTS && self.memory.len() <= Few::MEMORY && self.sets.len() <= Few::SETS;
        if !fits {
            return None;
        }
        self.sequence = 0;
        Some(Few { lists: pop(&mut self.lists), memory: pop(&mut self.memory), sets: pop(&mut self.sets) })
    }

    /// Takes the sets away, to be dropped under no lock. The container stays unless there are more than two.
    pub(in crate::cs) fn take_sets(&mut self) -> Unkept {
        let mut unkept = Unkept::default();
        if self.sets.len() > unkept.few.len() {
            unkept.many = std::mem::take(&mut self.sets);
        } else {
            unkept.few = pop(&mut self.sets);
        }
        unkept
    }

    /// Lets go of everything, and keeps the containers.
    fn clear(&mut self) {
        self.sequence = 0;
        self.lists.clear();
        self.memory.clear();
        self.sets.clear();
    }
}

/// Sets that a submission has listed and does not keep.
#[derive(Debug, Default)]
pub(in crate::cs) struct Unkept {
    few: [Option<Residents>; 2],
    many: Vec<Residents>,
}

/// Resources of a small job. They are taken out of the job under the lock and dropped without it, while the job stays, so
/// that the lock need not be taken again to give the containers back.
#[derive(Debug)]
#[expect(dead_code, reason = "what is in it is only dropped")]
struct Few {
    lists: [Option<Arc<Recorded>>; Self::LISTS],
    memory: [Option<Binding>; Self::MEMORY],
    sets: [Option<Residents>; Self::SETS],
}

impl Few {
    const LISTS: usize = 2;
    const MEMORY: usize = 1;
    const SETS: usize = 1;
}

/// Takes the last elements.
#[inline]
fn pop<T, const N: usize>(from: &mut Vec<T>) -> [Option<T>; N] {
    array::from_fn(|_| from.pop())
}

/// The submissions of a queue that were not yet seen to be done.
///
/// The lock inside is held for a few steps at a time, and never while a job lets go of what it used: that can unbind and
/// close BOs, and tell observers.
#[derive(Debug, Default)]
pub(in crate::cs) struct Jobs(BriefLock<State>);

#[derive(Debug, Default)]
struct State {
    /// In the order of their numbers.
    running: VecDeque<TryBox<Job>>,
    /// Places in `running` for submissions that have begun, and for the jobs that wait to begin one. A submission that the kernel
    /// has taken must be kept, so there is room for it before the kernel is asked.
    promised: usize,
    /// Emptied containers of finished submissions, so that a steady stream of submissions allocates nothing.
    spare: Vec<TryBox<Job>>,
    /// The first submission that was lost: its lists are kept, for those who want to know where it stopped.
    lost: Option<TryBox<Job>>,
    /// The last number that the kernel gave out.
    last: u64,
    /// `true` if work was lost, so that some running jobs may have ended without writing their number.
    is_in_doubt: bool,
}

/// Leftovers of a submission after its way to the kernel has ended.
pub(in crate::cs) struct Ended {
    /// The last number that the kernel gave it, if it took any of it.
    pub(in crate::cs) sequence: Option<u64>,
    /// An empty job for the next submission, with a place among the running ones.
    pub(in crate::cs) spare: Option<TryBox<Job>>,
}

/// Resources of jobs that have ended. Dropping it drops them; [`Jobs::let_go`] also keeps the containers of a large one.
#[derive(Debug, Default)]
pub(in crate::cs) struct Over {
    few: Option<Few>,
    /// A job that has finished, or one of which the kernel took nothing.
    job: Option<TryBox<Job>>,
}

/// A submission on its way to the kernel. However the way ends, in a panic of an observer too, what the kernel took stays
/// alive as long as it runs.
pub(in crate::cs) struct Underway<'q> {
    jobs: &'q Jobs,
    /// Taken only by the end.
    job: Option<TryBox<Job>>,
}

impl Underway<'_> {
    /// The job; `None` never before the end.
    pub(in crate::cs) fn job(&mut self) -> Option<&mut Job> {
        self.job.as_deref_mut()
    }

    /// The kernel was asked. `done` is the last number that the GPU has written. The resources to [let go of](Jobs::let_go) are moved
    /// to `over`.
    #[inline]
    pub(in crate::cs) fn end(mut self, done: u64, over: &mut Over) -> Ended {
        let (jobs, job) = (self.jobs, self.job.take());
        // Without the job there is nothing to drop, and no need to look.
        mem::forget(self);
        match job {
            Some(job) if job.sequence > 0 => jobs.add(job, done, over),
            job => {
                over.job = job;
                jobs.take_back(1);
                Ended { sequence: None, spare: None }
            }
        }
    }
}

impl Drop for Underway<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            self.jobs.end_early(job);
        }
    }
}

impl Jobs {
    /// Begins a submission, in a container that [`Ended::spare`] gave or in a new one. From here on it can be kept without memory.
    #[inline]
    pub(in crate::cs) fn begin(&self, spare: Option<TryBox<Job>>) -> Result<Underway<'_>, NoHostMemory> {
        let job = match spare {
            Some(job) => job,
            None => self.new_job()?,
        };
        Ok(Underway { jobs: self, job: Some(job) })
    }

    /// Ends a submission in a panic.
    #[cold]
    fn end_early(&self, job: TryBox<Job>) {
        // A job that is not kept has not used its place; one that is may have got another.
        if job.sequence == 0 || self.add(job, 0, &mut Over::default()).spare.is_some() {
            self.take_back(1);
        }
    }

    #[cold]
    fn new_job(&self) -> Result<TryBox<Job>, NoHostMemory> {
        let mut state = self.0.lock();
        state.promise()?;
        if let Some(job) = state.spare.pop() {
            return Ok(job);
        }
        drop(state);
        TryBox::new(Job::default()).inspect_err(|_| self.take_back(1))
    }

    /// Takes back places that were given with jobs that begin no submission.
    pub(in crate::cs) fn take_back(&self, count: usize) {
        let mut state = self.0.lock();
        state.promised = state.promised.saturating_sub(count);
    }

    /// Keeps a job that the kernel took. `over` is empty.
    fn add(&self, job: TryBox<Job>, done: u64, over: &mut Over) -> Ended {
        let mut state = self.0.lock();
        let sequence = Some(job.sequence);
        state.promised = state.promised.saturating_sub(1);
        if job.sequence > state.last {
            state.last = job.sequence;
            state.running.push_back(job);
        } else {
            state.insert(job);
        }
        let mut emptied = None;
        if let Some(mut job) = state.take_up_to(done) {
            let further = match job.take_few() {
                Some(few) => {
                    // There was nothing in it, and to drop nothing is a call.
                    mem::forget(over.few.replace(few));
                    emptied = Some(job);
                    state.take_up_to(done)
                }
                None => Some(job),
            };
            mem::forget(mem::replace(&mut over.job, further));
        }
        // Without room for it the next submission tries again.
        let spare = emptied.or_else(|| state.spare.pop()).filter(|_| state.promise().is_ok());
        Ended { sequence, spare }
    }

    /// Lets go of what submissions up to this number used.
    pub(in crate::cs) fn retire_up_to(&self, done: u64) {
        let job = self.0.lock().take_up_to(done);
        if let Some(job) = job {
            self.let_go_of(job, done);
        }
    }

    /// Lets go of what jobs used that are over, and then of what submissions up to this number used.
    #[expect(clippy::inline_always, reason = "a part of every submission, which has a small job to let go of or none")]
    #[inline(always)]
    pub(in crate::cs) fn let_go(&self, over: Over, done: u64) {
        let Over { few, job } = over;
        if let Some(job) = job {
            self.let_go_of(job, done);
        }
        if let Some(few) = few {
            drop(few);
        }
    }

    #[inline(never)]
    fn let_go_of(&self, job: TryBox<Job>, done: u64) {
        let mut next = Some(job);
        while let Some(mut job) = next {
            job.clear();
            let mut state = self.0.lock();
            // Without room for it the container goes, once the lock is free.
            let unkept = if state.spare.try_reserve(1).is_ok() {
                state.spare.push(job);
                None
            } else {
                Some(job)
            };
            next = state.take_up_to(done);
            drop(state);
            drop(unkept);
        }
    }

    /// Work was lost: what still runs may end without writing its number.
    pub(in crate::cs) fn doubt(&self) {
        self.0.lock().is_in_doubt = true;
    }

    /// Returns `true` if a job runs that may end without writing its number.
    pub(in crate::cs) fn are_in_doubt(&self) -> bool {
        let state = self.0.lock();
        state.is_in_doubt && !state.running.is_empty()
    }

    /// Lets go of what submissions up to `over` used, for all of them have ended; those behind `done` did so without writing
    /// their numbers, so they were lost. The first of these is remembered.
    pub(in crate::cs) fn lose(&self, done: u64, over: u64) {
        self.retire_up_to(done);
        let mut state = self.0.lock();
        state.is_in_doubt = false;
        let mut used = None;
        if state.lost.is_none() {
            state.lost = state.take_up_to(over).map(|mut job| {
                used = Some((std::mem::take(&mut job.memory), std::mem::take(&mut job.sets)));
                job
            });
        }
        drop(state);
        drop(used);
        self.retire_up_to(over);
    }

    /// The submission behind `done` that keeps the queue from going on, with its lists: the first that was lost, else the
    /// oldest that runs.
    pub(in crate::cs) fn stuck_behind(&self, done: u64) -> Option<(u64, Vec<Arc<Recorded>>)> {
        let state = self.0.lock();
        let stuck = state.lost.as_deref().or_else(|| state.running.front().map(|job| &**job));
        stuck.filter(|job| job.sequence > done).map(|job| (job.sequence, job.lists.clone()))
    }

    /// The last number that the kernel gave out; 0 before the first.
    pub(in crate::cs) fn last(&self) -> u64 {
        self.0.lock().last
    }

    /// Returns the number of jobs.
    pub(in crate::cs) fn len(&self) -> usize {
        self.0.lock().running.len()
    }

    /// Leaks the lists of jobs that still run, because their end will not be asked for again, and their IBs must not be
    /// rewritten. The kernel's own references keep the memory until it has.
    pub(in crate::cs) fn abandon(&self) -> usize {
        let running = std::mem::take(&mut self.0.lock().running);
        let count = running.len();
        for mut job in running {
            std::mem::forget(std::mem::take(&mut job.lists));
        }
        count
    }
}

impl State {
    /// Keeps a place among the running submissions.
    #[inline]
    fn promise(&mut self) -> Result<(), NoHostMemory> {
        self.running.try_reserve(self.promised + 1).map_err(|_| NoHostMemory)?;
        self.promised += 1;
        Ok(())
    }

    /// Adds a submission that another thread's has overtaken.
    #[cold]
    fn insert(&mut self, job: TryBox<Job>) {
        let at = self.running.partition_point(|other| other.sequence < job.sequence);
        self.running.insert(at, job);
    }

    /// The oldest submission, if its number is not above this one.
    #[inline]
    fn take_up_to(&mut self, done: u64) -> Option<TryBox<Job>> {
        self.running.pop_front_if(|job| job.sequence <= done)
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimKernel, profile};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        cs::{CommandList, Stream, pm4},
        winsys::{Device, WeakResidents},
    };

    /// Returns `true` if a set is still kept.
    type Trace = WeakResidents;

    #[derive(Clone, Debug)]
    enum Step {
        /// A submission with the given number of sets, to which the kernel gives the number `more` after the last; 0 takes nothing.
        Submit {
            sets: usize,
            more: u64,
            done: u64,
        },
        /// The same, and a panic ends it.
        Panic {
            sets: usize,
            more: u64,
        },
        Retire {
            done: u64,
        },
        Doubt,
        Lose {
            done: u64,
            over: u64,
        },
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0..4_usize, 0..4_u64, 0..20_u64).prop_map(|(sets, more, done)| Step::Submit { sets, more, done }),
            2 => (0..4_usize, 0..3_u64).prop_map(|(sets, more)| Step::Panic { sets, more }),
            2 => (0..20_u64).prop_map(|done| Step::Retire { done }),
            1 => Just(Step::Doubt),
            1 => (0..20_u64, 0..20_u64).prop_map(|(done, over)| Step::Lose { done, over }),
        ]
    }

    /// The books of a queue, kept slowly.
    #[derive(Debug, Default)]
    struct Model {
        running: Vec<(u64, Vec<Trace>)>,
        over: Vec<Trace>,
        lost: Option<u64>,
        last: u64,
        is_in_doubt: bool,
    }

    impl Model {
        fn begin(&mut self, underway: &mut Underway<'_>, sets: usize, more: u64) -> Option<u64> {
            let job = underway.job().unwrap();
            assert!(job.sequence == 0 && job.sets.is_empty(), "what it begins with is empty");
            let sets: Vec<Residents> = (0..sets).map(|_| Residents::counted()).collect();
            let traces = sets.iter().map(Residents::downgrade).collect();
            job.sets = sets;
            if more == 0 {
                self.over.extend(traces);
                return None;
            }
            self.last += more;
            job.sequence = self.last;
            self.running.push((self.last, traces));
            Some(self.last)
        }

        fn retire(&mut self, done: u64) {
            let over = self.running.extract_if(.., |(sequence, _)| *sequence <= done);
            self.over.extend(over.flat_map(|(_, traces)| traces));
        }

        fn lose(&mut self, done: u64, over: u64) {
            self.retire(done);
            self.is_in_doubt = false;
            let first = self.running.first().map(|(sequence, _)| *sequence).filter(|&sequence| sequence <= over);
            self.lost = self.lost.or(first);
            self.retire(over);
        }

        fn stuck_behind(&self, done: u64) -> Option<u64> {
            let first = self.running.first().map(|(sequence, _)| *sequence);
            self.lost.or(first).filter(|&sequence| sequence > done)
        }

        fn check(&self, jobs: &Jobs) {
            assert_eq!((jobs.len(), jobs.last()), (self.running.len(), self.last));
            assert_eq!(jobs.are_in_doubt(), self.is_in_doubt && !self.running.is_empty());
            for done in 0..=self.last + 1 {
                assert_eq!(jobs.stuck_behind(done).map(|(sequence, _)| sequence), self.stuck_behind(done), "{done}");
            }
            let mut kept = self.running.iter().flat_map(|(_, traces)| traces);
            assert!(kept.all(|trace| trace.handle_count() == 1), "a running job keeps what it uses");
            assert!(self.over.iter().all(|trace| trace.handle_count() == 0), "what has ended keeps nothing");
        }
    }

    proptest! {
        #[test]
        fn a_job_keeps_what_it_uses_until_its_number_is_written_or_the_kernel_took_nothing_of_it(
            steps in prop::collection::vec(step(), 1..30),
        ) {
            let (jobs, mut model, mut spare) = (Jobs::default(), Model::default(), None);
            for step in steps {
                match step {
                    Step::Submit { sets, more, done } => {
                        let mut underway = jobs.begin(spare.take()).unwrap();
                        let given = model.begin(&mut underway, sets, more);
                        let mut over = Over::default();
                        // The kernel is asked about the end only after it took something.
                        let done = if given.is_some() { done } else { 0 };
                        let ended = underway.end(done, &mut over);
                        assert_eq!(ended.sequence, given);
                        spare = ended.spare;
                        jobs.let_go(over, done);
                        model.retire(done);
                    }
                    Step::Panic { sets, more } => {
                        let mut underway = jobs.begin(spare.take()).unwrap();
                        model.begin(&mut underway, sets, more);
                        drop(underway);
                    }
                    Step::Retire { done } => {
                        jobs.retire_up_to(done);
                        model.retire(done);
                    }
                    Step::Doubt => {
                        jobs.doubt();
                        model.is_in_doubt = true;
                    }
                    Step::Lose { done, over } => {
                        jobs.lose(done, over);
                        model.lose(done, over);
                    }
                }
                model.check(&jobs);
            }
        }
    }

    #[test]
    fn sets_that_are_not_kept_leave_the_job_and_live_until_they_are_dropped() {
        for count in 0..5 {
            let sets: Vec<Residents> = (0..count).map(|_| Residents::counted()).collect();
            let traces: Vec<Trace> = sets.iter().map(Residents::downgrade).collect();
            let mut job = Job { sets, ..Job::default() };
            let unkept = job.take_sets();
            assert!(job.sets.is_empty(), "{count}");
            assert!(traces.iter().all(|trace| trace.handle_count() == 1), "{count}");
            drop(unkept);
            assert!(traces.iter().all(|trace| trace.handle_count() == 0), "{count}");
        }
    }

    #[test]
    fn what_is_let_go_of_lives_until_the_lock_is_free() {
        let jobs = Jobs::default();
        let mut traces = Vec::new();
        let mut submit = |sets: usize, done: u64, over: &mut Over| {
            let mut underway = jobs.begin(None).unwrap();
            let job = underway.job().unwrap();
            job.sequence = jobs.last() + 1;
            job.sets = (0..sets).map(|_| Residents::counted()).collect();
            traces.extend(job.sets.iter().map(Residents::downgrade));
            underway.end(done, over);
        };
        submit(1, 0, &mut Over::default());
        submit(3, 0, &mut Over::default());
        let mut over = Over::default();
        submit(1, 2, &mut over);
        let kept = || traces.iter().map(WeakResidents::handle_count).collect::<Vec<_>>();
        assert_eq!((kept(), jobs.len()), (vec![1; 5], 1), "two jobs are over");
        jobs.let_go(over, 2);
        assert_eq!(kept(), [0, 0, 0, 0, 1]);
    }

    #[test]
    fn lists_of_jobs_that_are_given_up_are_never_recorded_again() {
        let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
        let target = pm4::Target::gfx(device.info().gfx_level);
        let lists: Vec<CommandList> =
            (0..3).map(|_| Stream::new(&device, target, 8).unwrap().finish().unwrap()).collect();
        let jobs = Jobs::default();
        for (sequence, list) in (1..).zip(&lists) {
            let mut underway = jobs.begin(None).unwrap();
            let job = underway.job().unwrap();
            (job.sequence, job.lists) = (sequence, vec![Arc::clone(list.recorded())]);
            underway.end(0, &mut Over::default());
        }
        jobs.retire_up_to(1);
        assert_eq!((jobs.abandon(), jobs.len()), (2, 0));
        assert_eq!(jobs.abandon(), 0);
        drop(jobs);
        let is_free = |list: CommandList| list.record_again(target).is_ok();
        assert_eq!(lists.into_iter().map(is_free).collect::<Vec<_>>(), [true, false, false]);
    }

    /// Threads that submit at once come back in any order; the kernel's numbers say what ends first.
    #[test]
    fn a_submission_that_was_overtaken_is_let_go_of_in_its_turn() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let jobs = Jobs::default();
            let mut traces = Vec::new();
            let mut underway: Vec<_> = (5..8)
                .map(|sequence| {
                    let mut underway = jobs.begin(None).unwrap();
                    let job = underway.job().unwrap();
                    job.sequence = sequence;
                    job.sets = vec![Residents::counted()];
                    traces.extend(job.sets.iter().map(Residents::downgrade));
                    Some(underway)
                })
                .collect();
            for at in order {
                let ended = underway[at].take().unwrap().end(0, &mut Over::default());
                assert_eq!(ended.sequence, Some(5 + at as u64));
            }
            assert_eq!((jobs.len(), jobs.last()), (3, 7), "{order:?}");
            for (done, running) in [(4, 3), (5, 2), (6, 1), (7, 0)] {
                jobs.retire_up_to(done);
                let kept: Vec<bool> = traces.iter().map(|trace| trace.handle_count() > 0).collect();
                assert_eq!(kept, [running > 2, running > 1, running > 0], "{order:?} {done}");
                assert_eq!(jobs.len(), running, "{order:?} {done}");
            }
        }
    }
}
