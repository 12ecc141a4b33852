//! The rules of the real driver that clients rely on, each tried on the simulated one.
//!
//! A test is named after the rule it checks: `r50_...` is rule 50 of the list in the crate's README, which tells too which
//! rules are not checked and why. Everything goes through raw structures and request numbers, as a foreign client's would.

mod checklist;
mod core;
mod dispatch;
mod displays;
mod fdinfo;
mod info;
mod jobs;
mod later;
mod memory;
mod primary;
mod sleep;
mod support;
mod suspend;
mod sync;
mod user_queues;
