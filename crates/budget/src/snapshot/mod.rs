//! The snapshot, and everything that is computed from it alone.

#[cfg(test)]
pub(crate) mod example;
pub mod figures;
pub mod metric;
pub mod model;
pub mod prometheus;
pub mod units;
pub mod views;
pub mod vulkan;
pub mod warnings;
