//! Checks that submit broken work and then test that the GPU recovers. The GPU is reset, and other users of it lose work.

use std::time::Duration;

use amdgpu_winsys::{
    cs::{Fence, Submission},
    vamgr::VaRequest,
    winsys::{Capabilities, Deadline, PAGE_SIZE},
};

use crate::{
    checks::check::Check,
    gpu::{
        pattern::pattern_dwords,
        recorder::Recorder,
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    level::Level,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, fail, same, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::each_ring("reset.fault", "a write to no memory is reported with its address, and the ring goes on", fault)
        .at(Level::Destructive)
        .needs("page faults that can be asked for")
        .anchor("amd_deadlock"),
    Check::each_ring("reset.packet", "a job of bad packets ends, runs no further, and the ring works again", packet)
        .at(Level::Destructive)
        .anchor("amd_deadlock"),
    Check::each_ring("reset.hang", "a job that never ends is ended, and the ring works again", hang)
        .at(Level::Destructive)
        .anchor("amd_deadlock"),
    Check::each_ring("reset.bystander", "what another context had in memory survives, or its loss is told", bystander)
        .at(Level::Destructive)
        .anchor("amd_queue_reset"),
];

/// Compute rings are given a minute by the kernel, others ten seconds.
const PATIENCE: Duration = Duration::from_secs(90);

const AFTER: u32 = 0xaf7e_4af7;

/// Runs a job that must not come to its end: what follows the trouble writes [`AFTER`].
fn troubled(
    test: &TestContext<'_>,
    ring: Ring,
    trouble: impl FnOnce(&mut Recorder) -> amdgpu_winsys::cs::RecordResult<()>,
) -> Result<String, Stop> {
    if test.is_stand_in() {
        return skip("nothing executed: this kernel only pretends");
    }
    let memory = test.host_memory(PAGE_SIZE)?;
    memory.write(0, &[0; 64])?;
    let to = memory.at(0)?;
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| {
        trouble(recorder)?;
        recorder.write(to, &[AFTER])
    })?;
    let fence = submit(&queue, &list, &memory)?;
    let how = match fence.wait(Deadline::after(PATIENCE)) {
        Ok(true) => "the kernel called it done".to_owned(),
        Ok(false) => return fail(format!("the job was neither done nor given up in {} s", PATIENCE.as_secs())),
        Err(error) => error.to_string(),
    };
    same("what stands behind the trouble", memory.dwords(0, 1)?, vec![0])?;
    let state = queue.context().state().context("asking the context what happened")?;
    let flags: Vec<_> = state.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    Ok(format!(
        "{how}; state of the context: {}",
        if flags.is_empty() { "normal".to_owned() } else { flags.join(", ") }
    ))
}

fn submit(
    queue: &amdgpu_winsys::cs::Queue,
    list: &amdgpu_winsys::cs::CommandList,
    memory: &HostMemory,
) -> Result<Fence, Stop> {
    let bindings = [memory.memory().binding().clone()];
    queue.submit(&Submission { lists: &[list], memory: &bindings, ..Submission::default() }).context("submitting")
}

/// A job of a new context and a new file must do what it says.
fn works_again(test: &TestContext<'_>, ring: Ring) -> Result<(), Stop> {
    let fresh = TestContext::open(test.target, test.settings).map_err(|stop| stop.of("afterwards"))?;
    for test in [test, &fresh] {
        let memory = test.host_memory(PAGE_SIZE)?;
        let blank = vec![0; PAGE_SIZE as usize];
        memory.write(0, &blank)?;
        let (to, data) = (memory.at(0)?, pattern_dwords(60, 64));
        test.run(ring, &[memory.memory()], || memory.differs(&blank), |recorder| recorder.write(to, &data))
            .and_then(|()| same("stored afterwards", memory.dwords(0, 64)?, data.clone()))
            .map_err(|stop| stop.of("afterwards"))?;
    }
    Ok(())
}

fn packet(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let how = troubled(test, ring, Recorder::garbage)?;
    works_again(test, ring)?;
    Ok(how)
}

fn hang(test: &TestContext<'_>, ring: Ring) -> Outcome {
    let never = test.polled_memory(PAGE_SIZE)?;
    never.write(0, &[0; 64])?;
    test.name(never.memory(), "what is waited for");
    let at = never.at(0)?;
    let how = troubled(test, ring, |recorder| recorder.wait_for(at, 1))?;
    works_again(test, ring)?;
    Ok(how)
}

fn fault(test: &TestContext<'_>, ring: Ring) -> Outcome {
    if !test.device.info().capabilities.contains(Capabilities::GPUVM_FAULT_QUERY) {
        return skip("the kernel does not tell of page faults");
    }
    // Leased, so no memory is hit, and not bound.
    let lease = test.device.addresses().allocate(VaRequest::new(PAGE_SIZE)).context("leasing addresses")?;
    let at = lease.start();
    let before = test.condition();
    let queue = test.queue(ring)?;
    let list = test.record(&queue, |recorder| recorder.write(at, &[1, 2, 3]))?;
    let submission = Submission { lists: &[&list], ..Submission::default() };
    let fence = queue.submit(&submission).context("submitting")?;
    let ended = fence.wait(Deadline::after(PATIENCE));
    let how = match ended {
        Ok(true) => "the job went on".to_owned(),
        Ok(false) => return fail("the job was neither done nor given up"),
        Err(error) => error.to_string(),
    };
    if test.is_stand_in() {
        return skip("nothing executed: this kernel only pretends");
    }
    let fault = test.device.page_fault().context("asking for the page fault")?;
    let Some(fault) = fault else { return fail(format!("no page fault was told of a write to {at}; {how}")) };
    ensure(fault.page == at, || format!("a fault at {} was told, the write went to {at}", fault.page))?;
    works_again(test, ring)?;
    Ok(format!("{how}; {}", test.fault_since(&before).unwrap_or_default()))
}

fn bystander(test: &TestContext<'_>, ring: Ring) -> Outcome {
    const SIZE: u64 = 64 << 10;
    let fresh = TestContext::open(test.target, test.settings)?;
    let (kept, way) = (fresh.device_memory(SIZE)?, fresh.host_memory(SIZE)?);
    let bytes = fresh.pattern(61, SIZE as usize);
    way.write(0, &bytes)?;
    let (a, b) = (kept.address(), way.at(0)?);
    let memory = [&kept, way.memory()];
    fresh.run(ring, &memory, || false, |recorder| recorder.copy(a, b, SIZE))?;
    let before = test.device.vram_lost_counter().ok();
    troubled(test, ring, Recorder::garbage)?;
    way.write(0, &vec![0; SIZE as usize])?;
    fresh.run(ring, &memory, || way.differs(&[0; 64]), |recorder| recorder.copy(b, a, SIZE))?;
    let survived = way.read(0, SIZE as usize)? == bytes;
    let is_counted = before != test.device.vram_lost_counter().ok();
    ensure(survived || is_counted, || "VRAM was lost, and its counter did not move".to_owned())?;
    Ok(if survived { "contents intact" } else { "its loss was told" }.to_owned())
}
