//! Several devices of one GPU in one process, on one thread and on several, and one device on several threads: drivers share what
//! is below them.

use std::{collections::VecDeque, thread};

use ash::vk::ExternalMemoryHandleTypeFlags as Handles;

use super::{
    check::Check,
    copies::{COPY, pattern},
};
use crate::{
    gpu::{Gpu, HandleType, MemoryPlace, Order, QueueKind, SharedGpu, Source},
    outcome::{ErrorContext, Outcome, Stop, fail, same_bytes, skip},
};

/// Bytes that are copied: what RADV copies without a shader.
const BYTES: usize = COPY as usize;
const THREADS: u8 = 4;
const ROUNDS: u8 = 24;
/// Buffers that a thread keeps, so that memory is freed in another order than it was allocated.
const KEPT: usize = 5;

pub(super) const CHECKS: &[Check] = &[
    Check::once("devices.two", "two devices of a GPU work side by side, and either goes on without the other", two),
    Check::once("devices.share", "two devices of a process share memory and a semaphore by descriptor", share),
    Check::once("devices.threads", "four threads with a device each allocate, copy and free at once", threads)
        .unordered(),
    Check::once("devices.shared", "four threads with one device allocate, copy and free at once", shared).unordered(),
];

/// Copies a pattern into device memory and back, on a queue of a kind.
fn round_trip(gpu: &Gpu, kind: QueueKind, seed: u8) -> Result<(), Stop> {
    let make = |place| gpu.buffer(BYTES as u64, place).context("make a buffer");
    let (source, between, target) = (make(MemoryPlace::Host)?, make(MemoryPlace::Device)?, make(MemoryPlace::Host)?);
    source.memory().write(0, &pattern(BYTES, seed));
    let work = gpu.submit(gpu.need(kind)?, &Order::free(), |record| {
        record.copy((&source, 0), (&between, 0), COPY);
        record.barrier();
        record.copy((&between, 0), (&target, 0), COPY);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    same_bytes("what came back", &target.memory().read(0, BYTES), &pattern(BYTES, seed))
}

fn two(gpu: &Gpu) -> Outcome {
    gpu.need(QueueKind::Graphics)?;
    let second = Gpu::open(gpu.any_device)?;
    // What one has allocated stays where it is whatever the other does.
    let lasting = gpu.buffer(BYTES as u64, MemoryPlace::Host).context("make a buffer")?;
    lasting.memory().write(0, &pattern(BYTES, 200));
    for seed in 1..=4 {
        round_trip(gpu, QueueKind::Graphics, seed)?;
        round_trip(&second, QueueKind::Graphics, seed + 100)?;
    }
    drop(second);
    round_trip(gpu, QueueKind::Graphics, 5)?;
    let third = Gpu::open(gpu.any_device)?;
    round_trip(&third, QueueKind::Graphics, 6)?;
    same_bytes("memory of the first", &lasting.memory().read(0, BYTES), &pattern(BYTES, 200))?;
    Ok(format!("{BYTES} bytes each time, on three devices, two at a time"))
}

fn share(gpu: &Gpu) -> Outcome {
    if gpu.extensions.memory_fd.is_none() || gpu.extensions.semaphore_fd.is_none() {
        return skip("no VK_KHR_external_memory_fd or no VK_KHR_external_semaphore_fd");
    }
    let second = Gpu::open(gpu.any_device)?;
    let what = HandleType::Opaque;
    let written = gpu.exportable(COPY, MemoryPlace::Device, what).context("make a shared buffer")?;
    let descriptor = written.memory().export(what).context("export memory")?;
    let (size, kind) = (written.memory().size, written.memory().kind);
    let memory = second.allocate(size, kind, Source::Descriptor(what, descriptor)).context("import memory")?;
    let read = second.on(memory, Handles::OPAQUE_FD).context("bind")?;
    let done = gpu.binary(Some(what)).context("make a semaphore")?;
    let awaited = second.binary(None).context("make a semaphore")?;
    let Some(descriptor) = done.export(what).context("export a semaphore")? else {
        return fail("an opaque semaphore has no descriptor");
    };
    awaited.import(what, descriptor).context("import a semaphore")?;

    let (source, target) = (
        gpu.buffer(COPY, MemoryPlace::Host).context("make a buffer")?,
        second.buffer(COPY, MemoryPlace::Host).context("make a buffer")?,
    );
    source.memory().write(0, &pattern(BYTES, 7));
    let order = Order::free().then(&done, 0);
    let write = gpu.submit(gpu.need(QueueKind::Graphics)?, &order, |record| {
        record.copy((&source, 0), (&written, 0), COPY);
        record.barrier();
    });
    let write = write.context("submit")?;
    let order = Order::free().after(&awaited, 0);
    let copy = second.submit(second.need(QueueKind::Graphics)?, &order, |record| {
        record.copy((&read, 0), (&target, 0), COPY);
        record.barrier();
    });
    copy.context("submit")?.finish().context("finish")?;
    write.finish().context("finish")?;
    same_bytes("what the second has read", &target.memory().read(0, BYTES), &pattern(BYTES, 7))?;
    Ok(format!("{BYTES} bytes, memory type {kind}"))
}

/// The rounds of one thread: memory comes and goes, and patterns are copied there and back on one queue after the other.
fn rounds(gpu: &Gpu, thread: u8) -> Result<(), Stop> {
    let kinds: Vec<_> =
        [QueueKind::Graphics, QueueKind::Compute].into_iter().filter(|&kind| gpu.lane(kind).is_some()).collect();
    let mut kept = VecDeque::new();
    for (round, kind) in (0..ROUNDS).zip(kinds.iter().cycle()) {
        let seed = thread * ROUNDS + round;
        let size = u64::from(round % 7 + 1) << 14;
        let own = gpu.buffer(size, MemoryPlace::Host).context("make a buffer")?;
        own.memory().write(0, &pattern(64, seed));
        kept.push_back((own, seed));
        round_trip(gpu, *kind, seed)?;
        if kept.len() > KEPT
            && let Some((oldest, seed)) = kept.pop_front()
        {
            same_bytes("memory of this thread", &oldest.memory().read(0, 64), &pattern(64, seed))?;
        }
    }
    Ok(())
}

/// Runs the work of each thread, and returns what the check says when all are done.
fn on_threads(work: impl Fn(u8) -> Result<(), Stop> + Sync) -> Outcome {
    thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        let ended: Vec<_> = running.into_iter().map(thread::ScopedJoinHandle::join).collect();
        for outcome in ended {
            match outcome {
                Ok(outcome) => outcome?,
                Err(_) => return fail("a thread has panicked"),
            }
        }
        Ok(format!("{ROUNDS} rounds on each of {THREADS} threads, {BYTES} bytes there and back"))
    })
}

fn threads(gpu: &Gpu) -> Outcome {
    let any_device = gpu.any_device;
    on_threads(|thread| rounds(&Gpu::open(any_device)?, thread))
}

fn shared(gpu: &Gpu) -> Outcome {
    let device = SharedGpu::new(gpu);
    on_threads(|thread| rounds(device.gpu(), thread))
}
