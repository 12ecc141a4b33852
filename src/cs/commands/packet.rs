//! What the packets of this folder share.

use crate::cs::EncodeError;

/// Stores a packet's dwords at the start of `out`.
pub(super) fn put(packet: &'static str, out: &mut [u32], dwords: &[u32]) -> Result<usize, EncodeError> {
    let (needed, left) = (dwords.len(), out.len());
    out.get_mut(..needed).ok_or(EncodeError::NoRoom { packet, needed, left })?.copy_from_slice(dwords);
    Ok(needed)
}
