//! Jobs on each ring: the GPU must do what the packets say, and say when it is done.

use amdgpu_winsys::{
    cs::{Fence, Queue, Submission},
    winsys::PAGE_SIZE,
};

use crate::{
    checks::check::Check,
    gpu::{
        pattern::pattern_dwords,
        recorder::Recorder,
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    result::outcome::{ErrorContext, Outcome, Stop, same, same_bytes},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_ring("exec.nop", "the ring takes a job of fillers and finishes it", nop),
    Check::each_ring("exec.write", "dwords from the stream arrive in memory, and nothing else changes", write),
    Check::each_ring("exec.fill", "a fill sets its range and nothing else", fill),
    Check::each_ring("exec.copy", "bytes survive the way from system memory to the GPU's and back", copy),
    Check::each_ring("exec.fence", "fence packets store their value and jobs are numbered from 1", fence),
    Check::each_ring("exec.many", "more jobs than fit the kernel's window run in order", many),
];

fn nop(test: &TestContext<'_>, ring: Ring) -> Outcome {
    test.run(ring, &[], || false, Recorder::nop)?;
    Ok("one job".to_owned())
}

/// Fill pattern of memory before a job.
const UNTOUCHED: u8 = 0xa5;

/// Host memory full of [`UNTOUCHED`], and those bytes.
fn blank(test: &TestContext<'_>, size: u64) -> Result<(HostMemory, Vec<u8>), Stop> {
    let memory = test.host_memory(size)?;
    let bytes = vec![UNTOUCHED; size as usize];
    memory.write(0, &bytes)?;
    Ok((memory, bytes))
}

fn write(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const OFFSET: u64 = 256;
    const COUNT: usize = 61;
    let (memory, mut expected) = blank(test, PAGE_SIZE)?;
    let data = pattern_dwords(5, COUNT);
    let to = memory.at(OFFSET)?;
    test.run(ring, &[memory.memory()], || memory.differs(&expected), |recorder| recorder.write(to, &data))?;
    let bytes = data.iter().flat_map(|dword| dword.to_le_bytes());
    expected.splice(OFFSET as usize..OFFSET as usize + COUNT * 4, bytes);
    same_bytes(&memory.read(0, expected.len())?, &expected)?;
    Ok(format!("{COUNT} dwords at {to}"))
}

fn fill(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const PATTERN: u32 = 0x1bad_b002;
    const LEN: u64 = 256 << 10;
    let (memory, mut expected) = blank(test, LEN + 2 * PAGE_SIZE)?;
    let to = memory.at(PAGE_SIZE)?;
    test.run(ring, &[memory.memory()], || memory.differs(&expected), |recorder| recorder.fill(to, PATTERN, LEN))?;
    let filled = expected.iter_mut().skip(PAGE_SIZE as usize).take(LEN as usize);
    filled.zip(PATTERN.to_le_bytes().into_iter().cycle()).for_each(|(byte, pattern)| *byte = pattern);
    same_bytes(&memory.read(0, expected.len())?, &expected)?;
    Ok(format!("{} KiB at {to}", LEN >> 10))
}

fn copy(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const SIZE: u64 = 1 << 20;
    let bytes = test.pattern(6, SIZE as usize);
    let from = test.host_memory(SIZE)?;
    from.write(0, &bytes)?;
    let through = test.device_memory(SIZE)?;
    let (to, blank) = blank(test, SIZE)?;
    let memory = [from.memory(), &through, to.memory()];
    let (a, b, c) = (from.at(0)?, through.address(), to.at(0)?);
    test.run(
        ring,
        &memory,
        || to.differs(&blank),
        |recorder| {
            recorder.copy(b, a, SIZE)?;
            recorder.copy(c, b, SIZE)
        },
    )?;
    same_bytes(&to.read(0, bytes.len())?, &bytes)?;
    Ok(format!("{} KiB to the GPU's memory at {b} and back", SIZE >> 10))
}

fn fence(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const VALUE: u32 = 0xfe4c_e000;
    const SCRATCH: u64 = PAGE_SIZE / 2;
    let (memory, blank) = blank(test, PAGE_SIZE)?;
    let (to, scratch) = (memory.at(0)?, memory.at(SCRATCH)?);
    let queue = test.queue(ring)?;
    for number in 1..=3 {
        let value = VALUE + number;
        let list = test.record(&queue, |recorder| recorder.fence(to, value, scratch))?;
        let bindings = [memory.memory().binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let fence = queue.submit(&submission).context("submitting")?;
        test.wait(&fence, || memory.differs(&blank))?;
        same("sequence number", fence.sequence(), number.into())?;
        same("stored value", memory.dwords(0, 1)?, vec![value])?;
    }
    Ok("sequence numbers 1 to 3".to_owned())
}

/// Jobs in a row: more than the 32 that the kernel keeps in flight for one queue.
const JOBS: u32 = 40;

/// Command lists in one submission.
const LISTS: u32 = 4;

fn many(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let queue = test.queue(ring)?;
    let (memory, blank) = blank(test, PAGE_SIZE)?;
    let alone = (0..JOBS).map(|job| stairs(test, &queue, &memory, job, JOBS)).collect::<Result<Vec<_>, _>>()?;
    let fences = alone.iter().map(|list| submit(&queue, &[list], &memory)).collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(last)) = (fences.first(), fences.last()) else { return Ok(String::new()) };
    test.wait(last, || memory.differs(&blank))?;
    test.wait(first, || true)?;
    in_order(&memory, JOBS)?;
    same("jobs in flight after the last one", queue.in_flight(), 0)?;

    memory.write(0, &blank)?;
    let limit = test.device.info().max_ibs.get(ring.ip.index()).copied().unwrap_or(1);
    let lists = LISTS.min(limit);
    let together = (0..lists).map(|list| stairs(test, &queue, &memory, list, lists)).collect::<Result<Vec<_>, _>>()?;
    let fence = submit(&queue, &together.iter().collect::<Vec<_>>(), &memory)?;
    test.wait(&fence, || memory.differs(&blank))?;
    in_order(&memory, lists)?;
    Ok(format!("{JOBS} jobs, then {lists} lists in one"))
}

fn submit(queue: &Queue, lists: &[&amdgpu_winsys::cs::CommandList], memory: &HostMemory) -> Result<Fence, Stop> {
    let bindings = [memory.memory().binding().clone()];
    queue.submit(&Submission { lists, memory: &bindings, ..Submission::default() }).context("submitting")
}

/// A list that stores `step` into dwords `step..steps`. When lists 0, 1, 2, ... have run in order, and only then, each
/// dword holds its own number: it is the last of those that wrote there.
fn stairs(
    test: &TestContext<'_>,
    queue: &Queue,
    memory: &HostMemory,
    step: u32,
    steps: u32,
) -> Result<amdgpu_winsys::cs::CommandList, Stop> {
    let data: Vec<u32> = (step..steps).map(|_| step).collect();
    let to = memory.at(u64::from(step) * 4)?;
    test.record(queue, |recorder| recorder.write(to, &data))
}

fn in_order(memory: &HostMemory, steps: u32) -> Result<(), Stop> {
    same("who wrote each dword last", memory.dwords(0, steps as usize)?, (0..steps).collect())
}
