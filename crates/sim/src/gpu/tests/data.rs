//! Packets that move, change and count data, in the forms that the library does not write.

use amdgpu_hw::GfxLevel::*;
use amdgpu_packets::pm4::Target as Pm4;

use super::raw::*;
use super::*;

fn atomic(operation: u32, command: u32, at: u64, source: u64, compare: u64) -> Vec<u32> {
    let ([low, high], [source_low, source_high]) = (halves(at), halves(source));
    let [compare_low, compare_high] = halves(compare);
    packet(0x1e, &[operation | command << 8, low, high, source_low, source_high, compare_low, compare_high, 10])
}

#[test]
fn an_atomic_changes_memory_and_what_was_there_can_be_asked_for() {
    for target in Pm4::all() {
        let rig = Rig::new();
        rig.put(DATA, &[10, 7]);
        let [low, high] = halves(DATA + 8);
        let copy = packet(0x40, &[6 | 5 << 8 | 1 << 16, 0, 0, low, high]);
        run(&rig, target, &[atomic(47, 0, DATA, 5, 0), copy, atomic(79, 0, DATA, 1, 0)]).unwrap();
        assert_eq!((rig.u64(DATA), rig.u64(DATA + 8)), (7 << 32 | 16, 7 << 32 | 0xa), "{target}");
    }
}

#[test]
fn a_compare_and_swap_that_loops_waits_for_its_turn() {
    for target in rings(Gfx7) {
        let rig = Rig::new();
        rig.put(DATA, &[1]);
        rig.patience.set(3);
        let stop = run(&rig, target, &[atomic(72, 1, DATA, 1, 0)]).unwrap_err();
        assert!(matches!(stop, Stop::GaveUp { reference: 0, last: 1, .. }), "{stop}");
        assert_eq!(rig.waited.get(), 4);
        run(&rig, target, &[atomic(72, 0, DATA, 9, 0), atomic(8, 1, DATA, 2, 1)]).unwrap();
        assert_eq!(rig.u32(DATA), 2, "{target}: once is once, and a match ends the loop");
    }
}

#[test]
fn an_atomic_on_a_qword_lies_on_a_multiple_of_eight() {
    for target in Pm4::all() {
        let said = refusal(target, &[atomic(47, 0, DATA + 4, 5, 0)]);
        assert!(said.contains("not a multiple of 8"), "{said}");
    }
}

#[test]
fn a_conditional_write_looks_once() {
    for target in Pm4::all() {
        let rig = Rig::new();
        rig.put(DATA, &[5]);
        let [low, high] = halves(DATA);
        let write = |reference, to| packet(0x45, &[3 | 1 << 4 | 1 << 8, low, high, reference, u32::MAX, to, high, 9]);
        run(&rig, target, &[write(5, low + 4), write(6, low + 8)]).unwrap();
        assert_eq!((rig.u32(DATA + 4), rig.u32(DATA + 8), rig.waited.get()), (9, 0, 0), "{target}");
    }
}

#[test]
fn global_data_share_keeps_what_is_written_to_it() {
    for target in Pm4::all().filter(|target| target.level <= Gfx11_5) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let packets = [
            packet(0x37, &[3 << 8, 0x10, 0, 1, 2, 3]),
            packet(0x40, &[3 | 5 << 8, 0x14, 0, low, high]),
            packet(0x40, &[5 | 3 << 8, 77, 0, 0x18, 0]),
            packet(0x40, &[3 | 5 << 8 | 1 << 16, 0x14, 0, low + 8, high]),
        ];
        run(&rig, target, &packets).unwrap();
        assert_eq!((rig.u32(DATA), rig.u64(DATA + 8)), (2, 77 << 32 | 2), "{target}");
    }
    let said = refusal(Pm4::gfx(Gfx12), &[packet(0x37, &[3 << 8, 0x10, 0, 1])]);
    assert!(said.contains("dst_sel = 0x3"), "GFX12 has none: {said}");
}

#[test]
fn cp_dma_reaches_registers_and_stays_where_it_is_told_to() {
    for target in gfx(Gfx9, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, 3, 4]);
        let [low, high] = halves(DATA);
        let packets = [
            // Memory to registers, registers to memory, and memory to one and the same dword.
            packet(0x50, &[0, low, high, 0x30100, 0, 16 | 1 << 27]),
            packet(0x50, &[0, 0x30104, 0, low + 0x100, high, 8 | 1 << 26]),
            packet(0x50, &[0, low, high, low + 0x200, high, 16 | 1 << 29]),
        ];
        let engine = run(&rig, target, &packets).unwrap();
        assert_eq!([0x30100, 0x3010c].map(|byte| register(&engine, byte)), [1, 4], "{target}");
        assert_eq!((rig.u64(DATA + 0x100), rig.u64(DATA + 0x200)), (3 << 32 | 2, 4), "{target}");
        let said = refusal(target, &[packet(0x50, &[0, low, high, 0x8000, 0, 16 | 1 << 27])]);
        assert!(said.contains("outside the apertures"), "{said}");
    }
}

#[test]
fn bytes_are_not_swapped() {
    for target in gfx(Gfx7, Gfx8) {
        let said = refusal(target, &[packet(0x50, &[0, 0, 0, 64, 0, 4 | 1 << 22])]);
        assert!(said.contains("swaps bytes"), "{said}");
    }
}

#[test]
fn statistics_are_stored_as_zeros_that_are_there() {
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA, &[7; 64]);
        let [low, high] = halves(DATA);
        let sample = |event: u32, index: u32, at| packet(0x46, &[event | index << 8, at, high]);
        run(&rig, target, &[sample(30, 2, low), sample(32, 3, low + 0x80)]).unwrap();
        let counters = if target.level < Gfx11 { 22 } else { 28 };
        let stored: Vec<_> = (0..30).map(|n| rig.u32(DATA + 4 * n) == 0).collect();
        assert_eq!(stored.iter().take_while(|zero| **zero).count(), counters, "{target}");
        assert_eq!([0x80, 0x88].map(|at| rig.u64(DATA + at)), [1 << 63; 2], "{target}");
    }
    for level in GfxLevel::ALL.into_iter().skip(1) {
        let rig = Rig::new();
        rig.put(DATA, &[7; 4]);
        run(&rig, Pm4::compute(level), &[packet(0x46, &[0x1e | 2 << 8, DATA as u32, 0])]).unwrap();
        assert_eq!((rig.u64(DATA), rig.u32(DATA + 8)), (0, 7), "{level}: MEC has one counter");
    }
}

#[test]
fn a_counter_is_set_up_without_an_address() {
    for target in gfx(Gfx7, Gfx12) {
        let rig = Rig::new();
        run(&rig, target, &[packet(0x46, &[0x38 | 1 << 8, 0x0400_0000 | 1 << 11, 0])]).unwrap();
        assert!(rig.faults().is_empty(), "{target}");
        assert!(refusal(target, &[packet(0x46, &[0x1e | 2 << 8])]).contains("says nowhere to store it"));
    }
}

#[test]
fn the_total_of_an_occlusion_query_is_stored() {
    const STORED: u32 = 1 << 31;
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA, &[5, STORED, 9, STORED, 1, STORED, 3, STORED]);
        let [low, high] = halves(DATA);
        run(&rig, target, &[packet(0x1f, &[low, high, low + 0x100, high])]).unwrap();
        assert_eq!(rig.u32(DATA + 0x100), 6, "{target}");
    }
}

#[test]
fn stream_out_remembers_how_far_a_buffer_is_filled() {
    for target in gfx(Gfx6, Gfx10_3) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let packets = [
            packet(0x34, &[1 << 7 | 1 << 8, 0, 0, 64, 0]),
            packet(0x34, &[1 | 3 << 1 | 1 << 7 | 1 << 8, low, high, 0, 0]),
        ];
        let engine = run(&rig, target, &packets).unwrap();
        let control = if target.level == Gfx6 { 0x84fc } else { 0x300fc };
        assert_eq!((rig.u32(DATA), register(&engine, control)), (64, 1), "{target}");
    }
}

#[test]
fn a_semaphore_is_raised_and_lowered() {
    for target in gfx(Gfx9, Gfx10_3) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let (signal, wait) = (packet(0x39, &[low, high, 6 << 29]), packet(0x39, &[low, high, 7 << 29]));
        run(&rig, target, &[signal.clone(), signal, wait.clone()]).unwrap();
        assert_eq!(rig.u64(DATA), 1, "{target}");
        assert!(matches!(run(&rig, target, &[wait.clone(), wait]), Err(Stop::GaveUp { .. })));
    }
}

#[test]
fn the_end_of_the_pipe_stores_in_every_way() {
    for target in rings(Gfx9).filter(|target| target.level <= Gfx11_5) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let release = |data: u32, at, first, second| packet(0x49, &[0x528, data << 29, at, high, first, second, 0]);
        let share = packet(0x37, &[3 << 8, 0x20, 0, 5, 6]);
        run(&rig, target, &[share, release(5, low, 2 << 16 | 0x20, 0), release(4, low + 8, 0, 0)]).unwrap();
        assert_eq!((rig.u64(DATA), rig.u64(DATA + 8)), (6 << 32 | 5, 0x1_0000_0001), "{target}");
    }
}

#[test]
fn old_packets_of_gfx6_still_work() {
    for target in [Pm4::gfx(Gfx6), Pm4::compute(Gfx6)] {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        let packets = [
            packet(0x3d, &[low, high | 1 << 18, 5, 0]),
            packet(0x3d, &[low + 8, high | 1 << 16, 0, 0]),
            packet(0x3b, &[3, low, high, low + 0x10, high]),
            packet(0x1c, &[4, 9]),
            packet(0x40, &[3 | 5 << 8, 16, 0, low + 0x14, high]),
        ];
        run(&rig, target, &packets).unwrap();
        assert_eq!((rig.u32(DATA), rig.u64(DATA + 8), rig.u64(DATA + 16)), (5, 0x1_0000_0001, 9 << 32 | 5), "{target}");
    }
}

#[test]
fn a_timestamp_packet_stores_at_both_ends() {
    for target in rings(Gfx11) {
        let rig = Rig::new();
        let [low, high] = halves(DATA);
        run(&rig, target, &[packet(0xb2, &[3, low, high, low + 8, high])]).unwrap();
        assert_eq!((rig.u64(DATA), rig.u64(DATA + 8)), (0x1_0000_0002, 0x1_0000_0001), "{target}: the top comes first");
    }
}
