//! Questions that a ring asks of tests, and their answers.

use std::{fmt, sync::Weak};

use amdgpu_hw::Ip;

use crate::testing::mutation::Mutation;

/// What hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hang {
    /// The ring's front end: only a reset helps.
    FrontEnd,
    /// Waves of a shader: killing them helps, where the ring can.
    Waves,
}

/// A ring of a device: which IP, and the index among its rings.
pub(crate) type RingName = (Ip, u32);

/// What a ring may do.
pub(crate) enum Turn {
    /// Whatever it likes: chance decides nothing.
    Free,
    /// Nothing: it is another one's turn.
    NotYet,
    /// Start the job at this place in its queue.
    Start(usize),
}

/// The jobs that a ring has yet to start.
pub(crate) trait Queue: fmt::Debug + Send + Sync {
    /// Where in the queue the jobs are that can start.
    fn ready(&self) -> Vec<usize>;
}

/// A test's say in what rings do. Without a test every answer is that of hardware.
pub(crate) trait Hooks: fmt::Debug + Send + Sync {
    /// Returns `true` if a ring starts no job.
    fn is_held(&self, ring: RingName) -> bool;

    /// How the job that a ring runs now hangs, if it is to; the next one then does not, unless told again.
    fn takes_hang(&self, ring: RingName) -> Option<Hang>;

    /// What a stopped clock shows.
    fn stopped_clock(&self) -> Option<u64>;

    /// A ring came to life.
    fn ring_starts(&self, ring: RingName, queue: Weak<dyn Queue>);

    /// A ring goes; nobody looks at it any more afterwards.
    fn ring_ends(&self, ring: RingName);

    /// Whether this ring is to start a job now.
    fn turn(&self, ring: RingName) -> Turn;

    /// A job of this ring is over. Returns `true` if it had the turn, so that others are to look again.
    fn end_turn(&self, ring: RingName) -> bool;

    /// What is wrong with the rings of an IP.
    fn mutation_of(&self, ip: Ip) -> Option<Mutation>;
}
