//! Trials: a stream judged without one of its cache operations or waits, or with one of them that is wrong or in another place.
//!
//! Cache operations and waits change nothing in the simulated memory, so a run can be judged as if one of them was missing while it
//! goes on: a copy of what the model knows sees everything but that operation, until a later one makes up for it. What the copy
//! reports then is what the model would have reported about the stream without the operation.
//!
//! Trials without a report are judged a second time, from a log of all accesses, by rules that know nothing of cache lines: see
//! [`Accesses`].

mod accesses;
mod how;
mod lost;
mod outcome;
mod trial;

use std::collections::HashMap;

pub use self::outcome::{TrialOutcome, TrialReport};

use self::{
    accesses::Accesses,
    how::{How, Start},
    lost::Lost,
    trial::Trial,
};
use super::{
    access::{AsIf, By, Instead, Order},
    event::{Log, Time},
    finding::Finding,
    model::Range,
    packets::{At, Deed, Hazard},
    report::HazardKind,
    world::{Call, World},
};
use crate::gpu::{CacheOperation, FrontCaches, Place, Signal, TargetCaches};
use amdgpu_packets::Target;

/// The number of trials that run at the same time.
const MOST_RUNNING: usize = 48;

/// The number of trials at the same time that change accesses, which mostly last as long as their job.
const MOST_OF_ACCESSES: usize = 12;

fn is_full_of_accesses(running: &[Trial]) -> bool {
    running.iter().filter(|trial| trial.lost.instead().is_some()).count() >= MOST_OF_ACCESSES
}

/// The number of trials of the same loss at the same place in IBs of the same length.
const MOST_ALIKE: u32 = 24;

/// The key that trials of the same loss at the same place share.
type Alike = (&'static str, Lost, How, u32, usize, u8);

/// The trials of a device.
#[derive(Debug, Default)]
pub(super) struct Trials {
    running: Vec<Trial>,
    ended: Vec<(Lost, How, Place, u64, TrialOutcome)>,
    /// The starts of the last two packets of each job that runs, the newer one last.
    starts: HashMap<u64, [Start; 2]>,
    /// The number of trials.
    known: HashMap<Alike, u32>,
    accesses: Accesses,
    last: Time,
    /// The last event whose loads a trial has changed.
    narrowed: Time,
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
            let without = lost::possible(deed, at, world).into_iter().map(|lost| (lost, How::Without, None));
            let mut all: Vec<_> = without.chain(how::changes(deed, at, world)).collect();
            let [start, _] = self.starts.get(&at.job).copied().unwrap_or_default();
            if let Some(lost) = how::moves(deed, at, world) {
                // It could not wait for what the packet before it stores.
                let waits_for_it = |seen: Time| seen > start.since;
                let is_waited = matches!(lost, Lost::Wait) && world.seen(deed, at).is_none_or(waits_for_it);
                let has_events = self.starts.get(&at.job).is_some_and(|[first, second]| first.since < second.since);
                all.extend((has_events && !is_waited).then_some((lost, How::Early, None)));
                all.push((lost, How::Late, None));
            }
            for (lost, how, changed) in all {
                let alike = (place.packet, lost, how, place.ib.dwords, place.offset, place.level);
                let count = self.known.entry(alike).or_default();
                let is_full = lost.instead().is_some() && is_full_of_accesses(&self.running);
                if *count >= MOST_ALIKE || is_full || self.running.len() + started.len() >= MOST_RUNNING {
                    continue;
                }
                *count += 1;
                let weak = changed.and_then(|changed| world.seen(changed, at)).unwrap_or_default();
                let is_late = how == How::Late;
                let mut trial = Trial {
                    world: world.clone(),
                    lost,
                    how,
                    at: *at,
                    start,
                    delayed: is_late.then_some((deed, false)),
                    weak,
                    from: if lost == Lost::Ended { Time::MAX } else { 0 },
                    until: Time::MAX,
                    before,
                    after: before,
                };
                let hazards = match (how, changed) {
                    (How::Without, _) => trial.world.act_without(lost, deed, at),
                    (How::Early, _) => trial.world.act_early(deed, at, &start),
                    (_, Some(changed)) => trial.world.act(changed, at),
                    (_, None) => Vec::new(),
                };
                started.push((trial, hazards.first().map(|hazard| hazard.kind)));
            }
        }
        world.caught_up.clear();
        let seen = world.seen(deed, at);
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
        self.delay(deed, at, is_silent);
        self.bound(deed, at, seen, &after);
        if deed == Deed::Packet {
            let new = Start { since: self.last, order: after };
            let starts = self.starts.entry(at.job).or_default();
            *starts = [starts[1], new];
        } else if deed == Deed::End {
            self.starts.remove(&at.job);
        }
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

    /// Does in trials what comes after the packet that has just ended.
    fn delay(&mut self, deed: Deed, at: &At, is_silent: bool) {
        if !matches!(deed, Deed::Packet | Deed::End) {
            return;
        }
        let (last, mut index) = (self.last, 0);
        while let Some(trial) = self.running.get_mut(index) {
            index += 1;
            let Some((delayed, has_begun)) = trial.delayed.filter(|_| trial.at.job == at.job) else { continue };
            if deed == Deed::Packet && !has_begun {
                trial.delayed = Some((delayed, true));
                continue;
            }
            trial.delayed = None;
            trial.until = last;
            let hazards = trial.world.act(delayed, &At { now: last, ..trial.at });
            let outcome = hazards.first().filter(|_| is_silent).map(|hazard| TrialOutcome::Reported(hazard.kind));
            // A packet that does nothing is as good before it as after it.
            if outcome.is_some() || last <= trial.at.now {
                index -= 1;
                let trial = self.running.swap_remove(index);
                if let Some(outcome) = outcome {
                    self.end(&trial, outcome);
                }
            }
        }
    }

    /// Finds the time in which an event of another type makes a difference: from the wait that has `seen` it until shaders are waited for
    /// in another way.
    ///
    /// A wait that is of another kind or in another place makes none once there is another one.
    fn bound(&mut self, deed: Deed, at: &At, seen: Option<Time>, after: &Order) {
        for trial in self.running.iter_mut().filter(|trial| trial.how != How::Without && trial.at.job == at.job) {
            let is_made_up_for = match trial.lost {
                Lost::ShadersDone | Lost::Wait => after.shaders > trial.after.shaders,
                Lost::DrawsDone => after.draws > trial.after.draws,
                _ => false,
            };
            if is_made_up_for {
                trial.until = trial.until.min(at.now);
            }
        }
        for trial in self.running.iter_mut().filter(|trial| trial.at.job == at.job) {
            let is_over = match trial.lost {
                Lost::Confirmation => after.posted >= trial.at.now,
                Lost::Engine => after.pfp >= trial.at.now,
                _ => false,
            };
            if is_over {
                trial.until = trial.until.min(at.now);
            }
        }
        for trial in self.running.iter_mut().filter(|trial| trial.lost == Lost::Ended && trial.at.job == at.job) {
            if deed == Deed::Signal(Signal::ShadersDone) || seen.is_some_and(|seen| seen > trial.at.now) {
                trial.until = trial.until.min(at.now);
            } else if seen == Some(trial.at.now) {
                trial.from = trial.from.min(at.now);
            }
        }
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
                None if self.running[index].delayed.is_none() && self.running[index].world.is_like(world) => {
                    self.judge(&self.running[index])
                }
                None => {
                    index += 1;
                    continue;
                }
            };
            let trial = self.running.swap_remove(index);
            self.end(&trial, outcome);
        }
    }

    /// Starts a trial in which the loads of a dispatch have another scope, at the first load for which that matters.
    pub(super) fn narrow(&mut self, world: &World, call: &Call<'_>) {
        let By { time, near, order, .. } = *call.by;
        let (Some(_), Some(place)) = (near, call.place) else { return };
        let Target::Pm4(target) = place.target else { return };
        if time == self.narrowed || is_full_of_accesses(&self.running) {
            return;
        }
        self.narrowed = time;
        let (job, level) = (order.job, target.level);
        // Hazards of trials are not reported.
        let submission = 0;
        let at = At { job, submission, place: Some(place), target: place.target, level, now: time, values: None };
        let as_if = Some(AsIf { time, job, instead: Instead::Near });
        let before = world.order(job);
        let mut changed = world.clone();
        changed.as_if = as_if;
        self.running.push(Trial {
            world: changed,
            lost: Lost::Scope,
            how: How::Without,
            at,
            start: Start::default(),
            delayed: None,
            weak: 0,
            from: 0,
            until: Time::MAX,
            before,
            after: before,
        });
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
            // The end of a job, which writes back, flushes targets.
            flush_targets: if writes_back { TargetCaches::all() } else { TargetCaches::empty() },
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
            self.ended.push((trial.lost, trial.how, place, trial.at.job, outcome));
        }
    }

    /// Ends all trials, and returns them, each loss at a place in IBs of a job with its outcome.
    pub(super) fn finish(&mut self, chip: &str) -> Vec<TrialReport> {
        for trial in std::mem::take(&mut self.running) {
            let outcome = self.judge(&trial);
            self.end(&trial, outcome);
        }
        let report = |(lost, how, place, job, outcome): &(Lost, How, Place, u64, TrialOutcome)| TrialReport {
            chip: chip.to_owned(),
            without: format!("{lost}{how}"),
            place: format!("{place}, job {job}"),
            packet: place.packet,
            outcome: outcome.clone(),
        };
        self.ended.iter().map(report).collect()
    }
}
