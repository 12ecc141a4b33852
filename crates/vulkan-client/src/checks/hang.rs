//! A hang: provoked on request only, since a real GPU may be reset under everyone else who uses it.

use ash::vk::{PipelineStageFlags as Stage, Result as Answer};

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Gpu, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, ends_with, ensure, same_bytes, skip},
};

pub(super) const CHECKS: &[Check] =
    &[Check::once("hang.lost", "work that never ends loses the device, and a new device works", lost).disruptive()];

fn lost(gpu: &Gpu) -> Outcome {
    if !gpu.is_amd() {
        return skip("only the amdgpu kernel driver is known to end what hangs");
    }
    let lane = gpu.need(QueueKind::Graphics)?;
    let event = gpu.event().context("make an event")?;
    let hung = gpu.submit(lane, &Order::free(), |record| record.wait_event(&event, Stage::ALL_COMMANDS));
    let hung = hung.context("submit")?;
    // Whether the wait reports the loss is up to the driver: RADV learns of it from the next submission.
    let ended = hung.finish();
    let next = gpu.submit(lane, &Order::free(), |_| {}).map(drop);
    ensure(matches!(ended, Ok(()) | Err(Answer::ERROR_DEVICE_LOST)), || format!("waiting for it: {ended:?}"))?;
    ends_with("the next submission", next, Answer::ERROR_DEVICE_LOST)?;
    works(&Gpu::open(gpu.any_device)?)?;
    Ok(format!("waiting answered {ended:?}, the next submission that the device is lost, a new one works"))
}

fn works(gpu: &Gpu) -> Result<(), Stop> {
    let target = gpu.buffer(1024, MemoryPlace::Host).context("make a buffer on a new device")?;
    let bytes = pattern(1000, 1);
    let work = gpu.submit(gpu.need(QueueKind::Graphics)?, &Order::free(), |record| {
        record.update(&target, 0, &bytes);
        record.barrier();
    });
    work.context("submit on a new device")?.finish().context("finish on a new device")?;
    same_bytes("what the new device wrote", &target.memory().read(0, 1000), &bytes)
}
