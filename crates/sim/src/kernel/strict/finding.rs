//! Findings of the model.

use super::{
    event::{Agent, Time},
    pages::Front,
};
use crate::gpu::TargetCaches;

/// The cache whose copy is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    Front(Front),
    L2,
}

/// A fault that a real chip would show and the simulated memory hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The cache has old bytes: they were filled by the first event, and the second wrote memory, if it was not the CPU.
    Stale { cache: Cache, filled: Time, passed: Option<Time> },
    /// Memory has old bytes, because this write is still in L2.
    Dirty(Time),
    /// This write is still in a cache of colour and depth targets.
    InTargets(TargetCaches, Time),
    /// Nothing orders the access behind this access, of which one of the two writes. It may be that of a job of another ring.
    Race { earlier: Time, by: Agent, is_write: bool, is_apart: bool },
    /// PFP reads before this write.
    Ahead(Time),
}
