//! A stream that is judged without one of its packets' effects.

use super::lost::Lost;
use crate::kernel::strict::{access::Order, packets::At, world::World};

/// A stream without something.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) world: World,
    pub(super) lost: Lost,
    pub(super) at: At,
    /// What was over before.
    pub(super) before: Order,
    /// What the packet would have ended.
    pub(super) after: Order,
}
