//! Findings of a generation's checks.

use super::rules::HazardRule;

/// A hazard of the instruction that a wave is about to execute.
#[derive(Clone, Copy, Debug)]
pub(in crate::watch) struct Found {
    pub(in crate::watch) rule: &'static HazardRule,
    pub(in crate::watch) register: Option<u16>,
    /// The address of the earlier instruction.
    pub(in crate::watch) earlier: Option<u64>,
}
