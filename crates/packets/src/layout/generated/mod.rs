//! The generator's output; only this list is written by hand.

#![allow(
    clippy::cast_lossless,
    clippy::identity_op,
    clippy::inline_always,
    clippy::large_enum_variant,
    clippy::manual_range_patterns,
    clippy::precedence,
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    clippy::unreadable_literal,
    clippy::wildcard_imports,
    non_upper_case_globals
)]

pub(super) mod dma;
pub(crate) mod flags;
pub(super) mod names;
pub(crate) mod opcodes;
pub(super) mod pm4;
pub mod pm4_records;
mod pm4_typed;
pub(super) mod sdma;
pub mod sdma_records;
mod sdma_typed;
pub(crate) mod selectors;
pub(super) mod texts;

/// The packets in the forms that have a name.
pub(crate) mod written {
    pub(crate) use super::pm4_typed::{AcquireMemPws, EventWriteSample};
}
