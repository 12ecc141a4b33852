//! NOP: nothing, in one dword or many.

use super::header::{Describe, Flagged, HeaderFlags, MAX_PAYLOAD, measure, put, write};
use super::target::{HEADER_ONLY_NOP, TYPE_2_FILLER};
use super::{Target, opcode};
use crate::field::{FieldError, Wire, require};
use crate::{EncodeError, Packet};
use amdgpu_hw::GfxLevel;

/// NOP, opcode 0x10: the engine does nothing.
///
/// | form   | dwords                             | generations | used for                                      |
/// |--------|------------------------------------|-------------|-----------------------------------------------|
/// | filler | `0x80000000`                       | all         | one dword of padding on GFX6                  |
/// | bare   | `0xffff1000`                       | GFX7+       | one dword of padding since                    |
/// | skip   | header, then 1 to 0x3fff dwords    | all         | padding, and marks for whoever reads the dump |
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT2_NOP_PAD` and `PKT3_NOP_PAD`;
/// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_pad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nop<'a> {
    /// The type-2 filler.
    Filler,
    /// The header without payload.
    Bare,
    /// A header whose payload is skipped.
    Skip(&'a [u32]),
}

/// The form with a payload.
#[derive(Clone, Copy)]
pub(super) struct Skip<'a>(pub(super) &'a [u32]);

impl<'a> Describe<'a> for Skip<'a> {
    const NAME: &'static str = "NOP";
    const BLANK: Self = Self(&[]);

    #[inline]
    fn opcode(self, _: Target) -> Option<u8> {
        Some(opcode::NOP)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, _: Target, _: u8) -> Result<Self, W::Error> {
        let data = wire.rest(self.0)?;
        require(!data.is_empty(), FieldError::Empty { field: "payload" })?;
        Ok(Self(data))
    }
}

impl Nop<'_> {
    /// The most dwords of payload a single NOP skips.
    pub const MAX_PAYLOAD: usize = MAX_PAYLOAD;

    /// The dword of the forms that are one.
    fn word(self, target: Target, flags: HeaderFlags) -> Result<Option<u32>, EncodeError> {
        let word = match self {
            Self::Skip(_) => return Ok(None),
            Self::Filler => TYPE_2_FILLER,
            Self::Bare => HEADER_ONLY_NOP,
        };
        let source = if self == Self::Bare && target.level < GfxLevel::Gfx7 {
            FieldError::NoSuchForm { form: "a NOP without payload" }
        } else if !flags.is_empty() {
            FieldError::Flags { field: "header", bits: flags.bits() }
        } else {
            return Ok(Some(word));
        };
        Err(EncodeError::Field { packet: Self::NAME, target: target.into(), source })
    }

    pub(super) fn measure(self, target: Target, flags: HeaderFlags) -> Result<usize, EncodeError> {
        match self {
            Self::Skip(data) => measure(Skip(data), target, flags),
            _ => self.word(target, flags).map(|_| 1),
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    pub(super) fn write(self, target: Target, flags: HeaderFlags, out: &mut [u32]) -> Result<usize, EncodeError> {
        match self {
            Self::Skip(data) => write(Skip(data), target, flags, out),
            _ => self.write_word(target, flags, out),
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn put_flagged(self, target: Target, flags: HeaderFlags, out: &mut [u32]) -> Option<usize> {
        match self {
            Self::Skip(data) => put(Skip(data), target, flags, out),
            _ => self.write_word(target, flags, out).ok(),
        }
    }

    fn write_word(self, target: Target, flags: HeaderFlags, out: &mut [u32]) -> Result<usize, EncodeError> {
        match (self.word(target, flags)?, out.first_mut()) {
            (Some(word), Some(slot)) => {
                *slot = word;
                Ok(1)
            }
            _ => Err(EncodeError::NoRoom { packet: Self::NAME, needed: 1, left: out.len() }),
        }
    }
}

impl Packet for Nop<'_> {
    type Language = Target;
    const NAME: &'static str = "NOP";

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.measure(target, HeaderFlags::empty())
    }

    #[inline]
    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.write(target, HeaderFlags::empty(), out)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn put(&self, target: Target, out: &mut [u32]) -> Option<usize> {
        self.put_flagged(target, HeaderFlags::empty(), out)
    }
}

impl Packet for Flagged<Nop<'_>> {
    type Language = Target;
    const NAME: &'static str = "NOP";

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        self.packet.measure(target, self.flags)
    }

    #[inline]
    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        self.packet.write(target, self.flags, out)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn put(&self, target: Target, out: &mut [u32]) -> Option<usize> {
        self.packet.put_flagged(target, self.flags, out)
    }
}
