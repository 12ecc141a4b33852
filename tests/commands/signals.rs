//! Timestamps, events, waits, atomics and conditions on every chip and ring.

use amdgpu_winsys::{
    cs::{
        PacketBuf, Submission, Target,
        commands::{Atomic, AtomicOp, Barrier, CommandError, Commands, Point},
        pm4::{self, Compare},
        sdma,
    },
    winsys::{Deadline, GfxLevel, Ip},
};
use proptest::prelude::*;

use crate::{
    rig::{IPS, Rig, pm4_recorder, record, sdma_recorder},
    support::{chips, device, host_memory, job_time},
};

pub(crate) const POINTS: [Point; 5] =
    [Point::Top, Point::Front, Point::PixelShaders, Point::ComputeShaders, Point::Bottom];

fn on_every_ring(check: impl Fn(&Rig<'_>, &str)) {
    for name in chips() {
        let device = device(name);
        let memory = host_memory(&device, 1 << 16);
        for ip in IPS {
            memory.mapping().unwrap().write(0, &[0; 4096]).unwrap();
            check(&Rig::new(&device, &memory, ip), name);
        }
    }
}

fn is_copy_engine_of_gfx6(rig: &Rig<'_>) -> bool {
    rig.queue.target() == Target::Sdma(sdma::Version::V1_0)
}

/// Copy engines have atomic operations from GFX8 on.
fn has_no_atomics(rig: &Rig<'_>) -> bool {
    matches!(rig.queue.target(), Target::Sdma(version) if version < sdma::Version::V3_0)
}

#[test]
fn timestamps_never_run_backwards() {
    on_every_ring(|rig, name| {
        let at = |slot: u64| rig.span(8 * slot, 8).address();
        if is_copy_engine_of_gfx6(rig) {
            record(rig.device, rig.queue.target(), |commands| {
                let error = commands.timestamp(at(0), Point::Top).unwrap_err();
                assert!(matches!(error, CommandError::Unsupported { what: "a timestamp", .. }));
            });
            return;
        }
        rig.run(|commands| {
            for slot in 0..8 {
                commands.timestamp(at(slot), [Point::Top, Point::Bottom][slot as usize % 2]).unwrap();
                commands.copy(rig.span(8192, 4096), rig.span(16384, 4096)).unwrap();
                commands.barrier(Barrier::TRANSFER).unwrap();
            }
        });
        let found: Vec<_> = (0..8).map(|slot| rig.u64_at(8 * slot)).collect();
        assert!(found[0] > 0 && found.is_sorted_by(|a, b| a < b), "{name} {}: {found:?}", rig.queue.ip());
    });
}

#[test]
fn events_are_set_and_reset_from_every_point_that_the_ring_has() {
    on_every_ring(|rig, name| {
        for (slot, point) in POINTS.into_iter().enumerate() {
            let at = rig.span(4 * slot as u64, 4).address();
            if point == Point::PixelShaders && rig.queue.ip() != Ip::Gfx {
                record(rig.device, rig.queue.target(), |commands| {
                    assert!(matches!(commands.set_event(at, point), Err(CommandError::Unsupported { .. })), "{name}");
                });
                continue;
            }
            rig.run(|commands| commands.set_event(at, point).unwrap());
            assert_eq!(rig.u32_at(4 * slot as u64), 1, "{name} {} {point:?}", rig.queue.ip());
            rig.run(|commands| commands.reset_event(at, point).unwrap());
            assert_eq!(rig.u32_at(4 * slot as u64), 0, "{name} {} {point:?}", rig.queue.ip());
            rig.run(|commands| commands.store(at, 0xdead_beef, point).unwrap());
            assert_eq!(rig.u32_at(4 * slot as u64), 0xdead_beef, "{name} {} {point:?}", rig.queue.ip());
        }
        assert_eq!(rig.u32_at(20), 0, "nothing is stored beside");
    });
}

#[test]
fn a_wait_lets_nothing_by_until_the_cpu_sets_the_event() {
    on_every_ring(|rig, name| {
        let (event, marker) = (rig.span(0, 4).address(), rig.span(64, 4).address());
        let list = record(rig.device, rig.queue.target(), |commands| {
            commands.wait_event(event).unwrap();
            commands.barrier(Barrier::FULL).unwrap();
            commands.wait(event, Compare::NotEqual, 0, 0xff).unwrap();
            commands.store(marker, 9, Point::Bottom).unwrap();
        });
        let bindings = [rig.memory.binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let fence = rig.queue.submit(&submission).unwrap();
        assert!(!fence.wait(Deadline::POLL).unwrap() && rig.u32_at(64) == 0, "{name}");
        rig.put(0, 1);
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!(rig.u32_at(64), 9, "{name} {}", rig.queue.ip());
    });
}

fn atomic() -> impl Strategy<Value = Atomic> {
    use AtomicOp::*;
    let values = || prop_oneof![0..4_u64, any::<u64>(), Just(u64::MAX), Just(u64::from(u32::MAX))];
    let plain = [Swap, Add, Sub, SignedMin, UnsignedMin, SignedMax, UnsignedMax, And, Or, Xor, Increment, Decrement];
    let op = prop_oneof![prop::sample::select(plain.to_vec()), values().prop_map(CompareSwap)];
    (op, values(), any::<bool>()).prop_map(|(op, operand, is_wide)| match (op, is_wide) {
        (op, true) => Atomic::qword(op, operand),
        (CompareSwap(compare), false) => Atomic::dword(CompareSwap(compare & 0xffff_ffff), operand as u32),
        (op, false) => Atomic::dword(op, operand as u32),
    })
}

/// The operation on plain numbers.
fn applied(atomic: Atomic, old: u64) -> u64 {
    let (shift, mask) = if atomic.is_wide { (0, u64::MAX) } else { (32, u64::from(u32::MAX)) };
    let signed = |value: u64| (value << shift).cast_signed();
    let (kept, old, new) = (old & !mask, old & mask, atomic.operand);
    let value = match atomic.op {
        AtomicOp::Swap => new,
        AtomicOp::CompareSwap(compare) => {
            if old == compare {
                new
            } else {
                old
            }
        }
        AtomicOp::Add => old.wrapping_add(new),
        AtomicOp::Sub => old.wrapping_sub(new),
        AtomicOp::SignedMin => {
            if signed(new) < signed(old) {
                new
            } else {
                old
            }
        }
        AtomicOp::UnsignedMin => old.min(new),
        AtomicOp::SignedMax => {
            if signed(new) > signed(old) {
                new
            } else {
                old
            }
        }
        AtomicOp::UnsignedMax => old.max(new),
        AtomicOp::And => old & new,
        AtomicOp::Or => old | new,
        AtomicOp::Xor => old ^ new,
        AtomicOp::Increment => {
            if old >= new {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > new {
                new
            } else {
                old - 1
            }
        }
    };
    kept | value & mask
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn atomics_do_what_they_do_to_plain_numbers(
        first in any::<u64>(),
        atomics in prop::collection::vec(atomic(), 1..12),
        name in prop::sample::select(chips()),
    ) {
        let device = device(name);
        let memory = host_memory(&device, 4096);
        let expected = atomics.iter().fold(first, |value, &atomic| applied(atomic, value));
        for ip in IPS {
            let rig = Rig::new(&device, &memory, ip);
            memory.mapping().unwrap().store_u64(8, first).unwrap();
            let at = rig.span(8, 8).address();
            let list = record(&device, rig.queue.target(), |commands| {
                for &atomic in &atomics {
                    let done = commands.atomic(at, atomic);
                    let has_none = has_no_atomics(&rig);
                    assert_eq!(matches!(done, Err(CommandError::Unsupported { .. })), has_none, "{done:?}");
                }
            });
            rig.submit(&list);
            let expected = if has_no_atomics(&rig) { first } else { expected };
            prop_assert_eq!(rig.u64_at(8), expected, "{} {}", name, ip);
        }
    }
}

#[test]
fn a_condition_in_memory_decides_and_may_have_been_stored_by_the_same_list() {
    on_every_ring(|rig, name| {
        for runs in [0, 1] {
            let (condition, marker) = (rig.span(0, 4).address(), rig.span(64, 4).address());
            rig.put(64, 0);
            let list = match rig.queue.target() {
                Target::Pm4(target) => {
                    let mut body = PacketBuf::new(target);
                    body.push(&pm4::WriteData::new(marker, &[7])).unwrap();
                    let mut recorder = pm4_recorder(rig.device, target);
                    recorder.store(condition, runs, Point::Front).unwrap();
                    (0..400).for_each(|_| recorder.conditional(condition, &body).unwrap());
                    recorder.finish().unwrap()
                }
                Target::Sdma(version) => {
                    let mut body = PacketBuf::new(version);
                    body.push(&sdma::WriteLinear { to: marker, data: &[7] }).unwrap();
                    let mut recorder = sdma_recorder(rig.device, version);
                    recorder.store(condition, runs, Point::Bottom).unwrap();
                    (0..400).for_each(|_| recorder.conditional(condition, &body).unwrap());
                    recorder.finish().unwrap()
                }
            };
            assert!(list.ibs().count() > 1, "conditions stand at the ends of IBs too");
            rig.submit(&list);
            assert_eq!(rig.u32_at(64), 7 * runs, "{name} {}", rig.queue.ip());
        }
    });
}

#[test]
fn commands_of_two_rings_meet_through_memory() {
    let device = device("navi31");
    assert_eq!(device.info().gfx_level, GfxLevel::Gfx11);
    let memory = host_memory(&device, 1 << 16);
    let (compute, copies) = (Rig::new(&device, &memory, Ip::Compute), Rig::new(&device, &memory, Ip::Sdma));
    let event = compute.span(0, 4).address();
    let waiting = record(&device, copies.queue.target(), |commands| {
        commands.wait_event(event).unwrap();
        commands.copy(copies.span(8192, 4096), copies.span(4096, 4096)).unwrap();
    });
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[&waiting], memory: &bindings, ..Submission::default() };
    let fence = copies.queue.submit(&submission).unwrap();
    compute.run(|commands| {
        commands.fill(compute.span(4096, 4096), 0x5555_aaaa).unwrap();
        commands.barrier(Barrier::TRANSFER).unwrap();
        commands.set_event(event, Point::Bottom).unwrap();
    });
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!([8192, 12284].map(|at| compute.u32_at(at)), [0x5555_aaaa; 2]);
}
