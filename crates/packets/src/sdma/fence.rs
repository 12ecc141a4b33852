//! FENCE: stores a value when earlier work is done.

use super::sink::{Sink, Typed, packet_impl};
use super::version::Version;
use crate::error::{address, require_form, require_multiple};
use crate::layout::records::sdma as records;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

/// FENCE, opcode 5 (6 on 1.0): stores 32 bits when all earlier work is done.
///
/// | dword | bits  | field   | meaning                                                                              |
/// |-------|-------|---------|--------------------------------------------------------------------------------------|
/// | 0     | 18:16 | mtype   | how the store is cached, 3 uncached. 5.0 and later; ignored but written by Mesa elsewhere |
/// | 1, 2  |       | address | a multiple of 4; bits 39:0 on 1.0                                                    |
/// | 3     |       | value   |                                                                                      |
///
/// On 2.4 and 3.0 recorders must place a [`Nop`](super::Nop) before it, without which Mesa observed hangs.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_FENCE`, and `sdma_v5_0.c`,
/// `sdma_v5_0_ring_emit_fence`; Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The destination address, a multiple of 4.
    pub va: GpuVa,
    /// The value to store.
    pub value: u32,
    /// The memory type of the store, 0 to 7; not present on 1.0.
    pub mtype: u8,
}

impl Fence {
    /// The memory type that bypasses L2.
    pub const UNCACHED: u8 = 3;

    /// Creates a store of `value` at `va` as the kernel does on this version: uncached if the packet supports it, so that the CPU
    /// and other rings that poll the value see it at once.
    #[inline]
    pub const fn new(version: Version, va: GpuVa, value: u32) -> Self {
        let mtype = match version {
            Version::V1_0 | Version::V2_0 | Version::V2_4 | Version::V3_0 | Version::V4_0 => 0,
            Version::V5_0 | Version::V5_2 | Version::V6_0 | Version::V7_0 => Self::UNCACHED,
        };
        Self { va, value, mtype }
    }
}

impl Fence {
    #[inline(always)]
    fn record(self, version: Version) -> Result<records::Fence, FieldError> {
        require_form(version != Version::V1_0 || self.mtype == 0, "a memory type")?;
        require_multiple("addr", self.va.as_u64(), 4)?;
        Ok(records::Fence {
            mtype: self.mtype.into(),
            addr: self.va.as_u64(),
            data: self.value,
            ..records::Fence::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(record: &records::Fence) -> Result<Self, FieldError> {
        Ok(Self { va: address("addr", record.addr)?, value: record.data, mtype: record.mtype as u8 })
    }
}

impl Typed for Fence {
    const NAME: &'static str = "FENCE";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.version);
        sink.put(record)
    }
}

packet_impl!(Fence);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_uncached_on_every_version_that_can_say_so() {
        let va = GpuVa::new(0x1000).unwrap();
        for version in Version::ALL {
            let expected = if version >= Version::V5_0 { Fence::UNCACHED } else { 0 };
            assert_eq!(Fence::new(version, va, 1).mtype, expected, "{version}");
        }
    }
}
