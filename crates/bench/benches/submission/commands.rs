//! Recording: room in a stream, and commands, each against storing the same number of dwords into plain memory in the same run.

use std::hint::black_box;

use amdgpu_winsys::{
    cs::{
        Stream,
        commands::{Commands, Point, Recorder, Span},
        pm4, sdma,
    },
    vamgr::GpuVa,
    winsys::Device,
};

use super::{compare, row, timed};

const PACKETS: u32 = 20_000;

/// The time of storing `N` dwords, `PACKETS` times, one piece behind the other.
fn plain<const N: usize>(memory: &mut [u32]) -> f64 {
    timed(|| {
        for (packet, value) in memory.as_chunks_mut::<N>().0.iter_mut().zip(black_box(0)..) {
            *packet = dwords(value);
        }
        black_box(memory);
    })
}

/// Dwords that depend on the packet, and cost next to nothing.
fn dwords<const N: usize>(value: u32) -> [u32; N] {
    let mut dwords = [value; N];
    dwords[0] = 0xc000_1000 | (N as u32 - 2) << 16;
    dwords
}

/// A stream with room for all of it.
fn stream(device: &Device, dwords: usize) -> Stream<pm4::Target> {
    Stream::new(device, pm4::Target::gfx(device.info().gfx_level), dwords).expect("a stream")
}

fn room<const N: usize>(device: &Device) {
    // The number that one IB holds.
    let packets = PACKETS.min(1_000_000 / N as u32);
    let all = N * packets as usize;
    let mut stream = stream(device, all);
    let mut memory = vec![0_u32; all];
    let mut through_room = || {
        stream.clear();
        timed(|| {
            for value in black_box(0)..packets {
                *stream.room::<N>() = dwords(value);
            }
            black_box(&mut stream);
        })
    };
    // Pages are touched before anything is measured.
    through_room();
    plain::<N>(&mut memory);
    let floor = || plain::<N>(&mut memory);
    row(&format!("room for {N} dwords"), packets, "packet", compare(through_room, floor), "plain stores");
    let mut stream = self::stream(device, all);
    let through_reserve = || {
        stream.clear();
        timed(|| {
            for value in black_box(0)..packets {
                stream.reserve(N).expect("room").copy_from_slice(&dwords::<N>(value));
            }
            black_box(&mut stream);
        })
    };
    let floor = || plain::<N>(&mut memory);
    row(&format!("reserve {N} dwords"), packets, "packet", compare(through_reserve, floor), "plain stores");
}

/// Packets of `N` dwords, a thousand at a time.
fn burst<const N: usize>(device: &Device) {
    let all = N * PACKETS as usize;
    let mut stream = stream(device, all);
    let mut memory = vec![0_u32; all];
    let mut through_burst = || {
        stream.clear();
        timed(|| {
            for start in (black_box(0)..PACKETS).step_by(1000) {
                let mut writer = stream.packet_writer(1000 * N).expect("room");
                for value in start..start + 1000 {
                    writer.put::<N>(dwords(value)).expect("room");
                }
            }
            black_box(&mut stream);
        })
    };
    through_burst();
    plain::<N>(&mut memory);
    let floor = || plain::<N>(&mut memory);
    row(&format!("a burst of {N} dwords each"), PACKETS, "packet", compare(through_burst, floor), "plain stores");
}

/// One command, which becomes `N` dwords.
fn command<const N: usize>(name: &str, clear: &mut dyn FnMut(), mut record: impl FnMut(u32), len: impl Fn() -> usize) {
    clear();
    record(0);
    let dwords = len();
    assert_eq!(dwords, N, "{name}");
    let mut memory = vec![0_u32; N * PACKETS as usize];
    let ours = || {
        clear();
        timed(|| (0..PACKETS).for_each(&mut record))
    };
    let times = compare(ours, || plain::<N>(&mut memory));
    row(name, PACKETS, "command", times, &format!("storing {N} dwords"));
}

/// Commands on the graphics ring and the copy engine.
fn commands(device: &Device) {
    use std::cell::RefCell;
    let va = |offset| GpuVa::new(0x1234_5678_0000 + offset).expect("an address of the low half");
    let span = |offset, bytes| Span::new(va(offset), bytes).expect("a range");
    let gfx = RefCell::new(Recorder::new(stream(device, 20 * PACKETS as usize)));
    let len = || gfx.borrow().stream().len();
    let mut clear = || gfx.borrow_mut().clear();
    command::<7>(
        "copy 256 bytes, CP DMA",
        &mut clear,
        |at| {
            gfx.borrow_mut().copy(span(u64::from(at), 256), span(1 << 30, 256)).expect("room");
        },
        len,
    );
    command::<12>(
        "update 8 dwords, ME",
        &mut clear,
        |value| {
            gfx.borrow_mut().update(span(0, 32), &[value; 8]).expect("room");
        },
        len,
    );
    command::<6>(
        "timestamp at the top, ME",
        &mut clear,
        |at| {
            gfx.borrow_mut().timestamp(va(8 * u64::from(at)), Point::Top).expect("room");
        },
        len,
    );
    command::<8>(
        "timestamp at the bottom, ME",
        &mut clear,
        |at| {
            gfx.borrow_mut().timestamp(va(8 * u64::from(at)), Point::Bottom).expect("room");
        },
        len,
    );
    let version = sdma::Version::of(device.info().gfx_level);
    let copies = Stream::new(device, version, 20 * PACKETS as usize).expect("a stream");
    let copies = RefCell::new(Recorder::new(copies));
    let len = || copies.borrow().stream().len();
    let mut clear = || copies.borrow_mut().clear();
    command::<7>(
        "copy 256 bytes, copy engine",
        &mut clear,
        |at| {
            copies.borrow_mut().copy(span(4 * u64::from(at), 256), span(1 << 30, 256)).expect("room");
        },
        len,
    );
}

pub(super) fn run(device: &Device) {
    room::<2>(device);
    room::<6>(device);
    room::<32>(device);
    room::<256>(device);
    burst::<2>(device);
    burst::<6>(device);
    commands(device);
}
