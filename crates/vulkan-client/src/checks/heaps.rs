//! Heaps: running out of them, and the figures about them.

use ash::vk::Result as Answer;

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Gpu, Memory, MemoryPlace, Order, QueueKind, Source},
    outcome::{ErrorContext, Outcome, Stop, ensure, same, same_bytes, skip},
};

pub(super) const CHECKS: &[Check] = &[
    Check::once(
        "heap.exhaust",
        "allocating until the memory is out ends in the right error, and all of it returns",
        exhaust,
    ),
    Check::once("heap.too_large", "one allocation above the largest heap is refused", too_large),
    Check::once("budget.moves", "a heap's usage rises and falls by what is allocated and freed", budget),
];

/// Bytes of one allocation of the exhaustion.
const PIECE: u64 = 256 << 20;
/// Pieces after which the driver is believed never to refuse: 1 TiB.
const ENDLESS: usize = 4096;

fn device_type(gpu: &Gpu) -> Result<u32, Stop> {
    gpu.memory_type(u32::MAX, MemoryPlace::Device).map_or_else(|| skip("no device-local memory type"), Ok)
}

/// Allocates pieces until refused: how many there were, and the refusal.
fn take_all(gpu: &Gpu, kind: u32) -> (Vec<Memory<'_>>, Option<Answer>) {
    let mut pieces = Vec::new();
    while pieces.len() < ENDLESS {
        match gpu.allocate(PIECE, kind, Source::Fresh) {
            Ok(piece) => pieces.push(piece),
            Err(refusal) => return (pieces, Some(refusal)),
        }
    }
    (pieces, None)
}

fn exhaust(gpu: &Gpu) -> Outcome {
    let kind = device_type(gpu)?;
    let (_, heap) = gpu.heap_of(kind);
    let mut counts = Vec::new();
    for _ in 0..2 {
        let (pieces, refusal) = take_all(gpu, kind);
        counts.push(pieces.len());
        let Some(refusal) = refusal else { return skip("a tebibyte was not refused: this driver commits late") };
        same("the refusal", refusal, Answer::ERROR_OUT_OF_DEVICE_MEMORY)?;
        drop(pieces);
        still_works(gpu)?;
    }
    let taken = counts.first().copied().unwrap_or(0) as u64 * PIECE;
    ensure(taken * 2 >= heap, || format!("refused after {taken} of {heap} bytes"))?;
    ensure(counts.first() == counts.last(), || format!("pieces the first and the second time: {counts:?}"))?;
    Ok(format!("{} MiB of a heap of {} MiB, twice", taken >> 20, heap >> 20))
}

/// Copies something through new device memory.
fn still_works(gpu: &Gpu) -> Result<(), Stop> {
    let lane = gpu.need(QueueKind::Graphics)?;
    let between = gpu.buffer(1024, MemoryPlace::Device).context("make a buffer afterwards")?;
    let target = gpu.buffer(1024, MemoryPlace::Host).context("make a buffer afterwards")?;
    let bytes = pattern(1000, 1);
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.update(&between, 0, &bytes);
        record.barrier();
        record.copy((&between, 0), (&target, 0), 1000);
        record.barrier();
    });
    work.context("submit afterwards")?.finish().context("finish afterwards")?;
    same_bytes("a copy afterwards", &target.memory().read(0, 1000), &bytes)
}

fn too_large(gpu: &Gpu) -> Outcome {
    let kind = device_type(gpu)?;
    let size = 1_u64 << 46;
    let out = [Answer::ERROR_OUT_OF_DEVICE_MEMORY, Answer::ERROR_OUT_OF_HOST_MEMORY];
    let refused =
        gpu.allocate(size, kind, Source::Fresh).map_or_else(|refusal| out.contains(&refusal), |_| !gpu.is_amd());
    ensure(refused, || "64 TiB were given, or refused for a reason other than memory".into())?;
    still_works(gpu)?;
    Ok("64 TiB".into())
}

fn budget(gpu: &Gpu) -> Outcome {
    const SIZE: u64 = 64 << 20;
    if !gpu.is_amd() {
        return skip("this driver may count memory when it is touched");
    }
    let mut seen = Vec::new();
    for place in [MemoryPlace::Device, MemoryPlace::Host] {
        let Some(kind) = gpu.memory_type(u32::MAX, place) else { continue };
        let (heap, _) = gpu.heap_of(kind);
        let before = figures(gpu, heap)?;
        let memory = gpu.allocate(SIZE, kind, Source::Fresh).context("allocate")?;
        let during = figures(gpu, heap)?;
        drop(memory);
        let after = figures(gpu, heap)?;
        let rose = during.0.wrapping_sub(before.0);
        ensure(rose == SIZE, || format!("heap {heap} went from {} to {}, not up by {SIZE}", before.0, during.0))?;
        same(&format!("usage of heap {heap} after freeing"), after.0, before.0)?;
        ensure(during.1 >= during.0, || format!("heap {heap}: budget {} below usage {}", during.1, during.0))?;
        seen.push(heap);
    }
    Ok(format!("{SIZE} bytes up and down on heaps {seen:?}"))
}

/// Usage and budget of a heap.
fn figures(gpu: &Gpu, heap: usize) -> Result<(u64, u64), Stop> {
    let Some(budget) = gpu.budget() else { return skip("no VK_EXT_memory_budget") };
    match (budget.usage.get(heap), budget.budget.get(heap)) {
        (Some(&usage), Some(&budget)) => Ok((usage, budget)),
        _ => skip("the heap has no figures"),
    }
}
