//! CONST_FILL: one pattern, many times.

use super::Version;
use super::wire::{Describe, measure, number, opcode, packet_impl, write};
use crate::field::{Bits, FieldError, Wire, choices, join, require, require_form, require_multiple};
use amdgpu_hw::GpuVa;

choices! {
    /// The unit in which CONST_FILL works.
    pub enum FillSize {
        /// Any length and alignment. What a pattern whose four bytes differ gives is nowhere documented; the kernel
        /// uses it for patterns of equal bytes.
        Byte = 0,
        /// Whole dwords at a multiple of 4.
        Dword = 2,
    }
}

/// CONST_FILL, opcode 11 (13 on 1.0): memory is set to a pattern.
///
/// | dword | bits  | field    | meaning                                                                    |
/// |-------|-------|----------|----------------------------------------------------------------------------|
/// | 0     | 31:30 | fillsize | see [`FillSize`]                                                           |
/// | 1, 2  |       | to       |                                                                            |
/// | 3     |       | pattern  |                                                                            |
/// | 4     |       | count    | bytes up to 3.0, bytes less one since; 22 bits, 30 from 6.0 on             |
///
/// With whole dwords the two low bits of the count do not count, and are written as if the last byte were addressed. On
/// 1.0 the header holds the count in dwords, dwords 1 to 3 the low address, the pattern, and bits 39:32 of the address
/// in 23:16.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_CONSTANT_FILL`, and `si_dma.c`,
/// `si_dma_emit_fill_buffer`; Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_fill_buffer`, which writes bytes
/// less one on 2.x and 3.x too, where the kernel writes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstFill {
    /// Where to; a multiple of 4 for whole dwords.
    pub to: GpuVa,
    /// The pattern.
    pub pattern: u32,
    /// How much, in bytes: at least 1, a multiple of 4 for whole dwords. What one packet should set is
    /// [`Version::max_fill_bytes`].
    pub bytes: u32,
    /// The unit; 1.0 has dwords only.
    pub size: FillSize,
}

impl ConstFill {
    /// Fills whole dwords: `to` and `bytes` are multiples of 4.
    pub const fn new(to: GpuVa, pattern: u32, bytes: u32) -> Self {
        Self { to, pattern, bytes, size: FillSize::Dword }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_1_0<'a, W: Wire<'a>>(self, wire: &mut W) -> Result<Self, W::Error> {
        require_form(self.size == FillSize::Dword, "a fill of bytes")?;
        let mut d = wire.open()?;
        opcode(&mut d, Version::V1_0, 13, 11, 0)?;
        let bytes = number(&mut d, "count", Version::V1_0.fill_count_bits(), self.bytes / 4)? * 4;
        wire.close(d)?;
        let mut d = wire.open()?;
        let low = d.aligned::<2>("dst_addr", self.to.low())?;
        wire.close(d)?;
        let pattern = wire.word(self.pattern)?;
        let mut d = wire.open()?;
        let high = d.bits::<23, 16>("dst_addr", self.to.high())?;
        wire.close(d)?;
        Ok(Self { to: join("dst_addr", low, high)?, pattern, bytes, size: FillSize::Dword })
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_2_0<'a, W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, version, 13, 11, 0)?;
        let size = d.choice::<31, 30, _>("fillsize", self.size)?;
        wire.close(d)?;
        let to = wire.address::<0, 31>("dst_addr", self.to)?;
        let pattern = wire.word(self.pattern)?;
        let bias = version.count_bias();
        let mut d = wire.open()?;
        let count = number(&mut d, "count", version.fill_count_bits(), self.bytes - bias)?;
        wire.close(d)?;
        let bytes = match size {
            FillSize::Byte => count + bias,
            FillSize::Dword => (count / 4 + bias) * 4,
        };
        Ok(Self { to, pattern, bytes, size })
    }
}

impl<'a> Describe<'a> for ConstFill {
    const NAME: &'static str = "CONST_FILL";
    const BLANK: Self = Self::new(GpuVa::NULL, 0, 4);

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        self.check()?;
        let packet =
            if version == Version::V1_0 { self.describe_1_0(wire)? } else { self.describe_2_0(wire, version)? };
        packet.check()?;
        Ok(packet)
    }
}

impl ConstFill {
    fn check(self) -> Result<(), FieldError> {
        require(self.bytes > 0, FieldError::Empty { field: "bytes" })?;
        let multiple = if self.size == FillSize::Dword { 4 } else { 1 };
        require_multiple("bytes", self.bytes.into(), multiple)?;
        require_multiple("dst_addr", self.to.as_u64(), multiple)
    }
}

packet_impl!(ConstFill);
