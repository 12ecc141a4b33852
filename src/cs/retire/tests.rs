//! Tests of random sequences of submissions against a slow model.

use std::{collections::BTreeSet, ops::RangeInclusive, sync::Arc, time::Duration};

use amdgpu_sim::{SimKernel, profile};
use proptest::prelude::*;

use super::{
    job::{Job, Same},
    jobs::Jobs,
    over::Over,
    underway::Underway,
};
use crate::{
    cs::{CommandList, Stream, pm4},
    winsys::{Device, Residents, WeakResidents},
};

/// Returns `true` if a set is still kept.
type Trace = WeakResidents;

#[derive(Clone, Debug)]
enum Step {
    /// A submission with the given number of sets. The kernel's sequence number is `more` above the last one; 0 if it accepts nothing.
    Submit {
        sets: usize,
        more: u64,
        done: u64,
    },
    /// A submission that keeps nothing, of the given number of kernel calls.
    SubmitUnkept {
        calls: u64,
    },
    /// The same as the first, but a panic ends it.
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
        4 => (0..3_u64).prop_map(|calls| Step::SubmitUnkept { calls }),
        2 => (0..4_usize, 0..3_u64).prop_map(|(sets, more)| Step::Panic { sets, more }),
        2 => (0..20_u64).prop_map(|done| Step::Retire { done }),
        1 => Just(Step::Doubt),
        1 => (0..20_u64, 0..20_u64).prop_map(|(done, over)| Step::Lose { done, over }),
    ]
}

/// A slow model of a queue.
#[derive(Debug, Default)]
struct Model {
    /// The sequence numbers of each submission that keeps resources, in order.
    running: Vec<(RangeInclusive<u64>, Vec<Trace>)>,
    /// The sequence numbers of those that keep nothing.
    unkept: BTreeSet<u64>,
    over: Vec<Trace>,
    lost: Option<u64>,
    last: u64,
    /// The last number of a submission that has ended.
    ended: u64,
    /// The last number that the GPU has written.
    done: u64,
    is_in_doubt: bool,
}

impl Model {
    fn begin(&mut self, underway: &mut Underway<'_, ()>, sets: usize, more: u64) -> Option<u64> {
        let (job, ()) = underway.parts().unwrap();
        assert!(job.sequence == 0 && job.sets.is_empty(), "what it begins with is empty");
        let sets: Vec<Residents> = (0..sets).map(|_| Residents::counted()).collect();
        let traces = sets.iter().map(Residents::downgrade).collect();
        job.sets = sets;
        if more == 0 {
            self.over.extend(traces);
            return None;
        }
        let numbers = self.last + 1..=self.last + more;
        numbers.clone().for_each(|number| job.accept(number));
        self.last += more;
        self.running.push((numbers, traces));
        Some(self.last)
    }

    /// Returns the number that is nearest to `done` among those that the GPU may write now: they were assigned, and do not decrease.
    fn written(&self, done: u64) -> u64 {
        done.clamp(self.done, self.last)
    }

    fn retire(&mut self, done: u64) {
        self.done = self.done.max(done);
        let over = self.running.extract_if(.., |(numbers, _)| *numbers.end() <= done);
        self.over.extend(over.flat_map(|(_, traces)| traces));
    }

    /// Returns the last number of the submission that the next number after `done` belongs to.
    fn first_after(&self, done: u64) -> Option<u64> {
        let first = self.ended.max(done) + 1;
        let running = self.running.iter().map(|(numbers, _)| numbers).find(|numbers| numbers.contains(&first));
        running.map(|numbers| *numbers.end()).or_else(|| self.unkept.contains(&first).then_some(first))
    }

    fn lose(&mut self, done: u64, over: u64) {
        self.retire(done);
        self.is_in_doubt = false;
        if over > done {
            self.lost = self.lost.or(self.first_after(done));
        }
        self.ended = self.ended.max(over);
        self.retire(over);
    }

    fn stuck_behind(&self, done: u64) -> Option<u64> {
        match self.lost {
            Some(lost) => Some(lost).filter(|&sequence| sequence > done),
            None => self.first_after(done),
        }
    }

    fn check(&self, jobs: &Jobs<()>) {
        assert_eq!((jobs.job_count(), jobs.last()), (self.running.len(), self.last));
        for done in self.done..=self.last + 1 {
            let ended = self.ended.max(done);
            let unkept = self.unkept.iter().filter(|&&number| number > ended).count();
            let kept = self.running.iter().filter(|(numbers, _)| *numbers.end() > ended).count();
            assert_eq!(jobs.count_after(done), kept + unkept, "{done}");
            let runs = !self.running.is_empty() || self.last > self.ended.max(done);
            assert_eq!(jobs.are_in_doubt(done), self.is_in_doubt && runs, "{done}");
            assert_eq!(jobs.stuck_behind(done).map(|(sequence, _)| sequence), self.stuck_behind(done), "{done}");
            let oldest = self.running.first().is_some_and(|(numbers, _)| *numbers.end() <= done);
            assert_eq!(jobs.has_job_up_to(|| done), oldest, "{done}");
        }
        let mut kept = self.running.iter().flat_map(|(_, traces)| traces);
        assert!(kept.all(|trace| trace.handle_count() == 1), "a running job keeps what it uses");
        assert!(self.over.iter().all(|trace| trace.handle_count() == 0), "what has ended keeps nothing");
    }
}

/// Begins a submission that reuses no resources of another one.
fn begin(jobs: &Jobs<()>) -> Underway<'_, ()> {
    begin_with(jobs, 0, false, |_| false)
}

fn begin_with<B: Default>(
    jobs: &Jobs<B>,
    done: u64,
    waits: bool,
    is_same: impl FnOnce(&Job) -> bool,
) -> Underway<'_, B> {
    let mut underway = Underway::of(jobs);
    underway.begin(done, waits, is_same).unwrap();
    underway
}

proptest! {
    #[test]
    fn a_job_keeps_what_it_uses_until_its_number_is_written_or_the_kernel_took_nothing_of_it(
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let (jobs, mut model) = (Jobs::default(), Model::default());
        for step in steps {
            match step {
                Step::Submit { sets, more, done } => {
                    let done = model.written(done);
                    let mut underway = begin(&jobs);
                    let given = model.begin(&mut underway, sets, more);
                    let mut over = Over::default();
                    assert_eq!(underway.end(done, &mut over), given);
                    jobs.let_go(&mut over, done);
                    model.retire(done);
                }
                Step::SubmitUnkept { calls } => {
                    let mut taken = jobs.take_buffers(false).unwrap();
                    let job = &mut taken.parts().job;
                    assert!(job.sequence == 0 && job.lists.is_empty());
                    for _ in 0..calls {
                        model.last += 1;
                        model.unkept.insert(model.last);
                    }
                    if calls > 0 {
                        jobs.end_without_job(taken, model.last);
                    }
                }
                Step::Panic { sets, more } => {
                    let mut underway = begin(&jobs);
                    model.begin(&mut underway, sets, more);
                    drop(underway);
                }
                Step::Retire { done } => {
                    let done = model.written(done);
                    jobs.retire_up_to(done);
                    model.retire(done);
                }
                Step::Doubt => {
                    jobs.doubt();
                    model.is_in_doubt = true;
                }
                Step::Lose { done, over } => {
                    // The kernel only reports the end of what it was given.
                    let (done, over) = (model.written(done), over.min(model.last));
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
        let mut underway = begin(&jobs);
        let (job, ()) = underway.parts().unwrap();
        job.accept(jobs.last() + 1);
        job.sets = (0..sets).map(|_| Residents::counted()).collect();
        traces.extend(job.sets.iter().map(Residents::downgrade));
        underway.end(done, over);
    };
    submit(1, 0, &mut Over::default());
    submit(3, 0, &mut Over::default());
    let mut over = Over::default();
    submit(1, 2, &mut over);
    let kept = || traces.iter().map(WeakResidents::handle_count).collect::<Vec<_>>();
    assert_eq!((kept(), jobs.job_count()), (vec![1; 5], 1), "two jobs are over");
    jobs.let_go(&mut over, 2);
    assert_eq!(kept(), [0, 0, 0, 0, 1]);
}

#[test]
fn a_finished_job_serves_the_next_submission_only_if_that_runs_the_same_lists() {
    let jobs = Jobs::<()>::default();
    let kept = Residents::counted();
    let mut underway = begin(&jobs);
    let (job, ()) = underway.parts().unwrap();
    job.accept(1);
    job.sets = vec![kept.clone()];
    underway.end(0, &mut Over::default());
    let sets = |done: u64, is_same: bool| {
        let mut underway = begin_with(&jobs, done, false, |job| is_same && job.sequence == 1);
        let (job, ()) = underway.parts().unwrap();
        let found = job.sets.len();
        assert_eq!(job.sequence, 0, "the kernel has taken nothing of it");
        if found > 0 {
            job.accept(2);
        }
        underway.end(0, &mut Over::default());
        (found, jobs.job_count(), kept.downgrade().handle_count())
    };
    assert_eq!(sets(0, true), (0, 1, 2), "it still runs");
    assert_eq!(sets(1, false), (0, 1, 2), "it has finished, and stays until it is let go of");
    assert_eq!(sets(1, true), (1, 1, 2), "no reference more");
    let underway = begin_with(&jobs, 2, false, |_| false);
    jobs.retire_up_to(2);
    assert_eq!((jobs.job_count(), kept.downgrade().handle_count()), (0, 1), "let go of while another is made");
    drop(underway);
}

#[test]
fn a_finished_job_that_keeps_nothing_serves_the_next_submission() {
    let jobs = Jobs::<()>::default();
    let mut underway = begin(&jobs);
    underway.parts().unwrap().0.accept(1);
    underway.end(0, &mut Over::default());
    drop(begin_with(&jobs, 0, false, |_| false));
    assert_eq!(jobs.job_count(), 1, "it still runs");
    let mut underway = begin_with(&jobs, 1, false, |_| false);
    assert_eq!((jobs.job_count(), underway.parts().unwrap().0.sequence), (0, 0));
}

#[test]
fn resources_that_the_next_submission_uses_too_stay_in_the_job() {
    for (memory, sets) in [(true, false), (false, true), (true, true), (false, false)] {
        let kept = Residents::counted();
        let mut job = Job { sets: vec![kept.clone()], ..Job::default() };
        let few = job.take_few(Same { lists: true, memory, sets }).unwrap();
        assert_eq!((job.sets.len(), kept.downgrade().handle_count()), (usize::from(sets), 2));
        drop(few);
        assert_eq!(kept.downgrade().handle_count(), 1 + usize::from(sets));
    }
    let many = |count| Job { sets: (0..count).map(|_| Residents::counted()).collect(), ..Job::default() };
    assert!(many(2).take_few(Same::default()).is_none(), "too many to take out");
    assert!(many(2).take_few(Same { sets: true, ..Same::default() }).is_some());
}

#[cfg_attr(
    miri,
    ignore = "Miri since October 2026 refuses the reference that a waiting thread of parking_lot gives to futex"
)]
#[test]
fn the_buffers_are_one_submissions_at_a_time_unless_that_one_waits() {
    let jobs = Jobs::<u32>::default();
    let begin = |waits| begin_with(&jobs, 0, waits, |_| false);
    let number = |underway: &mut Underway<'_, u32>| std::mem::replace(underway.parts().unwrap().1, 7);
    let (mut first, mut overtaking) = (begin(true), begin(false));
    assert_eq!((number(&mut first), number(&mut overtaking)), (0, 0), "each has its own");
    drop((overtaking, first));
    assert_eq!(jobs.change_buffers(|number| *number), 7);
    let mut first = begin(false);
    assert_eq!(number(&mut first), 7, "kept between submissions");
    std::thread::scope(|scope| {
        let second = scope.spawn(|| number(&mut begin(false)));
        let changing = scope.spawn(|| jobs.change_buffers(|number| *number));
        std::thread::sleep(Duration::from_millis(3));
        assert!(!second.is_finished() && !changing.is_finished(), "the first has them");
        *first.parts().unwrap().1 = 8;
        drop(first);
        assert!(matches!(second.join().unwrap(), 7 | 8) && matches!(changing.join().unwrap(), 7 | 8));
    });
    assert_eq!(jobs.take_overtaking().len(), 1);
    assert!(jobs.take_overtaking().is_empty());
}

#[test]
fn lists_of_jobs_that_are_given_up_are_never_recorded_again() {
    let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let lists: Vec<CommandList> = (0..3).map(|_| Stream::new(&device, target, 8).unwrap().finish().unwrap()).collect();
    let jobs = Jobs::default();
    for (sequence, list) in (1..).zip(&lists) {
        let mut underway = begin(&jobs);
        let (job, ()) = underway.parts().unwrap();
        job.accept(sequence);
        job.lists = vec![Arc::clone(list.recorded())];
        underway.end(0, &mut Over::default());
    }
    jobs.retire_up_to(1);
    assert_eq!((jobs.abandon(), jobs.job_count()), (2, 0));
    assert_eq!(jobs.abandon(), 0);
    drop(jobs);
    let is_free = |list: CommandList| list.record_again(target).is_ok();
    assert_eq!(lists.into_iter().map(is_free).collect::<Vec<_>>(), [true, false, false]);
}

/// Concurrent submissions return in any order; the kernel's sequence numbers give the order of their ends.
#[test]
fn a_submission_that_was_overtaken_is_let_go_of_in_its_turn() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let jobs = Jobs::<()>::default();
        let mut traces = Vec::new();
        let mut underway: Vec<_> = (5..8)
            .map(|sequence| {
                let mut underway = begin_with(&jobs, 0, true, |_| false);
                let (job, ()) = underway.parts().unwrap();
                job.accept(sequence);
                job.sets = vec![Residents::counted()];
                traces.extend(job.sets.iter().map(Residents::downgrade));
                Some(underway)
            })
            .collect();
        for at in order {
            let sequence = underway[at].take().unwrap().end(0, &mut Over::default());
            assert_eq!(sequence, Some(5 + at as u64));
        }
        assert_eq!((jobs.job_count(), jobs.last()), (3, 7), "{order:?}");
        for (done, running) in [(4, 3), (5, 2), (6, 1), (7, 0)] {
            jobs.retire_up_to(done);
            let kept: Vec<bool> = traces.iter().map(|trace| trace.handle_count() > 0).collect();
            assert_eq!(kept, [running > 2, running > 1, running > 0], "{order:?} {done}");
            assert_eq!(jobs.job_count(), running, "{order:?} {done}");
        }
    }
}
