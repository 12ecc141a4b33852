//! Everything that is known about a device's memory, as JSON.
//!
//! Two forms: the library's own, which holds everything, and the one of the Vulkan Memory Allocator, which AMD's
//! visualiser (GpuMemDumpVis) draws.

mod json;
mod own;
mod vma;

pub use self::own::DUMP_SCHEMA;
pub(super) use self::{own::json, vma::json as vma_json};
