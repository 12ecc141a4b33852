//! Reservation of memory before it is needed.

use crate::holes::TakeError;

/// Reserves room for `to` elements in total without changing the contents.
pub(crate) fn grow<T>(vec: &mut Vec<T>, to: usize) -> Result<(), TakeError> {
    vec.try_reserve_exact(to.saturating_sub(vec.len())).map_err(|_| TakeError::HostMemory)
}
