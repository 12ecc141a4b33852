//! The interface by which tests control rings.

use std::{fmt, sync::Weak};

use amdgpu_hw::Ip;

use crate::testing::mutation::Mutation;

/// The part of a ring that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hang {
    /// The front end of the ring, so that only a reset helps.
    FrontEnd,
    /// Waves of a shader. Killing them helps on rings that support it.
    Waves,
}

/// A ring of a device: the IP, and the index among its rings.
pub(crate) type RingName = (Ip, u32);

/// A ring's permission to start a job.
pub(crate) enum Turn {
    /// The ring may start any job: the order is not random.
    Free,
    /// The ring may not start a job: another ring or a hold has precedence.
    NotYet,
    /// The ring may start the job at this index of its queue.
    Start(usize),
}

/// The jobs that a ring has yet to start.
pub(crate) trait Queue: fmt::Debug + Send + Sync {
    /// Returns the indices of the jobs that can start.
    fn ready(&self) -> Vec<usize>;
}

/// The control of tests over rings. Without a test, rings behave as on hardware.
pub(crate) trait Hooks: fmt::Debug + Send + Sync {
    /// Returns `true` if a ring may not start jobs.
    fn is_held(&self, ring: RingName) -> bool;

    /// Takes the request to hang the job that a ring is running, if there is one. A request applies to one job.
    fn takes_hang(&self, ring: RingName) -> Option<Hang>;

    /// Returns the time of a stopped clock in ticks; `None` if the clock is running.
    fn stopped_clock(&self) -> Option<u64>;

    /// Registers a new ring.
    fn ring_starts(&self, ring: RingName, queue: Weak<dyn Queue>);

    /// Removes a ring.
    fn ring_ends(&self, ring: RingName);

    /// Returns the ring's current permission to start a job.
    fn turn(&self, ring: RingName) -> Turn;

    /// Reports the end of a job. Returns `true` if the ring had the turn, so that other rings must check again.
    fn end_turn(&self, ring: RingName) -> bool;

    /// Returns the mutation of the rings of an IP.
    fn mutation_of(&self, ip: Ip) -> Option<Mutation>;
}
