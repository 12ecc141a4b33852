//! Queues of video engines.

use std::time::Duration;

use ash::vk::Result as Answer;

use super::check::Check;
use crate::{
    gpu::{Gpu, Lane, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, ends_with, same},
};

/// Long enough for work that nothing holds back.
const SOON: Duration = Duration::from_secs(20);
/// Short, for what must not happen.
const MOMENT: Duration = Duration::from_millis(30);

pub(super) const CHECKS: &[Check] = &[
    Check::once("video.decode", "a decode queue takes its turn among waits, signals and empty command buffers", decode),
    Check::once(
        "video.encode",
        "an encode queue takes its turn among waits, signals and empty command buffers",
        encode,
    ),
];

fn decode(gpu: &Gpu) -> Outcome {
    turns(gpu, gpu.need(QueueKind::Decode)?)
}

fn encode(gpu: &Gpu) -> Outcome {
    turns(gpu, gpu.need(QueueKind::Encode)?)
}

/// Passes a timeline between the graphics queue and a video queue, whose command buffers hold no command: without a session a video
/// queue has none.
fn turns(gpu: &Gpu, video: &Lane) -> Outcome {
    let graphics = gpu.need(QueueKind::Graphics)?;
    let line = gpu.timeline(0, None).context("make a semaphore")?;
    let target = gpu.buffer(1024, MemoryPlace::Host).context("make a buffer")?;
    let order = |from, to| Order::free().after(&line, from).then(&line, to);
    let hand = |from, to, count| gpu.submit_several(video, &order(from, to), count, |_, _| {});
    // The first batch of the queue, without a command buffer.
    let first = hand(1, 2, 0).context("submit no command buffer")?;
    let second = hand(2, 3, 1).context("submit one command buffer")?;
    let fill = gpu.submit(graphics, &order(3, 4), |record| record.fill(&target, 0..1024, 9)).context("fill")?;
    let third = hand(4, 5, 3).context("submit three command buffers")?;
    let last = hand(5, 6, 0).context("submit no command buffer")?;
    let all = gpu.fence(None).context("make a fence")?;
    gpu.signal_after_all(video, &all).context("submit a fence")?;
    let before = gpu.wait_fences(&[first.fence(), &all], true, MOMENT);
    line.signal(1).context("signal")?;
    for submission in [&first, &second, &fill, &third, &last] {
        submission.finish().context("wait")?;
    }
    all.wait(SOON).context("wait for the queue")?;
    ends_with("while the timeline stands at 0", before, Answer::TIMEOUT)?;
    same("the timeline", line.value().context("ask")?, 6)?;
    Ok("4 batches with 4 command buffers, among others".into())
}
