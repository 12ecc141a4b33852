//! NOP: skips one or more dwords.

use super::header::MAX_PAYLOAD;
use super::sink::{Sink, Typed, packet_impl};
use super::target::{HEADER_ONLY_NOP, TYPE_2_FILLER};
use crate::layout::records::pm4 as records;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GfxLevel;

/// NOP, opcode 0x10: the engine does nothing.
///
/// | form   | dwords                             | generations | used for                                      |
/// |--------|------------------------------------|-------------|-----------------------------------------------|
/// | filler | `0x80000000`                       | all         | one dword of padding on GFX6                  |
/// | bare   | `0xffff1000`                       | GFX7+       | one dword of padding since                    |
/// | skip   | header, then 1 to 0x3fff dwords    | all         | padding, and marks for readers of a dump       |
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT2_NOP_PAD` and `PKT3_NOP_PAD`;
/// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_pad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nop<'a> {
    /// A type-2 header without payload.
    Filler,
    /// A type-3 header without payload.
    Bare,
    /// A header with a payload that the engine skips.
    Skip(&'a [u32]),
}

impl Nop<'_> {
    /// The maximum number of payload dwords of a NOP.
    pub const MAX_PAYLOAD: usize = MAX_PAYLOAD;
}

impl Typed for Nop<'_> {
    const NAME: &'static str = "NOP";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        match self {
            Self::Skip(data) => sink.put(Ok(records::Nop { data, ..records::Nop::default() })),
            Self::Filler => sink.put_word(Ok(TYPE_2_FILLER)),
            Self::Bare if sink.target.level < GfxLevel::Gfx7 => {
                sink.put_word(Err(FieldError::NoSuchForm { form: "a NOP without payload" }))
            }
            Self::Bare => sink.put_word(Ok(HEADER_ONLY_NOP)),
        }
    }
}

packet_impl!(Nop<'a>);
