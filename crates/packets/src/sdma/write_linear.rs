//! WRITE_LINEAR: dwords from the stream to memory.

use super::Version;
use super::wire::{Describe, measure, number, opcode, packet_impl, write};
use crate::field::{Bits, FieldError, Wire, require};
use amdgpu_hw::GpuVa;

/// WRITE_LINEAR, opcode 2: the engine stores dwords that travel in the packet.
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
    /// Where to: a multiple of 4.
    pub to: GpuVa,
    /// What is stored: 1 to [`Version::max_write_dwords`] dwords.
    pub data: &'a [u32],
}

impl WriteLinear<'_> {
    /// The count on the wire. Below 4.0 a count of zero would say nothing, and is refused.
    fn describe_count<D: Bits>(self, d: &mut D, version: Version) -> Result<usize, D::Error> {
        let (bits, bias) = match version {
            Version::V1_0 => (20, 0),
            _ if version < Version::V4_0 => (22, 0),
            _ => (20, 1),
        };
        let dwords = self.data.len();
        let (value, max) = (dwords as u64, version.max_write_dwords() as u64);
        require(value <= max, FieldError::TooWide { field: "count", value, max })?;
        Ok((number(d, "count", bits, (dwords as u32).saturating_sub(bias))? + bias) as usize)
    }
}

impl<'a> Describe<'a> for WriteLinear<'a> {
    const NAME: &'static str = "WRITE_LINEAR";
    const BLANK: Self = Self { to: GpuVa::NULL, data: &[] };

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, version: Version) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        opcode(&mut d, version, 2, 2, 0)?;
        let (to, count) = if version == Version::V1_0 {
            let count = self.describe_count(&mut d, version)?;
            wire.close(d)?;
            (wire.address::<2, 7>("dst_addr", self.to)?, count)
        } else {
            wire.close(d)?;
            let to = wire.address::<2, 31>("dst_addr", self.to)?;
            let mut d = wire.open()?;
            let count = self.describe_count(&mut d, version)?;
            wire.close(d)?;
            (to, count)
        };
        require(count > 0, FieldError::Empty { field: "data" })?;
        Ok(Self { to, data: wire.take(self.data, count)? })
    }
}

packet_impl!(WriteLinear<'a>);
