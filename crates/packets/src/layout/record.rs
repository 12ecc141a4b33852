//! Helpers of the generated code that writes and reads typed packets.

#![expect(
    clippy::inline_always,
    reason = "a packet is a few stores once what its recorder knows is folded, and 40 ns if not"
)]

use crate::FieldError;

/// A packet with field values that can be encoded.
pub(crate) trait Record {
    /// The opcode; for the copy engine with the sub-opcode in bits 15:8.
    const OPCODE: u16;

    /// The mask of generations whose graphics rings accept the packet.
    const GFX: u16 = 0;

    /// The mask of generations whose compute rings accept the packet.
    const COMPUTE: u16 = 0;

    /// The mask of copy-engine versions that accept the packet.
    const SDMA: u16 = 0;

    /// The two lengths of the packet in dwords, including the header, if there are exactly two.
    const LENGTHS: Option<(usize, usize)> = None;

    /// The mask of levels on which the packet has the shorter of [`Self::LENGTHS`].
    const SHORT: u16 = 0;

    /// Returns `true` if all values fit whose limits are the same on every level.
    fn fits(&self) -> bool;

    /// Returns the mask of levels on which the other values fit. It is a constant if the values are known at compile time. Bits of
    /// levels that do not have the packet are meaningless.
    fn takers(&self) -> u16;

    /// Returns the error if [`Self::fits`] or [`Self::takers`] rejects the packet.
    ///
    /// # Errors
    ///
    /// [`FieldError`] for the first value that does not fit.
    fn check(&self, level: u8) -> Result<(), FieldError>;

    /// Returns the length of the packet on a level in dwords, including the header.
    ///
    /// # Errors
    ///
    /// [`FieldError::Missing`] or [`FieldError::Surplus`] if the packet has too little or too much data.
    fn length(&self, level: u8) -> Result<usize, FieldError>;

    /// Stores the packet without the header of PM4. `out` must have the length that [`Self::length`] returned for the level.
    fn store(&self, level: u8, out: &mut [u32]);

    /// Compares a packet that was read with the dwords that [`Self::store`] would store, without the header of PM4.
    ///
    /// # Errors
    ///
    /// [`FieldError::Reserved`] for the first dword that differs.
    fn matches(&self, level: u8, packet: &[u32]) -> Result<(), FieldError>;
}

/// A packet with field values that can be decoded.
pub(crate) trait Load<'p>: Record + Sized {
    /// Returns the values of the fields on a level. Bits that belong to no field, and invalid lengths, are detected by
    /// [`Record::check`] and [`Record::matches`].
    ///
    /// # Errors
    ///
    /// [`FieldError::Missing`] if the packet is shorter than its fields.
    fn load(packet: &'p [u32], level: u8) -> Result<Self, FieldError>;
}

/// The destination of a packet.
pub(crate) enum Place<'o> {
    /// No destination: only the length is computed.
    Nowhere,
    /// The memory to write to.
    Memory(&'o mut [u32]),
    /// A packet that was read, to compare with.
    Read(&'o [u32]),
}

impl<'o> Place<'o> {
    /// Returns the destination for writing to memory, or for computing the length if there is no memory.
    #[inline(always)]
    pub(crate) const fn of(out: Option<&'o mut [u32]>) -> Self {
        match out {
            Some(out) => Self::Memory(out),
            None => Self::Nowhere,
        }
    }
}

/// Returns `true` if a level is in a set.
#[inline(always)]
pub(crate) const fn is_on(level: u8, levels: u16) -> bool {
    levels >> level & 1 != 0
}

/// The mask of all generations and all versions of the copy engine.
const ALL_LEVELS: u16 = 0x1ff;

/// Returns `true` if a level is not in a set. It tests the complement of the set, so that the test vanishes if the complement is
/// empty.
#[inline(always)]
pub(crate) const fn is_off(level: u8, levels: u16) -> bool {
    is_on(level, ALL_LEVELS & !levels)
}

/// Rejects a number that exceeds the field's maximum. The maximum is 0 for a field that does not exist.
#[inline(always)]
pub(crate) const fn fits(field: &'static str, value: u32, max: u32) -> Result<(), FieldError> {
    match max {
        _ if value <= max => Ok(()),
        0 => Err(FieldError::NoSuchField { field }),
        _ => Err(FieldError::TooWide { field, value: value as u64, max: max as u64 }),
    }
}

/// Rejects a number with bits outside its fields.
#[inline(always)]
pub(crate) const fn within(field: &'static str, value: u64, bits: u64) -> Result<(), FieldError> {
    if value & !bits == 0 {
        return Ok(());
    }
    if bits == 0 {
        return Err(FieldError::NoSuchField { field });
    }
    let multiple = 1 << bits.trailing_zeros();
    if !value.is_multiple_of(multiple) {
        return Err(FieldError::Misaligned { field, value, multiple });
    }
    Err(FieldError::TooWide { field, value, max: bits })
}

/// Rejects a value that the selector does not have; `values` is the mask of its values.
#[inline(always)]
pub(crate) const fn one_of(field: &'static str, value: u32, values: u64) -> Result<(), FieldError> {
    if value < 64 && values >> value & 1 != 0 { Ok(()) } else { Err(FieldError::Unknown { field, value }) }
}

/// Rejects a flag that does not exist on the level.
#[inline(always)]
pub(crate) const fn flag(field: &'static str, value: bool, is_there: bool) -> Result<(), FieldError> {
    if !value || is_there { Ok(()) } else { Err(FieldError::NoSuchField { field }) }
}

/// Rejects a non-zero field that another field disables.
#[inline(always)]
pub(crate) const fn meant(field: &'static str, is_set: bool, is_meant: bool) -> Result<(), FieldError> {
    if !is_set || is_meant { Ok(()) } else { Err(FieldError::NoSuchField { field }) }
}

/// Returns the length of a packet with a fixed length, of which `described` dwords have fields.
#[inline(always)]
pub(crate) const fn fixed(payload: usize, described: usize, data: usize) -> Result<usize, FieldError> {
    let wanted = payload - described;
    if data == wanted { Ok(payload + 1) } else { Err(FieldError::Surplus { dwords: data.abs_diff(wanted) }) }
}

/// Returns the length of a packet with a variable amount of data.
#[inline(always)]
pub(crate) const fn ranged(least: usize, most: usize, described: usize, data: usize) -> Result<usize, FieldError> {
    match described + data {
        payload if payload < least => Err(FieldError::Missing { dword: least }),
        payload if payload > most => Err(FieldError::Surplus { dwords: payload - most }),
        payload => Ok(payload + 1),
    }
}

/// Returns the length of a packet that has a count of its data.
#[inline(always)]
pub(crate) const fn tailed(payload: usize, described: usize, data: usize) -> Result<usize, FieldError> {
    let counted = payload.saturating_sub(described);
    if data == counted { Ok(payload + 1) } else { Err(FieldError::Surplus { dwords: data.abs_diff(counted) }) }
}

/// Copies data after the fields. Most packets have one or two dwords, for which a call would take longer than the rest of the
/// packet.
#[inline(always)]
pub(crate) fn copy(out: &mut [u32], from: usize, data: &[u32]) {
    let Some(slots) = out.get_mut(from..) else { return };
    match (slots, data) {
        ([a], &[x]) => *a = x,
        ([a, b], &[x, y]) => (*a, *b) = (x, y),
        (slots, data) if slots.len() == data.len() => slots.copy_from_slice(data),
        _ => {}
    }
}

/// Extracts the bits of a field.
#[inline(always)]
pub(crate) const fn bits(dword: u32, high: u32, low: u32) -> u32 {
    dword << (31 - high) >> (31 - high + low)
}

/// Rejects a dword that differs from the dword that would be stored.
#[inline(always)]
pub(crate) const fn equal(dword: usize, read: u32, stored: u32) -> Result<(), FieldError> {
    if read == stored { Ok(()) } else { Err(FieldError::Reserved { dword, bits: read ^ stored }) }
}

/// Rejects dwords after the fields that differ from those that [`copy`] would store. Data that was read is part of the packet, and
/// is not compared with itself.
#[inline(always)]
pub(crate) fn equal_data(packet: &[u32], from: usize, data: &[u32]) -> Result<(), FieldError> {
    let read = packet.get(from..).unwrap_or_default();
    if std::ptr::eq(read, data) { Ok(()) } else { differing(read, from, data) }
}

#[cold]
#[inline(never)]
fn differing(read: &[u32], from: usize, data: &[u32]) -> Result<(), FieldError> {
    if read.len() != data.len() {
        return Err(FieldError::Surplus { dwords: read.len().abs_diff(data.len()) });
    }
    let mut both = read.iter().zip(data).enumerate();
    both.try_for_each(|(at, (&read, &stored))| equal(from + at, read, stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_is_refused_by_its_reason() {
        assert_eq!(fits("a", 15, 15), Ok(()));
        assert_eq!(fits("a", 16, 15), Err(FieldError::TooWide { field: "a", value: 16, max: 15 }));
        assert_eq!(fits("a", 1, 0), Err(FieldError::NoSuchField { field: "a" }));
        assert_eq!(within("a", 0x1004, 0xffff_fffc), Ok(()));
        assert_eq!(within("a", 2, 0xffff_fffc), Err(FieldError::Misaligned { field: "a", value: 2, multiple: 4 }));
        assert_eq!(
            within("a", 1 << 32, 0xffff_fffc),
            Err(FieldError::TooWide { field: "a", value: 1 << 32, max: 0xffff_fffc })
        );
        assert_eq!(one_of("a", 3, 0b1000), Ok(()));
        assert_eq!(one_of("a", 64, u64::MAX), Err(FieldError::Unknown { field: "a", value: 64 }));
        assert!(flag("a", true, false).is_err() && meant("a", true, false).is_err());
        assert!(flag("a", false, false).is_ok() && meant("a", false, false).is_ok());
    }

    #[test]
    fn dwords_that_would_not_be_stored_are_refused_by_their_place() {
        assert_eq!(bits(0x1234_5678, 15, 8), 0x56);
        assert_eq!((bits(u32::MAX, 31, 0), bits(1 << 31, 31, 31)), (u32::MAX, 1));
        assert_eq!(equal(3, 0x11, 0x11), Ok(()));
        assert_eq!(equal(3, 0x11, 0x10), Err(FieldError::Reserved { dword: 3, bits: 1 }));
        let packet = [9, 1, 2, 3];
        assert_eq!((equal_data(&packet, 2, &packet[2..]), equal_data(&packet, 2, &[2, 3])), (Ok(()), Ok(())));
        assert_eq!(equal_data(&packet, 2, &[2, 7]), Err(FieldError::Reserved { dword: 3, bits: 4 }));
        assert_eq!(equal_data(&packet, 2, &[2]), Err(FieldError::Surplus { dwords: 1 }));
    }

    #[test]
    fn a_length_is_that_of_the_fields_and_of_the_data() {
        assert_eq!((fixed(4, 4, 0), ranged(4, 9, 3, 2), tailed(5, 3, 2)), (Ok(5), Ok(6), Ok(6)));
        assert_eq!(fixed(4, 4, 1), Err(FieldError::Surplus { dwords: 1 }));
        assert_eq!(ranged(4, 9, 3, 0), Err(FieldError::Missing { dword: 4 }));
        assert_eq!(ranged(4, 9, 3, 7), Err(FieldError::Surplus { dwords: 1 }));
        assert_eq!(tailed(5, 3, 0), Err(FieldError::Surplus { dwords: 2 }));
    }
}
