//! Rules about user queues: rings that a process fills itself and starts by a doorbell.

mod creation;
mod execution;
mod fences;
mod hostile;
mod later;
mod rig;

pub(crate) use self::rig::{Bench, card};
