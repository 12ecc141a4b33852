//! PFP_SYNC_ME: makes PFP wait for ME.

use crate::EncodeError;
use crate::layout::records::pm4 as records;
use crate::pm4::sink::{Sink, Typed, packet_impl};

/// PFP_SYNC_ME, opcode 0x42: makes PFP wait until ME has executed all earlier packets. For the graphics ring, and on GFX6 the
/// compute rings, which have the same firmware. The payload is one dword of zero.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_PFP_SYNC_ME`; Linux 6.12 `gfx_v9_0.c`,
/// `gfx_v9_0_ring_emit_vm_flush`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfpSyncMe;

impl Typed for PfpSyncMe {
    const NAME: &'static str = "PFP_SYNC_ME";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        sink.put(Ok(records::PfpSyncMe::default()))
    }
}

packet_impl!(PfpSyncMe);
