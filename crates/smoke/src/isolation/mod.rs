//! The execution of each check in a separate process.

pub(crate) mod child;
pub(crate) mod fork;
pub(crate) mod message;
pub(crate) mod parent;
pub(crate) mod soak;
