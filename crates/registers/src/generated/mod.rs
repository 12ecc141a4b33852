//! The generator's output; only this list is written by hand.

pub(crate) mod choices;
pub mod constants;
pub mod enums;
pub(crate) mod names;
pub(crate) mod registers;
pub mod typed;
