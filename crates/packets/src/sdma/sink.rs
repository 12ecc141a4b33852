//! Destination of a packet.

use super::version::Version;
use crate::layout::record::{Record, is_on};
use crate::{EncodeError, FieldError};

/// Every version, one bit for each.
const ALL_VERSIONS: u16 = 0x1ff;

/// Destination of a packet: a stream, or none, to be measured.
pub(super) struct Sink<'o> {
    /// The packet's name in errors.
    packet: &'static str,
    /// The engine that takes it.
    pub(super) version: Version,
    out: Option<&'o mut [u32]>,
}

impl<'o> Sink<'o> {
    #[inline(always)]
    pub(super) const fn new(packet: &'static str, version: Version, out: Option<&'o mut [u32]>) -> Self {
        Self { packet, version, out }
    }

    /// Writes a packet that was made of the typed one, if that could be done, and returns its length in dwords.
    #[inline(always)]
    pub(super) fn put<R: Record>(self, record: Result<R, FieldError>) -> Result<usize, EncodeError> {
        let Self { packet, version, out } = self;
        if R::SDMA != ALL_VERSIONS && !is_on(version as u8, R::SDMA) {
            return Err(EncodeError::NoSuchPacket { packet, target: version.into() });
        }
        let wrong = |source| EncodeError::Field { packet, target: version.into(), source };
        // Matches, for a closure with a record in it is not inlined everywhere.
        let record = match record {
            Ok(record) => record,
            Err(source) => return Err(wrong(source)),
        };
        let len = match record.check(version as u8) {
            Ok(len) => len,
            Err(source) => return Err(wrong(source)),
        };
        let Some(out) = out else { return Ok(len) };
        let left = out.len();
        let out = out.get_mut(..len).ok_or(EncodeError::NoRoom { packet, needed: len, left })?;
        record.store(version as u8, out);
        Ok(len)
    }
}

/// A packet that goes into sinks; `packet_impl!` makes a [`Packet`](crate::Packet) of it.
pub(super) trait Typed: Copy {
    /// The name in error messages.
    const NAME: &'static str;

    /// Writes the packet and returns its length in dwords.
    ///
    /// # Errors
    ///
    /// As [`Packet::encode`](crate::Packet::encode).
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError>;
}

/// Makes a [`Packet`](crate::Packet) of a type that goes into sinks.
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
