//! Making room before it is needed.

use crate::holes::TakeError;

/// Makes room for `to` elements in all, without touching what is there.
pub(crate) fn grow<T>(vec: &mut Vec<T>, to: usize) -> Result<(), TakeError> {
    vec.try_reserve_exact(to.saturating_sub(vec.len())).map_err(|_| TakeError::HostMemory)
}
