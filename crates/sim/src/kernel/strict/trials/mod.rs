//! Trials: a stream judged without one of its cache operations or waits.
//!
//! Cache operations and waits change nothing in the simulated memory, so a run can be judged as if one of them was missing while it
//! goes on: a copy of what the model knows sees everything but that operation, until a later one makes up for it. What the copy
//! reports then is what the model would have reported about the stream without the operation.
//!
//! Trials without a report are judged a second time, from a log of all accesses, by rules that know nothing of cache lines: see
//! [`Accesses`].

mod accesses;
mod lost;
mod outcome;
mod trial;

use std::collections::HashMap;

pub use self::outcome::{TrialOutcome, TrialReport};

use self::{accesses::Accesses, lost::Lost, trial::Trial};
use super::{
    event::{Log, Time},
    finding::Finding,
    model::Range,
    packets::{At, Deed, Hazard},
    report::HazardKind,
    world::{Call, World},
};
use crate::gpu::{CacheOperation, FrontCaches, Place};

/// The number of trials that run at the same time.
const MOST_RUNNING: usize = 48;

/// The number of trials of the same loss at the same place in IBs of the same length.
const MOST_ALIKE: u32 = 24;

/// The key that trials of the same loss at the same place share.
type Alike = (&'static str, Lost, u32, usize, u8);

/// The trials of a device.
#[derive(Debug, Default)]
pub(super) struct Trials {
    running: Vec<Trial>,
    ended: Vec<(Lost, Place, u64, TrialOutcome)>,
    /// The number of trials.
    known: HashMap<Alike, u32>,
    accesses: Accesses,
    last: Time,
}

/// Returns the kind of a finding.
fn kind(finding: Finding, is_write: bool) -> HazardKind {
    match finding {
        Finding::Stale { .. } => HazardKind::StaleRead,
        Finding::Dirty(_) if is_write => HazardKind::Clobber,
        Finding::Dirty(_) | Finding::InTargets(..) => HazardKind::NotWrittenBack,
        Finding::Race { .. } => HazardKind::Race,
        Finding::Ahead(_) => HazardKind::Ahead,
    }
}

impl Trials {
    /// Does what a packet does in the world and in all trials, and starts trials without it. Returns the hazards of the world.
    pub(super) fn act(&mut self, world: &mut World, deed: Deed, at: &At) -> Vec<Hazard> {
        self.last = self.last.max(at.now);
        let mut started = Vec::new();
        let before = world.order(at.job);
        if let Some(place) = at.place {
            for lost in lost::possible(deed, at, world) {
                let alike = (place.packet, lost, place.ib.dwords, place.offset, place.level);
                let count = self.known.entry(alike).or_default();
                if *count >= MOST_ALIKE || self.running.len() + started.len() >= MOST_RUNNING {
                    continue;
                }
                *count += 1;
                let mut trial = Trial { world: world.clone(), lost, at: *at, before, after: before };
                let hazards = trial.world.act_without(lost, deed, at);
                started.push((trial, hazards.first().map(|hazard| hazard.kind)));
            }
        }
        world.caught_up.clear();
        let hazards = world.act(deed, at);
        let after = world.order(at.job);
        for (origin, operation) in &world.caught_up {
            self.accesses.operated(at.now, *origin, *operation);
        }
        if let Deed::Operation(operation) = deed
            && !at.is_at_the_end_of_the_pipe()
        {
            self.accesses.operated(at.now, at.now, operation);
        }
        let is_silent = hazards.is_empty();
        self.run(world, is_silent, |trial| trial.world.act(deed, at).first().map(|hazard| hazard.kind));
        for (mut trial, kind) in started {
            trial.after = after;
            match kind.filter(|_| is_silent) {
                Some(kind) => self.end(&trial, TrialOutcome::Reported(kind)),
                None => self.running.push(trial),
            }
        }
        hazards
    }

    /// Does something in all trials that the world has done.
    pub(super) fn each(&mut self, world: &World, act: impl Fn(&mut World)) {
        self.run(world, true, |trial| {
            act(&mut trial.world);
            None
        });
    }

    /// Lets all trials do something, of which the world has found nothing if it `is_silent`. Trials with a report end, and so do
    /// those that are like the world again.
    fn run(&mut self, world: &World, is_silent: bool, mut act: impl FnMut(&mut Trial) -> Option<HazardKind>) {
        let mut index = 0;
        while index < self.running.len() {
            let found = act(&mut self.running[index]).filter(|_| is_silent);
            let outcome = match found {
                Some(kind) => TrialOutcome::Reported(kind),
                None if self.running[index].world.is_like(world) => self.judge(&self.running[index]),
                None => {
                    index += 1;
                    continue;
                }
            };
            let trial = self.running.swap_remove(index);
            self.end(&trial, outcome);
        }
    }

    /// Lets all trials make an access.
    fn access(&mut self, is_silent: bool, mut act: impl FnMut(&mut World) -> Option<HazardKind>) {
        let mut index = 0;
        while index < self.running.len() {
            match act(&mut self.running[index].world).filter(|_| is_silent) {
                Some(kind) => {
                    let trial = self.running.swap_remove(index);
                    self.end(&trial, TrialOutcome::Reported(kind));
                }
                None => index += 1,
            }
        }
    }

    pub(super) fn operated(&mut self, now: Time, fronts: FrontCaches, writes_back: bool, invalidates: bool) {
        let operation = CacheOperation {
            fronts,
            write_back_l2: writes_back,
            invalidate_l2: invalidates,
            ..CacheOperation::default()
        };
        self.accesses.operated(now, now, operation);
    }

    pub(super) fn read(&mut self, range: Range<'_>, data: &mut [u8], call: &Call<'_>, log: &Log, is_found: bool) {
        self.last = self.last.max(call.by.time);
        self.accesses.read(range, data.len(), call);
        self.access(!is_found, |world| world.read(range, data, call, log).map(|(_, found)| kind(found, false)));
    }

    pub(super) fn write(&mut self, range: Range<'_>, data: &[u8], call: &Call<'_>, log: &Log, is_found: bool) {
        self.last = self.last.max(call.by.time);
        self.accesses.write(range, data, call);
        self.access(!is_found, |world| world.write(range, data, call, log).map(|(_, found)| kind(found, true)));
    }

    pub(super) fn fetch(&mut self, range: Range<'_>, len: usize, call: &Call<'_>, log: &Log, is_found: bool) {
        self.last = self.last.max(call.by.time);
        self.accesses.fetch(range, len, call);
        self.access(!is_found, |world| world.fetch(range, len, call, log).map(|(_, found)| kind(found, false)));
    }

    /// Judges a trial that was not reported.
    fn judge(&self, trial: &Trial) -> TrialOutcome {
        match self.accesses.conflict(trial, self.last) {
            None => TrialOutcome::Redundant,
            Some(conflict) => TrialOutcome::Missed(conflict),
        }
    }

    fn end(&mut self, trial: &Trial, outcome: TrialOutcome) {
        if let Some(place) = trial.at.place {
            self.ended.push((trial.lost, place, trial.at.job, outcome));
        }
    }

    /// Ends all trials, and returns them, each loss at a place in IBs of a job with its outcome.
    pub(super) fn finish(&mut self, chip: &str) -> Vec<TrialReport> {
        for trial in std::mem::take(&mut self.running) {
            let outcome = self.judge(&trial);
            self.end(&trial, outcome);
        }
        let report = |(lost, place, job, outcome): &(Lost, Place, u64, TrialOutcome)| TrialReport {
            chip: chip.to_owned(),
            without: lost.to_string(),
            place: format!("{place}, job {job}"),
            packet: place.packet,
            outcome: outcome.clone(),
        };
        self.ended.iter().map(report).collect()
    }
}
