//! The rows of `amdgpu-bench cs`.

pub(crate) mod on_null;
pub(crate) mod rows;
mod streams;
mod typed;
