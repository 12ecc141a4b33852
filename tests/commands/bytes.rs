//! Copies, fills and updates against a plain array of bytes.

use amdgpu_winsys::{
    cs::{
        commands::{Barrier, Commands, Span},
        pm4::{CpDma, WriteData},
        sdma::Version,
    },
    winsys::{GfxLevel, Ip},
};
use proptest::prelude::*;

use crate::{
    rig::{IPS, Rig},
    support::{chips, device, host_memory},
};

/// Bytes of the memory: enough for the limits of the packets that are short of a few MiB.
const SIZE: u64 = 5 << 20;
const HALF: u64 = SIZE / 2;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// From one half to the other.
    Copy {
        to: u64,
        from: u64,
        bytes: u64,
        is_up: bool,
    },
    Fill {
        to: u64,
        pattern: u32,
        bytes: u64,
    },
    Update {
        to: u64,
        seed: u32,
        dwords: u64,
    },
}

/// Lengths that mean something to some packet, give or take a few bytes.
fn length() -> impl Strategy<Value = u64> {
    let limits: Vec<u64> = GfxLevel::ALL
        .into_iter()
        .map(|level| CpDma::max_chunk_bytes(level).into())
        .chain(Version::ALL.into_iter().flat_map(|v| [v.max_copy_bytes(), v.max_fill_bytes()]).map(u64::from))
        .filter(|&limit| limit < HALF / 2)
        .collect();
    let near = (prop::sample::select(limits), 0..24_u64).prop_map(|(limit, more)| limit - 12 + more);
    prop_oneof![6 => 1..300_u64, 2 => 1..70_000_u64, 1 => near]
}

fn op() -> impl Strategy<Value = Op> {
    let copy = (0..HALF, 0..HALF, length(), any::<bool>()).prop_map(|(to, from, bytes, is_up)| Op::Copy {
        to,
        from,
        bytes: bytes.min(HALF - to.max(from)),
        is_up,
    });
    let fill = (0..SIZE / 4, any::<u32>(), length()).prop_map(|(to, pattern, bytes)| Op::Fill {
        to: 4 * to,
        pattern,
        bytes: bytes.next_multiple_of(4).min(SIZE - 4 * to),
    });
    // Up to three packets.
    let update = (0..SIZE / 4, any::<u32>(), prop_oneof![1..40_u64, 16_370..16_390_u64, 32_000..33_000_u64])
        .prop_map(|(to, seed, dwords)| Op::Update { to: 4 * to, seed, dwords: dwords.min(SIZE / 4 - to) });
    prop_oneof![3 => copy, 1 => fill, 1 => update]
}

fn data(seed: u32, dwords: u64) -> Vec<u32> {
    (0..dwords as u32).map(|at| seed.wrapping_mul(at | 1).rotate_left(at)).collect()
}

pub(crate) fn record(commands: &mut dyn Commands, span: &dyn Fn(u64, u64) -> Span, op: Op) {
    let done = match op {
        Op::Copy { to, from, bytes, is_up } => {
            let (to, from) = if is_up { (to + HALF, from) } else { (to, from + HALF) };
            commands.copy(span(to, bytes), span(from, bytes))
        }
        Op::Fill { to, pattern, bytes } => commands.fill(span(to, bytes), pattern),
        Op::Update { to, seed, dwords } => commands.update(span(to, 4 * dwords), &data(seed, dwords)),
    };
    done.and_then(|()| commands.barrier(Barrier::TRANSFER)).unwrap();
}

/// The same on plain bytes.
pub(crate) fn model(memory: &mut [u8], op: Op) {
    let range = |at: u64, bytes: u64| at as usize..(at + bytes) as usize;
    match op {
        Op::Copy { to, from, bytes, is_up } => {
            let (to, from) = if is_up { (to + HALF, from) } else { (to, from + HALF) };
            memory.copy_within(range(from, bytes), to as usize);
        }
        Op::Fill { to, pattern, bytes } => {
            memory[range(to, bytes)].chunks_mut(4).for_each(|dword| dword.copy_from_slice(&pattern.to_le_bytes()));
        }
        Op::Update { to, seed, dwords } => {
            let bytes: Vec<_> = data(seed, dwords).into_iter().flat_map(u32::to_le_bytes).collect();
            memory[range(to, 4 * dwords)].copy_from_slice(&bytes);
        }
    }
}

fn noise() -> Vec<u8> {
    (0..SIZE as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn first_difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    found.iter().zip(expected).position(|(found, expected)| found != expected)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_sequence_of_copies_fills_and_updates_leaves_what_plain_bytes_would_hold(
        ops in prop::collection::vec(op(), 1..14),
        name in prop::sample::select(chips()),
    ) {
        let device = device(name);
        let memory = host_memory(&device, SIZE);
        let mut expected = noise();
        for &op in &ops {
            model(&mut expected, op);
        }
        for ip in IPS {
            memory.mapping().unwrap().write(0, &noise()).unwrap();
            let rig = Rig::new(&device, &memory, ip);
            let span = |offset, bytes| rig.span(offset, bytes);
            rig.run(|commands| ops.iter().for_each(|&op| record(commands, &span, op)));
            prop_assert_eq!(first_difference(&rig.bytes(), &expected), None, "{} {}", name, ip);
        }
    }
}

#[test]
fn lengths_and_places_around_every_limit_of_every_chip_and_ring() {
    for name in chips() {
        let device = device(name);
        let level = device.info().gfx_level;
        let memory = host_memory(&device, SIZE);
        for ip in IPS {
            let version = Version::of(level);
            let (copy, fill) = match ip {
                Ip::Sdma => (version.max_copy_bytes(), version.max_fill_bytes()),
                _ => (CpDma::max_chunk_bytes(level), CpDma::max_chunk_bytes(level)),
            };
            let limits = [u64::from(copy), u64::from(fill), 4096].map(|limit| limit.min(HALF - 64));
            let mut ops = Vec::new();
            for (at, limit) in limits.into_iter().enumerate() {
                for more in [0, 1, 35] {
                    let bytes = limit - 1 + more;
                    let (to, from) = ((at as u64 + more) % 7, more % 5);
                    ops.push(Op::Copy { to, from, bytes, is_up: more % 2 == 0 });
                }
                ops.push(Op::Fill { to: 4, pattern: 0x0102_0304, bytes: limit & !3 });
                ops.push(Op::Fill { to: 64, pattern: 0xa5b6_c7d8, bytes: (limit & !3) + 4 });
            }
            // One packet, exactly full ones, and one dword more.
            for (to, packets) in [(8, 1), (HALF, 2)] {
                for dwords in [
                    1,
                    packets * WriteData::MAX_DATA - 1,
                    packets * WriteData::MAX_DATA,
                    packets * WriteData::MAX_DATA + 1,
                ] {
                    ops.push(Op::Update { to, seed: 0x0bad_cafe + dwords as u32, dwords: dwords as u64 });
                }
            }
            memory.mapping().unwrap().write(0, &noise()).unwrap();
            let mut expected = noise();
            for &op in &ops {
                model(&mut expected, op);
            }
            let rig = Rig::new(&device, &memory, ip);
            let span = |offset, bytes| rig.span(offset, bytes);
            rig.run(|commands| ops.iter().for_each(|&op| record(commands, &span, op)));
            assert_eq!(first_difference(&rig.bytes(), &expected), None, "{name} {ip}");
        }
    }
}
