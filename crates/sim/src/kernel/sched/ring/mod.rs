//! Rings, and the jobs that they run.

mod image;
mod job;
mod ring;
mod rings;

pub(crate) use self::{
    job::{Job, ib},
    ring::Recovery,
    rings::Rings,
};
