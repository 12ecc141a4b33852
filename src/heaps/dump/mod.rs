//! Dumps of the state of a device's memory as JSON.
//!
//! There are two formats: the library's own, which is complete, and the one of the Vulkan Memory Allocator, which AMD's
//! visualizer (GpuMemDumpVis) draws.

mod own;
mod vma;

pub use self::own::DUMP_SCHEMA;
use super::{BudgetRule, MemoryManager};
use crate::winsys::{self, VaMap};

impl MemoryManager {
    /// Returns the state of the device's memory as one JSON object:
    ///
    /// | key | content |
    /// |---|---|
    /// | `schema` | [`DUMP_SCHEMA`](crate::heaps::DUMP_SCHEMA) |
    /// | `device` | `chip` and `name` |
    /// | `own`, `always_valid` | the usage of this file, and the part of it that is always valid, by account |
    /// | `system` | the usage of the device, as the kernel last reported it, and `generation`, the number of that answer |
    /// | `heaps` | `kind`, `flags`, `size`, `usage`, `budget` as RADV reports it, and `corrected_budget` |
    /// | `types` | `heap`, `flags`, and the number and size of the BOs below that are device memory of the type: `allocations`, `bytes` |
    /// | `windows` | address windows: `start`, `len`, `leases`, `leased`, `free`, `holes`, `largest_hole`, `fragmentation_permille`, and `hole_sizes`, pairs of a power of two and the number of holes from that size to twice that size |
    /// | `bos` | `handle`, `name`, `size`, `domains`, `memory_type` |
    /// | `bound`, `freed` | `handle`, `name`, `address`, `len`, `offset` in the BO, of each current and each earlier binding |
    ///
    /// Sizes are integers in bytes; addresses are hexadecimal strings. The BOs and addresses come from `map`,
    /// so it must have observed the device since the device was opened.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if the kernel was queried for the usage and refused.
    pub fn dump_json(&self, map: &VaMap) -> winsys::Result<String> {
        Ok(own::json(self.heaps(), &self.cached_usage()?, map))
    }

    /// Returns the device memory that `map` has recorded, in the JSON format of `vmaBuildStatsString` with the detailed map,
    /// which the visualizer of the Vulkan Memory Allocator draws. The budgets are those of [`BudgetRule::Radv`].
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if the kernel was queried for the usage and refused.
    pub fn dump_vma_json(&self, map: &VaMap) -> winsys::Result<String> {
        Ok(vma::json(self.heaps(), &self.cached_budgets(BudgetRule::Radv)?, map))
    }
}
