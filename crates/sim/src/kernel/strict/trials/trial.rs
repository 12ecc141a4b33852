//! A stream that is judged without one of its packets' effects.

use super::{
    how::{How, Start},
    lost::Lost,
};
use crate::kernel::strict::{
    access::Order,
    event::Time,
    packets::{At, Deed},
    world::World,
};

/// A stream without something.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) world: World,
    pub(super) lost: Lost,
    pub(super) how: How,
    pub(super) at: At,
    /// The packet before, if the two have changed places.
    pub(super) start: Start,
    /// The deed that the packet does after the one behind it, and `true` once that one has begun.
    pub(super) delayed: Option<(Deed, bool)>,
    /// The last event that a weaker wait has seen.
    pub(super) weak: Time,
    /// The time in which accesses are judged.
    pub(super) from: Time,
    pub(super) until: Time,
    /// The order before the packet.
    pub(super) before: Order,
    /// The order that the packet would have made.
    pub(super) after: Order,
}
