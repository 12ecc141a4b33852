//! The rows of `amdgpu-bench memory`.

pub(crate) mod on_null;
pub(crate) mod rows;
pub(crate) mod vma;
