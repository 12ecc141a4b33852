//! Writing and reading copy-engine packets. There is no length field: the length follows from what was read.

use super::Version;
use crate::cs::field::{Bits, FieldError, Wire, require};
use crate::cs::wire::{Counter, Reader, Writer};
use crate::cs::{DecodeFault, EncodeError};

/// The description of a packet; [`packet_impl!`] makes a [`Packet`](crate::cs::Packet) of it.
pub(super) trait Describe<'a>: Copy {
    /// The name in error messages.
    const NAME: &'static str;

    /// Any value; reading starts from it and replaces every field.
    const BLANK: Self;

    /// Whether this version has the packet.
    fn exists(_: Version) -> bool {
        true
    }

    /// The packet from its header on, dword by dword, see [`crate::cs::field`].
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, FieldError>;
}

/// The opcode fields of a header: `op` alone in bits 31:28 on 1.0, `op` in 7:0 and `sub_op` in 15:8 since.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn opcode(d: &mut impl Bits, version: Version, old: u32, op: u32, sub_op: u32) -> Result<(), FieldError> {
    if version == Version::V1_0 {
        return d.fixed::<31, 28>("op", old);
    }
    d.fixed::<7, 0>("op", op)?;
    d.fixed::<15, 8>("sub_op", sub_op)
}

/// A number of at most `bits` bits from bit 0 on, where the width depends on the version.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn number(d: &mut impl Bits, field: &'static str, bits: u32, value: u32) -> Result<u32, FieldError> {
    let max = u32::MAX >> (32 - bits);
    require(value <= max, FieldError::TooWide { field, value: value.into(), max: max.into() })?;
    d.masked(field, max, value)
}

fn check<'a, P: Describe<'a>>(version: Version) -> Result<(), EncodeError> {
    if P::exists(version) { Ok(()) } else { Err(EncodeError::NoSuchPacket { packet: P::NAME, target: version.into() }) }
}

#[cold]
fn field<'a, P: Describe<'a>>(version: Version, source: FieldError) -> EncodeError {
    EncodeError::Field { packet: P::NAME, target: version.into(), source }
}

pub(super) fn measure<'a, P: Describe<'a>>(packet: P, version: Version) -> Result<usize, EncodeError> {
    check::<P>(version)?;
    let mut counter = Counter::new(0);
    packet.describe(&mut counter, version).map_err(|source| field::<P>(version, source))?;
    Ok(counter.len())
}

#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn write<'a, P: Describe<'a>>(packet: P, version: Version, out: &mut [u32]) -> Result<usize, EncodeError> {
    check::<P>(version)?;
    let left = out.len();
    let mut writer = Writer::new(out, 0);
    match packet.describe(&mut writer, version) {
        Ok(_) => Ok(writer.len()),
        Err(FieldError::Missing { .. }) => no_room(packet, version, left),
        Err(source) => Err(field::<P>(version, source)),
    }
}

#[cold]
fn no_room<'a, P: Describe<'a>>(packet: P, version: Version, left: usize) -> Result<usize, EncodeError> {
    measure(packet, version).and_then(|needed| Err(EncodeError::NoRoom { packet: P::NAME, needed, left }))
}

/// Reads the packet at the start of `rest` and tells its length; `None` where this version has no such packet.
pub(super) fn read<'a, P: Describe<'a>>(rest: &'a [u32], version: Version) -> Option<Result<(P, usize), DecodeFault>> {
    if !P::exists(version) {
        return None;
    }
    let mut reader = Reader::new(rest, 0);
    let read = match P::BLANK.describe(&mut reader, version) {
        Ok(packet) => Ok((packet, reader.len())),
        Err(FieldError::Missing { dword }) => {
            Err(DecodeFault::PastTheEnd { needed: dword.saturating_add(1), left: rest.len() })
        }
        Err(source) => Err(DecodeFault::Field { packet: P::NAME, source }),
    };
    Some(read)
}

/// Makes [`Packet`](crate::cs::Packet)s of described types.
macro_rules! packet_impl {
    ($packet:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::cs::Packet for $packet $(<$life>)? {
            type Language = Version;
            const NAME: &'static str = <Self as Describe<'_>>::NAME;

            #[inline]
            fn len_dwords(&self, version: Version) -> Result<usize, $crate::cs::EncodeError> {
                measure(*self, version)
            }

            #[inline]
            fn encode(&self, version: Version, out: &mut [u32]) -> Result<usize, $crate::cs::EncodeError> {
                write(*self, version, out)
            }
        }
    };
}
pub(super) use packet_impl;
