//! TIMESTAMP: store a counter.

use super::Version;
use super::wire::{Describe, measure, opcode, packet_impl, write};
use crate::field::Wire;
use amdgpu_hw::GpuVa;

/// TIMESTAMP, opcode 13, sub-opcode 2 (GET_GLOBAL): the GPU's reference counter, 64 bits, is stored when all earlier
/// work is done. 2.0 and later.
///
/// | dword | bits | field   | meaning         |
/// |-------|------|---------|-----------------|
/// | 1, 2  |      | address | a multiple of 8 |
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_TIMESTAMP_GET_GLOBAL`; Mesa 25.0.7
/// `src/amd/vulkan/radv_sdma.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Where: a multiple of 8.
    pub va: GpuVa,
}

impl<'a> Describe<'a> for Timestamp {
    const NAME: &'static str = "TIMESTAMP";
    const BLANK: Self = Self { va: GpuVa::NULL };

    fn exists(version: Version) -> bool {
        version > Version::V1_0
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, version, 0, 13, 2)?;
        wire.close(d)?;
        Ok(Self { va: wire.address::<3, 31>("addr", self.va)? })
    }
}

packet_impl!(Timestamp);
