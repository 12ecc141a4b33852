//! Fences.

use std::time::Duration;

use ash::vk::Result as Answer;

use super::check::Check;
use crate::{
    gpu::{Gpu, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, ends_with, same},
};

/// Long enough for work that nothing holds back.
const SOON: Duration = Duration::from_secs(20);
/// Short, for what must not happen.
const MOMENT: Duration = Duration::from_millis(30);

pub(super) const CHECKS: &[Check] = &[
    Check::once("fence.status", "a fence is unsignalled, then signalled, then reset, and serves again", status),
    Check::once("fence.time_out", "waiting for blocked work ends in VK_TIMEOUT, and afterwards in success", time_out),
    Check::once("fence.any", "waiting for any fence ends with the first, for all with the last", any),
];

fn status(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Graphics)?;
    let fence = gpu.fence(None).context("make a fence")?;
    for round in 0..3 {
        same("before", fence.is_signalled().context("ask")?, false)?;
        ends_with("no time to wait", fence.wait(Duration::ZERO), Answer::TIMEOUT)?;
        gpu.signal_after_all(lane, &fence).context("submit")?;
        fence.wait(SOON).context(&format!("wait in round {round}"))?;
        same("after", fence.is_signalled().context("ask")?, true)?;
        fence.reset().context("reset")?;
    }
    Ok("3 rounds".into())
}

fn time_out(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Graphics)?;
    let line = gpu.timeline(0, None).context("make a semaphore")?;
    let target = gpu.buffer(1024, MemoryPlace::Host).context("make a buffer")?;
    let work = gpu
        .submit(lane, &Order::free().after(&line, 1), |record| record.fill(&target, 0..1024, 1))
        .context("submit")?;
    let results = [work.wait(Duration::ZERO), work.wait(MOMENT)];
    line.signal(1).context("signal")?;
    let after = work.finish();
    for result in results {
        ends_with("while blocked", result, Answer::TIMEOUT)?;
    }
    same("once unblocked", after, Ok(()))?;
    Ok("blocked by a timeline, then done".into())
}

fn any(gpu: &Gpu) -> Outcome {
    let lanes = gpu.two_lanes()?;
    let line = gpu.timeline(0, None).context("make a semaphore")?;
    let blocked = gpu.submit(lanes[0], &Order::free().after(&line, 1), |_| {}).context("submit")?;
    let free = gpu.submit(lanes[1], &Order::free(), |_| {}).context("submit")?;
    let both = [blocked.fence(), free.fence()];
    let any = gpu.wait_fences(&both, true, SOON);
    let all = gpu.wait_fences(&both, false, MOMENT);
    line.signal(1).context("signal")?;
    let finally = gpu.wait_fences(&both, false, SOON);
    same("any of two", any, Ok(()))?;
    ends_with("all of two", all, Answer::TIMEOUT)?;
    same("all of two, once unblocked", finally, Ok(()))?;
    Ok("any, and all".into())
}
