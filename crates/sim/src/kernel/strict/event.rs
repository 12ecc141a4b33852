//! Events: the accesses and operations that reports name, in their order.

use std::collections::VecDeque;

use super::jobs::Jobs;
use crate::gpu::Place;

/// The number of an event, from 1 on. Later events have greater numbers; 0 is before all.
pub(super) type Time = u64;

/// The number of events that can be named. Older ones are only counted.
const MOST_NAMED: usize = 1 << 20;

/// The unit that makes the accesses of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    /// The prefetch parser of a graphics ring, which runs ahead of the micro engine.
    Pfp,
    /// The engine itself: ME, MEC, or a copy engine.
    Engine,
    /// The command processor's DMA, which a graphics ring does not wait for, or a copy of a copy engine.
    Dma,
    /// The shaders of a dispatch, which a ring does not wait for.
    Shader,
    /// The shaders of a draw.
    Draw,
    /// The engine itself, which does not wait until its writes have landed.
    Posted,
}

/// An event, as reports name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// The number of the job on the device, from 1 on, in the order in which jobs start.
    pub(super) job: u64,
    /// The number of its submission, by which reports name it.
    pub(super) submission: u64,
    pub(super) place: Place,
    pub(super) agent: Agent,
}

/// The events of a device.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The number of events that have no name any more.
    forgotten: Time,
    named: VecDeque<Event>,
    pub(super) jobs: Jobs,
}

impl Log {
    /// Adds an event, and returns its number.
    pub(super) fn add(&mut self, event: Event) -> Time {
        if self.named.len() >= MOST_NAMED {
            self.named.pop_front();
            self.forgotten += 1;
        }
        self.named.push_back(event);
        self.forgotten + self.named.len() as Time
    }

    /// Returns an event, unless it was too long ago.
    pub(super) fn get(&self, time: Time) -> Option<&Event> {
        let index = time.checked_sub(self.forgotten + 1)?;
        self.named.get(usize::try_from(index).ok()?)
    }
}
