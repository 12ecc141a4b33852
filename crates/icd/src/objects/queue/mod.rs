//! Queues.

mod late;
mod loss;
mod queue;

pub(crate) use self::{
    loss::Loss,
    queue::{Queue, STEP, Wait, Work},
};
