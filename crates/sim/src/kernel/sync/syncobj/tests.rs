//! Sync objects against a model that keeps every fence it ever saw.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU32, Ordering},
};

use amdgpu_uapi::Errno;
use proptest::{collection::vec, prelude::*};

use super::*;
use crate::kernel::sync::events::Events;

/// The jobs that a fence waits for, by number.
type Jobs = BTreeSet<usize>;

/// A model of a sync object.
#[derive(Clone, Debug, Default)]
struct Model {
    /// `true` if there is any fence.
    attached: bool,
    /// Fences that must signal before the first point: a plain fence, or points before the order was broken.
    before: Jobs,
    /// Ascending points, each with what it waits for itself.
    points: Vec<(u64, Jobs)>,
}

impl Model {
    fn replace(&mut self, jobs: Jobs) {
        *self = Self { attached: true, before: jobs, points: Vec::new() };
    }

    fn add_point(&mut self, point: u64, jobs: Jobs) {
        self.attached = true;
        match self.points.last() {
            Some(&(newest, _)) if point <= newest => {
                self.before = self.whole();
                self.points = vec![(newest, jobs)];
            }
            _ => self.points.push((point, jobs)),
        }
    }

    /// Everything that it waits for.
    fn whole(&self) -> Jobs {
        self.up_to(self.points.len())
    }

    fn up_to(&self, end: usize) -> Jobs {
        self.before.iter().chain(self.points[..end].iter().flat_map(|(_, jobs)| jobs)).copied().collect()
    }

    /// Returns the jobs that a wait for a point waits for.
    fn find(&self, point: u64) -> Option<Jobs> {
        if point == 0 {
            return self.attached.then(|| self.whole());
        }
        let index = self.points.iter().position(|&(at, _)| at >= point)?;
        Some(self.up_to(index + 1))
    }

    fn newest(&self) -> u64 {
        self.points.last().map_or(0, |&(point, _)| point)
    }

    /// The point before the first one that is not reached. The kernel asks the points' own fences first, so that what
    /// comes before all points matters only to the oldest point it looks at.
    fn reached(&self, done: &Jobs) -> u64 {
        let Some(last) = self.points.len().checked_sub(1) else { return 0 };
        let oldest = self.points.iter().position(|(_, jobs)| !jobs.is_subset(done)).unwrap_or(last);
        if self.up_to(oldest + 1).is_subset(done) {
            self.points[oldest].0
        } else {
            oldest.checked_sub(1).map_or(0, |before| self.points[before].0)
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Reset(usize),
    Signal(usize),
    SignalPoint(usize, u64),
    Submit(usize, u64),
    Complete(usize),
    Transfer((usize, u64), (usize, u64)),
    /// TRANSFER of everything to point 0, which is what a sync file carries too.
    Copy(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (object, point) = (0..2_usize, 0..9_u64);
    let at = (object.clone(), point.clone());
    prop_oneof![
        1 => object.clone().prop_map(Step::Reset),
        1 => object.clone().prop_map(Step::Signal),
        3 => at.clone().prop_map(|(object, point)| Step::SignalPoint(object, point)),
        6 => at.clone().prop_map(|(object, point)| Step::Submit(object, point)),
        6 => (0..24_usize).prop_map(Step::Complete),
        3 => (at, (object.clone(), 1..9_u64)).prop_map(|(from, to)| Step::Transfer(from, to)),
        1 => (object.clone(), object).prop_map(|(from, to)| Step::Copy(from, to)),
    ]
}

/// Two sync objects with their models, and the jobs that signal them.
struct World {
    events: Arc<Events>,
    real: [Syncobj; 2],
    model: [Model; 2],
    jobs: Vec<Arc<Fence>>,
    done: Jobs,
}

impl World {
    fn new() -> Self {
        let (real, model) = Default::default();
        Self { events: Arc::default(), real, model, jobs: Vec::new(), done: Jobs::new() }
    }

    fn add(&mut self, object: usize, point: u64, fence: Arc<Fence>, jobs: Jobs) {
        self.real[object].add_point(point, fence);
        if point == 0 { self.model[object].replace(jobs) } else { self.model[object].add_point(point, jobs) }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Reset(object) => {
                self.real[object].reset();
                self.model[object] = Model::default();
            }
            Step::Signal(object) => self.add(object, 0, Fence::signalled(), Jobs::new()),
            Step::SignalPoint(object, point) => {
                self.real[object].append(point, Fence::signalled());
                self.model[object].add_point(point, Jobs::new());
            }
            Step::Submit(object, point) => {
                let fence = Fence::pending(&self.events);
                self.jobs.push(Arc::clone(&fence));
                self.add(object, point, fence, Jobs::from([self.jobs.len() - 1]));
            }
            Step::Complete(job) => {
                if let Some(fence) = self.jobs.get(job) {
                    fence.signal(Ok(()));
                    self.done.insert(job);
                }
            }
            Step::Transfer((from, point), (to, at)) => {
                let (real, model) = (self.real[from].fence(point), self.model[from].find(point));
                assert_eq!(real.is_ok(), model.is_some());
                if let (Ok(fence), Some(jobs)) = (real, model) {
                    self.add(to, at, Fence::merge([fence]), jobs);
                }
            }
            Step::Copy(from, to) => {
                if let Ok(fence) = self.real[from].fence(0) {
                    self.real[to].replace(fence);
                    self.model[to] = self.model[from].clone();
                }
            }
        }
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        for (real, model) in self.real.iter().zip(&self.model) {
            prop_assert_eq!(real.query(true), model.newest());
            prop_assert_eq!(real.query(false), model.reached(&self.done));
            for point in 0..10 {
                let real = real.find(point).map(|fence| fence.is_signalled());
                prop_assert_eq!(real, model.find(point).map(|jobs| jobs.is_subset(&self.done)), "point {}", point);
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn sync_objects_agree_with_a_model_that_forgets_nothing(steps in vec(step(), 0..60)) {
        let mut world = World::new();
        for step in steps {
            world.apply(step);
            world.compare()?;
        }
    }

    /// A watcher gets what the first look that succeeds would have found.
    #[test]
    fn a_waiter_gets_the_fence_as_soon_as_it_is_there(point in 0..9_u64, steps in vec(step(), 0..40)) {
        let mut world = World::new();
        let slot = world.real[0].expect(point);
        let mut seen = None;
        for step in steps {
            world.apply(step);
            // A point that goes again before anybody looks is no part of this test: every step is looked at.
            seen = seen.or_else(|| world.model[0].find(point));
            prop_assert_eq!(slot.get().is_some(), seen.is_some());
            let done = slot.get().map(|fence| fence.is_signalled());
            prop_assert_eq!(done, seen.as_ref().map(|jobs| jobs.is_subset(&world.done)));
        }
    }
}

#[test]
fn a_chain_of_a_million_points_is_taken_apart_without_recursion() {
    let events = Arc::default();
    let (syncobj, first) = (Syncobj::default(), Fence::pending(&events));
    syncobj.add_point(1, Arc::clone(&first));
    let pending = Fence::pending(&events);
    for point in 2..=1_000_000 {
        syncobj.add_point(point, Arc::clone(&pending));
    }
    assert_eq!((syncobj.query(false), syncobj.query(true)), (0, 1_000_000));
    first.signal(Ok(()));
    assert_eq!(syncobj.query(false), 1);
    drop(syncobj);
}

#[test]
fn a_fence_calls_back_once_when_all_of_it_is_done() {
    let events = Arc::default();
    let jobs = [(); 3].map(|()| Fence::pending(&events));
    let syncobj = Syncobj::default();
    syncobj.add_point(3, Fence::merge([Arc::clone(&jobs[0]), Arc::clone(&jobs[1])]));
    syncobj.add_point(5, Arc::clone(&jobs[2]));
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    syncobj.find(5).unwrap().when_signalled(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    drop(syncobj);
    for job in [2, 1, 0] {
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        jobs[job].signal(Err(Errno::ECANCELED));
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn a_merged_fence_tells_the_error_of_its_parts_and_a_timeline_does_not() {
    let events = Arc::default();
    let [good, bad] = [(); 2].map(|()| Fence::pending(&events));
    let both = Fence::merge([Arc::clone(&good), Arc::clone(&bad)]);
    let syncobj = Syncobj::default();
    syncobj.add_point(1, Arc::clone(&bad));
    bad.signal(Err(Errno::ETIME));
    assert_eq!((both.outcome(), syncobj.find(1).unwrap().outcome()), (None, Some(Ok(()))));
    good.signal(Ok(()));
    assert_eq!(both.outcome(), Some(Err(Errno::ETIME)));
    assert_eq!(Fence::merge([good, bad]).outcome(), Some(Ok(())), "what is over is forgotten, error and all");
}
