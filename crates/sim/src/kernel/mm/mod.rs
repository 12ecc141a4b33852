//! Memory: buffer objects, page tables, and the address space that a job sees.

pub(crate) mod bo;
pub(crate) mod space;
pub(crate) mod vm;
