//! Commands that an engine cannot execute are refused, and nothing of them is recorded.

use amdgpu_winsys::{
    cs::{
        self, PacketBuf, Target,
        commands::{Atomic, AtomicOp, CommandError, Commands, MAX_CONDITIONAL_DWORDS, Point, Span},
        pm4,
    },
    vamgr::GpuVa,
    winsys::Ip,
};

use crate::{
    rig::{IPS, pm4_recorder, record},
    support::{device, host_memory},
};

fn at(address: u64) -> GpuVa {
    GpuVa::new(address).unwrap()
}

fn span(address: u64, bytes: u64) -> Span {
    Span::new(at(address), bytes).unwrap()
}

/// Every refusal on every ring of a chip of each generation, and that it leaves the stream empty.
fn refused(command: impl Fn(&mut dyn Commands) -> Result<(), CommandError>, expected: &CommandError) {
    for name in ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"] {
        let device = device(name);
        for target in IPS.map(|ip| Target::new(device.info().gfx_level, ip).unwrap()) {
            let list = record(&device, target, |commands| {
                assert_eq!(command(commands).as_ref(), Err(expected), "{target}");
            });
            assert_eq!(list.len(), target.pad_dwords(), "{target}: something was recorded");
        }
    }
}

#[test]
fn lengths_of_nothing_and_beyond_the_memory_make_no_range() {
    let device = device("navi21");
    let memory = host_memory(&device, 8192);
    let of = |offset, bytes| Span::of(memory.binding(), offset, bytes);
    assert_eq!(of(0, 8192).unwrap().len(), 8192);
    assert_eq!(of(8191, 1).unwrap().address(), memory.address().checked_add(8191).unwrap());
    assert_eq!(of(0, 0), Err(CommandError::Empty { command: "a range" }));
    for (offset, bytes) in [(0, 8193), (8192, 1), (8000, 193), (u64::MAX, 1), (1, u64::MAX), (1 << 40, 4)] {
        let error = of(offset, bytes).unwrap_err();
        assert_eq!(error, CommandError::OutOfBounds { offset, bytes, size: 8192 });
    }
    let error = of(8000, 193).unwrap_err().to_string();
    assert_eq!(error, "193 bytes at offset 0x1f40 are not inside the memory of 8192 bytes");
}

#[test]
fn copies_of_two_lengths_or_onto_themselves_are_refused() {
    let lengths = CommandError::Lengths { command: "copy", from: 65, to: 64 };
    refused(|commands| commands.copy(span(0x10000, 64), span(0x20000, 65)), &lengths);
    for to in [0x10000, 0x10001, 0x1003f, 0xffc1] {
        let overlap = CommandError::Overlap { to: at(to), from: at(0x10000), bytes: 64 };
        refused(|commands| commands.copy(span(to, 64), span(0x10000, 64)), &overlap);
    }
}

#[test]
fn fills_and_updates_of_parts_of_dwords_are_refused() {
    let odd = |command, value| CommandError::Misaligned { command, value, multiple: 4 };
    refused(|commands| commands.fill(span(0x10002, 64), 0), &odd("fill", 0x10002));
    refused(|commands| commands.fill(span(0x10000, 63), 0), &odd("fill", 63));
    refused(|commands| commands.update(span(0x10001, 8), &[1, 2]), &odd("update", 0x10001));
    let lengths = |from, to| CommandError::Lengths { command: "update", from, to };
    refused(|commands| commands.update(span(0x10000, 9), &[1, 2]), &lengths(8, 9));
    refused(|commands| commands.update(span(0x10000, 4), &[]), &lengths(0, 4));
}

#[test]
fn misaligned_words_are_refused() {
    let odd = |command, value, multiple| CommandError::Misaligned { command, value, multiple };
    refused(|commands| commands.timestamp(at(0x10004), Point::Top), &odd("timestamp", 0x10004, 8));
    for point in crate::signals::POINTS {
        refused(|commands| commands.store(at(0x10002), 1, point), &odd("store", 0x10002, 4));
    }
    refused(|commands| commands.wait_event(at(0x10001)), &odd("wait", 0x10001, 4));
    let add = AtomicOp::Add;
    refused(|commands| commands.atomic(at(0x10002), Atomic::dword(add, 1)), &odd("atomic", 0x10002, 4));
    refused(|commands| commands.atomic(at(0x10004), Atomic::qword(add, 1)), &odd("atomic", 0x10004, 8));
}

#[test]
fn operands_and_bodies_that_do_not_fit_are_refused() {
    let device = device("navi10");
    let target = pm4::Target::compute(device.info().gfx_level);
    let mut recorder = pm4_recorder(&device, target);
    let wide = Atomic::dword(AtomicOp::CompareSwap(1 << 32), 0);
    let error = recorder.atomic(at(0x10000), wide).unwrap_err().to_string();
    assert!(error.contains("cmp = 0x100000000 is above 0xffffffff"), "{error}");
    let mut body = PacketBuf::new(target);
    body.push(&pm4::Nop::Skip(&vec![0; MAX_CONDITIONAL_DWORDS - 1])).unwrap();
    recorder.conditional(at(0x10000), &body).unwrap();
    body.push(&pm4::Nop::Bare).unwrap();
    let error = recorder.conditional(at(0x10000), &body).unwrap_err().to_string();
    assert!(error.contains("exec_count = 0x4000 is above 0x3fff"), "{error}");
    assert!(recorder.conditional(at(0x10002), &PacketBuf::new(target)).is_err());
    let other = PacketBuf::new(pm4::Target::gfx(device.info().gfx_level));
    let error = recorder.conditional(at(0x10000), &other).unwrap_err();
    assert!(matches!(error, CommandError::Stream(cs::RecordError::WrongStream { .. })), "{error}");
    let Target::Pm4(gfx) = Target::new(device.info().gfx_level, Ip::Gfx).unwrap() else { unreachable!() };
    let error = pm4_recorder(&device, gfx).timestamp(at(0x10000), Point::ComputeShaders).unwrap_err();
    assert_eq!(error.to_string(), "the GFX10 gfx ring does not support a timestamp at the end of shaders");
}
