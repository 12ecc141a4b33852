//! The requests. Each has a function in the file of its subject; the table of them is `dispatch.rs` above this folder.

pub(crate) mod args;
pub(crate) mod memory;
pub(crate) mod modes;
pub(crate) mod node;
pub(crate) mod queues;
pub(crate) mod sync;
