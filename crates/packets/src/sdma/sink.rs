//! The destination of an encoded packet.

use super::version::Version;
use crate::error::require;
use crate::layout::record::{Place, Record, is_off};
use crate::{EncodeError, FieldError};

/// The destination of an encoded packet, with its engine.
pub(super) struct Sink<'o> {
    /// The name of the packet in errors.
    packet: &'static str,
    /// The engine that accepts the packet.
    pub(super) version: Version,
    place: Place<'o>,
}

impl<'o> Sink<'o> {
    #[inline(always)]
    pub(super) const fn new(packet: &'static str, version: Version, out: Option<&'o mut [u32]>) -> Self {
        Self::at(packet, version, Place::of(out))
    }

    #[inline(always)]
    pub(super) const fn at(packet: &'static str, version: Version, place: Place<'o>) -> Self {
        Self { packet, version, place }
    }

    /// Writes a packet's record, or returns its error, and returns its length in dwords.
    #[inline(always)]
    pub(super) fn put<R: Record>(self, record: Result<R, FieldError>) -> Result<usize, EncodeError> {
        let Self { packet, version, place } = self;
        let wrong = |source| EncodeError::Field { packet, target: version.into(), source };
        // `match` instead of combinators, because closures with a record are not always inlined.
        let record = match record {
            Ok(record) => record,
            Err(_) if is_off(version as u8, R::SDMA) => {
                return Err(EncodeError::NoSuchPacket { packet, target: version.into() });
            }
            Err(source) => return Err(wrong(source)),
        };
        // One comparison checks the version for the engine and for all fields.
        if !record.fits() || is_off(version as u8, R::SDMA & record.takers()) {
            return Err(match record.check(version as u8) {
                Err(source) if !is_off(version as u8, R::SDMA) => wrong(source),
                _ => EncodeError::NoSuchPacket { packet, target: version.into() },
            });
        }
        let len = match record.length(version as u8) {
            Ok(len) => len,
            Err(source) => return Err(wrong(source)),
        };
        let out = match place {
            Place::Nowhere => return Ok(len),
            Place::Memory(out) => out,
            Place::Read(read) => {
                return match compare(&record, version as u8, read, len) {
                    Ok(()) => Ok(len),
                    Err(source) => Err(wrong(source)),
                };
            }
        };
        let left = out.len();
        let out = out.get_mut(..len).ok_or(EncodeError::NoRoom { packet, needed: len, left })?;
        record.store(version as u8, out);
        Ok(len)
    }
}

/// Compares a packet that was read with the packet that would be written.
fn compare<R: Record>(record: &R, level: u8, read: &[u32], len: usize) -> Result<(), FieldError> {
    require(read.len() == len, FieldError::Surplus { dwords: read.len().abs_diff(len) })?;
    record.matches(level, read)
}

/// A packet that can be written to a sink. `packet_impl!` implements [`Packet`](crate::Packet) for it.
pub(super) trait Typed: Copy {
    /// The name in error messages.
    const NAME: &'static str;

    /// Writes the packet and returns its length in dwords.
    ///
    /// # Errors
    ///
    /// The errors of [`Packet::encode`](crate::Packet::encode).
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError>;
}

/// Implements [`Packet`](crate::Packet) for a type that can be written to sinks.
macro_rules! packet_impl {
    ($packet:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? $crate::Packet for $packet $(<$life>)? {
            type Language = $crate::sdma::Version;
            const NAME: &'static str = <Self as $crate::sdma::sink::Typed>::NAME;

            fn len_dwords(&self, version: Self::Language) -> Result<usize, $crate::EncodeError> {
                $crate::sdma::sink::Typed::write(*self, $crate::sdma::sink::Sink::new(<Self as $crate::Packet>::NAME, version, None))
            }

            fn encode(&self, version: Self::Language, out: &mut [u32]) -> Result<usize, $crate::EncodeError> {
                $crate::sdma::sink::Typed::write(*self, $crate::sdma::sink::Sink::new(<Self as $crate::Packet>::NAME, version, Some(out)))
            }

            #[inline(always)]
            fn put(&self, version: Self::Language, out: &mut [u32]) -> Option<usize> {
                let sink = $crate::sdma::sink::Sink::new(<Self as $crate::Packet>::NAME, version, Some(out));
                $crate::sdma::sink::Typed::write(*self, sink).ok()
            }
        }
    };
}
pub(super) use packet_impl;
