//! Hardware tables, generated from `tests/goldens/tables` by `AMDGPU_SURFACE_WRITE_TABLES=1 cargo test -p amdgpu-surface --test tables`.
//!
//! A pattern is a slice of indices into a list of distinct XOR terms, one per address bit.

#[rustfmt::skip]
pub(crate) mod gfx10;
#[rustfmt::skip]
pub(crate) mod gfx11;
#[rustfmt::skip]
pub(crate) mod gfx12;
mod pattern;

pub(crate) use pattern::PatternSet;
