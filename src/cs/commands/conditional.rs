//! Packets that make later packets depend on a dword in memory.

use amdgpu_hw::num::wide;

use super::packet::described;
use crate::{
    cs::{
        EncodeError, FieldError, Packet, Target,
        layout::{self, Layout},
        pm4, sdma,
    },
    vamgr::GpuVa,
};

/// The maximum number of dwords in the packets that depend on a condition. The field of the packet has 14 bits.
pub const MAX_CONDITIONAL_DWORDS: usize = 0x3fff;

fn check(packet: &'static str, target: Target, at: GpuVa, dwords: usize) -> Result<(), EncodeError> {
    let source = if !at.is_aligned(4) {
        FieldError::Misaligned { field: "addr", value: at.as_u64(), multiple: 4 }
    } else if dwords > MAX_CONDITIONAL_DWORDS {
        FieldError::TooWide { field: "exec_count", value: wide(dwords), max: wide(MAX_CONDITIONAL_DWORDS) }
    } else {
        return Ok(());
    };
    Err(EncodeError::Field { packet, target, source })
}

/// COND_EXEC: skips the next dwords if the dword at an address is zero. PFP reads the dword, so if ME stored it, a PFP_SYNC_ME must
/// come before. [`layout::pm4::COND_EXEC`].
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_emit_cond_exec`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CondExec {
    pub(super) at: GpuVa,
    pub(super) dwords: usize,
}

impl CondExec {
    fn fields(&self) -> [(layout::FieldName, u64); 2] {
        [(layout::names::addr, self.at.as_u64()), (layout::names::exec_count, wide(self.dwords))]
    }
}

impl Packet for CondExec {
    type Language = pm4::Target;
    const NAME: &'static str = "COND_EXEC";

    fn len_dwords(&self, target: pm4::Target) -> Result<usize, EncodeError> {
        described(&layout::pm4::COND_EXEC, &self.fields()).len_dwords(target)
    }

    fn encode(&self, target: pm4::Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        check(Self::NAME, target.into(), self.at, self.dwords)?;
        described(&layout::pm4::COND_EXEC, &self.fields()).encode(target, out)
    }
}

/// COND_EXE of the copy engine: skips the next dwords unless the dword at an address is 1. Versions 1.0 and 2.0 have no reference
/// value and skip if the dword is zero. [`layout::sdma::COND_EXE`], [`layout::dma::COND_EXE`].
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_COND_EXE`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CondExe {
    pub(super) at: GpuVa,
    pub(super) dwords: usize,
}

impl CondExe {
    const fn layout(version: sdma::Version) -> &'static Layout {
        if matches!(version, sdma::Version::V1_0) { &layout::dma::COND_EXE } else { &layout::sdma::COND_EXE }
    }

    fn fields(&self, version: sdma::Version) -> [(layout::FieldName, u64); 3] {
        let reference = u64::from(version > sdma::Version::V2_0);
        [
            (layout::names::addr, self.at.as_u64()),
            (layout::names::exec_count, wide(self.dwords)),
            (layout::names::reference, reference),
        ]
    }
}

impl Packet for CondExe {
    type Language = sdma::Version;
    const NAME: &'static str = "COND_EXE";

    fn len_dwords(&self, version: sdma::Version) -> Result<usize, EncodeError> {
        described(Self::layout(version), &self.fields(version)).len_dwords(version)
    }

    fn encode(&self, version: sdma::Version, out: &mut [u32]) -> Result<usize, EncodeError> {
        check(Self::NAME, version.into(), self.at, self.dwords)?;
        described(Self::layout(version), &self.fields(version)).encode(version, out)
    }
}
