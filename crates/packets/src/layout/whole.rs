//! Packets of which a type holds everything.

use super::Fields;
use crate::error::require;
use crate::{EncodeError, FieldError};

/// Refuses a packet with something in it that its type does not hold: written again, it must be what was read, but for
/// the bits of the last dword that are ignored.
pub(crate) fn holds_all(
    fields: &Fields<'_>,
    ignored: u32,
    write: impl FnOnce(&mut [u32]) -> Result<usize, EncodeError>,
) -> Result<(), FieldError> {
    let (mut few, mut many) = ([0; 16], Vec::new());
    let dwords = fields.dwords();
    let out = few.get_mut(..dwords.len()).unwrap_or_else(|| {
        many.resize(dwords.len(), 0);
        &mut many
    });
    let len = write(out).map_err(|error| match error {
        EncodeError::Field { source, .. } => source,
        _ => FieldError::NoSuchForm { form: "this packet" },
    })?;
    require(len == dwords.len(), FieldError::Surplus { dwords: len.abs_diff(dwords.len()) })?;
    if let (Some(written), Some(read)) = (out.last_mut(), dwords.last()) {
        *written = *written & !ignored | read & ignored;
    }
    let both = dwords.iter().zip(&*out).enumerate();
    let mut wrong = both.filter(|(_, (read, written))| read != written);
    wrong.next().map_or(Ok(()), |(dword, (read, written))| Err(FieldError::Reserved { dword, bits: read ^ written }))
}
