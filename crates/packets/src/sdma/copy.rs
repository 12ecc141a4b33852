//! COPY_LINEAR: copies bytes.

use super::sink::{Sink, Typed, packet_impl};
use super::version::Version;
use crate::error::{address, require, require_form, require_multiple};
use crate::layout::records::sdma as records;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

/// COPY_LINEAR, opcode 1 (3 on 1.0): copies bytes between two ranges, which must not overlap.
///
/// | dword | bits | field       | meaning                                                               |
/// |-------|------|-------------|-----------------------------------------------------------------------|
/// | 1     |      | count       | bytes up to 3.0, bytes less one since; 22 bits, 30 from 5.2 on        |
/// | 2     |      |             | zero                                                                  |
/// | 3, 4  |      | source      |                                                                       |
/// | 5, 6  |      | destination |                                                                       |
///
/// and on 1.0
///
/// | dword | bits | field       | meaning                                                               |
/// |-------|------|-------------|-----------------------------------------------------------------------|
/// | 0     | 19:0 | count       | dwords, or bytes                                                      |
/// | 0     | 26   | byte_mode   | the count is in bytes                                                 |
/// | 1, 3  |      | destination | low half and bits 39:32                                               |
/// | 2, 4  |      | source      | low half and bits 39:32                                               |
///
/// Encrypted, broadcast, backward and compressed copies are not supported.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_COPY_LINEAR`, and `si_dma.c`,
/// `si_dma_emit_copy_buffer`; Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_copy_memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLinear {
    /// The destination address.
    pub to: GpuVa,
    /// The source address.
    pub from: GpuVa,
    /// The number of bytes to copy, at least 1. Recorders should not exceed [`Version::max_copy_bytes`] per packet.
    pub bytes: u32,
    /// `true` to count in dwords (1.0 only). Both addresses and the length must then be multiples of 4, and the maximum length is
    /// four times as large.
    pub in_dwords: bool,
}

impl CopyLinear {
    /// Creates a copy of `bytes` bytes.
    ///
    /// ```
    /// use amdgpu_packets::{Packet, sdma};
    /// use amdgpu_hw::GpuVa;
    ///
    /// let (to, from) = (GpuVa::new(0x81_2345_6780)?, GpuVa::new(0x80_0010_0000)?);
    /// let mut ib = [0; 16];
    /// let len = sdma::CopyLinear::new(to, from, 4096).encode(sdma::Version::V4_0, &mut ib)?;
    /// assert_eq!(ib[..len], [1, 0xfff, 0, 0x0010_0000, 0x80, 0x2345_6780, 0x81]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub const fn new(to: GpuVa, from: GpuVa, bytes: u32) -> Self {
        Self { to, from, bytes, in_dwords: false }
    }

    #[inline(always)]
    fn record(self, version: Version) -> Result<records::CopyLinear<'static>, FieldError> {
        require(self.bytes > 0, FieldError::Empty { field: "bytes" })?;
        let is_old = version == Version::V1_0;
        require_form(is_old || !self.in_dwords, "a count in dwords")?;
        let unit: u64 = if self.in_dwords { 4 } else { 1 };
        require_multiple("bytes", self.bytes.into(), unit)?;
        require_multiple("dst_addr", self.to.as_u64(), unit)?;
        require_multiple("src_addr", self.from.as_u64(), unit)?;
        Ok(records::CopyLinear {
            count: if self.in_dwords { self.bytes / 4 } else { self.bytes - version.count_bias() },
            byte_mode: is_old && !self.in_dwords,
            src_addr: self.from.as_u64(),
            dst_addr: self.to.as_u64(),
            ..records::CopyLinear::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(record: &records::CopyLinear<'_>, version: Version) -> Result<Self, FieldError> {
        let in_dwords = version == Version::V1_0 && !record.byte_mode;
        let bytes = if in_dwords { record.count * 4 } else { record.count + version.count_bias() };
        Ok(Self {
            to: address("dst_addr", record.dst_addr)?,
            from: address("src_addr", record.src_addr)?,
            bytes,
            in_dwords,
        })
    }
}

impl Typed for CopyLinear {
    const NAME: &'static str = "COPY_LINEAR";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.version);
        sink.put(record)
    }
}

packet_impl!(CopyLinear);
