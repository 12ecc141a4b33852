//! Promises of opening a device and of the objects of its kernel, on the simulator.

#[path = "../support/listener.rs"]
mod listener;
#[path = "../support/log.rs"]
mod log;
#[path = "../support/mod.rs"]
mod support;

mod bad_answers;
mod bo_rules;
mod bring_up;
mod enumerate;
mod facts;
mod foreign_handles;
mod handles;
mod lasting_refusals;
mod objects;
mod openings_and_calls;
mod promises;
mod questions;
mod released_bindings;
mod unwritten_answers;
mod windows;
