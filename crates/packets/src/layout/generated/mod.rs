//! What the generator wrote, but for this list.

#![allow(
    clippy::large_enum_variant,
    clippy::manual_range_patterns,
    clippy::precedence,
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    clippy::unreadable_literal,
    clippy::wildcard_imports
)]

pub(super) mod dma;
pub(super) mod names;
pub(crate) mod opcodes;
pub(super) mod pm4;
pub mod pm4_records;
pub(super) mod sdma;
pub mod sdma_records;
pub(super) mod selectors;
