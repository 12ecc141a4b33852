//! Watched dispatches.

mod events;
mod hazards;
mod waits;
