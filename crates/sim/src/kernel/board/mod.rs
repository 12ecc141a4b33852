//! The parts of a device that all of its rings and user queues share, and its facts.

mod board;
mod facts;

pub(crate) use self::{board::Board, facts::Facts};
