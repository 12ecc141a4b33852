//! Semaphores: order across queues.

use std::time::Duration;

use ash::vk::Result as Answer;

use super::{check::Check, copies::pattern};
use crate::{
    gpu::{Buffer, Gpu, Lane, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, Stop, ends_with, same, same_bytes},
};

/// Long enough for work that nothing holds back.
const SOON: Duration = Duration::from_secs(20);
/// Short, for what must not happen.
const MOMENT: Duration = Duration::from_millis(30);

pub(super) const CHECKS: &[Check] = &[
    Check::each("order.buffers", "the command buffers of a submission run in order", buffers),
    Check::once("semaphore.binary", "binary semaphores carry data from queue to queue", binary),
    Check::once("timeline.across", "one timeline orders work on two queues, round after round", across),
    Check::once("timeline.wait_first", "a wait that is submitted before its signal holds until then", wait_first),
    Check::once("timeline.cpu", "the CPU starts work, and waits for it, by timeline", cpu),
    Check::once("timeline.time_out", "waiting for a value that does not come ends in VK_TIMEOUT", time_out),
    Check::once("timeline.any", "waiting for any of two timelines ends with the first", any),
];

fn host(gpu: &Gpu) -> Result<Buffer<'_>, Stop> {
    gpu.buffer(1024, MemoryPlace::Host).context("make a buffer")
}

/// Each command buffer copies what the one before has copied; drivers chain them, so that the kernel is given one.
fn buffers(gpu: &Gpu, lane: &Lane) -> Outcome {
    const BUFFERS: u32 = 12;
    let target = host(gpu)?;
    for round in 1..=3 {
        target.memory().write(0, &pattern(64, round));
        let work = gpu.submit_several(lane, &Order::free(), BUFFERS, |number, record| {
            let at = u64::from(number) * 64;
            record.copy((&target, at), (&target, at + 64), 64);
            record.barrier();
        });
        work.context("submit")?.finish().context("finish")?;
        let expected = pattern(64, round).repeat(BUFFERS as usize + 1);
        same_bytes("the copies", &target.memory().read(0, expected.len()), &expected)?;
    }
    Ok(format!("{BUFFERS} command buffers, 3 times"))
}

/// Graphics writes, compute copies on, a transfer queue (or graphics again) copies last.
fn binary(gpu: &Gpu) -> Outcome {
    let [graphics, compute] = gpu.two_lanes()?;
    let last = gpu.lane(QueueKind::Transfer).unwrap_or(graphics);
    let between = gpu.buffer(1024, MemoryPlace::Device).context("make a buffer")?;
    let (second, third) = (gpu.buffer(1024, MemoryPlace::Device).context("make a buffer")?, host(gpu)?);
    let (a, b) = (gpu.binary(None).context("make a semaphore")?, gpu.binary(None).context("make a semaphore")?);
    for round in 0..8 {
        let bytes = pattern(1000, round);
        let one = gpu.submit(graphics, &Order::free().then(&a, 0), |record| {
            record.update(&between, 0, &bytes);
            record.barrier();
        });
        let two = gpu.submit(compute, &Order::free().after(&a, 0).then(&b, 0), |record| {
            record.copy((&between, 0), (&second, 0), 1000);
            record.barrier();
        });
        let three = gpu.submit(last, &Order::free().after(&b, 0), |record| {
            record.copy((&second, 0), (&third, 0), 1000);
            record.barrier();
        });
        three.context("submit the third")?.finish().context("finish the third")?;
        two.context("submit the second")?.finish().context("finish the second")?;
        one.context("submit the first")?.finish().context("finish the first")?;
        same_bytes("the last buffer", &third.memory().read(0, 1000), &bytes)?;
    }
    Ok(format!("8 rounds over graphics, compute and {}", last.kind.name()))
}

fn across(gpu: &Gpu) -> Outcome {
    const ROUNDS: u64 = 16;
    let lanes = gpu.two_lanes()?;
    let line = gpu.timeline(0, None).context("make a semaphore")?;
    let target = host(gpu)?;
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let lane = lanes[round as usize % 2];
        let order = Order::free().after(&line, round).then(&line, round + 1);
        all.push(gpu.submit(lane, &order, |record| {
            if round == 0 {
                record.update(&target, 0, &pattern(16, 9));
            } else {
                record.copy((&target, (round - 1) * 16), (&target, round * 16), 16);
            }
            record.barrier();
        }));
    }
    line.wait(ROUNDS, SOON).context("wait for the last")?;
    same("the timeline", line.value().context("ask")?, ROUNDS)?;
    for work in all {
        work.context("submit")?.finish().context("finish")?;
    }
    let expected = pattern(16, 9).repeat(ROUNDS as usize);
    same_bytes("the buffer", &target.memory().read(0, expected.len()), &expected)?;
    Ok(format!("{ROUNDS} steps"))
}

fn wait_first(gpu: &Gpu) -> Outcome {
    let [graphics, compute] = gpu.two_lanes()?;
    let line = gpu.timeline(0, None).context("make a semaphore")?;
    let (source, target) = (host(gpu)?, host(gpu)?);
    source.memory().write(0, &[0; 1024]);
    let bytes = pattern(1000, 1);
    let late = gpu
        .submit(compute, &Order::free().after(&line, 1), |record| {
            record.copy((&source, 0), (&target, 0), 1000);
            record.barrier();
        })
        .context("submit the waiting one")?;
    let blocked = late.wait(MOMENT);
    let early = gpu.submit(graphics, &Order::free().then(&line, 1), |record| {
        record.update(&source, 0, &bytes);
        record.barrier();
    });
    late.finish().context("finish the waiting one")?;
    early.context("submit the signalling one")?.finish().context("finish the signalling one")?;
    ends_with("waiting for work that may not start", blocked, Answer::TIMEOUT)?;
    same_bytes("the target", &target.memory().read(0, 1000), &bytes)?;
    Ok("blocked, then in order".into())
}

fn cpu(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Graphics)?;
    let line = gpu.timeline(5, None).context("make a semaphore")?;
    let target = host(gpu)?;
    let first = line.value();
    let work = gpu
        .submit(lane, &Order::free().after(&line, 7).then(&line, 9), |record| {
            record.fill(&target, 0..1024, 7);
            record.barrier();
        })
        .context("submit")?;
    let too_early = line.signal(6).and_then(|()| line.wait(9, MOMENT));
    let blocked = line.value();
    line.signal(7).context("signal")?;
    line.wait(9, SOON).context("wait for the work")?;
    work.finish().context("finish")?;
    same("the timeline at first", first, Ok(5))?;
    ends_with("a wait beyond what was signalled", too_early, Answer::TIMEOUT)?;
    same("the timeline before the work", blocked, Ok(6))?;
    same("the timeline after it", line.value(), Ok(9))?;
    same_bytes("the buffer", &target.memory().read(0, 1024), &7_u32.to_le_bytes().repeat(256))?;
    Ok("5, 6, 7 by the CPU, 9 by the queue".into())
}

fn time_out(gpu: &Gpu) -> Outcome {
    let line = gpu.timeline(3, None).context("make a semaphore")?;
    ends_with("a value above", line.wait(4, MOMENT), Answer::TIMEOUT)?;
    ends_with("a value above, without patience", line.wait(4, Duration::ZERO), Answer::TIMEOUT)?;
    same("the value itself", line.wait(3, Duration::ZERO), Ok(()))?;
    same("a value below", line.wait(1, Duration::ZERO), Ok(()))?;
    Ok("above times out, at and below does not".into())
}

fn any(gpu: &Gpu) -> Outcome {
    let lane = gpu.need(QueueKind::Graphics)?;
    let (a, b) =
        (gpu.timeline(0, None).context("make a semaphore")?, gpu.timeline(0, None).context("make a semaphore")?);
    let both = [(&a, 1), (&b, 1)];
    ends_with("before either", gpu.wait_timelines(&both, true, MOMENT), Answer::TIMEOUT)?;
    let work = gpu.submit(lane, &Order::free().then(&b, 1), |_| {}).context("submit")?;
    same("after one, for any", gpu.wait_timelines(&both, true, SOON), Ok(()))?;
    ends_with("after one, for all", gpu.wait_timelines(&both, false, MOMENT), Answer::TIMEOUT)?;
    a.signal(1).context("signal")?;
    same("after both, for all", gpu.wait_timelines(&both, false, SOON), Ok(()))?;
    work.finish().context("finish")?;
    Ok("any and all".into())
}
