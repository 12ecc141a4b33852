//! The strict mode's knowledge of a device: its caches, and the jobs that run.

use std::collections::BTreeMap;

use super::{
    access::{AsIf, By, Instead, Order, Way},
    event::{Agent, Log, Time},
    finding::Finding,
    model::{Model, Range},
    rules::Rules,
};
use crate::gpu::{CacheOperation, Place};

/// A job that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningJob {
    pub(super) order: Order,
    pub(super) rules: Rules,
}

/// The caches of a device, and the jobs that run.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) model: Model,
    pub(super) jobs: Vec<RunningJob>,
    /// The end of the last job of each ring.
    ended: BTreeMap<u32, RunningJob>,
    /// The operations at the end of the pipe that the last packet with a wait has ended, with the events of their packets.
    pub(super) caught_up: Vec<(Time, CacheOperation)>,
    /// The change of the accesses of an event by a trial.
    pub(super) as_if: Option<AsIf>,
}

/// An access, but for the order of its job, which each world knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'p> {
    pub(super) by: &'p By,
    /// `true` for what a packet polls: it is written concurrently.
    pub(super) polls: bool,
    pub(super) place: Option<Place>,
    /// `true` for DMA that waits for what earlier DMA writes.
    pub(super) waits: bool,
}

impl World {
    pub(super) fn new(bites: bool) -> Self {
        Self { model: Model::new(bites), ..Self::default() }
    }

    /// Begins a job, which `overlaps` with what the job before it on the ring has left to run.
    pub(super) fn begin(&mut self, order: Order, overlaps: bool) {
        let mut job = RunningJob { order, rules: Rules::default() };
        if let Some(last) = self.ended.remove(&order.ring).filter(|_| overlaps) {
            job.order.shaders = last.order.shaders;
            job.order.draws = last.order.draws;
            job.rules.stored = last.rules.stored;
        }
        self.jobs.push(job);
    }

    /// Ends a job.
    pub(super) fn end(&mut self, number: u64) {
        let ended = self.jobs.extract_if(.., |job| job.order.job == number);
        self.ended.extend(ended.map(|job| (job.order.ring, job)));
    }

    /// Returns a job that runs.
    pub(super) fn job(&mut self, number: u64) -> Option<&mut RunningJob> {
        self.jobs.iter_mut().find(|job| job.order.job == number)
    }

    /// Returns the order of a job.
    pub(super) fn order(&self, number: u64) -> Order {
        self.jobs.iter().find(|job| job.order.job == number).map(|job| job.order).unwrap_or_default()
    }

    /// Returns `true` if this world will judge as another one: the same caches and jobs, after the same operations.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let same =
            |(job, other): (&RunningJob, &RunningJob)| job.order == other.order && job.rules.is_like(&other.rules);
        self.as_if.is_none_or(|as_if| self.is_over(as_if))
            && self.model.was_operated_like(&other.model)
            && self.jobs.len() == other.jobs.len()
            && self.jobs.iter().zip(&other.jobs).all(same)
            && self.ended.values().zip(other.ended.values()).all(|(job, other)| job.order == other.order)
    }

    /// Returns `true` if what a trial has changed makes no difference any more. What caches have differs up to the end of the job.
    fn is_over(&self, AsIf { time, job, instead }: AsIf) -> bool {
        let Some(job) = self.jobs.iter().find(|running| running.order.job == job) else { return true };
        match instead {
            Instead::Posted => job.order.posted >= time,
            Instead::MicroEngine => job.order.pfp >= time,
            Instead::ThroughL2 | Instead::Near => false,
        }
    }

    fn by(&self, call: &Call<'_>) -> By {
        let mut order = self.order(call.by.order.job);
        if call.polls {
            order.others = Time::MAX;
        }
        let mut by = By { order, as_if: self.as_if, ..*call.by };
        by.change();
        by
    }

    /// Checks a read.
    pub(super) fn read(
        &mut self,
        range: Range<'_>,
        data: &mut [u8],
        call: &Call<'_>,
        log: &Log,
    ) -> Option<(u64, Finding)> {
        let by = self.by(call);
        if call.polls
            && let Some(job) = self.job(by.order.job)
        {
            // What other rings have done is over when the value that they store is seen.
            job.order.others = by.time;
        }
        self.model.read(range, data, &by, log)
    }

    /// Checks a write before memory changes.
    pub(super) fn write(
        &mut self,
        range: Range<'_>,
        data: &[u8],
        call: &Call<'_>,
        log: &Log,
    ) -> Option<(u64, Finding)> {
        let by = self.by(call);
        if by.agent == Agent::Dma
            && let Some(job) = self.job(by.order.job)
        {
            job.rules.open_dma = call.place;
        }
        let is_kept = by.way == Way::In && !by.is_private && by.of_target.is_none();
        if matches!(by.agent, Agent::Shader | Agent::Draw)
            && is_kept
            && let (Some(job), Some(place)) = (self.job(by.order.job), call.place)
        {
            job.rules.written = Some((by.time, by.agent, place));
        }
        self.model.write(range, data, &by, log)
    }

    /// Checks a fetch of commands.
    pub(super) fn fetch(&mut self, range: Range<'_>, len: usize, call: &Call<'_>, log: &Log) -> Option<(u64, Finding)> {
        let by = self.by(call);
        self.model.fetch(range, len, &by, log)
    }
}
