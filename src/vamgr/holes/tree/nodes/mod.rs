//! The nodes of the tree, and the offers of their children.

mod grow;
pub(super) mod inner;
pub(super) mod lanes;
pub(super) mod leaf;
mod offers;
pub(super) mod peaks;
mod slots;

pub(super) use self::{grow::grow, inner::Inner, leaf::Leaf, offers::Offers};
