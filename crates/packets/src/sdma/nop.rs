//! NOP: does nothing, after earlier copies are done.

use super::sink::{Sink, Typed, packet_impl};
use super::version::Version;
use crate::error::require_form;
use crate::layout::records::sdma as records;
use crate::{EncodeError, FieldError};

/// NOP, opcode 0 (15 on 1.0): does nothing, after earlier copies are done. Recorders use it between copies that depend on each
/// other.
///
/// | dword | bits  | field | meaning                                                      |
/// |-------|-------|-------|--------------------------------------------------------------|
/// | 0     | 29:16 | count | how many dwords behind the header are skipped. 2.0 and later |
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/vega10_sdma_pkt_open.h`, `SDMA_PKT_NOP`, and `sdma_v4_0.c`,
/// `sdma_v4_0_ring_insert_nop`; Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nop<'a> {
    /// The skipped dwords: at most 0x3fff, and none on 1.0.
    pub skipped: &'a [u32],
}

impl<'a> Nop<'a> {
    #[inline(always)]
    fn record(self, version: Version) -> Result<records::Nop<'a>, FieldError> {
        require_form(version != Version::V1_0 || self.skipped.is_empty(), "a NOP that skips")?;
        let len = self.skipped.len();
        let count = u32::try_from(len).unwrap_or(u32::MAX);
        Ok(records::Nop { count, data: self.skipped, ..records::Nop::default() })
    }
}

impl Typed for Nop<'_> {
    const NAME: &'static str = "NOP";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.version);
        sink.put(record)
    }
}

packet_impl!(Nop<'a>);
