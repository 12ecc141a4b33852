//! Events: set and waited for on a queue, read and set by the CPU.

use ash::vk::PipelineStageFlags as Stage;

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Gpu, Lane, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, ensure, same, same_bytes, skip},
};

pub(super) const CHECKS: &[Check] = &[
    Check::each("event.status", "a queue sets and unsets an event, and the CPU sees both", status),
    Check::each("event.wait", "a submission waits for the event an earlier one set", wait),
    Check::once("event.cpu", "what the CPU sets beforehand does not stop a queue", cpu),
];

/// Transfer queues have no events (a rule of Vulkan), others set them after any of these stages.
const STAGES: [Stage; 3] = [Stage::TOP_OF_PIPE, Stage::TRANSFER, Stage::BOTTOM_OF_PIPE];

fn status(gpu: &Gpu, lane: &Lane) -> Outcome {
    if lane.kind == QueueKind::Transfer {
        return skip("events are not for transfer queues");
    }
    let event = gpu.event().context("make an event")?;
    same("at first", event.is_set().context("ask")?, false)?;
    for stage in STAGES {
        let set = gpu.submit(lane, &Order::free(), |record| record.set_event(&event, stage));
        set.context("submit")?.finish().context("finish setting")?;
        same("after it was set", event.is_set().context("ask")?, true)?;
        let reset = gpu.submit(lane, &Order::free(), |record| record.reset_event(&event, stage));
        reset.context("submit")?.finish().context("finish unsetting")?;
        same("after it was unset", event.is_set().context("ask")?, false)?;
    }
    Ok(format!("after {} stages", STAGES.len()))
}

fn wait(gpu: &Gpu, lane: &Lane) -> Outcome {
    if lane.kind == QueueKind::Transfer {
        return skip("events are not for transfer queues");
    }
    let (source, target) = (
        gpu.buffer(1024, MemoryPlace::Host).context("make a buffer")?,
        gpu.buffer(1024, MemoryPlace::Host).context("make a buffer")?,
    );
    let event = gpu.event().context("make an event")?;
    let bytes = pattern(1000, 1);
    let first = gpu.submit(lane, &Order::free(), |record| {
        record.update(&source, 0, &bytes);
        record.barrier();
        record.set_event(&event, Stage::ALL_COMMANDS);
    });
    let second = gpu.submit(lane, &Order::free(), |record| {
        record.wait_event(&event, Stage::ALL_COMMANDS);
        record.barrier();
        record.copy((&source, 0), (&target, 0), 1000);
        record.barrier();
    });
    second.context("submit the waiting one")?.finish().context("finish waiting")?;
    first.context("submit the setting one")?.finish().context("finish setting")?;
    same_bytes("the target", &target.memory().read(0, 1000), &bytes)?;
    Ok("1000 bytes in order".into())
}

fn cpu(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Graphics)?;
    let event = gpu.event().context("make an event")?;
    event.set().context("set")?;
    ensure(event.is_set().context("ask")?, || "not set".into())?;
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.wait_event(&event, Stage::HOST);
        record.reset_event(&event, Stage::ALL_COMMANDS);
    });
    work.context("submit")?.finish().context("finish")?;
    same("after the queue unset it", event.is_set().context("ask")?, false)?;
    event.set().context("set again")?;
    event.reset().context("reset")?;
    same("after the CPU unset it", event.is_set().context("ask")?, false)?;
    Ok("set, waited for, unset".into())
}
