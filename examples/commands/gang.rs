//! A gang: a graphics and a compute queue whose jobs the kernel starts together, so that each may wait for the other, as task and
//! mesh shaders do.
//!
//! `cargo run --example gang` runs on a simulated RX 6800, so that it works on any machine. On a Radeon, replace the first line of
//! `main` with `Device::open("/dev/dri/renderD128")?`.

use std::time::Duration;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{Gang, Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let level = device.info().gfx_level;
    let memory = allocate(&device)?;
    let (question, answer) = (memory.address(), memory.address().checked_add(4).ok_or("the memory is too small")?);

    // All queues of a gang belong to one context.
    let context = Context::new(&device, Priority::Normal)?;
    let (graphics, compute) = (Queue::new(&context, Ip::Gfx, 0)?, Queue::new(&context, Ip::Compute, 0)?);
    let gang = Gang::new(&graphics, &[&compute])?;

    // Each list waits for the other in the middle. If they were submitted separately, the first could prevent the second from
    // starting, because both may use the same hardware.
    let mut asks = Stream::new(&device, pm4::Target::gfx(level), 64)?;
    asks.push(&pm4::WriteData::new(question, &[1]))?;
    asks.push(&pm4::WaitRegMem::new(answer, pm4::Compare::Equal, 42))?;
    let mut answers = Stream::new(&device, pm4::Target::compute(level), 64)?;
    answers.push(&pm4::WaitRegMem::new(question, pm4::Compare::Equal, 1))?;
    answers.push(&pm4::WriteData::new(answer, &[42]))?;
    let (asks, answers) = (asks.finish()?, answers.finish()?);

    // One kernel call. The fence covers the whole gang.
    let submission = Submission { lists: &[&asks], memory: &memory, ..Submission::default() };
    let fence = gang.submit(&[&[&answers]], &submission)?;
    if !fence.wait(Deadline::after(Duration::from_secs(2)))? {
        return Err("the gang did not finish in time".into());
    }
    println!("the compute ring answered {}", memory.mapping().ok_or("not mapped")?.load_u32(4)?);
    Ok(())
}

fn allocate(device: &Device) -> Result<DeviceMemory, Box<dyn std::error::Error>> {
    let manager = MemoryManager::new(device, &TableOptions::default())?;
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    memory.map()?;
    Ok(memory)
}
