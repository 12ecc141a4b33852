//! Tables by generation, the operations of all, and the words they are written in.

// Generated from `spec`; see `tests/tables.rs`.

pub(crate) mod gfx10;
pub(crate) mod gfx10_3;
pub(crate) mod gfx11;
pub(crate) mod gfx11_5;
pub(crate) mod gfx12;
pub(crate) mod gfx6;
pub(crate) mod gfx7;
pub(crate) mod gfx8;
pub(crate) mod gfx9;
pub(crate) mod operations;
pub(crate) mod words;
