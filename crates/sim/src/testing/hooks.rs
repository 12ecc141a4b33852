//! The interface by which tests control rings.

use std::{fmt, sync::Weak};

use amdgpu_hw::Ip;
use amdgpu_waves::WaveMutation;

use crate::{
    gpu::{Ib, Memory},
    kernel::{health::HardwareError, mm::space::Space},
};

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
///
/// A ring asks before each step of a job in which a broken device could differ from a working one, and does what the answer says; it
/// does not know the ways in which a device can be broken.
pub(crate) trait Hooks: fmt::Debug + Send + Sync {
    /// Returns `true` if a ring may not start jobs.
    fn is_held(&self, ring: RingName) -> bool;

    /// Takes the request to hang the job that a ring is running, if there is one. A request applies to one job.
    fn takes_hang(&self, ring: RingName) -> Option<Hang>;

    /// Returns the time of a stopped clock in ticks; `None` if the clock is running.
    fn stopped_clock(&self) -> Option<u64>;

    /// Returns `true` if requests notice that the GPU was removed.
    fn notices_removal(&self) -> bool;

    /// Returns `true` if a page flip shows the new framebuffer.
    fn shows_flips(&self) -> bool;

    /// Registers a new ring.
    fn ring_starts(&self, ring: RingName, queue: Weak<dyn Queue>);

    /// Removes a ring.
    fn ring_ends(&self, ring: RingName);

    /// Returns the ring's current permission to start a job.
    fn turn(&self, ring: RingName) -> Turn;

    /// Reports the end of a job. Returns `true` if the ring had the turn, so that other rings must check again.
    fn end_turn(&self, ring: RingName) -> bool;

    /// Returns `true` if the jobs of a ring wait for their dependencies.
    fn waits_for_dependencies(&self, ring: RingName) -> bool;

    /// Returns the IBs that are executed in place of all those of a job, also those of the constant engine; `None` to execute the
    /// job's own.
    fn other_ibs(&self, ring: RingName, ibs: &[Ib]) -> Option<Vec<Ib>>;

    /// Executes a job with the memory that its packets access, given the address space of the job.
    fn with_memory(&self, ring: RingName, space: &Space, run: &mut dyn FnMut(&dyn Memory));

    /// Returns `true` if a page fault is reported.
    fn reports_faults(&self, ring: RingName) -> bool;

    /// Returns the mistake that the waves of shaders make, if any.
    fn wave_mutation(&self, ring: RingName) -> Option<WaveMutation>;

    /// Returns the mistake that the fixed functions of draws make, if any.
    fn draw_mutation(&self, ring: RingName) -> Option<amdgpu_raster::DrawMutation>;

    /// Returns the value that is written to a user fence at the end of the job with this sequence number.
    fn fence_value(&self, ring: RingName, number: u64) -> u64;

    /// Returns the error of the hardware that the end of a job causes, if any.
    fn hardware_error(&self, ring: RingName) -> Option<HardwareError>;

    /// Returns `true` if the end of a job wakes its waiters.
    fn wakes_waiters(&self, ring: RingName) -> bool;
}
