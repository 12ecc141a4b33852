//! COPY_LINEAR: bytes from here to there.

use super::Version;
use super::wire::{Describe, measure, number, opcode, packet_impl, write};
use crate::field::{Bits, FieldError, Wire, join, require, require_form, require_multiple};
use amdgpu_hw::GpuVa;

/// COPY_LINEAR, opcode 1 (3 on 1.0): bytes from one place to another, which must not overlap.
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
/// Encrypted, broadcast, backward and compressed copies are not taken.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_COPY_LINEAR`, and `si_dma.c`,
/// `si_dma_emit_copy_buffer`; Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_copy_memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLinear {
    /// To where.
    pub to: GpuVa,
    /// From where.
    pub from: GpuVa,
    /// How much, in bytes: at least 1. What one packet should move is [`Version::max_copy_bytes`].
    pub bytes: u32,
    /// 1.0 only: count in dwords, which needs both addresses and the length to be multiples of 4 and reaches four times
    /// as far.
    pub in_dwords: bool,
}

impl CopyLinear {
    /// Copies `bytes` bytes.
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
    pub const fn new(to: GpuVa, from: GpuVa, bytes: u32) -> Self {
        Self { to, from, bytes, in_dwords: false }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_1_0<'a, W: Wire<'a>>(self, wire: &mut W) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, Version::V1_0, 3, 1, 0)?;
        let in_dwords = !d.flag::<26>(!self.in_dwords);
        let unit = if in_dwords { 4 } else { 1 };
        require_multiple("bytes", self.bytes.into(), unit.into())?;
        let bytes = number(&mut d, "count", Version::V1_0.copy_count_bits(), self.bytes / unit)? * unit;
        wire.close(d)?;
        let (to, from) = (wire.word(self.to.low())?, wire.word(self.from.low())?);
        let to = join("dst_addr", to, high_1_0(wire, "dst_addr", self.to)?)?;
        let from = join("src_addr", from, high_1_0(wire, "src_addr", self.from)?)?;
        require_multiple("dst_addr", to.as_u64(), unit.into())?;
        require_multiple("src_addr", from.as_u64(), unit.into())?;
        Ok(Self { to, from, bytes, in_dwords })
    }
}

/// The dword with bits 39:32 of an address.
#[inline]
fn high_1_0<'a, W: Wire<'a>>(wire: &mut W, field: &'static str, va: GpuVa) -> Result<u32, W::Error> {
    let mut d = wire.open()?;
    let high = d.bits::<7, 0>(field, va.high())?;
    wire.close(d)?;
    Ok(high)
}

impl<'a> Describe<'a> for CopyLinear {
    const NAME: &'static str = "COPY_LINEAR";
    const BLANK: Self = Self::new(GpuVa::NULL, GpuVa::NULL, 4);

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        require(self.bytes > 0, FieldError::Empty { field: "bytes" })?;
        if version == Version::V1_0 {
            let packet = self.describe_1_0(wire)?;
            require(packet.bytes > 0, FieldError::Empty { field: "bytes" })?;
            return Ok(packet);
        }
        require_form(!self.in_dwords, "a count in dwords")?;
        let mut d = wire.open()?;
        opcode(&mut d, version, 3, 1, 0)?;
        wire.close(d)?;
        let bias = version.count_bias();
        let mut d = wire.open()?;
        let bytes = number(&mut d, "count", version.copy_count_bits(), self.bytes - bias)? + bias;
        wire.close(d)?;
        require(bytes > 0, FieldError::Empty { field: "bytes" })?;
        wire.zero()?;
        let from = wire.address::<0, 31>("src_addr", self.from)?;
        let to = wire.address::<0, 31>("dst_addr", self.to)?;
        Ok(Self { to, from, bytes, in_dwords: false })
    }
}

packet_impl!(CopyLinear);
