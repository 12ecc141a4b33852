//! Updates, fills and copies, with the data checked.
//!
//! Sizes stay below what RADV does with compute shaders of its own, except that of `copy.large`; `checks::shaders` has the others. In Mesa 25.0.7 a fill or a copy of 4096 bytes or more on a graphics or compute queue is a dispatch, unless a
//! copy is unaligned, or one side is system memory of a discrete GFX10 or newer (`radv_meta_buffer.c`, `radv_fill_buffer`
//! and `radv_copy_buffer`); an update of 1024 bytes or more is such a copy (`radv_update_buffer_cp` serves what is below).
//! A transfer queue copies with SDMA whatever the size.

use super::check::Check;
use crate::{
    gpu::{Buffer, Gpu, Lane, MemoryPlace, Order},
    outcome::{ErrorContext, Outcome, Stop, same_bytes},
};

/// Bytes of the buffers here, above every single operation.
const ROOM: u64 = 8192;
/// The most bytes that RADV fills or copies without a shader.
pub(crate) const COPY: u64 = 4092;
/// The most bytes that RADV updates without a shader.
pub(crate) const UPDATE: usize = 1020;
/// Fill pattern of a buffer before a check touches it.
const BEFORE: u8 = 0x5a;

pub(super) const CHECKS: &[Check] = &[
    Check::each("copy.update", "vkCmdUpdateBuffer writes its bytes and no others", update),
    Check::each("copy.fill", "vkCmdFillBuffer repeats its dword over its range and nowhere else", fill),
    Check::each("copy.copy", "vkCmdCopyBuffer carries bytes from the CPU to device memory and back", copy),
    Check::each("copy.odd", "a copy of odd size between odd offsets moves exactly those bytes", odd),
    Check::each("copy.chain", "what a barrier separates happens in order", chain),
    Check::each("copy.large", "a mebibyte goes to device memory and back", large),
];

/// Bytes that look like nothing else.
pub(crate) fn pattern(len: usize, seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed) | 0x100;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// A buffer the CPU sees, full of `BEFORE`.
fn fresh(gpu: &Gpu) -> Result<Buffer<'_>, Stop> {
    let buffer = gpu.buffer(ROOM, MemoryPlace::Host).context("make a host buffer")?;
    buffer.memory().write(0, &[BEFORE; ROOM as usize]);
    Ok(buffer)
}

/// Returns the expected contents of the buffer after `bytes` were written at `at`.
fn expected(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![BEFORE; ROOM as usize];
    all.splice(at..at + bytes.len(), bytes.iter().copied());
    all
}

fn holds(buffer: &Buffer<'_>, at: usize, bytes: &[u8]) -> Result<(), Stop> {
    same_bytes("the target", &buffer.memory().read(0, ROOM as usize), &expected(at, bytes))
}

fn update(gpu: &Gpu, lane: &Lane) -> Outcome {
    let target = fresh(gpu)?;
    let bytes = pattern(UPDATE, 1);
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.update(&target, 64, &bytes);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    holds(&target, 64, &bytes)?;
    Ok(format!("{UPDATE} bytes"))
}

fn fill(gpu: &Gpu, lane: &Lane) -> Outcome {
    let target = fresh(gpu)?;
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.fill(&target, 128..128 + COPY, 0xdead_beef);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    holds(&target, 128, &0xdead_beef_u32.to_le_bytes().repeat(COPY as usize / 4))?;
    Ok(format!("{COPY} bytes"))
}

fn copy(gpu: &Gpu, lane: &Lane) -> Outcome {
    let (source, target) = (fresh(gpu)?, fresh(gpu)?);
    let between = gpu.buffer(ROOM, MemoryPlace::Device).context("make a device buffer")?;
    let bytes = pattern(COPY as usize, 2);
    source.memory().write(256, &bytes);
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&source, 256), (&between, 512), COPY);
        record.barrier();
        record.copy((&between, 512), (&target, 1024), COPY);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    holds(&target, 1024, &bytes)?;
    Ok(format!("{COPY} bytes, there and back"))
}

fn odd(gpu: &Gpu, lane: &Lane) -> Outcome {
    let (source, target) = (fresh(gpu)?, fresh(gpu)?);
    let bytes = pattern(1021, 3);
    source.memory().write(7, &bytes);
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&source, 7), (&target, 33), 1021);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    holds(&target, 33, &bytes)?;
    Ok("1021 bytes from 7 to 33".into())
}

fn chain(gpu: &Gpu, lane: &Lane) -> Outcome {
    const LINKS: u64 = 64;
    let target = fresh(gpu)?;
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.update(&target, 0, &pattern(16, 4));
        for link in 0..LINKS {
            record.barrier();
            record.copy((&target, link * 16), (&target, (link + 1) * 16), 16);
        }
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    holds(&target, 0, &pattern(16, 4).repeat(LINKS as usize + 1))?;
    Ok(format!("{LINKS} copies, each of the one before"))
}

fn large(gpu: &Gpu, lane: &Lane) -> Outcome {
    const LARGE: usize = 1 << 20;
    let make = |place| gpu.buffer(LARGE as u64, place).context("make a buffer");
    let (source, between, target) = (make(MemoryPlace::Host)?, make(MemoryPlace::Device)?, make(MemoryPlace::Host)?);
    let bytes = pattern(LARGE, 5);
    source.memory().write(0, &bytes);
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&source, 0), (&between, 0), LARGE as u64);
        record.barrier();
        record.copy((&between, 0), (&target, 0), LARGE as u64);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    same_bytes("the target", &target.memory().read(0, LARGE), &bytes)?;
    Ok("1 MiB, there and back".into())
}
