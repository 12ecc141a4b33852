//! Rings, and the jobs that they run.

mod job;
mod ring;

pub(crate) use self::{
    job::{Job, ib},
    ring::{Board, Recovery, Ring},
};
