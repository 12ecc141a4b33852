//! Questions that a ring asks of tests, and their answers.

use std::{fmt, sync::Weak};

use amdgpu_hw::Ip;

use crate::testing::mutation::Mutation;

/// The part of a ring that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hang {
    /// The ring's front end: only a reset helps.
    FrontEnd,
    /// Waves of a shader: killing them helps, where the ring can.
    Waves,
}

/// A ring of a device: which IP, and the index among its rings.
pub(crate) type RingName = (Ip, u32);

/// A ring's permission to start a job.
pub(crate) enum Turn {
    /// Any job: the choice is not random.
    Free,
    /// Nothing: it is the turn of another hook.
    NotYet,
    /// Start the job at this place in its queue.
    Start(usize),
}

/// The jobs that a ring has yet to start.
pub(crate) trait Queue: fmt::Debug + Send + Sync {
    /// Returns the places in the queue of the jobs that can start.
    fn ready(&self) -> Vec<usize>;
}

/// A test's say in what rings do. Without a test every answer is that of hardware.
pub(crate) trait Hooks: fmt::Debug + Send + Sync {
    /// Returns `true` if a ring starts no job.
    fn is_held(&self, ring: RingName) -> bool;

    /// Takes the order that the job which a ring runs now hangs, if there is one; it holds for one job.
    fn takes_hang(&self, ring: RingName) -> Option<Hang>;

    /// Returns the ticks of a stopped clock.
    fn stopped_clock(&self) -> Option<u64>;

    /// Hears of a ring that came to life.
    fn ring_starts(&self, ring: RingName, queue: Weak<dyn Queue>);

    /// Hears of a ring that goes, and forgets it.
    fn ring_ends(&self, ring: RingName);

    /// Returns the ring's permission to start a job now.
    fn turn(&self, ring: RingName) -> Turn;

    /// Hears that a job of this ring is over. Returns `true` if it had the turn, so that others are to look again.
    fn end_turn(&self, ring: RingName) -> bool;

    /// Returns the mistake that the rings of an IP make.
    fn mutation_of(&self, ip: Ip) -> Option<Mutation>;
}
