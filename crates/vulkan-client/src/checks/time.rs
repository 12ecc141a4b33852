//! Timestamps and clocks.

use ash::vk::PipelineStageFlags as Stage;
use nix::time::{ClockId, clock_gettime};

use super::check::Check;
use crate::{
    gpu::{Gpu, Lane, MemoryPlace, Order},
    outcome::{ErrorContext, Outcome, Stop, ensure, skip},
};

pub(super) const CHECKS: &[Check] = &[
    Check::each("time.order", "timestamps never go back, within a submission and across two", order),
    Check::once("time.clocks", "both calibrated clocks lie between readings around them", clocks),
    Check::once("time.between", "a queue's timestamps lie between calibrated readings around the work", between),
];

/// Four timestamps: two submissions, each before and after a fill.
fn order(gpu: &Gpu, lane: &Lane) -> Outcome {
    if lane.timestamp_bits == 0 {
        return skip("this queue has no timestamps");
    }
    let target = gpu.buffer(4096, MemoryPlace::Host).context("make a buffer")?;
    let stamps = gpu.timestamps(4).context("make a query pool")?;
    for first in [0, 2] {
        let work = gpu.submit(lane, &Order::free(), |record| {
            record.timestamp(&stamps, first, Stage::TOP_OF_PIPE);
            record.fill(&target, 0..1024, first);
            record.barrier();
            record.timestamp(&stamps, first + 1, Stage::BOTTOM_OF_PIPE);
        });
        work.context("submit")?.finish().context("finish")?;
    }
    let times = stamps.read().context("read the timestamps")?;
    ensure(times.is_sorted(), || format!("they go back: {times:?}"))?;
    ensure(times.iter().all(|&time| time != 0), || format!("one was not written: {times:?}"))?;
    Ok(format!("{times:?}, of {} ns each", gpu.properties.limits.timestamp_period))
}

fn monotonic() -> Result<u64, Stop> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).context("read the clock")?;
    Ok(now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned())
}

/// Device ticks and monotonic nanoseconds.
fn calibrated(gpu: &Gpu) -> Result<[u64; 2], Stop> {
    match gpu.clocks().context("read the clocks")? {
        Some((times, _)) => Ok(times),
        None => skip("no VK_EXT_calibrated_timestamps"),
    }
}

fn clocks(gpu: &Gpu) -> Outcome {
    let [_, _] = calibrated(gpu)?;
    let before = monotonic()?;
    let [early, inside] = calibrated(gpu)?;
    let after = monotonic()?;
    let [late, _] = calibrated(gpu)?;
    ensure(before <= inside && inside <= after, || format!("{inside} ns is not within {before}..{after}"))?;
    ensure(early <= late, || format!("the device's clock went from {early} to {late}"))?;
    Ok(format!("device {early} then {late}, monotonic {inside} ns"))
}

fn between(gpu: &Gpu) -> Outcome {
    let lane = gpu.lane(crate::gpu::QueueKind::Graphics).filter(|lane| lane.timestamp_bits == 64);
    let Some(lane) = lane else { return skip("no graphics queue with 64-bit timestamps") };
    let stamps = gpu.timestamps(1).context("make a query pool")?;
    let [before, _] = calibrated(gpu)?;
    let work = gpu.submit(lane, &Order::free(), |record| record.timestamp(&stamps, 0, Stage::BOTTOM_OF_PIPE));
    work.context("submit")?.finish().context("finish")?;
    let [after, _] = calibrated(gpu)?;
    let times = stamps.read().context("read the timestamp")?;
    ensure(times.iter().all(|time| (before..=after).contains(time)), || {
        format!("{times:?} is not within {before}..{after}")
    })?;
    Ok(format!("{times:?} within {before}..{after}"))
}
