//! Packets in the ring of a user mode queue.
//!
//! These packets are encoded as numbers, because the typed packets are those of IBs and lack the bits of user mode queues. A test
//! decodes them with the packet tables. The tables have two forms of INDIRECT_BUFFER and use the first one on every ring, so in the
//! test bit 30 has its name of the graphics ring on compute rings too.
//!
//! The kernel does nothing around the IBs of a user mode queue, so the ring itself flushes HDP and invalidates the caches before
//! them, and writes L2 back after them. The ring of the copy engine has no such packet for HDP, so lists for it, and data for it
//! that the CPU writes, belong in system memory: no source says when it would find CPU writes to VRAM.
//!
//! Source: Mesa 25.2 `src/gallium/winsys/amdgpu/drm/amdgpu_cs.cpp`, `amdgpu_cs_add_userq_packets`.

use amdgpu_packets::{
    EncodeError, Packet as _, Target, pm4,
    sdma::{self, Version},
};

use crate::vamgr::GpuVa;

/// The maximum number of dwords of a call of an IB, including alignment.
pub(super) const MOST_OF_A_CALL: usize = 14;
/// The maximum number of dwords of the packets that end a submission.
pub(super) const MOST_OF_AN_END: usize = 24;

/// The maximum number of dwords of the packets that begin a submission.
pub(super) const MOST_OF_A_BEGIN: usize = 10;

/// Appends what the kernel and its hardware do before the first IB of a job on a kernel queue, and the invalidation of the caches:
/// HDP_FLUSH, so that the engine finds the dwords of IBs in VRAM and the data that the CPU wrote, and ACQUIRE_MEM.
pub(super) fn begin(target: Target, ring: &mut Vec<u32>) -> Result<(), EncodeError> {
    let Target::Pm4(target) = target else { return Ok(()) };
    ring.extend([0xc000_9500, 0]);
    let mut packet = [0; 8];
    let len = pm4::AcquireMem::all(target, pm4::CacheActions::ACQUIRE).encode(target, &mut packet)?;
    ring.extend_from_slice(&packet[..len]);
    Ok(())
}

/// Appends a call of an IB. `place` is the position of `ring` in the ring buffer, in dwords.
pub(super) fn call(target: Target, (va, dwords): (GpuVa, usize), place: u64, ring: &mut Vec<u32>) {
    /// The IB runs in the address space of the queue. Compute rings use other bits for this.
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
            // The packet must end at a multiple of eight dwords.
            let nops = 2_u64.wrapping_sub(place) & 7;
            ring.extend((0..nops).map(|_| 0));
            ring.extend([4, low, high, size, 0, 0]);
        }
    }
}

/// Appends a store of the submission's sequence number, and the fence of the queue.
///
/// On graphics and compute rings, the store first writes back the caches of render backends and L2, so that the CPU and other
/// engines find all results, and then bypasses L2 itself: nothing else would write the number back while the CPU waits for it.
pub(super) fn end(target: Target, va: GpuVa, number: u32, ring: &mut Vec<u32>) -> Result<(), EncodeError> {
    let mut packet = [0; 16];
    match target {
        Target::Pm4(target) => {
            let store = pm4::EopStore::Dword { va, value: number };
            let event = pm4::EndOfPipe {
                caching: pm4::Caching { policy: pm4::Policy::Bypass, ..pm4::Caching::default() },
                ..pm4::EndOfPipe::new(pm4::EopEvent::CacheFlushAndInvalidate, store)
            };
            let event = event.with_caches(target.level, pm4::CacheActions::WRITE_BACK_L2);
            // The rings of the generations with user mode queues need no scratch memory.
            let sequence = pm4::EndOfPipeSequence { event, scratch: GpuVa::NULL };
            let len = sequence.encode(target, &mut packet)?;
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

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;
    use amdgpu_packets::layout::{self, records::pm4::Packet};

    use super::*;

    fn written(target: pm4::Target) -> Vec<Packet<'static>> {
        let (target, va) = (Target::Pm4(target), GpuVa::new(0x1_0000_2000).unwrap());
        let mut ring = Vec::new();
        begin(target, &mut ring).unwrap();
        assert!(ring.len() <= MOST_OF_A_BEGIN);
        call(target, (va, 64), 0, &mut ring);
        end(target, va, 7, &mut ring).unwrap();
        let ring: &'static [u32] = ring.leak();
        let Target::Pm4(reader) = target else { unreachable!() };
        let content = layout::packets(ring, reader).map(|packet| packet.content.unwrap().unwrap());
        content.map(|fields| Packet::read(&fields).unwrap()).collect()
    }

    #[test]
    fn the_tables_read_what_is_written() {
        for level in [GfxLevel::Gfx11, GfxLevel::Gfx11_5, GfxLevel::Gfx12] {
            for (target, is_compute) in [(pm4::Target::gfx(level), false), (pm4::Target::compute(level), true)] {
                let packets = written(target);
                let [
                    Packet::HdpFlush(_),
                    Packet::AcquireMem(acquire),
                    Packet::IndirectBuffer(call),
                    Packet::ReleaseMem(store),
                    Packet::ProtectedFenceSignal(_),
                ] = packets.as_slice()
                else {
                    panic!("{packets:?}");
                };
                let all = pm4::Gcr::new(level, pm4::CacheActions::ACQUIRE);
                assert_eq!(acquire.gcr_cntl, all.bits());
                assert!(store.gl2_wb && store.glm_wb == (level < GfxLevel::Gfx12), "{store:?}");
                assert_eq!(u64::from(store.event_type.number()), 0x14, "caches of render backends are flushed");
                // The two bits are the cache policy, and the temporal hint on GFX12; 3 bypasses L2.
                let policy =
                    if level < GfxLevel::Gfx12 { store.cache_policy.number() } else { store.temporal.number() };
                assert_eq!(u64::from(policy), 3);
                assert_eq!((call.addr, call.ib_size, call.chain), (0x1_0000_2000, 64, false));
                // Bit 30 is `inherit_vmid_compute` on compute rings.
                assert_eq!((call.inherit_vmid_gfx, call.pre_resume), (!is_compute, is_compute));
                assert_eq!(call.valid, is_compute);
            }
        }
    }
}
