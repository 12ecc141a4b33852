//! Predication, waits, and the continuation of streams.

use amdgpu_hw::GfxLevel::*;
use amdgpu_packets::pm4::Target as Pm4;

use super::raw::*;
use super::*;

/// COND_EXEC in the form of a generation.
fn cond_exec(target: Pm4, at: u64, dwords: u32) -> Vec<u32> {
    let [low, high] = halves(at);
    if target.level == Gfx6 { packet(0x22, &[low, high, dwords]) } else { packet(0x22, &[low, high, 0, dwords]) }
}

/// SET_PREDICATION in the form of a generation.
fn predicate(target: Pm4, at: u64, flags: u32) -> Vec<u32> {
    let [low, high] = halves(at);
    if target.level < Gfx9 { packet(0x20, &[low, high | flags]) } else { packet(0x20, &[flags, low, high]) }
}

const IF_SET: u32 = 1 << 8;
const ZPASS: u32 = 1 << 16;
const PRIMITIVES: u32 = 2 << 16;
const BOOL64: u32 = 3 << 16;
const BOOL32: u32 = 4 << 16;
const NO_WAIT: u32 = 1 << 12;
const GO_ON: u32 = 1 << 31;

#[test]
fn dwords_are_skipped_when_the_condition_is_zero() {
    for target in Pm4::all() {
        for value in [0, 5] {
            let rig = Rig::new();
            rig.put(DATA, &[value]);
            let packets = [cond_exec(target, DATA, 6), store(DATA + 4, 1), store(DATA + 8, 2)];
            run(&rig, target, &packets).unwrap();
            assert_eq!((rig.u32(DATA + 4), rig.u32(DATA + 8)), (u32::from(value != 0), 2), "{target}");
        }
    }
}

#[test]
fn a_condition_may_lie_within_another() {
    let (rig, target) = (Rig::new(), Pm4::compute(Gfx10));
    rig.put(DATA, &[1, 0]);
    let inner = [cond_exec(target, DATA + 4, 6), store(DATA + 8, 1)].concat();
    let packets = [cond_exec(target, DATA, inner.len() as u32 + 6), inner, store(DATA + 12, 2)];
    run(&rig, target, &packets).unwrap();
    assert_eq!((rig.u32(DATA + 8), rig.u32(DATA + 12)), (0, 2));
}

#[test]
fn what_is_skipped_must_be_whole_packets_of_this_ib() {
    for target in Pm4::all() {
        let said = refusal(target, &[cond_exec(target, DATA, 3), store(DATA, 1)]);
        assert!(said.contains("in the middle of a packet"), "{said}");
        let said = refusal(target, &[cond_exec(target, DATA, 7), store(DATA, 1)]);
        assert!(said.contains("beyond the end of its IB"), "{said}");
    }
}

#[test]
fn packets_for_other_devices_are_skipped() {
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        let packets = [packet(0x23, &[2 << 24 | 6]), store(DATA, 1), packet(0x23, &[3 << 24 | 6]), store(DATA + 4, 1)];
        run(&rig, target, &packets).unwrap();
        assert_eq!((rig.u32(DATA), rig.u32(DATA + 4)), (0, 1), "{target}");
    }
}

/// Returns the number of started draws of two, of which the second asks for predication.
fn draws(rig: &Rig, target: Pm4, set: &[Vec<u32>]) -> u64 {
    let draws = [packet(0x2d, &[3, 2]), predicated(0x2d, &[3, 2])];
    run(rig, target, &[set, &draws].concat()).unwrap().state().tally().draws
}

#[test]
fn a_boolean_decides_whether_predicated_packets_run() {
    for target in gfx(Gfx6, Gfx12) {
        let sizes: &[u32] = if target.level < Gfx9 { &[BOOL64] } else { &[BOOL64, BOOL32] };
        for (&size, value, flag) in
            sizes.iter().flat_map(|size| [(size, 0, 0), (size, 1, 0), (size, 0, IF_SET), (size, 1, IF_SET)])
        {
            let rig = Rig::new();
            rig.put(DATA, &[value]);
            let expected = 1 + u64::from((value != 0) == (flag != 0));
            assert_eq!(draws(&rig, target, &[predicate(target, DATA, size | flag)]), expected, "{target}");
        }
        // Off again.
        let rig = Rig::new();
        let off = [predicate(target, DATA, BOOL64 | IF_SET), predicate(target, 0, 0)];
        assert_eq!(draws(&rig, target, &off), 2, "{target}");
    }
}

#[test]
fn a_dword_may_lie_at_any_multiple_of_four() {
    for target in gfx(Gfx9, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA + 4, &[1]);
        assert_eq!(draws(&rig, target, &[predicate(target, DATA + 4, BOOL32 | IF_SET)]), 2, "{target}");
        let said = refusal(target, &[predicate(target, DATA + 4, BOOL64)]);
        assert!(said.contains("not a multiple of 8"), "{said}");
    }
}

#[test]
fn samples_decide_once_they_are_all_there() {
    const STORED: u32 = 1 << 31;
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        // Two render backends, of which the second saw two samples.
        rig.put(DATA, &[5, STORED, 5, STORED, 1, STORED, 3, STORED]);
        assert_eq!(draws(&rig, target, &[predicate(target, DATA, ZPASS | IF_SET)]), 2, "{target}");
        assert_eq!(draws(&rig, target, &[predicate(target, DATA, ZPASS)]), 1, "{target}");

        let rig = Rig::new();
        assert_eq!(draws(&rig, target, &[predicate(target, DATA, ZPASS | IF_SET | NO_WAIT)]), 2, "{target}");
        let waiting = run(&rig, target, &[predicate(target, DATA, ZPASS | IF_SET)]).unwrap_err();
        assert!(matches!(waiting, Stop::GaveUp { .. }), "{waiting}");
    }
}

#[test]
fn samples_of_several_queries_add_up() {
    const STORED: u32 = 1 << 31;
    let (rig, target) = (Rig::new(), Pm4::gfx(Gfx10));
    rig.put(DATA, &[5, STORED, 6, STORED, 5, STORED, 5, STORED]);
    rig.put(DATA + 0x100, &[5, STORED, 5, STORED, 5, STORED, 5, STORED]);
    let both = [predicate(target, DATA, ZPASS | IF_SET), predicate(target, DATA + 0x100, ZPASS | IF_SET | GO_ON)];
    assert_eq!(draws(&rig, target, &both), 2);
    assert_eq!(draws(&rig, target, &both[1..]), 1);
}

#[test]
fn an_overflow_of_stream_out_skips() {
    for target in gfx(Gfx6, Gfx12) {
        let rig = Rig::new();
        rig.put(DATA, &[10, 0, 10, 0, 15, 0, 15, 0]);
        assert_eq!(draws(&rig, target, &[predicate(target, DATA, PRIMITIVES | IF_SET)]), 2, "{target}");
        rig.put(DATA, &[10, 0, 10, 0, 15, 0, 14, 0]);
        assert_eq!(draws(&rig, target, &[predicate(target, DATA, PRIMITIVES | IF_SET)]), 1, "{target}");
    }
}

#[test]
fn mec_does_not_know_predication() {
    for level in GfxLevel::ALL.into_iter().skip(1) {
        let rig = Rig::new();
        let mut bit = store(DATA, 1);
        bit[0] |= 1;
        run(&rig, Pm4::compute(level), &[bit]).unwrap();
        assert_eq!(rig.u32(DATA), 1);
        assert!(refusal(Pm4::compute(level), &[predicate(Pm4::gfx(level), DATA, BOOL64)]).contains("unknown packet"));
    }
}

#[test]
fn a_conditional_ib_runs_one_of_two() {
    for target in rings(Gfx7) {
        for value in [7, 8] {
            let rig = Rig::new();
            let (first, second) = (IB + 0x1000, IB + 0x1100);
            rig.put(first, &store(DATA + 8, 1));
            rig.put(second, &store(DATA + 8, 2));
            rig.put(DATA, &[value, 1]);
            let ([low, high], [one, _], [two, _]) = (halves(DATA), halves(first), halves(second));
            let body = [2 | 3 << 8, low, high, u32::MAX, 0, 7, 0, one, 0, 6, two, 0, 6];
            run(&rig, target, &[packet(0x3f, &body)]).unwrap();
            assert_eq!(rig.u32(DATA + 8), value - 6, "{target}");
        }
    }
}

#[test]
fn a_rewind_waits_until_somebody_makes_it_valid() {
    for target in rings(Gfx8) {
        let rig = Rig::new();
        run(&rig, target, &[packet(0x59, &[1 << 31]), store(DATA, 1)]).unwrap();
        assert_eq!(rig.u32(DATA), 1);
        let stop = run(&rig, target, &[packet(0x59, &[0])]).unwrap_err();
        assert!(matches!(stop, Stop::GaveUp { at: Watched::Memory(at), .. } if at == va(IB + 4)), "{stop}");
    }
}

#[test]
fn registers_can_be_waited_for_and_nobody_else_changes_them() {
    for target in rings(Gfx7) {
        let scratch = 0x30100 / 4;
        let wait = |reference| packet(0x3c, &[3, scratch, 0, reference, u32::MAX, 4]);
        let set = packet(0x79, &[0x40, 5]);
        run(&Rig::new(), target, &[set.clone(), wait(5)]).unwrap();
        let stop = run(&Rig::new(), target, &[set, wait(6)]).unwrap_err();
        assert!(stop.to_string().contains("register 0x30100"), "{stop}");
        assert!(refusal(target, &[packet(0x3c, &[3, 0, 0, 0, u32::MAX, 4])]).contains("outside the apertures"));
    }
}

#[test]
fn every_function_compares_as_it_says() {
    for (function, passes) in [(0, [1, 1, 1]), (1, [1, 0, 0]), (2, [1, 1, 0]), (3, [0, 1, 0]), (4, [1, 0, 1])]
        .into_iter()
        .chain([(5, [0, 1, 1]), (6, [0, 0, 1])])
    {
        for (value, passes) in [4, 5, 6].into_iter().zip(passes) {
            for target in rings(Gfx9) {
                let rig = Rig::new();
                let [low, high] = halves(DATA);
                rig.put(DATA, &[value, 1]);
                let wide = packet(0x93, &[function | 1 << 4, low, high, 5, 1, u32::MAX, u32::MAX, 4]);
                assert_eq!(run(&rig, target, &[wide]).is_ok(), passes == 1, "{target}: {function} of {value}");
                let dword = packet(0x3c, &[function | 1 << 4, low, high, 5, u32::MAX, 4]);
                assert_eq!(run(&rig, target, &[dword]).is_ok(), passes == 1, "{target}: {function} of {value}");
            }
        }
    }
}

#[test]
fn the_constant_engine_runs_beside_the_draw_engine() {
    for target in gfx(Gfx6, Gfx10_3) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let [low, high] = halves(DATA);
        let constant = [
            packet(0x80, &[low, high, 8, 0x10]),
            packet(0x81, &[0x14, 99]),
            packet(0x84, &[1]),
            // Not before the draw engine has caught up.
            packet(0x88, &[1]),
            packet(0x83, &[0x10, 4, low + 0x100, high]),
            packet(0x84, &[1]),
        ]
        .concat();
        rig.put(IB + 0x1000, &constant);
        let wait = packet(0x86, &[0]);
        let packets = [
            packet(0x33, &[(IB + 0x1000) as u32, 0, constant.len() as u32]),
            wait.clone(),
            store(DATA + 0x104, 55),
            packet(0x85, &[0]),
            wait,
        ];
        run(&rig, target, &packets).unwrap();
        assert_eq!([0, 4, 8, 12].map(|at| rig.u32(DATA + 0x100 + at)), [1, 99, 3, 4], "{target}");
    }
}

#[test]
fn engines_that_wait_for_each_other_are_found_out() {
    for target in gfx(Gfx7, Gfx10_3) {
        assert!(refusal(target, &[packet(0x86, &[0])]).contains("that does not come"), "{target}");
        let rig = Rig::new();
        let constant = packet(0x88, &[0]);
        rig.put(IB + 0x1000, &constant);
        let start = packet(0x33, &[(IB + 0x1000) as u32, 0, constant.len() as u32]);
        let stop = run(&rig, target, &[start]).unwrap_err();
        assert!(stop.to_string().contains("a draw engine that is done"), "{stop}");
    }
}

#[test]
fn a_constant_engine_that_chains_in_a_circle_ends_with_its_job() {
    let rig = Rig::new();
    rig.cancelled.set(true);
    let circle = packet(0x33, &[(IB + 0x1000) as u32, 0, 4 | 1 << 20]);
    rig.put(IB + 0x1000, &circle);
    let start = packet(0x33, &[(IB + 0x1000) as u32, 0, 4]);
    let stop = run(&rig, Pm4::gfx(Gfx9), &[start]).unwrap_err();
    assert!(matches!(stop, Stop::Cancelled { .. }), "{stop}");
}

#[test]
fn what_belongs_to_the_kernel_is_refused_by_name() {
    let kernel = [
        (0x90, vec![0], "FRAME_CONTROL"),
        (0x8b, vec![0], "SWITCH_BUFFER"),
        (0xd2, vec![0], "RUN_CLEANER_SHADER"),
        (0x32, vec![0, 0, 8], "INDIRECT_BUFFER_PRIV"),
        (0x5b, vec![0; 9], "GEN_PDEPTE"),
    ];
    for (opcode, body, name) in kernel {
        let said = refusal(Pm4::gfx(Gfx9), &[packet(opcode, &body)]);
        assert!(said.contains(name) && said.contains("belongs to the kernel"), "{said}");
    }
    let said = refusal(Pm4::compute(Gfx9), &[packet(0xa2, &[0; 6])]);
    assert!(said.contains("MAP_QUEUES") && said.contains("interface queue"), "{said}");
    let said = refusal(Pm4::compute(Gfx11), &[packet(0xd1, &[0; 5])]);
    assert!(said.contains("FENCE_WAIT_MULTI") && said.contains("user queues"), "{said}");
}

#[test]
fn what_nobody_describes_is_refused_by_name() {
    for (opcode, len, name) in [(0xae, 14, "EXECUTE_INDIRECT"), (0xaf, 7, "BUILD_UNTYPED_SRD")] {
        let said = refusal(Pm4::gfx(Gfx11), &[packet(opcode, &vec![0; len])]);
        assert!(said.contains(name) && said.contains("not described"), "{said}");
    }
}

#[test]
fn a_wrong_field_of_a_listed_packet_is_named() {
    let said = refusal(Pm4::gfx(Gfx9), &[packet(0x1e, &[200, 0, 0, 0, 0, 0, 0, 0])]);
    assert!(said.contains("ATOMIC_MEM") && said.contains("belong to no field"), "{said}");
    let said = refusal(Pm4::gfx(Gfx9), &[packet(0x45, &[7, 0, 0, 0, 0, 0, 0, 0])]);
    assert!(said.contains("COND_WRITE: function = 0x7 is not known here"), "{said}");
    let said = refusal(Pm4::gfx(Gfx9), &[packet(0x2d, &[3])]);
    assert!(said.contains("DRAW_INDEX_AUTO: dword 2 is missing"), "{said}");
}
