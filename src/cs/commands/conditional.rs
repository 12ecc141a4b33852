//! Packets that run only if a dword in memory says so.

use super::packet::put;
use crate::{
    cs::{EncodeError, FieldError, Packet, Target, pm4, sdma},
    vamgr::GpuVa,
    winsys::GfxLevel,
};

/// The most dwords that can depend on a condition: 14 bits.
pub const MAX_CONDITIONAL_DWORDS: usize = 0x3fff;

fn check(packet: &'static str, target: Target, at: GpuVa, dwords: usize) -> Result<(), EncodeError> {
    let source = if !at.is_aligned(4) {
        FieldError::Misaligned { field: "addr", value: at.as_u64(), multiple: 4 }
    } else if dwords > MAX_CONDITIONAL_DWORDS {
        FieldError::TooWide { field: "exec_count", value: dwords as u64, max: MAX_CONDITIONAL_DWORDS as u64 }
    } else {
        return Ok(());
    };
    Err(EncodeError::Field { packet, target, source })
}

/// COND_EXEC, opcode 0x22: skips the next dwords if the dword at an address is zero. PFP looks, so what ME stored needs a
/// PFP_SYNC_ME before. Dwords 1 and 2 are the address, the last is the count; from GFX7 on dword 3, which is zero here,
/// holds a cache policy.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_emit_cond_exec`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CondExec {
    pub(super) at: GpuVa,
    pub(super) dwords: usize,
}

impl Packet for CondExec {
    type Language = pm4::Target;
    const NAME: &'static str = "COND_EXEC";

    fn len_dwords(&self, target: pm4::Target) -> Result<usize, EncodeError> {
        Ok(if target.level >= GfxLevel::Gfx7 { 5 } else { 4 })
    }

    fn encode(&self, target: pm4::Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        check(Self::NAME, target.into(), self.at, self.dwords)?;
        let (low, high, count) = (self.at.low(), self.at.high(), self.dwords as u32);
        if target.level >= GfxLevel::Gfx7 {
            put(Self::NAME, out, &[0xc003_2200, low, high, 0, count])
        } else {
            put(Self::NAME, out, &[0xc002_2200, low, high, count])
        }
    }
}

/// COND_EXE, opcode 9 of the copy engine (12 on 1.0): skips the next dwords unless the dword at an address is 1; on 1.0
/// and 2.0, which compare with nothing, if it is zero.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/amdgpu/`, `*_sdma_pkt_open.h`, `SDMA_PKT_COND_EXE`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CondExe {
    pub(super) at: GpuVa,
    pub(super) dwords: usize,
}

impl Packet for CondExe {
    type Language = sdma::Version;
    const NAME: &'static str = "COND_EXE";

    fn len_dwords(&self, version: sdma::Version) -> Result<usize, EncodeError> {
        Ok(match version {
            sdma::Version::V1_0 => 3,
            sdma::Version::V2_0 => 4,
            _ => 5,
        })
    }

    fn encode(&self, version: sdma::Version, out: &mut [u32]) -> Result<usize, EncodeError> {
        check(Self::NAME, version.into(), self.at, self.dwords)?;
        let (low, high, count) = (self.at.low(), self.at.high(), self.dwords as u32);
        match version {
            sdma::Version::V1_0 => put(Self::NAME, out, &[12 << 28 | count, low, high]),
            sdma::Version::V2_0 => put(Self::NAME, out, &[9, low, high, count]),
            _ => put(Self::NAME, out, &[9, low, high, 1, count]),
        }
    }
}
