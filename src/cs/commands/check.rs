//! Checks of the ranges of a command that every ring requires.

use amdgpu_hw::num::wide;

use super::{
    error::{self, CommandError, Result},
    span::Span,
};
use crate::cs::pm4::WriteData;

/// Checks the ranges of `copy`.
pub(super) fn check_copy(to: Span, from: Span) -> Result<()> {
    if to.len() != from.len() {
        return Err(CommandError::Lengths { command: "copy", from: from.len(), to: to.len() });
    }
    if to.overlaps(from) {
        return Err(CommandError::Overlap { to: to.address(), from: from.address(), bytes: to.len() });
    }
    Ok(())
}

/// Checks the range of `fill`.
pub(super) fn check_fill(to: Span) -> Result<()> {
    error::require_multiple("fill", to.address().as_u64(), 4)?;
    error::require_multiple("fill", to.len(), 4)
}

/// Checks the range of `update`.
pub(super) fn check_update(to: Span, data: &[u32]) -> Result<()> {
    let bytes = wide(size_of_val(data));
    if to.len() != bytes {
        return Err(CommandError::Lengths { command: "update", from: bytes, to: to.len() });
    }
    error::require_multiple("update", to.address().as_u64(), 4)
}

/// The data of an update in pieces of this many dwords, the most that fit into WRITE_DATA: an IB of usual size holds them
/// too.
pub(super) const UPDATE_DWORDS: usize = WriteData::MAX_DATA;
