//! Jobs that run side by side on several rings, in one submission.

use amdgpu_winsys::{
    cs::{Gang, Queue, Submission},
    winsys::{Capabilities, Ip, PAGE_SIZE},
};

use crate::{
    checks::check::Check,
    gpu::test_context::TestContext,
    level::Level,
    result::outcome::{ErrorContext, Outcome, same, skip},
};

pub(crate) const CHECKS: &[Check] =
    &[Check::once("gang.submit", "two rings of one submission run side by side, each waiting for the other", submit)
        .at(Level::Core)
        .needs("gang submission, a graphics and a compute ring")
        .anchor("amd_gang_cs")
        .needing_a_kernel()];

/// Cache line size, bytes: each value that one member passes to the other has a line of its own.
const LINE: u64 = 64;

const SIGNAL: u32 = 0x0060_0001;

fn submit(test: &TestContext<'_>) -> Outcome {
    let info = test.device.info();
    if !info.capabilities.contains(Capabilities::GANG_SUBMIT) {
        return skip("the kernel knows no gangs");
    }
    if [Ip::Gfx, Ip::Compute].iter().any(|&ip| info.ring_count(ip) == 0) {
        return skip("there is no graphics or no compute ring");
    }
    let memory = test.polled_memory(PAGE_SIZE)?;
    test.name(memory.memory(), "signals of the gang");
    memory.write(0, &vec![0; PAGE_SIZE as usize])?;
    let (first, second) = (memory.at(0)?, memory.at(LINE)?);
    let context = test.context()?;
    let [graphics, compute] = [Ip::Gfx, Ip::Compute].map(|ip| Queue::new(&context, ip, 0));
    let (graphics, compute) = (graphics.context("making the queue")?, compute.context("making the queue")?);
    let gang = Gang::new(&graphics, &[&compute]).context("making a gang")?;
    // Neither gets to its end unless the other one runs at the same time.
    let share = test.record(&compute, |recorder| {
        recorder.wait_for(first, SIGNAL)?;
        recorder.write(second, &[SIGNAL])
    })?;
    let leads = test.record(&graphics, |recorder| {
        recorder.write(first, &[SIGNAL])?;
        recorder.wait_for(second, SIGNAL)
    })?;
    let bindings = [memory.memory().binding().clone()];
    let submission = Submission { lists: &[&leads], memory: &bindings, ..Submission::default() };
    let fence = gang.submit(&[&[&share]], &submission).context("submitting a gang")?;
    test.wait(&fence, || memory.dwords(0, 1).is_ok_and(|found| found == [SIGNAL]))?;
    let found = [memory.dwords(0, 1)?, memory.dwords(LINE, 1)?].concat();
    same("signals of each to the other", found, vec![SIGNAL; 2])?;
    Ok("graphics and compute".to_owned())
}
