//! User queues: rings that a process fills itself and starts by a store to a doorbell instead of a request.

mod fences;
mod queue;

pub use self::{fences::*, queue::*};
