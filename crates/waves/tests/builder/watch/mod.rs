//! Watched dispatches.

mod events;
mod waits;
