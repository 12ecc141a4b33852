//! Writing and reading copy-engine packets. There is no length field: the length follows from what was read.

use super::Version;
use crate::field::{Bits, FieldError, Wire, require};
use crate::packet::own;
use crate::wire::{Counter, ROOMY_DWORDS, Reader, Unfit, Writer};
use crate::{DecodeFault, EncodeError};

/// The description of a packet; [`packet_impl!`] makes a [`Packet`](crate::Packet) of it.
pub(super) trait Describe<'a>: Copy {
    /// The name in error messages.
    const NAME: &'static str;

    /// Any value; reading starts from it and replaces every field.
    const BLANK: Self;

    /// Whether this version has the packet.
    fn exists(_: Version) -> bool {
        true
    }

    /// The packet from its header on, dword by dword, see [`crate::field`].
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error>;
}

/// The opcode fields of a header: `op` alone in bits 31:28 on 1.0, `op` in 7:0 and `sub_op` in 15:8 since.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn opcode<D: Bits>(d: &mut D, version: Version, old: u32, op: u32, sub_op: u32) -> Result<(), D::Error> {
    if version == Version::V1_0 {
        return d.fixed::<31, 28>("op", old);
    }
    d.fixed::<7, 0>("op", op)?;
    d.fixed::<15, 8>("sub_op", sub_op)
}

/// A number of at most `bits` bits from bit 0 on, where the width depends on the version.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn number<D: Bits>(d: &mut D, field: &'static str, bits: u32, value: u32) -> Result<u32, D::Error> {
    let max = u32::MAX >> (32 - bits);
    require(value <= max, FieldError::TooWide { field, value: value.into(), max: max.into() })?;
    d.masked(field, max, value)
}

pub(super) fn measure<'a, P: Describe<'a>>(packet: P, version: Version) -> Result<usize, EncodeError> {
    if !P::exists(version) {
        return Err(EncodeError::NoSuchPacket { packet: P::NAME, target: version.into() });
    }
    let mut counter = Counter::new(0);
    let wrong = |source| EncodeError::Field { packet: P::NAME, target: version.into(), source };
    packet.describe(&mut counter, version).map_err(wrong)?;
    Ok(counter.len())
}

/// Writes a packet. What is usual is inlined.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn write<'a, P: Describe<'a>>(packet: P, version: Version, out: &mut [u32]) -> Result<usize, EncodeError> {
    match put(packet, version, out) {
        Some(len) => Ok(len),
        None => write_tight(packet, version, out),
    }
}

/// Writes a packet into little room, or says what is wrong with it.
#[cold]
#[inline(never)]
fn write_tight<'a, P: Describe<'a>>(mut packet: P, version: Version, out: &mut [u32]) -> Result<usize, EncodeError> {
    own(&mut packet);
    fill(packet, version, out).or_else(|Unfit| {
        let needed = measure(packet, version)?;
        Err(EncodeError::NoRoom { packet: P::NAME, needed, left: out.len() })
    })
}

/// Writes a packet that is in order where there is room for any; else nothing, see [`Packet::put`](crate::Packet::put).
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn put<'a, P: Describe<'a>>(packet: P, version: Version, out: &mut [u32]) -> Option<usize> {
    if out.len() < ROOMY_DWORDS { None } else { fill(packet, version, out).ok() }
}

#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
fn fill<'a, P: Describe<'a>>(packet: P, version: Version, out: &mut [u32]) -> Result<usize, Unfit> {
    if !P::exists(version) {
        return Err(Unfit);
    }
    let mut writer = Writer::new(out, 0);
    packet.describe(&mut writer, version)?;
    Ok(writer.len())
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

/// Makes [`Packet`](crate::Packet)s of described types.
macro_rules! packet_impl {
    ($packet:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::Packet for $packet $(<$life>)? {
            type Language = Version;
            const NAME: &'static str = <Self as Describe<'_>>::NAME;

            #[inline]
            fn len_dwords(&self, version: Version) -> Result<usize, $crate::EncodeError> {
                measure(*self, version)
            }

            #[inline]
            fn encode(&self, version: Version, out: &mut [u32]) -> Result<usize, $crate::EncodeError> {
                write(*self, version, out)
            }

            #[inline(always)]
            fn put(&self, version: Version, out: &mut [u32]) -> Option<usize> {
                $crate::sdma::wire::put(*self, version, out)
            }
        }
    };
}
pub(super) use packet_impl;
