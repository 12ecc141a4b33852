//! Packet headers.

use bitflags::bitflags;

use super::opcode;
use super::target::{HEADER_ONLY_NOP, TYPE_2_FILLER};
use crate::error::require;
use crate::{DecodeFault, FieldError};
use amdgpu_hw::GfxLevel;

bitflags! {
    /// The flags of a type-3 header.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3` and the `PKT3_*_S` macros.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct HeaderFlags: u32 {
        /// PFP skips the packet if predication is active and false. MEC ignores the flag.
        const PREDICATE = 1 << 0;
        /// The packet sets compute state. The flag is used by the graphics ring. MEC ignores it, although RADV sets it on
        /// ACQUIRE_MEM before GFX10.
        const COMPUTE = 1 << 1;
        /// Resets the register filter. Used with the packed register packets. GFX10 and later.
        const RESET_FILTER_CAM = 1 << 2;
    }
}

impl HeaderFlags {
    /// Returns the flags that exist on a generation.
    #[inline]
    pub fn known(level: GfxLevel) -> Self {
        if level >= GfxLevel::Gfx10 { Self::all() } else { Self::PREDICATE | Self::COMPUTE }
    }

    #[inline]
    pub(super) fn require_known(self, level: GfxLevel) -> Result<(), FieldError> {
        let bits = self.difference(Self::known(level)).bits();
        require(bits == 0, FieldError::Flags { field: "header", bits })
    }
}

/// The maximum number of dwords after a header. COUNT is one less, and 0x3fff is reserved for the bare NOP.
pub(super) const MAX_PAYLOAD: usize = 0x3fff;

/// Returns a type-3 header for `payload` dwords, 1 to [`MAX_PAYLOAD`].
#[inline]
pub(crate) const fn type3(opcode: u8, payload: usize, flags: HeaderFlags) -> u32 {
    3 << 30 | ((payload as u32).wrapping_sub(1) & 0x3fff) << 16 | (opcode as u32) << 8 | flags.bits()
}

/// A decoded packet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// A single dword that does nothing.
    Filler,
    /// A packet of `dwords` dwords, header included.
    Packet { opcode: u8, dwords: usize, flags: HeaderFlags },
}

impl Header {
    const COUNT: u32 = 0x3fff;

    /// Returns the opcode of a type-3 header.
    #[inline]
    pub(super) const fn opcode(header: u32) -> u8 {
        (header >> 8) as u8
    }

    /// Returns the length of the packet in dwords, including the header, if the header contains it.
    #[inline]
    pub(crate) const fn dwords(header: u32) -> Option<usize> {
        match (header >> 30, header >> 16 & Self::COUNT) {
            (2, _) => Some(1),
            (3, count) if count < Self::COUNT => Some(count as usize + 2),
            _ => None,
        }
    }

    /// Decodes a header as a ring of `level` does.
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
    /// The flags of the header.
    pub flags: HeaderFlags,
    /// The packet to which the flags are added.
    pub packet: P,
}
