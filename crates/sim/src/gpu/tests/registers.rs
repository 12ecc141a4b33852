//! Registers: how they are set, loaded and changed, and where they end.

use amdgpu_hw::GfxLevel::*;
use amdgpu_packets::pm4::Target as Pm4;

use super::raw::*;
use super::*;

#[test]
fn each_family_starts_at_its_own_aperture() {
    for target in gfx(Gfx6, Gfx12) {
        let (rig, last) =
            (Rig::new(), if target.level == Gfx6 { (0x68, 0x8500, 0x140) } else { (0x79, 0x30100, 0x40) });
        let packets = [packet(0x76, &[0x240, 1, 2]), packet(0x69, &[0x8e, 3]), packet(last.0, &[last.2, 4])];
        let engine = run(&rig, target, &packets).unwrap();
        let found = [0xb900, 0xb904, 0x28238, last.1].map(|byte| register(&engine, byte));
        assert_eq!(found, [1, 2, 3, 4], "{target}");
    }
}

#[test]
fn the_compute_ring_of_gfx6_sets_configuration_registers() {
    let engine = run(&Rig::new(), Pm4::compute(Gfx6), &[packet(0x68, &[0x140, 4])]).unwrap();
    assert_eq!(register(&engine, 0x8500), 4);
    assert!(refusal(Pm4::compute(Gfx7), &[packet(0x68, &[0x140, 4])]).contains("unknown packet"));
}

#[test]
fn a_write_beyond_an_aperture_is_refused() {
    for target in gfx(Gfx7, Gfx12) {
        for (opcode, offset) in [(0x76, 0x3ff), (0x69, 0x3ff), (0x79, 0x3fff)] {
            let said = refusal(target, &[packet(opcode, &[offset, 1, 2])]);
            assert!(said.contains("outside the apertures"), "{said}");
        }
        let said = refusal(target, &[packet(0x68, &[0x140, 1])]);
        assert!(
            said.contains("outside the apertures"),
            "{target}: the configuration registers are the kernel's: {said}"
        );
    }
}

#[test]
fn common_user_data_goes_to_all_stages_on_gfx9_alone() {
    for target in gfx(Gfx6, Gfx12) {
        let engine = run(&Rig::new(), target, &[packet(0x76, &[0x14c, 7, 8])]).unwrap();
        let found = [0xb030, 0xb034, 0xb130, 0xb330, 0xb434].map(|byte| register(&engine, byte));
        let expected = if target.level == Gfx9 { [7, 8, 7, 7, 8] } else { [0; 5] };
        assert_eq!(found, expected, "{target}");
    }
}

#[test]
fn pairs_come_in_any_order_and_the_last_one_counts() {
    for target in gfx(Gfx11, Gfx12) {
        let packets = [packet(0xb8, &[5, 1, 4, 2, 5, 3]), packet(0xba, &[0x240, 7])];
        let engine = run(&Rig::new(), target, &packets).unwrap();
        let found = [0x28014, 0x28010, 0xb900].map(|byte| register(&engine, byte));
        assert_eq!(found, [3, 2, 7], "{target}");
        assert!(refusal(target, &[packet(0xb8, &[5, 1, 4])]).contains("the last field"));
    }
}

#[test]
fn packed_pairs_say_how_many_they_are() {
    for opcode in [0xbb, 0xbc] {
        let engine = run(&Rig::new(), Pm4::gfx(Gfx12), &[packet(opcode, &[2, 0x241 << 16 | 0x240, 5, 6])]).unwrap();
        assert_eq!(register(&engine, 0xb904), 6, "GFX12 has two numbers for it");
    }
    for target in gfx(Gfx11, Gfx11_5) {
        let packets = [packet(0xbd, &[2, 0x241 << 16 | 0x240, 5, 6])];
        let engine = run(&Rig::new(), target, &packets).unwrap();
        assert_eq!((register(&engine, 0xb900), register(&engine, 0xb904)), (5, 6));
        assert!(refusal(target, &[packet(0xbb, &[4, 0x241 << 16 | 0x240, 5, 6])]).contains("reg_count = 0x4"));
    }
}

#[test]
fn an_image_of_the_aperture_is_loaded_where_it_lies() {
    for target in gfx(Gfx7, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA + 4 * 0x40, &[8, 9]);
        let [low, high] = halves(DATA);
        let engine = run(&rig, target, &[packet(0x5e, &[low, high, 0x40, 1, 0x41, 1])]).unwrap();
        assert_eq!((register(&engine, 0x30100), register(&engine, 0x30104)), (8, 9), "{target}");
    }
}

#[test]
fn an_indexed_load_takes_blocks_pairs_bases_and_pointers() {
    for target in gfx(Gfx10_3, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, 3]);
        rig.put(DATA + 0x100, &[0x242, 7, 0x243, 8]);
        rig.put(DATA + 0x200, &halves(DATA));
        let [low, high] = halves(DATA);
        let packets = [
            packet(0x63, &[low, high, 0x240, 1, 0x250, 2]),
            packet(0x63, &[low + 0x100, high, 1 << 31, 2]),
            packet(0x11, &[4, low, high]),
            packet(0x63, &[1, 8, 0x244, 1]),
            packet(0x63, &[(low + 0x200) | 2, high, 0x245, 1]),
        ];
        let engine = run(&rig, target, &packets).unwrap();
        let found = [0x240, 0x250, 0x251, 0x242, 0x243, 0x244, 0x245].map(|at| register(&engine, 0xb000 + 4 * at));
        assert_eq!(found, [1, 2, 3, 7, 8, 3, 1], "{target}");
    }
}

#[test]
fn some_bits_change_and_the_others_stay() {
    for target in gfx(Gfx9, Gfx12) {
        let scratch = 0x30100 / 4;
        let packets = [
            packet(0x69, &[0x8e, 0xff]),
            packet(0x51, &[0x8e, 0xf0, 0x50]),
            packet(0x79, &[0x40, 0xff00, 0x0f0f]),
            packet(0x21, &[scratch, 0xf000, 0x3]),
            packet(0x21, &[(scratch + 1) | 1 << 31, scratch, 0x8000_0000]),
        ];
        let engine = run(&Rig::new(), target, &packets).unwrap();
        let found = [0x28238, 0x30100, 0x30104].map(|byte| register(&engine, byte));
        assert_eq!(found, [0x5f, 0xf003, 0x8000_0003], "{target}: by a mask, and by a register");
    }
}

#[test]
fn a_cleared_state_leaves_all_but_the_context_registers() {
    for target in gfx(Gfx6, Gfx11_5) {
        let packets = [packet(0x69, &[0x8e, 1]), packet(0x76, &[0x240, 2]), packet(0x12, &[0])];
        let engine = run(&Rig::new(), target, &packets).unwrap();
        assert_eq!((register(&engine, 0x28238), register(&engine, 0xb900)), (0, 2), "{target}");
    }
}

#[test]
fn a_state_put_aside_comes_back() {
    for target in gfx(Gfx9, Gfx12) {
        let set = |value| packet(0x69, &[0x8e, value]);
        let engine = run(&Rig::new(), target, &[set(1), packet(0x12, &[1]), set(2), packet(0x12, &[2])]).unwrap();
        assert_eq!(register(&engine, 0x28238), 1, "{target}");
        assert!(refusal(target, &[packet(0x12, &[2])]).contains("was not put aside"));
        let many = vec![packet(0x12, &[1]); 17];
        assert!(refusal(target, &many).contains("than there is room for"));
    }
}

#[test]
fn the_preamble_of_drivers_is_taken_and_shadowing_is_not() {
    for target in gfx(Gfx6, Gfx12) {
        run(&Rig::new(), target, &[packet(0x28, &[1 << 31, 1 << 31])]).unwrap();
        let said = refusal(target, &[packet(0x28, &[1 << 31, 1 << 31 | 2])]);
        assert!(said.contains("shadowed"), "{said}");
    }
}

#[test]
fn the_indices_that_mesa_writes_are_taken_wherever_it_writes_them() {
    for target in gfx(Gfx7, Gfx12) {
        let packets = [packet(0x69, &[2 << 28 | 0x2d6, 5]), packet(0x79, &[1 << 28 | 0x242, 4])];
        let engine = run(&Rig::new(), target, &packets).unwrap();
        assert_eq!((register(&engine, 0x28b58), register(&engine, 0x30908)), (5, 4), "{target}");
    }
}

#[test]
fn an_address_relative_to_the_ib_goes_to_two_registers() {
    let engine = run(&Rig::new(), Pm4::gfx(Gfx7), &[packet(0x77, &[0x240, 4, 0])]).unwrap();
    assert_eq!((register(&engine, 0xb900), register(&engine, 0xb904)), (IB as u32 + 16, 0));
}

#[test]
fn registers_stay_from_job_to_job_and_go_with_their_context() {
    let rig = Rig::new();
    let mut engine = Engine::new(Pm4::gfx(Gfx9).into());
    rig.run(&mut engine, &packet(0x76, &[0x240, 5])).unwrap();
    rig.run(&mut engine, &packet(0x76, &[0x241, 6])).unwrap();
    assert_eq!((register(&engine, 0xb900), register(&engine, 0xb904)), (5, 6));
    let first = engine.switch(State::new());
    assert_eq!(register(&engine, 0xb900), 0);
    engine.switch(first);
    assert_eq!(register(&engine, 0xb900), 5);
}
