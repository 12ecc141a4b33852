//! Every engine against a plain array of bytes.

use amdgpu_packets::pm4::{CpDma, Target as Pm4, WriteData};
use amdgpu_packets::sdma::{ConstFill, CopyLinear, FillSize, Version, WriteLinear};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// An operation of a stream on the data, in offsets from [`DATA`].
#[derive(Clone, Debug)]
enum Op {
    Copy { to: u64, from: u64, bytes: u64 },
    Fill { to: u64, pattern: u32, bytes: u64 },
    Write { to: u64, data: Vec<u32> },
}

const LEN: u64 = 0x400;

fn op() -> impl Strategy<Value = Op> {
    let place = || 0..LEN - 0x40;
    prop_oneof![
        (place(), place(), 1..0x40u64)
            .prop_filter("copies do not overlap", |(to, from, bytes)| to.abs_diff(*from) >= *bytes)
            .prop_map(|(to, from, bytes)| Op::Copy { to, from, bytes }),
        (place(), any::<u32>(), 1..0x40u64).prop_map(|(to, pattern, bytes)| Op::Fill { to, pattern, bytes }),
        (place(), vec(any::<u32>(), 1..16)).prop_map(|(to, data)| Op::Write { to: to & !3, data }),
    ]
}

/// The same op, rounded to what a fill of whole dwords can do.
fn in_dwords(op: Op) -> Op {
    match op {
        Op::Fill { to, pattern, bytes } => Op::Fill { to: to & !3, pattern, bytes: bytes.next_multiple_of(4) },
        op => op,
    }
}

fn apply(bytes: &mut [u8], op: &Op) {
    match *op {
        Op::Copy { to, from, bytes: len } => bytes.copy_within(from as usize..(from + len) as usize, to as usize),
        Op::Fill { to, pattern, bytes: len } => {
            let pattern = pattern.to_le_bytes();
            (0..len as usize).for_each(|at| bytes[to as usize + at] = pattern[at % 4]);
        }
        Op::Write { to, ref data } => {
            data.iter().enumerate().for_each(|(n, dword)| {
                bytes[to as usize + 4 * n..][..4].copy_from_slice(&dword.to_le_bytes());
            });
        }
    }
}

fn apply_all(bytes: &mut [u8], ops: &[Op]) {
    for op in ops {
        apply(bytes, op);
    }
}

fn pm4(target: Pm4, ops: &[Op]) -> Vec<u32> {
    let add = |stream: Stream<_>, op: &Op| match *op {
        Op::Copy { to, from, bytes } => {
            stream.add(CpDma::copy(target.level, va(DATA + to), va(DATA + from), bytes as u32))
        }
        Op::Fill { to, pattern, bytes } => stream.add(CpDma::fill(target.level, va(DATA + to), pattern, bytes as u32)),
        Op::Write { to, ref data } => stream.add(WriteData::new(va(DATA + to), data)),
    };
    ops.iter().fold(Stream::new(target), add).padded()
}

fn sdma(version: Version, ops: &[Op]) -> Vec<u32> {
    let add = |stream: Stream<_>, op: &Op| match *op {
        Op::Copy { to, from, bytes } => stream.add(CopyLinear::new(va(DATA + to), va(DATA + from), bytes as u32)),
        Op::Fill { to, pattern, bytes } => {
            let whole = to % 4 == 0 && bytes % 4 == 0;
            let size = if whole { FillSize::Dword } else { FillSize::Byte };
            stream.add(ConstFill { to: va(DATA + to), pattern, bytes: bytes as u32, size })
        }
        Op::Write { to, ref data } => stream.add(WriteLinear { to: va(DATA + to), data }),
    };
    ops.iter().fold(Stream::new(version), add).padded()
}

/// Returns the data after the stream, on a memory that held `start`.
fn run(target: Target, start: &[u8], stream: &[u32]) -> Vec<u8> {
    let rig = Rig::new();
    rig.memory.write(va(DATA), start).unwrap();
    rig.run(&mut Engine::new(target), stream).unwrap();
    let mut end = vec![0; start.len()];
    rig.memory.read(va(DATA), &mut end).unwrap();
    assert!(rig.faults().is_empty());
    end
}

proptest! {
    #[test]
    fn every_ring_does_to_memory_what_an_array_of_bytes_says(
        start in vec(any::<u8>(), LEN as usize),
        ops in vec(op(), 0..20),
        target in select(Pm4::all().collect::<Vec<_>>()),
        version in select(&Version::ALL[..]),
    ) {
        let mut expected = start.clone();
        apply_all(&mut expected, &ops);
        prop_assert_eq!(run(target.into(), &start, &pm4(target, &ops)), expected);

        let ops: Vec<_> = ops.into_iter().map(|op| if version == Version::V1_0 { in_dwords(op) } else { op }).collect();
        let mut expected = start.clone();
        apply_all(&mut expected, &ops);
        prop_assert_eq!(run(version.into(), &start, &sdma(version, &ops)), expected);
    }

    /// Known headers with random dwords behind them: whatever they mean, the engine comes to an end.
    #[test]
    fn any_stream_ends_in_a_result(
        ib in vec(prop_oneof![
            (select(&[0x10u32, 0x37, 0x3c, 0x3f, 0x40, 0x41, 0x46, 0x49, 0x50, 0x58][..]), 0..7u32)
                .prop_map(|(op, count)| 3 << 30 | count << 16 | op << 8),
            select(&[0, 1, 2, 5, 8, 11, 0x20d, 0x10_0500, BASE as u32, DATA as u32][..]),
            any::<u32>(),
        ], 0..60),
        target in select(Pm4::all().map(Target::Pm4).chain(Version::ALL.map(Target::Sdma)).collect::<Vec<_>>()),
    ) {
        let rig = Rig::new();
        if let Err(stop) = rig.run(&mut Engine::new(target), &ib) {
            prop_assert!(!stop.to_string().is_empty());
        }
    }
}
