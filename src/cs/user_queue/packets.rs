//! Packets that go into the ring of a user queue.
//!
//! Source: Mesa 25.2 `src/gallium/winsys/amdgpu/drm/amdgpu_cs.cpp`, `amdgpu_cs_add_userq_packets`.

use amdgpu_packets::{
    EncodeError, Packet as _, Target, pm4,
    sdma::{self, Version},
};

use crate::vamgr::GpuVa;

/// The most dwords of a call of an IB, with what aligns it.
pub(super) const MOST_OF_A_CALL: usize = 14;
/// The most dwords of what ends a submission.
pub(super) const MOST_OF_AN_END: usize = 24;

/// Adds a call of an IB, at a place of the ring in dwords.
pub(super) fn call(target: Target, (va, dwords): (GpuVa, usize), place: u64, ring: &mut Vec<u32>) {
    /// The IB runs in the address space of the queue; on compute rings in other bits.
    const INHERIT_VMID_GFX: u32 = 1 << 22;
    const VALID: u32 = 1 << 23;
    const INHERIT_VMID_COMPUTE: u32 = 1 << 30;
    let (low, high) = (va.as_u64() as u32, (va.as_u64() >> 32) as u32);
    let size = dwords as u32;
    match target {
        Target::Pm4(target) => {
            let control = if target.is_mec() { VALID | INHERIT_VMID_COMPUTE } else { INHERIT_VMID_GFX };
            ring.extend([0xc002_3f00, low, high, size | control]);
        }
        Target::Sdma(_) => {
            // The call ends at a multiple of eight dwords.
            let nops = 2_u64.wrapping_sub(place) & 7;
            ring.extend((0..nops).map(|_| 0));
            ring.extend([4, low, high, size, 0, 0]);
        }
    }
}

/// Adds a store of the submission's number, and the queue's own fence.
pub(super) fn end(target: Target, va: GpuVa, number: u32, ring: &mut Vec<u32>) -> Result<(), EncodeError> {
    let mut packet = [0; 16];
    match target {
        Target::Pm4(target) => {
            let store = pm4::EndOfPipe::fence(va, number);
            let len = store.encode(target, &mut packet)?;
            ring.extend_from_slice(&packet[..len]);
            ring.extend([0xc000_d000, 0]);
        }
        Target::Sdma(version) => {
            let len = sdma::Fence::new(version, va, number).encode(version, &mut packet)?;
            ring.extend_from_slice(&packet[..len]);
            let sub_opcode = if version >= Version::V7_0 { 3 } else { 1 };
            ring.push(sub_opcode << 8 | 5);
        }
    }
    Ok(())
}
