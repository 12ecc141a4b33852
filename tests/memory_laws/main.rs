//! The books on memory: what is counted, what is let in, what is remembered, and that none of it is ever wrong.

#[path = "../support/mod.rs"]
mod support;

mod accounts;
mod admission;
mod budget;
mod dump;
mod finding;
mod liar;
mod listener;
mod machine;
mod residency;
mod rig;
