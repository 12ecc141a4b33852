//! Fills, copies and updates of buffers, of sizes that need one packet up to those that need a shader.

use crate::{
    checks::copies::pattern,
    gpu::{Buffer, Gpu, Lane, MemoryPlace, Order},
    outcome::{ErrorContext, Outcome, Stop, same_bytes},
};

/// Bytes of the buffers here.
const ROOM: usize = 1 << 18;
/// Fill pattern of a buffer before a command.
const BEFORE: u8 = 0x5a;
/// Sizes and offsets of fills, multiples of four bytes.
const FILLS: [(usize, usize); 7] = [(4, 0), (12, 20), (4096, 0), (4100, 4), (65_536, 16), (65_548, 12), (200_004, 36)];
/// Sizes with the offsets of source and target of copies.
const COPIES: [(usize, usize, usize); 11] = [
    (1, 0, 3),
    (15, 1, 2),
    (4095, 0, 0),
    (4096, 0, 0),
    (4096, 16, 32),
    (4097, 4, 8),
    (5000, 3, 5),
    (65_536, 4, 12),
    (65_537, 16, 16),
    (65_550, 7, 7),
    (200_003, 48, 64),
];
/// Sizes and offsets of updates, multiples of four bytes up to the most that Vulkan allows.
const UPDATES: [(usize, usize); 5] = [(4, 8), (1020, 0), (1024, 4), (5004, 12), (65_536, 16)];

fn buffer<'g>(gpu: &'g Gpu, bytes: &[u8]) -> Result<Buffer<'g>, Stop> {
    let buffer = gpu.buffer(bytes.len() as u64, MemoryPlace::Host).context("make a host buffer")?;
    buffer.memory().write(0, bytes);
    Ok(buffer)
}

/// Compares the whole buffer with what it held before and the bytes at an offset.
fn holds(what: &str, target: &Buffer<'_>, at: usize, bytes: &[u8]) -> Result<(), Stop> {
    let mut expected = vec![BEFORE; ROOM];
    expected.splice(at..at + bytes.len(), bytes.iter().copied());
    same_bytes(what, &target.memory().read(0, ROOM), &expected)
}

pub(super) fn fill(gpu: &Gpu, lane: &Lane) -> Outcome {
    for (size, at) in FILLS {
        let target = buffer(gpu, &vec![BEFORE; ROOM])?;
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.fill(&target, at as u64..(at + size) as u64, 0x0123_4567);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish")?;
        holds(&format!("{size} bytes at {at}"), &target, at, &0x0123_4567_u32.to_le_bytes().repeat(size / 4))?;
    }
    Ok(format!("{} fills of up to 200004 bytes", FILLS.len()))
}

pub(super) fn copy(gpu: &Gpu, lane: &Lane) -> Outcome {
    let bytes = pattern(ROOM, 11);
    let source = buffer(gpu, &bytes)?;
    for (size, from, to) in COPIES {
        let target = buffer(gpu, &vec![BEFORE; ROOM])?;
        // Between device memory too, whose copies a driver may implement in another way.
        let [first, second] =
            [(); 2].map(|()| gpu.buffer(ROOM as u64, MemoryPlace::Device).context("make a device buffer"));
        let (first, second) = (first?, second?);
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.copy((&source, from as u64), (&first, from as u64), size as u64);
            record.barrier();
            record.copy((&first, from as u64), (&second, to as u64), size as u64);
            record.barrier();
            record.copy((&second, to as u64), (&target, to as u64), size as u64);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish")?;
        let moved = bytes.get(from..from + size).unwrap_or_default();
        holds(&format!("{size} bytes from {from} to {to}"), &target, to, moved)?;
    }
    Ok(format!("{} sizes of up to 200003 bytes, three copies each", COPIES.len()))
}

pub(super) fn update(gpu: &Gpu, lane: &Lane) -> Outcome {
    for (size, at) in UPDATES {
        let target = buffer(gpu, &vec![BEFORE; ROOM])?;
        let bytes = pattern(size, 12);
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.update(&target, at as u64, &bytes);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish")?;
        holds(&format!("{size} bytes at {at}"), &target, at, &bytes)?;
    }
    Ok(format!("{} updates of up to 65536 bytes", UPDATES.len()))
}
