//! Promises of command streams, queues and submissions, on the simulator.

#[path = "../support/spy.rs"]
mod spy;
#[path = "../support/mod.rs"]
mod support;

mod acquires;
mod gangs;
mod hang_reports;
mod lost_work;
mod planner;
mod queues;
mod record;
mod residency_sets;
mod retiring;
mod stream_lists;
mod streams;
mod submission;
mod submission_chunks;
mod submitter;
mod submitting;
mod user_queues;
mod video;
