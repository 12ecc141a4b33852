//! Tests of random sequences of submissions against a slow model.

use std::{
    ops::RangeInclusive,
    sync::{Arc, Weak},
};

use amdgpu_sim::{SimKernel, profile};
use proptest::prelude::*;

use super::{InFlight, InFlightList, Resource};
use crate::{
    cs::{CommandList, Keep, Stream, pm4, submit::plan::Plan},
    winsys::{Binding, Device, Residents},
};

/// A handle of members of a set that does not keep them alive.
type Trace = Weak<[Binding]>;

#[derive(Clone, Debug)]
enum Step {
    /// A submission with the given number of sets. The kernel's sequence number is `calls` above the last one; 0 if it accepts nothing.
    Submit {
        sets: usize,
        calls: u64,
        keep: Keep,
        done: u64,
    },
    Retire {
        done: u64,
    },
    MarkLost,
    Lose {
        done: u64,
        ended: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let keep = prop::sample::select(vec![Keep::Everything, Keep::Lists, Keep::Nothing]);
    // Up to more than what is moved out of its container.
    let submit = (0..12_usize, 0..4_u64, keep, 0..20_u64);
    prop_oneof![
        6 => submit.prop_map(|(sets, calls, keep, done)| Step::Submit { sets, calls, keep, done }),
        2 => (0..20_u64).prop_map(|done| Step::Retire { done }),
        1 => Just(Step::MarkLost),
        1 => (0..20_u64, 0..20_u64).prop_map(|(done, ended)| Step::Lose { done, ended }),
    ]
}

/// A slow model of the list.
#[derive(Debug, Default)]
struct Model {
    /// The sequence numbers of each submission in flight, in order, and the sets that it keeps.
    running: Vec<(RangeInclusive<u64>, Vec<Trace>)>,
    over: Vec<Trace>,
    lost: Option<u64>,
    last: u64,
    /// The last number of a submission that has ended.
    ended: u64,
    /// The last number that the GPU has written.
    done: u64,
    may_be_lost: bool,
}

impl Model {
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
        self.running
            .iter()
            .map(|(numbers, _)| numbers)
            .find(|numbers| numbers.contains(&first))
            .map(|numbers| *numbers.end())
    }

    fn lose(&mut self, done: u64, ended: u64) {
        self.retire(done);
        self.may_be_lost = false;
        if ended > done {
            self.lost = self.lost.or(self.first_after(done));
        }
        self.ended = self.ended.max(ended);
        self.retire(ended);
    }

    fn first_unfinished(&self, done: u64) -> Option<u64> {
        match self.lost {
            Some(lost) => Some(lost).filter(|&sequence| sequence > done),
            None => self.first_after(done),
        }
    }

    fn check(&self, list: &InFlightList) {
        assert_eq!((list.count(), list.last()), (self.running.len(), self.last));
        assert_eq!(list.may_be_lost(), self.may_be_lost && !self.running.is_empty());
        for done in self.done..=self.last + 1 {
            let running = self.running.iter().filter(|(numbers, _)| *numbers.end() > done).count();
            assert_eq!(list.count_after(done), running, "{done}");
            let first = list.first_unfinished(done).map(|first| first.sequence);
            assert_eq!(first, self.first_unfinished(done), "{done}");
        }
        let mut kept = self.running.iter().flat_map(|(_, traces)| traces);
        assert!(kept.all(|trace| trace.strong_count() == 1), "a running submission keeps what it uses");
        assert!(self.over.iter().all(|trace| trace.strong_count() == 0), "what has ended keeps nothing");
        let state = list.list.lock();
        assert!(state.entries.capacity() >= state.entries.len() + state.reserved, "each place has room");
        assert!(state.spare.iter().all(Vec::is_empty));
    }
}

/// Returns a place with sets, and handles that do not keep them alive.
fn place_of(place: InFlight, sets: usize) -> (InFlight, Vec<Trace>) {
    let (sets, traces): (Vec<_>, Vec<_>) = (0..sets).map(|_| Residents::counted()).unzip();
    let mut place = place;
    assert!(place.lists.is_empty() && place.memory.is_empty(), "what it begins with is empty");
    place.memory.extend(sets.into_iter().map(Resource::Members));
    (place, traces)
}

/// Commits a submission with these numbers, and drops what it does not keep.
fn commit(list: &InFlightList, place: InFlight, (first, last): (u64, u64), keep: Keep, done: u64) {
    let retired = list.commit(InFlight { first, last, ..place }, None, keep, done);
    assert!(!retired.containers.spilled(), "nothing is allocated under the lock");
}

proptest! {
    #[test]
    fn a_submission_keeps_what_it_uses_until_its_number_is_written_or_the_kernel_took_nothing_of_it(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let (list, mut model) = (InFlightList::default(), Model::default());
        for step in steps {
            match step {
                Step::Submit { sets, calls, keep, done } => {
                    let done = model.written(done);
                    let place = list.reserve().unwrap();
                    let (place, traces) = place_of(place, sets);
                    if calls == 0 {
                        drop(list.commit(place, None, Keep::Everything, 0));
                        model.over.extend(traces);
                    } else {
                        let numbers = (model.last + 1, model.last + calls);
                        commit(&list, place, numbers, keep, done);
                        model.last = numbers.1;
                        let kept = keep == Keep::Everything;
                        let (kept, dropped) = if kept { (traces, Vec::new()) } else { (Vec::new(), traces) };
                        model.over.extend(dropped);
                        model.running.push((numbers.0..=numbers.1, kept));
                        model.retire(done);
                    }
                }
                Step::Retire { done } => {
                    let done = model.written(done);
                    list.retire_up_to(done);
                    model.retire(done);
                }
                Step::MarkLost => {
                    list.mark_lost();
                    model.may_be_lost = true;
                }
                Step::Lose { done, ended } => {
                    // The kernel only reports the end of what it was given.
                    let (done, ended) = (model.written(done), ended.min(model.last));
                    list.retire_lost(done, ended);
                    model.lose(done, ended);
                }
            }
            model.check(&list);
            let reserved = list.list.lock().reserved;
            prop_assert_eq!(reserved, 0, "no place is forgotten");
        }
    }
}

#[test]
fn what_is_retired_lives_until_the_lock_is_free() {
    let list = InFlightList::default();
    let mut all = Vec::new();
    for (number, sets) in [(1, 1), (2, 30), (3, 3), (4, 5), (5, 30), (6, 30), (7, 1)] {
        let (place, traces) = place_of(list.reserve().unwrap(), sets);
        all.extend(traces);
        let done = if number == 7 { 6 } else { 0 };
        let place = InFlight { first: number, last: number, ..place };
        let retired = list.commit(place, None, Keep::Everything, done);
        assert!(all.iter().all(|trace| trace.strong_count() == 1), "{number}");
        drop(retired);
    }
    assert_eq!(all.iter().filter(|trace| trace.strong_count() == 1).count(), 1, "the last one still runs");
    assert_eq!(list.count(), 1);
}

#[test]
fn lists_are_kept_without_memory_if_only_they_are_to_be_kept() {
    let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    for (keep, expected) in [(Keep::Everything, (1, 1)), (Keep::Lists, (1, 0)), (Keep::Nothing, (0, 0))] {
        let list = Stream::new(&device, target, 8).unwrap().finish().unwrap();
        let in_flight = InFlightList::default();
        let (mut place, traces) = place_of(in_flight.reserve().unwrap(), 1);
        place.lists.push(Resource::List(Arc::clone(list.recorded())));
        commit(&in_flight, place, (1, 1), keep, 0);
        let kept = (Arc::strong_count(list.recorded()) - 1, traces[0].strong_count());
        assert_eq!(kept, expected, "{keep:?}");
        assert_eq!(in_flight.first_unfinished(0).unwrap().lists.len(), expected.0, "{keep:?}");
    }
}

#[test]
fn a_steady_state_reuses_its_containers() {
    let list = InFlightList::default();
    for number in 1..50_u64 {
        let place = list.reserve().unwrap();
        assert!(number < 10 || place.memory.capacity() >= 20, "{number}");
        let (place, _) = place_of(place, 20);
        commit(&list, place, (number, number), Keep::Everything, number - 1);
    }
}

/// Each submission has the plan of the last one, which has ended.
#[test]
fn the_number_of_containers_does_not_grow_whatever_is_kept() {
    let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
    let recorded = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 8).unwrap().finish().unwrap();
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        let list = InFlightList::default();
        for number in 1..50 {
            let (mut entry, mut plan) = list.begin(number - 1, |_| true).unwrap();
            plan.number = 1;
            assert_eq!(entry.lists.is_empty(), number == 1 || keep != Keep::Everything, "{keep:?} {number}");
            entry.plan = 1;
            assert!(number < 10 || entry.lists.capacity() > 0 && entry.memory.capacity() > 0, "{keep:?} {number}");
            if entry.lists.is_empty() {
                entry.lists.push(Resource::List(Arc::clone(recorded.recorded())));
            }
            if entry.memory.is_empty() {
                entry.memory.push(Resource::Members(Residents::counted().0));
            }
            entry.accept(number);
            drop(list.commit(entry, Some(plan), keep, number - 1));
        }
        assert!(list.list.lock().spare.len() <= 4, "{keep:?}");
    }
}

#[test]
fn an_entry_that_has_ended_serves_the_same_submission_again_and_no_other() {
    let (kept, trace) = Residents::counted();
    for (done, is_plan_same, is_same, expected) in
        [(1, true, true, 1), (0, true, true, 0), (1, false, true, 0), (1, true, false, 0)]
    {
        let list = InFlightList::default();
        let (mut first, mut plan) = list.begin(0, |_| true).unwrap();
        (first.plan, plan.number) = (7, 7);
        first.lists.push(Resource::Members(Residents::counted().0));
        first.memory.push(Resource::Members(kept.clone()));
        first.accept(1);
        drop(list.commit(first, Some(plan), Keep::Everything, 0));
        if !is_plan_same {
            let (mut other, mut plan) = list.begin(0, |_| false).unwrap();
            plan.number = 8;
            other.accept(2);
            drop(list.commit(other, Some(plan), Keep::Everything, 0));
        }
        let (place, plan) = list.begin(done, |_| is_same).unwrap();
        assert_eq!((place.memory.len(), place.sequence()), (expected, 0), "{done} {is_plan_same} {is_same}");
        assert_eq!(trace.strong_count(), 2, "no reference more");
        drop(list.commit(place, Some(plan), Keep::Everything, 0));
        list.retire_up_to(2);
        assert_eq!((list.count(), trace.strong_count()), (0, 1));
    }
}

#[test]
fn submissions_at_one_time_have_a_plan_each_and_leave_it_to_the_next_one() {
    /// Leaves a number in the plan, and returns what the last submission has left.
    fn mark(plan: &mut Plan, number: u64) -> Vec<u64> {
        std::mem::replace(&mut plan.lists, vec![number])
    }
    let list = InFlightList::default();
    let begin = || list.begin(0, |_| false).unwrap();
    let end = |(entry, plan)| drop(list.commit(entry, Some(plan), Keep::Everything, 0));
    let (mut first, mut second) = (begin(), begin());
    assert!(mark(&mut first.1, 1).is_empty() && mark(&mut second.1, 2).is_empty(), "each has its own");
    end(second);
    let mut second = begin();
    assert_eq!(mark(&mut second.1, 3), [2], "which is kept");
    end(second);
    end(first);
    let (mut third, mut fourth) = (begin(), begin());
    assert_eq!((mark(&mut third.1, 4), mark(&mut fourth.1, 5)), (vec![1], vec![3]), "the one that was used last first");
    end(third);
    assert_eq!(list.forget_plans().len(), 1);
    end(fourth);
    assert_eq!(list.forget_plans().len(), 0, "a plan that was in use is forgotten as well");
    end(begin());
    assert_eq!(list.forget_plans().len(), 1, "and those that were made since are not");
}

#[test]
fn lists_of_submissions_that_are_given_up_are_never_recorded_again() {
    let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let lists: Vec<CommandList> = (0..3).map(|_| Stream::new(&device, target, 8).unwrap().finish().unwrap()).collect();
    let in_flight = InFlightList::default();
    for (sequence, list) in (1..).zip(&lists) {
        let mut place = in_flight.reserve().unwrap();
        place.lists.push(Resource::List(Arc::clone(list.recorded())));
        commit(&in_flight, place, (sequence, sequence), Keep::Everything, 0);
    }
    in_flight.retire_up_to(1);
    assert_eq!((in_flight.abandon(), in_flight.count()), (2, 0));
    assert_eq!(in_flight.abandon(), 0);
    drop(in_flight);
    let is_free = |list: CommandList| list.record_again(target).is_ok();
    assert_eq!(lists.into_iter().map(is_free).collect::<Vec<_>>(), [true, false, false]);
}

/// Concurrent submissions return in any order; the kernel's sequence numbers give the order of their ends.
#[test]
fn a_submission_that_was_overtaken_is_retired_in_its_turn() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let list = InFlightList::default();
        let mut places: Vec<_> = (0..3).map(|_| Some(place_of(list.reserve().unwrap(), 1))).collect();
        let mut traces: Vec<Vec<Trace>> = (0..3).map(|_| Vec::new()).collect();
        for at in order {
            let (place, kept) = places[at].take().unwrap();
            traces[at] = kept;
            let sequence = 5 + at as u64;
            commit(&list, place, (sequence, sequence), Keep::Everything, 0);
        }
        assert_eq!((list.count(), list.last()), (3, 7), "{order:?}");
        for (done, running) in [(4, 3), (5, 2), (6, 1), (7, 0)] {
            list.retire_up_to(done);
            let kept: Vec<bool> = traces.iter().map(|trace| trace[0].strong_count() > 0).collect();
            assert_eq!(kept, [running > 2, running > 1, running > 0], "{order:?} {done}");
            assert_eq!(list.count(), running, "{order:?} {done}");
        }
    }
}

#[test]
fn the_lists_of_a_later_submission_are_not_those_of_one_that_is_being_committed() {
    let list = InFlightList::default();
    let early = list.reserve().unwrap();
    let late = list.reserve().unwrap();
    commit(&list, late, (2, 2), Keep::Everything, 0);
    assert_eq!(list.first_unfinished(0).map(|first| (first.sequence, first.lists.len())), Some((1, 0)));
    commit(&list, early, (1, 1), Keep::Everything, 0);
    assert_eq!(list.first_unfinished(1).map(|first| first.sequence), Some(2));
}
