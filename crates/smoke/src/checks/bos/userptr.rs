//! Pages of this process, read and written by the GPU.

use amdgpu_winsys::{
    cs::Submission,
    vamgr::GpuVa,
    winsys::{Capabilities, Ip},
};

use crate::{
    checks::check::Check,
    gpu::{
        ring::Ring,
        test_context::{HostMemory, TestContext},
        user_pages::UserPages,
    },
    result::outcome::{ErrorContext, Outcome, Stop, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("userptr.share", "the GPU reads and writes anonymous pages of this process", share)];

const SIZE: usize = 64 << 10;

fn share(test: &TestContext<'_>) -> Outcome {
    if !test.device.info().capabilities.contains(Capabilities::USERPTR) {
        return skip("the kernel takes no pages of a process");
    }
    let rings = || test.rings.iter().copied();
    let Some(ring) = rings().find(|ring| ring.ip == Ip::Sdma).or_else(|| rings().next()) else {
        return skip("no ring to copy with");
    };
    let pages = match UserPages::new(&test.device, SIZE) {
        Err(Stop::Fail(failure)) if test.is_stand_in() => {
            return skip(format!("this kernel only pretends: {}", failure.detail));
        }
        pages => pages?,
    };
    let host = test.host_memory(SIZE as u64)?;
    let (ours, theirs) = (test.pattern(7, SIZE), test.pattern(8, SIZE));

    pages.write(&ours)?;
    copy(test, ring, &pages, &host, host.at(0)?, pages.address()?)?;
    same_bytes(&host.read(0, SIZE)?, &ours)?;
    host.write(0, &theirs)?;
    copy(test, ring, &pages, &host, pages.address()?, host.at(0)?)?;
    same_bytes(&pages.read(), &theirs)?;
    Ok(format!("{} KiB out and in by {ring}", SIZE >> 10))
}

/// Copies everything one way.
fn copy(
    test: &TestContext<'_>,
    ring: Ring,
    pages: &UserPages,
    host: &HostMemory,
    to: GpuVa,
    from: GpuVa,
) -> Result<(), Stop> {
    let before = (pages.read(), host.read(0, SIZE)?);
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| recorder.copy(to, from, SIZE as u64))?;
    let memory = [pages.binding()?.clone(), host.memory().binding().clone()];
    let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    test.wait(&fence, || pages.read() != before.0 || host.differs(&before.1))
}
