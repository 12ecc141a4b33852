//! The memory of rings, for core dumps.

use amdgpu_packets::Target;

use crate::{
    gpu::Ib,
    kernel::{hangs::RingImage, sched::processor::Executor},
};

/// The dwords of a ring.
///
/// Source: Linux 6.12 `gfx_v10_0.c`, `gfx_v10_0_gfx_ring_init`, and `amdgpu_ring.c`, `amdgpu_ring_init`: 1024 for each of 2 submissions.
const DWORDS: usize = 2048;
/// The dwords that a job takes, or a multiple of them.
///
/// Source: Linux 6.12 `gfx_v10_0.c`, `align_mask` of the rings' functions.
const STEP: usize = 256;
/// A PM4 packet that does nothing.
const PM4_NOP: u32 = 0xffff_1000;

/// A job on a hardware ring.
#[derive(Clone, Debug)]
pub(super) struct OnRing {
    pub(super) ibs: Vec<Ib>,
    pub(super) vmid: u32,
}

/// Returns the memory of a ring on which a number of jobs have ended, and some have not.
pub(super) fn image(name: String, executor: Executor, ended: u64, jobs: &[OnRing]) -> RingImage {
    let target = executor.target();
    let filler = if matches!(target, Some(Target::Pm4(_))) { PM4_NOP } else { 0 };
    let mut dwords = vec![filler; DWORDS];
    let read = (ended % (DWORDS / STEP) as u64) as usize * STEP;
    let mut write = read;
    for job in jobs {
        let packets: Vec<u32> = job.ibs.iter().flat_map(|&ib| start(target, ib, job.vmid)).collect();
        for (at, &packet) in packets.iter().enumerate() {
            dwords[(write + at) % DWORDS] = packet;
        }
        write += packets.len().max(1).next_multiple_of(STEP);
    }
    RingImage { name, read: read as u64, write: (write % DWORDS) as u64, is_busy: !jobs.is_empty(), dwords }
}

/// Returns the packet that starts an IB; none on video rings.
///
/// Source: Linux 6.12 `gfx_v10_0.c`, `gfx_v10_0_ring_emit_ib_gfx`; `sdma_v5_0.c`, `sdma_v5_0_ring_emit_ib`.
fn start(target: Option<Target>, ib: Ib, vmid: u32) -> Vec<u32> {
    let [low, high] = [ib.va.low_48_bits() as u32, (ib.va.low_48_bits() >> 32) as u32];
    match target {
        Some(Target::Pm4(_)) => vec![0xc002_3f00, low, high, ib.dwords | vmid << 24],
        Some(Target::Sdma(_)) => vec![4 | vmid << 16, low, high, ib.dwords, 0, 0],
        None => Vec::new(),
    }
}
