//! Watched dispatches.

mod events;
mod hazards;
mod undefined;
mod waits;
