//! The requests. `dispatch.rs` has the table, and each request has a function in the file of its subject.

pub(crate) mod args;
pub(crate) mod dispatch;
pub(crate) mod memory;
pub(crate) mod modes;
pub(crate) mod node;
pub(crate) mod queues;
pub(crate) mod sync;
