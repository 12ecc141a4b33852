//! Accesses as the model judges them.

use super::{
    event::{Agent, Time},
    pages::Front,
};

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
    /// `true` for accesses that may meet atomic operations: they are atomic themselves, or coherent.
    pub(super) is_atomic: bool,
    /// `true` for memory of a lane of its own, whose place the chip chooses.
    pub(super) is_private: bool,
    /// `true` for render backends, which access targets through caches of their own.
    pub(super) is_of_targets: bool,
    pub(super) order: Order,
}

/// The work of a job that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) job: u64,
    /// The first event of the job. Earlier jobs are over.
    pub(super) first: Time,
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
