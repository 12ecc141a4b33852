//! PFP_SYNC_ME: PFP waits for ME.

use super::header::{Describe, Flagged, HeaderFlags, measure, packet_impl, write};
use super::{Target, opcode};
use crate::field::Wire;

/// PFP_SYNC_ME, opcode 0x42: PFP waits until ME has executed everything before. The graphics ring, and on GFX6 the
/// compute rings, whose firmware is the same. One dword follows, which is zero.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_PFP_SYNC_ME`; Linux 6.12 `gfx_v9_0.c`,
/// `gfx_v9_0_ring_emit_vm_flush`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfpSyncMe;

impl<'a> Describe<'a> for PfpSyncMe {
    const NAME: &'static str = "PFP_SYNC_ME";
    const BLANK: Self = Self;

    #[inline]
    fn opcode(self, target: Target) -> Option<u8> {
        (!target.is_mec()).then_some(opcode::PFP_SYNC_ME)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, _: Target, _: u8) -> Result<Self, W::Error> {
        wire.zero()?;
        Ok(Self)
    }
}

packet_impl!(PfpSyncMe);
