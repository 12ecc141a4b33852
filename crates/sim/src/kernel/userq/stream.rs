//! The packets of a user queue's ring that the ring handles differently from an IB.
//!
//! Source: Mesa 25.2 `src/gallium/winsys/amdgpu/drm/amdgpu_cs.cpp`, which writes such rings; IGT 2.3 `lib/amdgpu/amd_userq.c`.

use amdgpu_hw::GpuVa;
use amdgpu_packets::{DecodeError, DecodeFault, Target, layout, pm4, sdma::Version};

use crate::gpu::Ib;

/// A packet of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'r> {
    /// Calls an IB.
    Ib(Ib),
    /// Writes the read pointer to the queue's slot.
    Fence,
    /// Flushes HDP, so that the engine finds what the CPU wrote to VRAM. The simulated memory needs no flush.
    HdpFlush,
    /// Waits for fences. Each is a group of four dwords with an address and a value.
    Wait(&'r [u32]),
    /// A packet with the same meaning as in an IB.
    Plain,
}

/// The reason why a ring cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Wrong {
    /// The ring ends before the packet does.
    #[error("the packet {header:#010x} goes beyond the write pointer")]
    Cut {
        /// The header of the packet.
        header: u32,
    },
    /// The dword is not the header of a packet.
    #[error("{header:#010x} begins no packet")]
    NoPacket {
        /// The dword.
        header: u32,
    },
    /// A chain, which rings do not support.
    #[error("an IB in the ring is chained to, or lacks the valid bit of compute rings")]
    NoCall,
}

/// Returns the first packet of non-empty dwords, and its length in dwords.
pub(super) fn first(dwords: &[u32], target: Target) -> Result<(Item<'_>, usize), Wrong> {
    let header = dwords.first().copied().unwrap_or_default();
    let len = match target {
        Target::Pm4(_) => pm4_len(header)?,
        Target::Sdma(version) => sdma_len(dwords, version)?,
    };
    let packet = dwords.get(..len).ok_or(Wrong::Cut { header })?;
    let item = match target {
        Target::Pm4(target) => pm4_item(packet, target)?,
        Target::Sdma(version) => sdma_item(packet, version),
    };
    Ok((item, len))
}

/// Returns the length of a PM4 packet in dwords: of type 3, or a NOP of one dword.
const fn pm4_len(header: u32) -> Result<usize, Wrong> {
    const NOP_ALONE: u32 = 0xffff_1000;
    match header >> 30 {
        _ if header == NOP_ALONE => Ok(1),
        2 => Ok(1),
        3 => Ok((header >> 16 & 0x3fff) as usize + 2),
        _ => Err(Wrong::NoPacket { header }),
    }
}

fn pm4_item(packet: &[u32], target: pm4::Target) -> Result<Item<'_>, Wrong> {
    const INDIRECT_BUFFER: u32 = 0x3f;
    const HDP_FLUSH: u32 = 0x95;
    const PROTECTED_FENCE_SIGNAL: u32 = 0xd0;
    const FENCE_WAIT_MULTI: u32 = 0xd1;
    const CHAIN: u32 = 1 << 20;
    const VALID: u32 = 1 << 23;
    match *packet {
        [header, low, high, control] if header >> 30 == 3 && header >> 8 & 0xff == INDIRECT_BUFFER => {
            if control & CHAIN != 0 || (target.is_mec() && control & VALID == 0) {
                return Err(Wrong::NoCall);
            }
            Ok(Item::Ib(ib(low & !3, high, control)))
        }
        [header, _] if header >> 30 == 3 && header >> 8 & 0xff == PROTECTED_FENCE_SIGNAL => Ok(Item::Fence),
        [header, _] if header >> 30 == 3 && header >> 8 & 0xff == HDP_FLUSH => Ok(Item::HdpFlush),
        [header, _, ref pairs @ ..] if header >> 30 == 3 && header >> 8 & 0xff == FENCE_WAIT_MULTI => {
            Ok(Item::Wait(pairs))
        }
        _ => Ok(Item::Plain),
    }
}

/// INDIRECT, which in other rings is reserved for the kernel.
const INDIRECT: u32 = 4;
/// The fence of a ring: FENCE with a sub-opcode.
const FENCE: u32 = 5;

/// Returns the sub-opcode of the ring's fence.
fn fence_sub_opcode(version: Version) -> u32 {
    if version >= Version::V7_0 { 3 } else { 1 }
}

fn is_fence(header: u32, version: Version) -> bool {
    header & 0xffff == fence_sub_opcode(version) << 8 | FENCE
}

fn sdma_len(dwords: &[u32], version: Version) -> Result<usize, Wrong> {
    let header = dwords.first().copied().unwrap_or_default();
    if is_fence(header, version) {
        return Ok(1);
    }
    if header & 0xffff == INDIRECT {
        return Ok(6);
    }
    let packet = layout::packets(dwords, version).next().ok_or(Wrong::NoPacket { header })?;
    match packet.content {
        Err(DecodeError { fault: DecodeFault::PastTheEnd { .. }, .. }) => Err(Wrong::Cut { header }),
        _ => Ok(packet.dwords.len().max(1)),
    }
}

fn sdma_item(packet: &[u32], version: Version) -> Item<'_> {
    match *packet {
        [header, low, high, size, _, _] if header & 0xffff == INDIRECT => Item::Ib(ib(low, high, size)),
        [header] if is_fence(header, version) => Item::Fence,
        _ => Item::Plain,
    }
}

/// Returns the IB for three dwords of a packet.
fn ib(low: u32, high: u32, control: u32) -> Ib {
    Ib { va: GpuVa::from_48_bits(u64::from(high) << 32 | u64::from(low)), dwords: control & 0xf_ffff }
}

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;

    use super::*;

    fn gfx() -> Target {
        Target::Pm4(pm4::Target::gfx(GfxLevel::Gfx11))
    }

    fn compute() -> Target {
        Target::Pm4(pm4::Target::compute(GfxLevel::Gfx11))
    }

    #[test]
    fn a_ring_calls_ibs_signals_and_waits() {
        let call = [0xc002_3f00, 0x1003, 0x12, 1 << 22 | 7];
        let ib = Ib { va: GpuVa::from_48_bits(0x12_0000_1000), dwords: 7 };
        assert_eq!(first(&call, gfx()), Ok((Item::Ib(ib), 4)));
        assert_eq!(first(&call, compute()), Err(Wrong::NoCall), "without the valid bit");
        assert_eq!(first(&[0xc000_d000, 0, 9], gfx()), Ok((Item::Fence, 2)));
        let wait = [0xc004_d100, 0, 1, 2, 3, 4];
        assert_eq!(first(&wait, gfx()), Ok((Item::Wait(&[1, 2, 3, 4]), 6)));
        assert_eq!(first(&[0xffff_1000], gfx()), Ok((Item::Plain, 1)));
        assert_eq!(first(&[0xc000_9500, 0], gfx()), Ok((Item::HdpFlush, 2)));
    }

    #[test]
    fn a_copy_ring_calls_ibs_and_signals() {
        let version = Target::Sdma(Version::V6_0);
        let ib = Ib { va: GpuVa::from_48_bits(0x2_0000_1000), dwords: 8 };
        assert_eq!(first(&[4, 0x1000, 2, 8, 0, 0], version), Ok((Item::Ib(ib), 6)));
        assert_eq!(first(&[0x0105], version), Ok((Item::Fence, 1)));
        assert_eq!(first(&[0], version), Ok((Item::Plain, 1)));
        assert_eq!(first(&[4, 0x1000], version), Err(Wrong::Cut { header: 4 }));
    }

    #[test]
    fn what_is_no_packet_or_cut_off_is_told() {
        assert_eq!(first(&[0], gfx()), Err(Wrong::NoPacket { header: 0 }));
        assert_eq!(first(&[0xc002_3f00, 0], gfx()), Err(Wrong::Cut { header: 0xc002_3f00 }));
        assert_eq!(first(&[0xc002_3f00, 0, 0, 1 << 20], gfx()), Err(Wrong::NoCall));
    }
}
