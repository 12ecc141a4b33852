//! NOP: nothing, but not before earlier copies are done.

use super::Version;
use super::wire::{Describe, measure, opcode, packet_impl, write};
use crate::field::{Bits, FieldError, Wire, require, require_form};

/// NOP, opcode 0 (15 on 1.0): the engine does nothing, and begins what follows only when earlier copies are done, so a
/// recorder puts one between copies that depend on each other.
///
/// | dword | bits  | field | meaning                                                      |
/// |-------|-------|-------|--------------------------------------------------------------|
/// | 0     | 29:16 | count | how many dwords behind the header are skipped. 2.0 and later |
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/vega10_sdma_pkt_open.h`, `SDMA_PKT_NOP`, and `sdma_v4_0.c`,
/// `sdma_v4_0_ring_insert_nop`; Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nop<'a> {
    /// The dwords skipped: at most 0x3fff, and none on 1.0.
    pub skipped: &'a [u32],
}

impl<'a> Describe<'a> for Nop<'a> {
    const NAME: &'static str = "NOP";
    const BLANK: Self = Self { skipped: &[] };

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, version, 15, 0, 0)?;
        if version == Version::V1_0 {
            require_form(self.skipped.is_empty(), "a NOP that skips")?;
            wire.close(d)?;
            return Ok(self);
        }
        let len = self.skipped.len();
        require(len <= 0x3fff, FieldError::TooWide { field: "count", value: len as u64, max: 0x3fff })?;
        let count = d.bits::<29, 16>("count", len as u32)?;
        wire.close(d)?;
        Ok(Self { skipped: wire.take(self.skipped, count as usize)? })
    }
}

packet_impl!(Nop<'a>);
