//! Operations that move values between lanes, or between registers whose numbers are in M0, as functions of the state.

mod moves;
mod permutes;
mod tests;
