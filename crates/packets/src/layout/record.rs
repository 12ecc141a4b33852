//! Helpers of the generated code that writes and reads typed packets.

#![expect(
    clippy::inline_always,
    reason = "a packet is a few stores once what its recorder knows is folded, and 40 ns if not"
)]

use crate::FieldError;

/// A packet with values for its fields, which can be written.
pub(crate) trait Record {
    /// Its opcode; for the copy engine with the sub-opcode in bits 15:8.
    const OPCODE: u16;

    /// The generations whose graphics rings take it, one bit for each.
    const GFX: u16 = 0;

    /// The generations whose compute rings take it.
    const COMPUTE: u16 = 0;

    /// The versions of the copy engine that take it.
    const SDMA: u16 = 0;

    /// Its lengths in dwords, with its header, where it has two.
    const LENGTHS: Option<(usize, usize)> = None;

    /// The levels on which it has the shorter one of [`Self::LENGTHS`].
    const SHORT: u16 = 0;

    /// Returns `true` if the values fit that are held to the same on every level.
    fn fits(&self) -> bool;

    /// Returns the levels on which the other values fit, one bit for each: where the values are known when this is compiled, so
    /// is the set. It says nothing about levels that do not have the packet.
    fn takers(&self) -> u16;

    /// Returns the fault where [`Self::fits`] or [`Self::takers`] refuses.
    ///
    /// # Errors
    ///
    /// [`FieldError`] for the first value that does not fit.
    fn check(&self, level: u8) -> Result<(), FieldError>;

    /// Returns the packet's length on a level in dwords, with its header.
    ///
    /// # Errors
    ///
    /// [`FieldError::Missing`] or [`FieldError::Surplus`] where there is not as much data as the packet has.
    fn length(&self, level: u8) -> Result<usize, FieldError>;

    /// Stores the packet into the number of dwords that [`Self::length`] returned for the level. The header of a PM4 packet is left
    /// out.
    fn store(&self, level: u8, out: &mut [u32]);

    /// Compares a packet that was read with what [`Self::store`] would store, dword by dword. The header of a PM4 packet is
    /// left out.
    ///
    /// # Errors
    ///
    /// [`FieldError::Reserved`] for the first dword that would be another one.
    fn matches(&self, level: u8, packet: &[u32]) -> Result<(), FieldError>;
}

/// A packet with values for its fields, which can be read.
pub(crate) trait Load<'p>: Record + Sized {
    /// Returns the values of the fields of a level. Bits that belong to no field, and lengths that the level does not have, are
    /// found by [`Record::check`] and [`Record::matches`].
    ///
    /// # Errors
    ///
    /// [`FieldError::Missing`] where the packet is shorter than its fields.
    fn load(packet: &'p [u32], level: u8) -> Result<Self, FieldError>;
}

/// Destination of a packet.
pub(crate) enum Place<'o> {
    /// None; the packet is measured.
    Nowhere,
    /// The memory that it is written to.
    Memory(&'o mut [u32]),
    /// A packet that was read, which must be the one that would be written.
    Read(&'o [u32]),
}

impl<'o> Place<'o> {
    /// Returns the destination of a packet that is written, or measured where there is no memory.
    #[inline(always)]
    pub(crate) const fn of(out: Option<&'o mut [u32]>) -> Self {
        match out {
            Some(out) => Self::Memory(out),
            None => Self::Nowhere,
        }
    }
}

/// Returns `true` if a level is one of a set.
#[inline(always)]
pub(crate) const fn is_on(level: u8, levels: u16) -> bool {
    levels >> level & 1 != 0
}

/// Every generation and every version of the copy engine, one bit for each.
const ALL_LEVELS: u16 = 0x1ff;

/// Returns `true` if a level is none of a set. Asked of those that are left out, for there is nothing to look up where none is.
#[inline(always)]
pub(crate) const fn is_off(level: u8, levels: u16) -> bool {
    is_on(level, ALL_LEVELS & !levels)
}

/// Refuses a number above the largest that its field holds; a field that is not there holds zero.
#[inline(always)]
pub(crate) const fn fits(field: &'static str, value: u32, max: u32) -> Result<(), FieldError> {
    match max {
        _ if value <= max => Ok(()),
        0 => Err(FieldError::NoSuchField { field }),
        _ => Err(FieldError::TooWide { field, value: value as u64, max: max as u64 }),
    }
}

/// Refuses a number with bits that its fields do not have.
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

/// Refuses a value that a selector does not have; `values` has one bit for each.
#[inline(always)]
pub(crate) const fn one_of(field: &'static str, value: u32, values: u64) -> Result<(), FieldError> {
    if value < 64 && values >> value & 1 != 0 { Ok(()) } else { Err(FieldError::Unknown { field, value }) }
}

/// Refuses a flag that is not there.
#[inline(always)]
pub(crate) const fn flag(field: &'static str, value: bool, is_there: bool) -> Result<(), FieldError> {
    if !value || is_there { Ok(()) } else { Err(FieldError::NoSuchField { field }) }
}

/// Refuses a field that is set though another one says that it means nothing.
#[inline(always)]
pub(crate) const fn meant(field: &'static str, is_set: bool, is_meant: bool) -> Result<(), FieldError> {
    if !is_set || is_meant { Ok(()) } else { Err(FieldError::NoSuchField { field }) }
}

/// Returns the length of a packet that is always as long, of which `described` dwords have fields.
#[inline(always)]
pub(crate) const fn fixed(payload: usize, described: usize, data: usize) -> Result<usize, FieldError> {
    let wanted = payload - described;
    if data == wanted { Ok(payload + 1) } else { Err(FieldError::Surplus { dwords: data.abs_diff(wanted) }) }
}

/// Returns the length of a packet with as much data as there is.
#[inline(always)]
pub(crate) const fn ranged(least: usize, most: usize, described: usize, data: usize) -> Result<usize, FieldError> {
    match described + data {
        payload if payload < least => Err(FieldError::Missing { dword: least }),
        payload if payload > most => Err(FieldError::Surplus { dwords: payload - most }),
        payload => Ok(payload + 1),
    }
}

/// Returns the length of a packet that counts its own data.
#[inline(always)]
pub(crate) const fn tailed(payload: usize, described: usize, data: usize) -> Result<usize, FieldError> {
    let counted = payload.saturating_sub(described);
    if data == counted { Ok(payload + 1) } else { Err(FieldError::Surplus { dwords: data.abs_diff(counted) }) }
}

/// Copies data behind the fields. Most packets carry a dword or two, for which a call takes longer than the rest of the
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

/// Refuses a dword that was read and is not the one that would be stored.
#[inline(always)]
pub(crate) const fn equal(dword: usize, read: u32, stored: u32) -> Result<(), FieldError> {
    if read == stored { Ok(()) } else { Err(FieldError::Reserved { dword, bits: read ^ stored }) }
}

/// Refuses dwords behind the fields that are not the ones that [`copy`] would store. Data that was read is part of the packet
/// itself, and is not compared with itself.
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
