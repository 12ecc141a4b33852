//! What the generator wrote, but for this list.

pub(crate) mod choices;
pub mod constants;
pub mod enums;
pub(crate) mod names;
pub(crate) mod registers;
pub mod typed;
