//! The speed at which each ring copies bytes to the GPU's memory, within it and back.

use std::time::{Duration, Instant};

use amdgpu_winsys::{cs::Submission, heaps::DeviceMemory, vamgr::GpuVa};

use crate::{
    checks::check::Check,
    gpu::{ring::Ring, test_context::TestContext},
    level::Level,
    result::{
        bandwidth::{Bandwidth, Direction, Rate},
        baseline::BANDWIDTH,
        outcome::{ErrorContext, Outcome, Stop, same_bytes, skip},
    },
};

pub(crate) const CHECKS: &[Check] =
    &[Check::each_ring(BANDWIDTH, "bytes that are copied up, on and down arrive, and their speed is reported", copy)
        .at(Level::Core)
        .anchor("rvs pebb")];

/// Bytes of a copy: enough that a Radeon takes milliseconds, and little for the simulator.
const BYTES: u64 = 64 << 20;
const SIMULATED_BYTES: u64 = 1 << 20;

/// Copies in each direction, of which the fastest counts.
const ROUNDS: usize = 3;

fn copy(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let size = if test.target.gpu().simulated { SIMULATED_BYTES } else { BYTES };
    let ceiling = test.ceiling();
    if ceiling < 4 * size {
        return skip(format!("{ceiling} bytes may be used, and {} are needed", 4 * size));
    }
    let (from, to) = (test.host_memory(size)?, test.host_memory(size)?);
    let (near, far) = (test.device_memory(size)?, test.device_memory(size)?);
    let bytes = test.pattern(23, size as usize);
    from.write(0, &bytes)?;
    let memory = [from.memory(), &near, &far, to.memory()];
    let mut figures = Vec::new();
    for direction in Direction::ALL {
        let (target, source) = match direction {
            Direction::Upload => (near.address(), from.at(0)?),
            Direction::Local => (far.address(), near.address()),
            Direction::Download => (to.at(0)?, far.address()),
        };
        let time = fastest(test, ring, &memory, (target, source, size))?;
        let bytes_per_second = u64::try_from(u128::from(size) * 1_000_000_000 / time.as_nanos().max(1));
        let bytes_per_second = bytes_per_second.unwrap_or(u64::MAX);
        figures.push(format!("{} {}", direction.name(), Rate(bytes_per_second)));
        let engine = ring.to_string();
        test.measured(Bandwidth { engine, direction, bytes: size, bytes_per_second, baseline: None });
    }
    same_bytes(&to.read(0, bytes.len())?, &bytes)?;
    Ok(figures.join(", "))
}

/// Returns the time of the fastest of some copies, from submission to end.
pub(super) fn fastest(
    test: &TestContext<'_>,
    ring: Ring,
    memory: &[&DeviceMemory],
    (to, from, size): (GpuVa, GpuVa, u64),
) -> Result<Duration, Stop> {
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| recorder.copy(to, from, size))?;
    let memory: Vec<_> = memory.iter().map(|memory| memory.binding().clone()).collect();
    let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
    let mut fastest = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let fence = queue.submit(&submission).context("submitting")?;
        test.wait(&fence, || true)?;
        fastest = fastest.min(start.elapsed());
    }
    Ok(fastest)
}
