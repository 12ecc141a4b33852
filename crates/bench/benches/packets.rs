//! Cost of recording a packet, against storing its dwords one by one.
//!
//! `cargo bench -p amdgpu-bench --bench packets` prints one line a packet: ours, the floor, and their ratio. Both are measured in turn,
//! several times, and the medians are compared, because the machine is shared and noisy.

use std::{cell::RefCell, hint::black_box};

use amdgpu_bench::measure::{Compared, compare, timed};
use amdgpu_winsys::{
    cs::{
        Language, Packet,
        layout::pm4::{ATOMIC_MEM, DISPATCH_DIRECT},
        pm4,
        registers::SetRegisters,
        sdma,
    },
    packet,
    vamgr::GpuVa,
    winsys::GfxLevel,
};

/// Measurements of each side; odd, so that there is a median.
const ROUNDS: usize = 15;
const PACKETS: usize = 20_000;

/// Records the packet, whose values the compiler cannot know, repeatedly into memory that was written before, and stores the same number of dwords there.
fn row<P: Packet>(name: &str, language: P::Language, make: impl Fn(u32) -> P) {
    let mut one = [0; 64];
    let dwords = make(7).encode(language, &mut one).expect("the ring takes it");
    // The last packet has room to spare as well.
    let memory = RefCell::new(vec![1_u32; dwords * PACKETS + 16]);
    let record = || {
        let mut memory = memory.borrow_mut();
        let time = timed(|| {
            let mut at = 0;
            for value in 0..PACKETS as u32 {
                let room = memory.get_mut(at..).unwrap_or_default();
                at += make(black_box(value)).put(language, room).expect("the ring takes it");
            }
        });
        black_box(&memory);
        time
    };
    let store = || {
        let mut memory = memory.borrow_mut();
        let time = timed(|| {
            for (index, packet) in memory.chunks_exact_mut(dwords).take(PACKETS).enumerate() {
                for (offset, dword) in packet.iter_mut().enumerate() {
                    *dword = black_box((index + offset) as u32);
                }
            }
        });
        black_box(&memory);
        time
    };
    let times = compare(ROUNDS, record, store).each(PACKETS as u32);
    let Compared { ours, floor } = times;
    println!(
        "{name:<34} {ours:>8.1} ns/packet  storing {dwords:>2} dwords {floor:>8.1} ns  ratio {:>5.2}",
        times.ratio()
    );
}

fn speak<L: Language>(language: L) -> L {
    black_box(language)
}

fn main() {
    let at = black_box(GpuVa::new(0x1234_5678_0000).expect("an address of the low half"));
    let gfx = speak(pm4::Target::gfx(GfxLevel::Gfx10_3));
    let compute = speak(pm4::Target::compute(GfxLevel::Gfx10_3));
    let data: Vec<u32> = (0..1024).collect();
    let data = black_box(&data);
    row("WRITE_DATA, 2 dwords of data", gfx, |_| pm4::WriteData::new(at, &data[..2]));
    row("WRITE_DATA, 16 dwords of data", gfx, |_| pm4::WriteData::new(at, &data[..16]));
    row("EVENT_WRITE", gfx, |_| pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH));
    row("RELEASE_MEM", gfx, |value| pm4::EndOfPipe::fence(at, value));
    row("SET_SH_REG, 2 registers", compute, |value| SetRegisters::new(0xb81c + 4 * (value & 1), &data[..2]));
    row("SDMA COPY_LINEAR", sdma::Version::V5_2, |value| sdma::CopyLinear::new(at, at, 4096 + value));
    let engine = speak(sdma::Version::V5_2);
    row("SDMA FENCE", engine, |value| sdma::Fence::new(engine, at, value));
    row("DISPATCH_DIRECT", compute, |x| pm4::DispatchDirect { x, y: 2, z: 1, initiator: 1, ..Default::default() });
    let dispatch = packet!(DISPATCH_DIRECT { dim_x: 4, dim_y: 2, dim_z: 1, dispatch_initiator: 1 });
    row("DISPATCH_DIRECT, by its layout", compute, |_| dispatch);
    let atomic = packet!(ATOMIC_MEM { op: 15, addr: 0x1000, src: 7 });
    row("ATOMIC_MEM, by its layout", compute, |_| atomic);
}
