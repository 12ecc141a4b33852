//! Speed of decoding IBs, in megabytes of IB per second on one core, beside copying them.
//!
//! `cargo bench -p amdgpu-bench --bench decode` prints one line a decoder.

use std::hint::black_box;

use amdgpu_bench::measure::{median, timed};
use amdgpu_winsys::{
    cs::{Packet, dump::Dumper, layout, layout::pm4::DISPATCH_DIRECT, pm4, registers::SetRegisters},
    packet,
    vamgr::GpuVa,
    winsys::GfxLevel,
};

/// Measurements, each shorter than the time slice of a busy machine; odd, so that there is a median.
const ROUNDS: usize = 101;

/// An IB as a driver's compute work makes it: state, a dispatch, a barrier, a store, a fence.
fn ib(target: pm4::Target) -> Vec<u32> {
    let at = GpuVa::new(0x1234_5678_0000).expect("an address of the low half");
    let mut ib = vec![0; 1 << 14];
    let mut used = 0;
    let registers = [7; 8];
    while used + 256 < ib.len() {
        let mut push = |packet: &dyn Fn(&mut [u32]) -> usize| used += packet(&mut ib[used..]);
        push(&|out| SetRegisters::new(0xb81c, &registers).encode(target, out).expect("registers"));
        push(&|out| SetRegisters::new(0xb900, &registers).encode(target, out).expect("registers"));
        let dispatch = packet!(DISPATCH_DIRECT { dim_x: 4, dim_y: 2, dim_z: 1, dispatch_initiator: 1 });
        push(&|out| dispatch.encode(target, out).expect("a dispatch"));
        let flush = pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH);
        push(&|out| flush.encode(target, out).expect("an event"));
        push(&|out| pm4::WriteData::new(at, &[1, 2, 3, 4]).encode(target, out).expect("a store"));
        push(&|out| pm4::EndOfPipe::fence(at, 7).encode(target, out).expect("a fence"));
    }
    ib.truncate(used);
    ib
}

fn row(name: &str, ib: &[u32], mut work: impl FnMut()) {
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| timed(&mut work)).collect();
    let dwords = u32::try_from(ib.len()).expect("an IB has 20 bits of length");
    let rate = 4.0 * f64::from(dwords) * 1e3 / median(&mut times);
    println!("{name:<44} {rate:>10.0} MB/s");
}

fn main() {
    let target = pm4::Target::compute(GfxLevel::Gfx10_3);
    let ib = ib(target);
    let mut copy = vec![0; ib.len()];
    row("copying", &ib, || black_box(&mut copy).copy_from_slice(black_box(&ib)));
    row("typed packets, checked (pm4::decode)", &ib, || {
        let known = pm4::decode(black_box(&ib), target).flatten().count();
        black_box(known);
    });
    row("every packet, checked (layout::packets)", &ib, || {
        let known = layout::packets(black_box(&ib), target).filter(|packet| packet.content.is_ok()).count();
        black_box(known);
    });
    let part = &ib[..ib.len() / 8];
    row("a dump, in memory", part, || {
        black_box(Dumper::new(target).dump(black_box(part), None));
    });
    let dump = Dumper::new(target).dump(part, None);
    row("a dump, as text", part, || {
        black_box(dump.to_string());
    });
}
