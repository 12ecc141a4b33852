//! Checks of the ranges of a command, the same on every ring.

use amdgpu_hw::num::wide;

use super::{
    error::{self, CommandError, Result},
    span::Span,
};
use crate::cs::pm4::WriteData;

/// Returns an error unless the ranges of `copy` have one length and do not overlap.
pub(super) fn check_copy(to: Span, from: Span) -> Result<()> {
    if to.len() != from.len() {
        return Err(CommandError::Lengths { command: "copy", from: from.len(), to: to.len() });
    }
    if to.overlaps(from) {
        return Err(CommandError::Overlap { to: to.address(), from: from.address(), bytes: to.len() });
    }
    Ok(())
}

/// Returns an error unless the range of `fill` begins and ends at multiples of 4 bytes.
pub(super) fn check_fill(to: Span) -> Result<()> {
    error::require_multiple("fill", to.address().as_u64(), 4)?;
    error::require_multiple("fill", to.len(), 4)
}

/// Returns an error unless the range of `update` is as long as the data and begins at a multiple of 4 bytes.
pub(super) fn check_update(to: Span, data: &[u32]) -> Result<()> {
    let bytes = wide(size_of_val(data));
    if to.len() != bytes {
        return Err(CommandError::Lengths { command: "update", from: bytes, to: to.len() });
    }
    error::require_multiple("update", to.address().as_u64(), 4)
}

/// The maximum number of data dwords in one packet of an update: the limit of WRITE_DATA. An IB of usual size can hold
/// such a packet.
pub(super) const UPDATE_DWORDS: usize = WriteData::MAX_DATA;
