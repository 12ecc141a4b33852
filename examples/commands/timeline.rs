//! Two queues that alternate on a timeline: the copy engine fills memory, then the compute ring writes to it. The second submission
//! is made before the one that it waits for.
//!
//! `cargo run --example timeline` runs on a simulated RX 6800, so that it works on any machine. On a Radeon, replace the first line
//! of `main` with `Device::open("/dev/dri/renderD128")?`.

use std::time::Duration;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{OwnedSubmission, Queue, Stream, Submission, Submitter, SyncPoint, pm4, sdma},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
};

const BYTES: u32 = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let level = device.info().gfx_level;
    let memory = allocate(&device)?;
    let used = [memory.binding().clone()];
    let context = Context::new(&device, Priority::Normal)?;
    let (copy, compute) = (Queue::new(&context, Ip::Sdma, 0)?, Queue::new(&context, Ip::Compute, 0)?);

    // Step n waits for point n - 1 and signals point n.
    let timeline = Syncobj::new(&device, false)?;

    // Step 2 first. Nothing has been submitted for point 1, so the submitter waits on its own thread, as Vulkan's
    // wait-before-signal requires. The kernel would wait for five seconds, and then refuse the submission.
    let mut stamp = Stream::new(&device, pm4::Target::compute(level), 64)?;
    stamp.push(&pm4::WriteData::new(memory.address(), &[2]))?;
    let submitter = Submitter::new(&compute)?;
    let second = submitter.submit(OwnedSubmission {
        lists: vec![stamp.finish()?],
        memory: used.to_vec(),
        waits: vec![(timeline.clone(), 1)],
        signals: vec![(timeline.clone(), 2)],
        ..OwnedSubmission::default()
    })?;
    assert!(second.submitted(Deadline::POLL)?.is_none());

    // Step 1, which lets step 2 continue.
    let mut fill = Stream::new(&device, sdma::Version::of(level), 64)?;
    fill.push(&sdma::ConstFill::new(memory.address(), 1, BYTES))?;
    let fill = fill.finish()?;
    let signals = [SyncPoint::timeline(&timeline, 1)];
    copy.submit(&Submission { lists: &[&fill], memory: &used, signals: &signals, ..Submission::default() })?;

    if !timeline.wait_point(2, Deadline::after(Duration::from_secs(2)))? {
        return Err("the second turn did not come in time".into());
    }
    // A wait for a sync object does not report lost work, so check the queue.
    compute.check()?;

    let mapping = memory.mapping().ok_or("not mapped")?;
    assert_eq!((mapping.load_u32(0)?, mapping.load_u32(4)?), (2, 1));
    println!("the timeline is at {}: filled by the copy engine, stamped by the compute ring", timeline.query()?);
    Ok(())
}

fn allocate(device: &Device) -> Result<DeviceMemory, Box<dyn std::error::Error>> {
    let manager = MemoryManager::new(device, &TableOptions::default())?;
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    let memory = manager.allocate(&AllocateInfo::new(memory_type, BYTES.into()))?;
    memory.map()?;
    Ok(memory)
}
