//! A stream that is judged without one of its packets' effects.

use super::lost::Lost;
use crate::kernel::strict::{access::Order, packets::At, world::World};

/// A stream without something.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) world: World,
    pub(super) lost: Lost,
    pub(super) at: At,
    /// The order before the packet.
    pub(super) before: Order,
    /// The order that the packet would have made.
    pub(super) after: Order,
}
