//! Address ranges whose pages come and go.

use amdgpu_winsys::{
    cs::Submission,
    heaps::{Backing, SparseBind, SparsePoint, SparseQueue, SparseRange, SparseSubmission},
    vamgr::VaRequest,
    winsys::{Capabilities, Deadline, Ip, PAGE_SIZE, Syncobj},
};

use crate::{
    checks::check::Check,
    gpu::{
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    level::Level,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, same, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("sparse.bind", "bound pages hold their memory, unbound ones read zero and lose what is written", bind)
        .at(Level::Core)
        .needs("sparse memory")
        .anchor("amd_vm@vm-mapping-test")
        .needing_a_kernel(),
    Check::once("sparse.queue", "a sparse queue binds when its wait is signalled, and then signals", queue)
        .at(Level::Core)
        .needs("sparse memory")
        .needing_a_kernel(),
];

const PAGE: u64 = 64 << 10;
const SIZE: u64 = 4 * PAGE;

fn range(test: &TestContext<'_>) -> Result<SparseRange, Stop> {
    if !test.device.info().capabilities.contains(Capabilities::SPARSE) {
        return skip("the chip has no sparse memory");
    }
    SparseRange::new(&test.device, VaRequest::new(SIZE).aligned(PAGE)).context("leasing a sparse range")
}

/// Copies between the range and host memory of the same size.
fn copy(test: &TestContext<'_>, ring: Ring, range: &SparseRange, host: &HostMemory, is_out: bool) -> Result<(), Stop> {
    let (there, here) = (range.address(), host.at(0)?);
    let (to, from) = if is_out { (here, there) } else { (there, here) };
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| recorder.copy(to, from, SIZE))?;
    let memory = [host.memory().binding().clone()];
    let sets = [range.residents()];
    let submission = Submission { lists: &[&list], memory: &memory, sets: &sets, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    test.wait(&fence, || false)
}

fn bind(test: &TestContext<'_>) -> Outcome {
    let range = range(test)?;
    let ring = test.ring_of(Ip::Sdma)?;
    let memory = test.device_memory(SIZE)?;
    let page = |offset, page| SparseBind {
        offset,
        len: PAGE,
        backing: Some(Backing { memory: memory.binding().clone(), offset: page * PAGE }),
    };
    // The pages of the memory, the other way round, with a hole.
    range.bind(&[page(0, 3), page(2 * PAGE, 1)]).context("binding two pages")?;
    same("bytes bound", range.bound_bytes(), 2 * PAGE)?;
    let (host, back) = (test.host_memory(SIZE)?, test.host_memory(SIZE)?);
    let bytes = test.pattern(30, SIZE as usize);
    host.write(0, &bytes)?;
    back.write(0, &vec![0xa5; SIZE as usize])?;
    copy(test, ring, &range, &host, false)?;
    copy(test, ring, &range, &back, true)?;
    let mut expected = bytes;
    for hole in [1, 3] {
        expected.iter_mut().skip(hole * PAGE as usize).take(PAGE as usize).for_each(|byte| *byte = 0);
    }
    same_bytes(&back.read(0, SIZE as usize)?, &expected)?;

    // The first page goes, and its memory comes back in the last place.
    range.bind(&[SparseBind { offset: 0, len: PAGE, backing: None }, page(3 * PAGE, 3)]).context("moving a page")?;
    copy(test, ring, &range, &back, true)?;
    expected.copy_within(0..PAGE as usize, 3 * PAGE as usize);
    expected.iter_mut().take(PAGE as usize).for_each(|byte| *byte = 0);
    same_bytes(&back.read(0, SIZE as usize)?, &expected).map_err(|stop| stop.of("after a page was moved"))?;
    Ok(format!("4 pages of {} KiB at {}", PAGE >> 10, range.address()))
}

fn queue(test: &TestContext<'_>) -> Outcome {
    let range = range(test)?;
    let memory = test.device_memory(PAGE)?;
    let queue = SparseQueue::new(&test.device).context("starting a sparse queue")?;
    let syncobj = || Syncobj::new(&test.device, false).context("creating a sync object");
    let (begin, done) = (syncobj()?, syncobj()?);
    let point = |syncobj: &Syncobj| vec![SparsePoint { syncobj: syncobj.clone(), point: 0 }];
    let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
    let change = SparseBind { offset: PAGE_SIZE, len: PAGE_SIZE, backing };
    let fence = queue
        .submit(SparseSubmission {
            waits: point(&begin),
            binds: vec![(range.clone(), vec![change])],
            signals: point(&done),
        })
        .context("submitting binds")?;
    same("bytes bound before the signal", range.bound_bytes(), 0)?;
    begin.signal().context("signalling")?;
    let patience = || Deadline::after(std::time::Duration::from_secs(4));
    ensure(fence.wait(patience()).context("waiting for the binds")?, || "the binds were not made in 4 s".to_owned())?;
    same("signalled afterwards", done.wait(patience()).context("waiting for the signal")?, true)?;
    same("bytes bound", range.bound_bytes(), PAGE_SIZE)?;
    // Its thread drops the sync objects first, in every run, and so in a replay.
    drop(queue);
    Ok("one page".to_owned())
}
