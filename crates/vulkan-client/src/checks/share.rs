//! Memory, semaphores and fences shared with another process.

use std::time::Duration;

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Gpu, HandleType, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, same, same_bytes, skip},
    peer::{OURS, Peer, Request, SHARED, THEIRS},
};

/// Long enough for another process to start its driver on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) const CHECKS: &[Check] = &[
    Check::once("share.memory.opaque", "another process reads and writes our memory (opaque descriptor)", opaque),
    Check::once("share.memory.dma_buf", "another process reads and writes our memory (dma-buf)", dma_buf),
    Check::once("share.memory.twice", "one memory imported twice in one process has the same bytes", twice),
    Check::once("share.semaphore.opaque", "another process waits for our binary semaphore", binary),
    Check::once("share.semaphore.timeline", "two processes move one timeline in turns", timeline),
    Check::once("share.semaphore.sync_file", "another process waits for our work by sync file", sync_file),
    Check::once("share.fence.opaque", "another process waits for our fence", fence),
    Check::once("share.fence.sync_file", "another process waits for our work by a fence's sync file", fence_file),
];

fn opaque(gpu: &Gpu) -> Outcome {
    memory(gpu, HandleType::Opaque)
}

fn dma_buf(gpu: &Gpu) -> Outcome {
    if !gpu.extensions.dma_buf {
        return skip("no VK_EXT_external_memory_dma_buf");
    }
    memory(gpu, HandleType::DmaBuf)
}

fn memory(gpu: &Gpu, what: HandleType) -> Outcome {
    if gpu.extensions.memory_fd.is_none() {
        return skip("no VK_KHR_external_memory_fd");
    }
    let lane = gpu.need(QueueKind::Graphics)?;
    let shared = match gpu.exportable(SHARED, MemoryPlace::Device, what) {
        Err(error) if !gpu.is_amd() => return skip(format!("this driver does not allocate it here: {error}")),
        shared => shared.context("make a shared buffer")?,
    };
    let host = gpu.buffer(SHARED, MemoryPlace::Host).context("make a buffer")?;
    host.memory().write(0, &pattern(SHARED as usize, OURS));
    let fill = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&host, 0), (&shared, 0), SHARED);
        record.barrier();
    });
    fill.context("submit")?.finish().context("finish")?;
    let (size, kind) = (shared.memory().size, shared.memory().kind);
    let descriptor = shared.memory().export(what).context("export")?;

    let peer = Peer::start(gpu.any_device)?;
    peer.ask(Request::Memory { what, size, kind }, Some(descriptor))?;
    peer.answer(PATIENCE)?;

    let back = gpu.submit(lane, &Order::free(), |record| {
        record.copy((&shared, 0), (&host, 0), SHARED);
        record.barrier();
    });
    back.context("submit")?.finish().context("finish")?;
    same_bytes("what the other wrote", &host.memory().read(0, SHARED as usize), &pattern(SHARED as usize, THEIRS))?;
    Ok(format!("{SHARED} bytes each way, memory type {kind}"))
}

fn twice(gpu: &Gpu) -> Outcome {
    if gpu.extensions.memory_fd.is_none() {
        return skip("no VK_KHR_external_memory_fd");
    }
    let lane = gpu.need(QueueKind::Graphics)?;
    let what = HandleType::Opaque;
    let first = gpu.exportable(SHARED, MemoryPlace::Device, what).context("make a shared buffer")?;
    let descriptor = first.memory().export(what).context("export")?;
    let source = crate::gpu::Source::Descriptor(what, descriptor);
    let memory = gpu.allocate(first.memory().size, first.memory().kind, source).context("import")?;
    let second = gpu.on(memory, ash::vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD).context("bind")?;
    let host = gpu.buffer(SHARED, MemoryPlace::Host).context("make a buffer")?;
    let bytes = pattern(1000, OURS);
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.update(&first, 0, &bytes);
        record.barrier();
        record.copy((&second, 0), (&host, 0), 1000);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    same_bytes("the second name's bytes", &host.memory().read(0, 1000), &bytes)?;
    Ok("1000 bytes".into())
}

fn need_semaphores(gpu: &Gpu) -> Result<(), Stop> {
    if gpu.extensions.semaphore_fd.is_none() { skip("no VK_KHR_external_semaphore_fd") } else { Ok(()) }
}

fn need_fences(gpu: &Gpu) -> Result<(), Stop> {
    if gpu.extensions.fence_fd.is_none() { skip("no VK_KHR_external_fence_fd") } else { Ok(()) }
}

fn binary(gpu: &Gpu) -> Outcome {
    need_semaphores(gpu)?;
    let lane = gpu.need(QueueKind::Graphics)?;
    let semaphore = gpu.binary(Some(HandleType::Opaque)).context("make a semaphore")?;
    let descriptor = semaphore.export(HandleType::Opaque).context("export")?;
    let work = gpu.submit(lane, &Order::free().then(&semaphore, 0), |_| {}).context("submit")?;
    let peer = Peer::start(gpu.any_device)?;
    peer.ask(Request::Binary, descriptor)?;
    peer.answer(PATIENCE)?;
    work.finish().context("finish")?;
    Ok("signalled here, waited for there".into())
}

/// We reach 1 by a queue, the other waits for that and reaches 2 by a queue, we wait for that.
fn timeline(gpu: &Gpu) -> Outcome {
    need_semaphores(gpu)?;
    let lane = gpu.need(QueueKind::Graphics)?;
    let line = gpu.timeline(0, Some(HandleType::Opaque)).context("make a semaphore")?;
    let descriptor = line.export(HandleType::Opaque).context("export")?;
    let peer = Peer::start(gpu.any_device)?;
    peer.ask(Request::Timeline, descriptor)?;
    let work = gpu.submit(lane, &Order::free().then(&line, 1), |_| {}).context("submit")?;
    let reached = line.wait(2, PATIENCE);
    peer.answer(PATIENCE)?;
    work.finish().context("finish")?;
    same("waiting for the other's value", reached, Ok(()))?;
    same("the timeline", line.value(), Ok(2))?;
    Ok("1 here, 2 there".into())
}

fn sync_file(gpu: &Gpu) -> Outcome {
    need_semaphores(gpu)?;
    let lane = gpu.need(QueueKind::Graphics)?;
    let semaphore = gpu.binary(Some(HandleType::SyncFile)).context("make a semaphore")?;
    let work = gpu.submit(lane, &Order::free().then(&semaphore, 0), |_| {}).context("submit")?;
    let Some(descriptor) = semaphore.export(HandleType::SyncFile).context("export")? else {
        return skip("the driver says at once that the work is done (-1)");
    };
    let peer = Peer::start(gpu.any_device)?;
    peer.ask(Request::SyncFile, Some(descriptor))?;
    peer.answer(PATIENCE)?;
    work.finish().context("finish")?;
    Ok("exported here, waited for there".into())
}

fn fence(gpu: &Gpu) -> Outcome {
    need_fences(gpu)?;
    let lane = gpu.need(QueueKind::Graphics)?;
    let fence = gpu.fence(Some(HandleType::Opaque)).context("make a fence")?;
    let descriptor = fence.export(HandleType::Opaque).context("export")?;
    let peer = Peer::start(gpu.any_device)?;
    gpu.signal_after_all(lane, &fence).context("submit")?;
    peer.ask(Request::Fence(HandleType::Opaque), descriptor)?;
    let answer = peer.answer(PATIENCE);
    fence.wait(PATIENCE).context("wait here")?;
    answer?;
    Ok("signalled here, waited for there".into())
}

fn fence_file(gpu: &Gpu) -> Outcome {
    need_fences(gpu)?;
    let lane = gpu.need(QueueKind::Graphics)?;
    let fence = gpu.fence(Some(HandleType::SyncFile)).context("make a fence")?;
    gpu.signal_after_all(lane, &fence).context("submit")?;
    let Some(descriptor) = fence.export(HandleType::SyncFile).context("export")? else {
        return skip("the driver says at once that the work is done (-1)");
    };
    let left_signalled = fence.is_signalled();
    let peer = Peer::start(gpu.any_device)?;
    peer.ask(Request::Fence(HandleType::SyncFile), Some(descriptor))?;
    peer.answer(PATIENCE)?;
    same("exporting a sync file resets the fence: signalled", left_signalled, Ok(false))?;
    Ok("exported here, waited for there".into())
}
