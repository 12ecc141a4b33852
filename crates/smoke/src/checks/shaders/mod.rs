//! Checks of compute shaders: machine code made for the generation at hand, on every ring that dispatches.

pub(crate) mod arithmetic;
mod bench;
pub(crate) mod groups;
pub(crate) mod image;
pub(crate) mod memory;
pub(crate) mod picture;
