//! WRITE_LINEAR: writes dwords from the stream to memory.

use super::sink::{Sink, Typed, packet_impl};
use super::version::Version;
use crate::error::{self, require, require_multiple};
use crate::layout::records::sdma as records;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

/// WRITE_LINEAR, opcode 2: stores the dwords in the packet.
///
/// | dword | bits | field | meaning                                                              |
/// |-------|------|-------|----------------------------------------------------------------------|
/// | 1, 2  |      | to    | a multiple of 4; bits 39:0 on 1.0                                    |
/// | 3     |      | count | dwords in 22 bits up to 3.0, dwords less one in 20 bits since        |
/// | 4..   |      |       | the data                                                             |
///
/// On 1.0 the count is in bits 19:0 of the header and the data begins at dword 3.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_WRITE_UNTILED`, and `si_dma.c`,
/// `si_dma_vm_write_pte`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteLinear<'a> {
    /// The destination address, a multiple of 4.
    pub to: GpuVa,
    /// The dwords to store: 1 to [`Version::max_write_dwords`].
    pub data: &'a [u32],
}

impl<'a> WriteLinear<'a> {
    /// Returns the value of the count field.
    #[inline(always)]
    fn count(self, version: Version) -> Result<u32, FieldError> {
        let (value, max) = (self.data.len() as u64, version.max_write_dwords() as u64);
        require(value > 0, FieldError::Empty { field: "data" })?;
        require(value <= max, FieldError::TooWide { field: "count", value, max })?;
        require_multiple("dst_addr", self.to.as_u64(), 4)?;
        Ok(value as u32 - version.count_bias())
    }

    #[inline(always)]
    fn write_linear(self, version: Version) -> Result<records::WriteLinear<'a>, FieldError> {
        let (count, dst_addr) = (self.count(version)?, self.to.as_u64());
        Ok(records::WriteLinear { count, dst_addr, data: self.data, ..records::WriteLinear::default() })
    }

    #[inline(always)]
    fn write_old(self) -> Result<records::Write<'a>, FieldError> {
        let (count, dst_addr) = (self.count(Version::V1_0)?, self.to.as_u64());
        Ok(records::Write { count, dst_addr, data: self.data, ..records::Write::default() })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(address: u64, data: &'a [u32]) -> Result<Self, FieldError> {
        Ok(Self { to: error::address("dst_addr", address)?, data })
    }
}

impl Typed for WriteLinear<'_> {
    const NAME: &'static str = "WRITE_LINEAR";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let version = sink.version;
        match version {
            Version::V1_0 => sink.put(self.write_old()),
            _ => sink.put(self.write_linear(version)),
        }
    }
}

packet_impl!(WriteLinear<'a>);
