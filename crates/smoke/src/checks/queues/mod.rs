//! Checks of what queues execute.

pub(crate) mod bandwidth;
pub(crate) mod execute;
pub(crate) mod gang;
pub(crate) mod march;
pub(crate) mod order;
pub(crate) mod peers;
pub(crate) mod reset;
pub(crate) mod sizes;
pub(crate) mod sync;
pub(crate) mod transfer;
pub(crate) mod whole;
