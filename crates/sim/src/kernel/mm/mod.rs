//! Memory: buffer objects, page tables, and the address spaces of jobs.

pub(crate) mod bo;
pub(crate) mod mappings;
pub(crate) mod space;
pub(crate) mod vm;

pub(crate) use self::bo::lanes;
