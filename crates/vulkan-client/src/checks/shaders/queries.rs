//! Results of queries, copied by the GPU.

use ash::vk;

use crate::{
    gpu::{Gpu, Lane, MemoryPlace, Order, QueueKind},
    outcome::{ErrorContext, Outcome, ensure, same, skip},
};

/// Queries, of which the last is never written.
const COUNT: u32 = 4;

pub(super) fn copy(gpu: &Gpu, lane: &Lane) -> Outcome {
    if lane.timestamp_bits == 0 || lane.kind == QueueKind::Transfer {
        return skip("no timestamps, or no copies of their results, on this queue");
    }
    let stamps = gpu.timestamps(COUNT).context("make queries")?;
    let [wide, narrow] = [(); 2].map(|()| gpu.buffer(256, MemoryPlace::Host).context("make a host buffer"));
    let (wide, narrow) = (wide?, narrow?);
    wide.memory().write(0, &[0x5a; 256]);
    narrow.memory().write(0, &[0x5a; 256]);
    let (long, available) = (vk::QueryResultFlags::TYPE_64, vk::QueryResultFlags::WITH_AVAILABILITY);
    // A copy that does not wait finds what is available, which no barrier makes sure of.
    let work = gpu.submit(lane, &Order::free(), |record| {
        for index in 0..COUNT - 1 {
            record.timestamp(&stamps, index, vk::PipelineStageFlags::BOTTOM_OF_PIPE);
        }
    });
    work.context("submit")?.finish().context("finish")?;
    let work = gpu.submit(lane, &Order::free(), |record| {
        record.copy_results(&stamps, (&wide, 16), 24, long | available);
        record.copy_results(&stamps, (&narrow, 4), 12, available);
        record.barrier();
    });
    work.context("submit")?.finish().context("finish")?;
    let expected = stamps.read_first(COUNT - 1).context("read the results")?;
    let (wide, narrow) = (wide.memory().read(0, 256), narrow.memory().read(0, 256));
    let long_at = |at: usize| wide.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u64::from_le_bytes(*word));
    let word_at =
        |at: usize| narrow.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word));
    for (index, &value) in expected.iter().enumerate() {
        same("a timestamp", long_at(16 + 24 * index), Some(value))?;
        same("its availability", long_at(24 + 24 * index), Some(1))?;
        same("the low word of a timestamp", word_at(4 + 12 * index), Some(value as u32))?;
        same("its availability in 32 bits", word_at(8 + 12 * index), Some(1))?;
    }
    let last = COUNT as usize - 1;
    same("availability of a query without a result", long_at(24 + 24 * last), Some(0))?;
    same("the same in 32 bits", word_at(8 + 12 * last), Some(0))?;
    let gaps = (0..COUNT as usize).all(|index| {
        long_at(32 + 24 * index) == Some(0x5a5a_5a5a_5a5a_5a5a) && word_at(12 + 12 * index) == Some(0x5a5a_5a5a)
    });
    ensure(gaps, || "bytes between the results changed".into())?;
    Ok(format!("{COUNT} results in 64 and in 32 bits"))
}
