//! TIMESTAMP: stores a clock counter.

use super::sink::{Sink, Typed, packet_impl};
use crate::error::address;
use crate::layout::records::sdma as records;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

/// TIMESTAMP, opcode 13, sub-opcode 2 (GET_GLOBAL): stores the GPU's 64-bit reference clock counter when all earlier work is done.
/// 2.0 and later.
///
/// | dword | bits | field   | meaning         |
/// |-------|------|---------|-----------------|
/// | 1, 2  |      | address | a multiple of 8 |
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_TIMESTAMP_GET_GLOBAL`; Mesa 25.0.7
/// `src/amd/vulkan/radv_sdma.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The destination address, a multiple of 8.
    pub va: GpuVa,
}

impl Timestamp {
    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(record: &records::TimestampGetGlobal) -> Result<Self, FieldError> {
        Ok(Self { va: address("addr", record.addr)? })
    }
}

impl Typed for Timestamp {
    const NAME: &'static str = "TIMESTAMP";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        sink.put(Ok(records::TimestampGetGlobal { addr: self.va.as_u64(), ..records::TimestampGetGlobal::default() }))
    }
}

packet_impl!(Timestamp);
