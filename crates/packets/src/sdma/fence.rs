//! FENCE: a store when earlier work is done.

use super::Version;
use super::wire::{Describe, measure, opcode, packet_impl, write};
use crate::field::{Bits, Wire, require_form};
use amdgpu_hw::GpuVa;

/// FENCE, opcode 5 (6 on 1.0): 32 bits are stored when all earlier work is done.
///
/// | dword | bits  | field   | meaning                                                                              |
/// |-------|-------|---------|--------------------------------------------------------------------------------------|
/// | 0     | 18:16 | mtype   | how the store is cached, 3 uncached. 5.0 to 6.0; ignored but written by Mesa elsewhere |
/// | 1, 2  |       | address | a multiple of 4; bits 39:0 on 1.0                                                    |
/// | 3     |       | value   |                                                                                      |
///
/// A recorder puts a [`Nop`](super::Nop) before it on 2.4 and 3.0, which Mesa found to hang otherwise.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_FENCE`, and `sdma_v5_0.c`,
/// `sdma_v5_0_ring_emit_fence`; Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Where: a multiple of 4.
    pub va: GpuVa,
    /// What.
    pub value: u32,
    /// How the store is cached, 0 to 7; none on 1.0.
    pub mtype: u8,
}

impl Fence {
    /// The memory type that L2 does not keep.
    pub const UNCACHED: u8 = 3;

    /// Stores `value` at `va` the way the kernel does on this version: uncached where the packet can say so.
    pub const fn new(version: Version, va: GpuVa, value: u32) -> Self {
        let mtype = match version {
            Version::V5_0 | Version::V5_2 | Version::V6_0 => Self::UNCACHED,
            _ => 0,
        };
        Self { va, value, mtype }
    }
}

impl<'a> Describe<'a> for Fence {
    const NAME: &'static str = "FENCE";
    const BLANK: Self = Self { va: GpuVa::NULL, value: 0, mtype: 0 };

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, version, 6, 5, 0)?;
        let (va, mtype) = if version == Version::V1_0 {
            require_form(self.mtype == 0, "a memory type")?;
            wire.close(d)?;
            (wire.address::<2, 7>("addr", self.va)?, 0)
        } else {
            let mtype = d.bits::<18, 16>("mtype", self.mtype.into())? as u8;
            wire.close(d)?;
            (wire.address::<2, 31>("addr", self.va)?, mtype)
        };
        Ok(Self { va, value: wire.word(self.value)?, mtype })
    }
}

packet_impl!(Fence);
