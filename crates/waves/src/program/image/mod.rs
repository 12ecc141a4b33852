//! Image instructions.

pub(super) mod decode;
pub(crate) mod op;
