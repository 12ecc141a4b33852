//! Accesses as the model judges them.

use super::{
    event::{Agent, Event, Log, Time},
    pages::Front,
};
use crate::gpu::TargetCaches;

/// The way of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Through L2.
    In,
    /// Behind L2.
    Past,
    /// Behind L2, which is told of writes: it has no old copies for the agent, and the agent finds what is dirty.
    Coherent,
}

/// The properties of an access.
#[expect(clippy::struct_excessive_bools, reason = "properties that have nothing to do with each other")]
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    pub(super) time: Time,
    pub(super) agent: Agent,
    pub(super) way: Way,
    /// The cache in front of L2 that loads go through.
    pub(super) front: Option<Front>,
    /// `true` if loads go through GL1.
    pub(super) through_array: bool,
    /// The address space.
    pub(super) vm: Option<u64>,
    /// `true` if a cache policy makes it go behind L2.
    pub(super) bypasses: bool,
    /// The cache that a load would go through if it did not have the scope of the device, and `true` with GL1 behind it.
    pub(super) near: Option<(Front, bool)>,
    /// The property that a trial changes.
    pub(super) as_if: Option<AsIf>,
    /// `true` for accesses that may meet atomic operations: they are atomic themselves, or coherent.
    pub(super) is_atomic: bool,
    /// `true` for memory of a lane of its own, whose place the chip chooses.
    pub(super) is_private: bool,
    /// The cache of render backends, which access targets through caches of their own.
    pub(super) of_target: Option<TargetCaches>,
    pub(super) order: Order,
}

/// A property of the accesses of an event that a trial changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AsIf {
    pub(super) time: Time,
    pub(super) job: u64,
    pub(super) instead: Instead,
}

/// The change of the accesses of an event in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// The engine does not wait until writes have landed.
    Posted,
    /// ME makes the accesses of PFP.
    MicroEngine,
    /// Accesses that bypass L2 go through it.
    ThroughL2,
    /// Loads of the device's scope go through the caches of their compute unit.
    Near,
}

impl Instead {
    /// Returns the agent in place of another one.
    fn agent(self, agent: Agent) -> Agent {
        match (self, agent) {
            (Self::Posted, Agent::Engine) => Agent::Posted,
            (Self::MicroEngine, Agent::Pfp) => Agent::Engine,
            _ => agent,
        }
    }
}

impl By {
    /// Returns the agent of an event, as accesses are judged.
    pub(super) fn agent_of(&self, event: &Event, time: Time) -> Agent {
        let changed = self.as_if.filter(|as_if| as_if.time == time);
        changed.map_or(event.agent, |as_if| as_if.instead.agent(event.agent))
    }

    /// Changes the access if it is one of the event that is otherwise.
    pub(super) fn change(&mut self) {
        let Some(as_if) = self.as_if.filter(|as_if| as_if.time == self.time) else { return };
        self.agent = as_if.instead.agent(self.agent);
        match (as_if.instead, self.near) {
            (Instead::ThroughL2, _) if self.bypasses => self.way = Way::In,
            (Instead::Near, Some((front, through_array))) => {
                self.front = Some(front);
                self.through_array = through_array;
                self.way = Way::In;
                self.is_atomic = false;
            }
            _ => {}
        }
    }
}

/// The work of a job that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) job: u64,
    /// The number of the ring.
    pub(super) ring: u32,
    /// The first event of the job.
    pub(super) first: Time,
    /// The last event of jobs of other rings for which the job has waited, and that of all jobs for what is polled.
    pub(super) others: Time,
    /// The last event whose dispatches are over.
    pub(super) shaders: Time,
    /// The last event whose draws are over.
    pub(super) draws: Time,
    /// The last event whose writes have landed, if the engine did not wait for them.
    pub(super) posted: Time,
    /// The last event whose DMA is over.
    pub(super) dma: Time,
    /// The last event for which PFP has waited.
    pub(super) pfp: Time,
    /// `true` if DMA is not executed in order with packets.
    pub(super) has_dma: bool,
    /// `true` if the current DMA waits for the writes of the one before it.
    pub(super) waits_for_dma: bool,
}

impl Order {
    /// Returns the order in which all is over that is so in one of two orders of a job.
    pub(super) fn after(&self, other: &Self) -> Self {
        Self {
            others: self.others.max(other.others),
            shaders: self.shaders.max(other.shaders),
            draws: self.draws.max(other.draws),
            posted: self.posted.max(other.posted),
            dma: self.dma.max(other.dma),
            pfp: self.pfp.max(other.pfp),
            ..*self
        }
    }
}

/// A moment at which something happened to caches, and the work that still ran then: a cache operation that the engine executes does
/// not wait for it, and the work accesses the caches after the operation as well as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) time: Time,
    /// The job, and the last events up to which its dispatches and its draws were over.
    job: u64,
    shaders: Time,
    draws: Time,
}

impl Moment {
    /// A moment at which all earlier work is over.
    pub(super) const fn quiet(time: Time) -> Self {
        Self { time, job: 0, shaders: time, draws: time }
    }

    /// A moment in a job.
    pub(super) const fn within(time: Time, order: &Order) -> Self {
        Self { time, job: order.job, shaders: order.shaders, draws: order.draws }
    }

    /// Returns `true` if dispatches or draws of the same job were over up to an event.
    pub(super) fn has_waited_for(&self, earlier: Time, agent: Agent) -> bool {
        earlier <= if agent == Agent::Draw { self.draws } else { self.shaders }
    }

    /// Returns `true` if work of an earlier event may still have run.
    pub(super) fn is_during(&self, earlier: Time, log: &Log) -> bool {
        if earlier > self.time || earlier <= self.shaders.min(self.draws) {
            return false;
        }
        log.get(earlier).is_some_and(|&Event { job, agent, .. }| {
            let over = match agent {
                Agent::Shader => self.shaders,
                Agent::Draw => self.draws,
                _ => return false,
            };
            job == self.job && earlier > over
        })
    }

    /// Returns `true` if all that an event did came before.
    pub(super) fn is_after(&self, event: Time, log: &Log) -> bool {
        event <= self.time && !self.is_during(event, log)
    }
}
