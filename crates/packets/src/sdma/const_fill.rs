//! CONST_FILL: fills memory with a pattern.

use super::sink::{Sink, Typed, packet_impl};
use super::version::Version;
use crate::choices::choices;
use crate::error::{address, require, require_form, require_multiple};
use crate::layout::records::sdma as records;
use crate::layout::values::FillSize as Size;
use crate::{EncodeError, FieldError};
use amdgpu_hw::GpuVa;

choices! {
    /// The unit of CONST_FILL.
    pub enum FillSize: Size {
        /// Bytes, with any length and alignment. The result of a pattern with four different bytes is not documented; the kernel
        /// uses patterns of equal bytes.
        Byte = BYTE,
        /// Dwords, with an address and length that are multiples of 4.
        Dword = DWORD,
    }
}

/// CONST_FILL, opcode 11 (13 on 1.0): fills memory with a pattern.
///
/// | dword | bits  | field    | meaning                                                                    |
/// |-------|-------|----------|----------------------------------------------------------------------------|
/// | 0     | 31:30 | fillsize | see [`FillSize`]                                                           |
/// | 1, 2  |       | to       |                                                                            |
/// | 3     |       | pattern  |                                                                            |
/// | 4     |       | count    | bytes up to 3.0, bytes less one since; 22 bits, 30 from 5.2 on             |
///
/// In units of dwords the two low bits of the count are ignored; they are written as if the last byte were addressed. On 1.0 the
/// header contains the count in dwords, and dwords 1 to 3 are the low address, the pattern, and bits 39:32 of the address in 23:16.
///
/// The sources differ about 5.2. The kernel's header (`navi10_sdma_pkt_open.h`, of 5.0 too), PAL and Mesa know 22 bits there. Linux 7.2
/// fills 1 GiB with one packet (`sdma_v5_2.c`, `fill_max_bytes`), because the designers of the hardware confirmed to its maintainer that
/// 5.2 has 30 bits for fills as it has for copies, and IGT does the same. The packet has 30 bits here for that reason, and
/// [`Version::max_fill_bytes`] stays at what all sources allow. On 4.0 and 5.0 all sources agree on 22 bits; the others are reserved.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_CONSTANT_FILL`, and `si_dma.c`,
/// `si_dma_emit_fill_buffer`; Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_fill_buffer`, which writes bytes
/// minus one on 2.x and 3.x too, where the kernel writes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstFill {
    /// The destination address; a multiple of 4 in units of dwords.
    pub to: GpuVa,
    /// The pattern, a dword; in units of bytes its four bytes should be equal.
    pub pattern: u32,
    /// The size in bytes: at least 1, a multiple of 4 in units of dwords. Recorders should not exceed [`Version::max_fill_bytes`]
    /// per packet.
    pub bytes: u32,
    /// The unit. Version 1.0 only supports dwords.
    pub size: FillSize,
}

impl ConstFill {
    /// Creates a fill in units of dwords. `to` and `bytes` must be multiples of 4.
    #[inline]
    pub const fn new(to: GpuVa, pattern: u32, bytes: u32) -> Self {
        Self { to, pattern, bytes, size: FillSize::Dword }
    }

    #[inline(always)]
    fn check(self) -> Result<(), FieldError> {
        require(self.bytes > 0, FieldError::Empty { field: "bytes" })?;
        let multiple = if self.size == FillSize::Dword { 4 } else { 1 };
        require_multiple("bytes", self.bytes.into(), multiple)?;
        require_multiple("dst_addr", self.to.as_u64(), multiple)
    }

    #[inline(always)]
    fn record(self, version: Version) -> Result<records::ConstFill, FieldError> {
        self.check()?;
        let packet = records::ConstFill { dst_addr: self.to.as_u64(), ..records::ConstFill::default() };
        if version == Version::V1_0 {
            require_form(self.size == FillSize::Dword, "a fill of bytes")?;
            return Ok(records::ConstFill { pattern: self.pattern, count: self.bytes / 4, ..packet });
        }
        Ok(records::ConstFill {
            fillsize: self.size.raw(),
            src_data: self.pattern.into(),
            count: self.bytes - version.count_bias(),
            ..packet
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(super) fn read(record: &records::ConstFill, version: Version) -> Result<Self, FieldError> {
        let to = address("dst_addr", record.dst_addr)?;
        if version == Version::V1_0 {
            return Ok(Self::new(to, record.pattern, record.count * 4));
        }
        let bias = version.count_bias();
        let size = FillSize::read("fillsize", record.fillsize)?;
        let bytes = match size {
            FillSize::Byte => record.count + bias,
            FillSize::Dword => (record.count / 4 + bias) * 4,
        };
        Ok(Self { to, pattern: record.src_data as u32, bytes, size })
    }
}

impl Typed for ConstFill {
    const NAME: &'static str = "CONST_FILL";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.version);
        sink.put(record)
    }
}

packet_impl!(ConstFill);
