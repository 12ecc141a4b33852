//! The header of a packet, and writing and reading what follows it.

use bitflags::bitflags;

use super::target::{HEADER_ONLY_NOP, TYPE_2_FILLER};
use super::{Target, opcode};
use crate::field::{FieldError, Wire, require};
use crate::packet::own;
use crate::wire::{Counter, ROOMY_DWORDS, Reader, Unfit, Writer};
use crate::{DecodeFault, EncodeError};
use amdgpu_hw::GfxLevel;

bitflags! {
    /// The three flags a type-3 header can carry.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3` and the `PKT3_*_S` macros.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct HeaderFlags: u32 {
        /// PFP skips the packet while predication says so. MEC ignores it.
        const PREDICATE = 1 << 0;
        /// The packet concerns compute state. It helps the graphics ring and means nothing to MEC, where RADV sets it
        /// on ACQUIRE_MEM before GFX10 all the same.
        const COMPUTE = 1 << 1;
        /// The register filter forgets what it has seen; used with the packed register packets. GFX10 and later.
        const RESET_FILTER_CAM = 1 << 2;
    }
}

impl HeaderFlags {
    /// The flags that exist on a generation.
    pub fn known(level: GfxLevel) -> Self {
        if level >= GfxLevel::Gfx10 { Self::all() } else { Self::PREDICATE | Self::COMPUTE }
    }

    #[inline]
    fn require_known(self, level: GfxLevel) -> Result<(), FieldError> {
        let bits = self.difference(Self::known(level)).bits();
        require(bits == 0, FieldError::Flags { field: "header", bits })
    }
}

/// The most dwords that can follow a header: COUNT holds one less, and 0x3fff is taken by the bare NOP.
pub(super) const MAX_PAYLOAD: usize = 0x3fff;

/// A type-3 header in front of `payload` dwords, 1 to [`MAX_PAYLOAD`].
#[inline]
pub(crate) const fn type3(opcode: u8, payload: usize, flags: HeaderFlags) -> u32 {
    3 << 30 | ((payload as u32).wrapping_sub(1) & 0x3fff) << 16 | (opcode as u32) << 8 | flags.bits()
}

/// What the header of a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// A single dword that does nothing.
    Filler,
    /// A packet of `dwords` dwords, header included.
    Packet { opcode: u8, dwords: usize, flags: HeaderFlags },
}

impl Header {
    const COUNT: u32 = 0x3fff;

    /// The opcode in a type-3 header.
    pub(super) const fn opcode(header: u32) -> u8 {
        (header >> 8) as u8
    }

    /// The length of the packet behind a header, header included, where the header holds one.
    pub(crate) const fn dwords(header: u32) -> Option<usize> {
        match (header >> 30, header >> 16 & Self::COUNT) {
            (2, _) => Some(1),
            (3, count) if count < Self::COUNT => Some(count as usize + 2),
            _ => None,
        }
    }

    /// Reads a header as a ring of `level` would.
    #[inline]
    pub(crate) fn read(header: u32, level: GfxLevel) -> Result<Self, DecodeFault> {
        let kind = header >> 30;
        if kind < 2 {
            return Err(DecodeFault::HeaderType { kind: kind as u8 });
        }
        if header == TYPE_2_FILLER || (header == HEADER_ONLY_NOP && level >= GfxLevel::Gfx7) {
            return Ok(Self::Filler);
        }
        let opcode = Self::opcode(header);
        let wrong = |source| {
            let packet = if kind == 2 { "NOP" } else { opcode::name(opcode).unwrap_or("unknown packet") };
            Err(DecodeFault::Field { packet, source })
        };
        let Some(dwords) = Self::dwords(header).filter(|_| kind == 3) else {
            return match kind {
                2 => wrong(FieldError::Reserved { dword: 0, bits: header ^ TYPE_2_FILLER }),
                _ => wrong(FieldError::Unknown { field: "count", value: Self::COUNT }),
            };
        };
        let flags = HeaderFlags::from_bits_truncate(header) & HeaderFlags::known(level);
        match header ^ type3(opcode, dwords - 1, flags) {
            0 => Ok(Self::Packet { opcode, dwords, flags }),
            bits => wrong(FieldError::Reserved { dword: 0, bits }),
        }
    }
}

/// The description of a packet; `packet_impl!` makes a [`Packet`](crate::Packet) of it.
pub(super) trait Describe<'a>: Copy {
    /// The name in error messages.
    const NAME: &'static str;

    /// Any value; reading starts from it and replaces every field.
    const BLANK: Self;

    /// The opcode this value is written with; `None` where there is no such packet.
    fn opcode(self, target: Target) -> Option<u8>;

    /// Whether the ring takes `opcode`, one of the packet's own.
    fn takes(opcode: u8, target: Target) -> bool {
        Self::BLANK.opcode(target) == Some(opcode)
    }

    /// The payload, dword by dword, see [`crate::field`].
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, opcode: u8) -> Result<Self, W::Error>;
}

pub(super) fn measure<'a, P: Describe<'a>>(
    packet: P,
    target: Target,
    flags: HeaderFlags,
) -> Result<usize, EncodeError> {
    let none = EncodeError::NoSuchPacket { packet: P::NAME, target: target.into() };
    let opcode = packet.opcode(target).ok_or(none)?;
    let mut counter = Counter::new(1);
    flags
        .require_known(target.level)
        .and_then(|()| packet.describe(&mut counter, target, opcode))
        .and_then(|_| require_payload(counter.len() - 1))
        .map_err(|source| EncodeError::Field { packet: P::NAME, target: target.into(), source })?;
    Ok(counter.len())
}

#[inline]
fn require_payload(dwords: usize) -> Result<(), FieldError> {
    let wrong = FieldError::TooWide { field: "payload", value: dwords as u64, max: MAX_PAYLOAD as u64 };
    require(dwords <= MAX_PAYLOAD, wrong)
}

/// Writes a packet. What is usual is inlined.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn write<'a, P: Describe<'a>>(
    packet: P,
    target: Target,
    flags: HeaderFlags,
    out: &mut [u32],
) -> Result<usize, EncodeError> {
    match put(packet, target, flags, out) {
        Some(len) => Ok(len),
        None => write_tight(packet, target, flags, out),
    }
}

/// Writes a packet into little room, or says what is wrong with it.
#[cold]
#[inline(never)]
fn write_tight<'a, P: Describe<'a>>(
    mut packet: P,
    target: Target,
    flags: HeaderFlags,
    out: &mut [u32],
) -> Result<usize, EncodeError> {
    own(&mut packet);
    fill(packet, target, flags, out).or_else(|Unfit| {
        let needed = measure(packet, target, flags)?;
        Err(EncodeError::NoRoom { packet: P::NAME, needed, left: out.len() })
    })
}

/// Writes a packet that is in order where there is room for any; else nothing, see [`Packet::put`](crate::Packet::put).
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn put<'a, P: Describe<'a>>(
    packet: P,
    target: Target,
    flags: HeaderFlags,
    out: &mut [u32],
) -> Option<usize> {
    if out.len() < ROOMY_DWORDS { None } else { fill(packet, target, flags, out).ok() }
}

#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
fn fill<'a, P: Describe<'a>>(packet: P, target: Target, flags: HeaderFlags, out: &mut [u32]) -> Result<usize, Unfit> {
    let opcode = packet.opcode(target).ok_or(Unfit)?;
    flags.require_known(target.level)?;
    let mut writer = Writer::new(out, 1);
    packet.describe(&mut writer, target, opcode)?;
    let len = writer.len();
    require_payload(len - 1)?;
    *out.first_mut().ok_or(Unfit)? = type3(opcode, len - 1, flags);
    Ok(len)
}

/// Reads `packet`, header and payload and nothing else; `None` where the ring does not take it.
pub(super) fn read<'a, P: Describe<'a>>(
    packet: &'a [u32],
    target: Target,
    opcode: u8,
) -> Option<Result<P, DecodeFault>> {
    if !P::takes(opcode, target) {
        return None;
    }
    let mut reader = Reader::new(packet, 1);
    let value = P::BLANK.describe(&mut reader, target, opcode).and_then(|value| {
        let dwords = packet.len() - reader.len();
        require(dwords == 0, FieldError::Surplus { dwords })?;
        Ok(value)
    });
    let name = opcode::name(opcode).unwrap_or(P::NAME);
    Some(value.map_err(|source| DecodeFault::Field { packet: name, source }))
}

/// A packet with flags in its header.
///
/// ```
/// use amdgpu_packets::{Packet, pm4};
/// use amdgpu_hw::GfxLevel;
///
/// let flags = pm4::HeaderFlags::PREDICATE;
/// let packet = pm4::Flagged { flags, packet: pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH) };
/// let mut out = [0; 2];
/// packet.encode(pm4::Target::gfx(GfxLevel::Gfx9), &mut out)?;
/// assert_eq!(out, [0xc000_4601, 0x407]);
/// # Ok::<(), amdgpu_packets::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flagged<P> {
    /// The flags.
    pub flags: HeaderFlags,
    /// The packet.
    pub packet: P,
}

/// Makes [`Packet`](crate::Packet)s of described types.
macro_rules! packet_impl {
    ($($packet:ident $(<$life:lifetime>)?),+ $(,)?) => {$(
        impl $(<$life>)? $crate::Packet for $packet $(<$life>)? {
            type Language = $crate::pm4::Target;
            const NAME: &'static str = <Self as Describe<'_>>::NAME;

            #[inline]
            fn len_dwords(&self, target: Self::Language) -> Result<usize, $crate::EncodeError> {
                measure(*self, target, HeaderFlags::empty())
            }

            #[inline]
            fn encode(&self, target: Self::Language, out: &mut [u32]) -> Result<usize, $crate::EncodeError> {
                write(*self, target, HeaderFlags::empty(), out)
            }

            #[inline(always)]
            fn put(&self, target: Self::Language, out: &mut [u32]) -> Option<usize> {
                $crate::pm4::header::put(*self, target, HeaderFlags::empty(), out)
            }
        }

        impl $(<$life>)? $crate::Packet for Flagged<$packet $(<$life>)?> {
            type Language = $crate::pm4::Target;
            const NAME: &'static str = <$packet as Describe<'_>>::NAME;

            #[inline]
            fn len_dwords(&self, target: Self::Language) -> Result<usize, $crate::EncodeError> {
                measure(self.packet, target, self.flags)
            }

            #[inline]
            fn encode(&self, target: Self::Language, out: &mut [u32]) -> Result<usize, $crate::EncodeError> {
                write(self.packet, target, self.flags, out)
            }

            #[inline(always)]
            fn put(&self, target: Self::Language, out: &mut [u32]) -> Option<usize> {
                $crate::pm4::header::put(self.packet, target, self.flags, out)
            }
        }
    )+};
}
pub(super) use packet_impl;
