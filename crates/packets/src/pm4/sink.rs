//! The destination of an encoded packet.

use super::header::{HeaderFlags, MAX_PAYLOAD, type3};
use super::target::{Ring, Target};
use crate::error::require;
use crate::layout::record::{Place, Record, equal, equal_data, is_off, is_on};
use crate::{EncodeError, FieldError};

/// The destination of an encoded packet, with its ring and the flags of its header.
pub(super) struct Sink<'o> {
    /// The name of the packet in errors.
    packet: &'static str,
    /// The ring that accepts the packet.
    pub(super) target: Target,
    flags: HeaderFlags,
    place: Place<'o>,
}

impl<'o> Sink<'o> {
    #[inline(always)]
    pub(super) const fn new(
        packet: &'static str,
        target: Target,
        flags: HeaderFlags,
        out: Option<&'o mut [u32]>,
    ) -> Self {
        Self { packet, target, flags, place: Place::of(out) }
    }

    /// Creates a destination that compares the packet with dwords that were read.
    #[inline(always)]
    pub(super) const fn comparing(target: Target, flags: HeaderFlags, read: &'o [u32]) -> Self {
        Self { packet: "packet", target, flags, place: Place::Read(read) }
    }

    /// Returns `true` if the ring has this kind of packet.
    #[inline(always)]
    pub(super) fn has<R: Record>(&self) -> bool {
        !is_off(self.target.level as u8, self.target.levels::<R>())
    }

    /// Returns the error for an invalid value.
    #[inline(always)]
    pub(super) fn refuse(&self, source: FieldError) -> EncodeError {
        EncodeError::Field { packet: self.packet, target: self.target.into(), source }
    }

    /// Writes a packet's record, or returns its error, and returns its length in dwords.
    #[inline(always)]
    pub(super) fn put<R: Record>(self, record: Result<R, FieldError>) -> Result<usize, EncodeError> {
        let Self { packet, target, .. } = self;
        let levels = target.levels::<R>();
        // `match` instead of combinators, because closures with a record are not always inlined.
        let record = match record {
            Ok(record) => record,
            Err(_) if is_off(target.level as u8, levels) => {
                return Err(EncodeError::NoSuchPacket { packet, target: target.into() });
            }
            Err(source) => return Err(self.refuse(source)),
        };
        // One comparison checks the level for the ring and for all fields.
        if !record.fits() || is_off(target.level as u8, levels & record.takers()) {
            return Err(match record.check(target.level as u8) {
                Err(source) if !is_off(target.level as u8, levels) => self.refuse(source),
                _ => EncodeError::NoSuchPacket { packet, target: target.into() },
            });
        }
        if let Err(source) = self.flags.require_known(target.level) {
            return Err(self.refuse(source));
        }
        let is_short = is_on(target.level as u8, R::SHORT);
        match R::LENGTHS {
            // Two copies of the following code, each with a constant length.
            Some((short, _)) if is_short => self.finish(&record, short),
            Some((_, long)) => self.finish(&record, long),
            None => match record.length(target.level as u8) {
                Ok(len) => self.finish(&record, len),
                Err(source) => Err(self.refuse(source)),
            },
        }
    }

    /// Writes a packet that the level accepts.
    #[inline(always)]
    fn finish<R: Record>(self, record: &R, len: usize) -> Result<usize, EncodeError> {
        let Self { packet, target, .. } = self;
        let out = match self.place {
            Place::Nowhere => return Ok(len),
            Place::Memory(out) => out,
            Place::Read(read) => {
                let header = type3(R::OPCODE as u8, len - 1, self.flags);
                return match compare(record, target.level as u8, read, header, len) {
                    Ok(()) => Ok(len),
                    Err(source) => Err(EncodeError::Field { packet, target: target.into(), source }),
                };
            }
        };
        let left = out.len();
        let out = out.get_mut(..len).ok_or(EncodeError::NoRoom { packet, needed: len, left })?;
        record.store(target.level as u8, out);
        if let [header, ..] = out {
            *header = type3(R::OPCODE as u8, len - 1, self.flags);
        }
        Ok(len)
    }
}

/// Compares a packet that was read with the packet that would be written.
#[inline(always)]
fn compare<R: Record>(record: &R, level: u8, read: &[u32], header: u32, len: usize) -> Result<(), FieldError> {
    require(read.len() == len, FieldError::Surplus { dwords: read.len().abs_diff(len) })?;
    if let [first, ..] = read {
        equal(0, *first, header)?;
    }
    record.matches(level, read)
}

impl Target {
    /// Returns the generations on which rings of this kind have a packet.
    #[inline(always)]
    const fn levels<R: Record>(self) -> u16 {
        match self.ring {
            Ring::Gfx => R::GFX,
            Ring::Compute => R::COMPUTE,
        }
    }
}

impl Sink<'_> {
    /// Writes a packet of one dword, which has no flags.
    #[inline]
    pub(super) fn put_word(self, word: Result<u32, FieldError>) -> Result<usize, EncodeError> {
        let bits = self.flags.bits();
        let known = require(bits == 0, FieldError::Flags { field: "header", bits });
        let word = word.and_then(|word| known.map(|()| word)).map_err(|source| self.refuse(source))?;
        self.put_dwords(&[word])
    }

    /// Writes a packet without a type: an opcode and its payload.
    pub(super) fn put_unknown(self, opcode: u8, body: &[u32]) -> Result<usize, EncodeError> {
        let checked = require(!body.is_empty(), FieldError::Empty { field: "payload" }).and_then(|()| {
            let wrong = FieldError::TooWide { field: "payload", value: body.len() as u64, max: MAX_PAYLOAD as u64 };
            require(body.len() <= MAX_PAYLOAD, wrong)?;
            self.flags.require_known(self.target.level)
        });
        checked.map_err(|source| self.refuse(source))?;
        let header = type3(opcode, body.len(), self.flags);
        self.put_dwords(&[&[header], body].concat())
    }

    fn put_dwords(self, dwords: &[u32]) -> Result<usize, EncodeError> {
        let needed = dwords.len();
        match self.place {
            Place::Nowhere => {}
            Place::Memory(out) => {
                let no_room = EncodeError::NoRoom { packet: self.packet, needed, left: out.len() };
                out.get_mut(..needed).ok_or(no_room)?.copy_from_slice(dwords);
            }
            Place::Read(read) => equal_data(read, 0, dwords).map_err(|source| self.refuse(source))?,
        }
        Ok(needed)
    }
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

/// Implements [`Packet`](crate::Packet) for types that can be written to sinks.
macro_rules! packet_impl {
    ($($packet:ident $(<$life:lifetime>)?),+ $(,)?) => {$(
        impl $(<$life>)? $crate::Packet for $packet $(<$life>)? {
            type Language = $crate::pm4::Target;
            const NAME: &'static str = <Self as $crate::pm4::sink::Typed>::NAME;

            fn len_dwords(&self, target: Self::Language) -> Result<usize, $crate::EncodeError> {
                let flags = $crate::pm4::HeaderFlags::empty();
                $crate::pm4::sink::Typed::write(*self, $crate::pm4::sink::Sink::new(<Self as $crate::Packet>::NAME, target, flags, None))
            }

            fn encode(&self, target: Self::Language, out: &mut [u32]) -> Result<usize, $crate::EncodeError> {
                let flags = $crate::pm4::HeaderFlags::empty();
                $crate::pm4::sink::Typed::write(*self, $crate::pm4::sink::Sink::new(<Self as $crate::Packet>::NAME, target, flags, Some(out)))
            }

            #[inline(always)]
            fn put(&self, target: Self::Language, out: &mut [u32]) -> Option<usize> {
                let flags = $crate::pm4::HeaderFlags::empty();
                let sink = $crate::pm4::sink::Sink::new(<Self as $crate::Packet>::NAME, target, flags, Some(out));
                $crate::pm4::sink::Typed::write(*self, sink).ok()
            }
        }

        impl $(<$life>)? $crate::Packet for $crate::pm4::Flagged<$packet $(<$life>)?> {
            type Language = $crate::pm4::Target;
            const NAME: &'static str = <$packet as $crate::pm4::sink::Typed>::NAME;

            fn len_dwords(&self, target: Self::Language) -> Result<usize, $crate::EncodeError> {
                let sink = $crate::pm4::sink::Sink::new(<Self as $crate::Packet>::NAME, target, self.flags, None);
                $crate::pm4::sink::Typed::write(self.packet, sink)
            }

            fn encode(&self, target: Self::Language, out: &mut [u32]) -> Result<usize, $crate::EncodeError> {
                let sink = $crate::pm4::sink::Sink::new(<Self as $crate::Packet>::NAME, target, self.flags, Some(out));
                $crate::pm4::sink::Typed::write(self.packet, sink)
            }

            #[inline(always)]
            fn put(&self, target: Self::Language, out: &mut [u32]) -> Option<usize> {
                let sink = $crate::pm4::sink::Sink::new(<Self as $crate::Packet>::NAME, target, self.flags, Some(out));
                $crate::pm4::sink::Typed::write(self.packet, sink).ok()
            }
        }
    )+};
}
pub(super) use packet_impl;
