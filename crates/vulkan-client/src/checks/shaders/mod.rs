//! Commands that drivers implement with shaders, and dispatches of a small shader.
//!
//! Above the sizes of `checks::copies`, RADV fills and copies buffers with compute shaders; it copies results of queries with shaders
//! whatever their number (Mesa 25.0.7, `radv_meta_buffer.c` and `radv_query.c`).

mod dispatch;
mod queries;
mod transfers;

use super::check::Check;

pub(super) const CHECKS: &[Check] = &[
    Check::each(
        "transfer.fill",
        "fills of all sizes repeat their dword over their range and nowhere else",
        transfers::fill,
    ),
    Check::each("transfer.copy", "copies of all sizes between any offsets move exactly their bytes", transfers::copy),
    Check::each("transfer.update", "updates of all sizes write their bytes and no others", transfers::update),
    Check::each("query.copy", "copied results of queries are those that the CPU reads", queries::copy),
    Check::each("compute.count", "each invocation of a dispatch runs once, directly and indirectly", dispatch::count),
    Check::each("compute.predicated", "a dispatch runs if its condition holds, and only then", dispatch::predicated),
    Check::once("compute.queues", "two queues run dispatches at once that share a counter", dispatch::queues)
        .unordered(),
];
