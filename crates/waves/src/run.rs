//! Running dispatches.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    dispatch::Dispatch,
    group::Group,
    memory::{Memory, PageFault},
    outcome::{Counters, Hang, Outcome},
    program::code::Code,
};

/// Limits of a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'l> {
    /// Instructions that all waves may execute together.
    pub instructions: u64,
    /// Threads that groups are spread over. The result does not depend on it, unless groups race.
    pub threads: usize,
    /// Groups that a thread keeps alive at once, so that groups can wait for each other.
    pub window: usize,
    /// Ends the dispatch soon after it is set.
    pub stop: Option<&'l AtomicBool>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self { instructions: 1 << 32, threads: 1, window: 16, stop: None }
    }
}

/// What threads share.
struct Shared<'s> {
    dispatch: &'s Dispatch,
    memory: &'s dyn Memory,
    limits: Limits<'s>,
    next: AtomicU64,
    used: AtomicU64,
    /// The lowest group that hangs; those behind it are not started.
    end: AtomicU64,
    totals: Mutex<Totals>,
}

#[derive(Default)]
struct Totals {
    counters: Counters,
    fault: Option<(u64, PageFault)>,
    hang: Option<(u64, Box<Hang>)>,
}

/// Runs a dispatch to its end.
pub fn run(dispatch: &Dispatch, memory: &dyn Memory, limits: Limits<'_>) -> Outcome {
    let groups = dispatch.groups();
    let shared = Shared {
        dispatch,
        memory,
        limits,
        next: AtomicU64::new(0),
        used: AtomicU64::new(0),
        end: AtomicU64::new(groups),
        totals: Mutex::default(),
    };
    // A slot of scratch memory belongs to one live wave.
    let waves = dispatch.waves_per_group().max(1);
    let slots = dispatch.scratch_waves().map_or(usize::MAX, |slots| (slots / waves).max(1) as usize);
    let threads = limits.threads.clamp(1, 256).min(slots).min(usize::try_from(groups).unwrap_or(usize::MAX)).max(1);
    let window = (slots / threads).min(limits.window.max(1));
    if threads == 1 {
        shared.work(0, window);
    } else {
        thread::scope(|scope| {
            for worker in 0..threads {
                let shared = &shared;
                scope.spawn(move || shared.work(worker, window));
            }
        });
    }
    let totals = shared.totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, hang)) = totals.hang {
        return Outcome::Hang(*hang);
    }
    if limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        return Outcome::Stopped;
    }
    match totals.fault {
        Some((_, fault)) => Outcome::Fault { fault, counters: totals.counters },
        None => Outcome::Done(totals.counters),
    }
}

impl Shared<'_> {
    /// Runs groups until there are none left.
    fn work(&self, worker: usize, window: usize) {
        let mut code = Code::new(self.dispatch.shape());
        let waves = self.dispatch.waves_per_group();
        // Each place in the window has scratch slots of its own.
        let mut live: Vec<Option<Group>> = Vec::new();
        loop {
            if live.len() < window && live.iter().all(Option::is_some) {
                live.push(None);
            }
            for (place, entry) in live.iter_mut().enumerate() {
                if entry.is_none() {
                    let slot = (worker * window + place) as u32 * waves;
                    *entry = self.take().map(|index| Group::new(self.dispatch, index, slot));
                }
                let Some(group) = entry else { continue };
                if self.ends(group) || self.slice(group, &mut code) {
                    *entry = None;
                }
            }
            if live.iter().all(Option::is_none) && self.next.load(Ordering::Relaxed) >= self.end.load(Ordering::Relaxed)
            {
                return;
            }
        }
    }

    /// Returns the number of the next group.
    fn take(&self) -> Option<u64> {
        if self.limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            self.end.fetch_min(0, Ordering::Relaxed);
        }
        let end = self.end.load(Ordering::Relaxed);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| (next < end).then_some(next + 1)).ok()
    }

    /// Returns `true` if the group is not to go on.
    fn ends(&self, group: &Group) -> bool {
        let stopped = self.limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped {
            self.end.fetch_min(0, Ordering::Relaxed);
        }
        stopped || group.index > self.end.load(Ordering::Relaxed)
    }

    /// Runs a slice of a group. Returns `true` if it is over.
    fn slice(&self, group: &mut Group, code: &mut Code) -> bool {
        let before = group.counters().instructions;
        let result = group.slice(code, self.memory);
        let counters = group.counters();
        let used =
            self.used.fetch_add(counters.instructions - before, Ordering::Relaxed) + counters.instructions - before;
        let result = match result {
            Ok(false) if used > self.limits.instructions => {
                Err(Box::new(group.out_of_budget(self.limits.instructions, self.memory)))
            }
            result => result,
        };
        let over = match &result {
            Ok(done) => *done,
            Err(_) => true,
        };
        if over {
            let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
            totals.counters.add(counters);
            if let Some(fault) = group.fault().filter(|_| totals.fault.is_none_or(|(index, _)| group.index < index)) {
                totals.fault = Some((group.index, fault));
            }
            if let Err(hang) = result {
                self.end.fetch_min(group.index, Ordering::Relaxed);
                if totals.hang.as_ref().is_none_or(|(index, _)| group.index < *index) {
                    totals.hang = Some((group.index, hang));
                }
            }
        }
        over
    }
}
