//! Dumps of the state of a device's memory as JSON.
//!
//! There are two formats: the library's own, which is complete, and the one of the Vulkan Memory Allocator, which AMD's
//! visualizer (GpuMemDumpVis) draws.

mod json;
mod own;
mod vma;

pub use self::own::DUMP_SCHEMA;
pub(super) use self::{own::json, vma::json as vma_json};
