//! Copies memory with a copy engine and checks the result: allocate, record, submit, wait.
//!
//! `cargo run --example sdma_copy` runs on a simulated RX 6800, so that it works on any machine. On a Radeon, replace the first
//! line of `main` with `Device::open("/dev/dri/renderD128")?`.

use std::time::Duration;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, sdma},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

const BYTES: u32 = 64 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;

    // Two host-visible memory objects, so that the CPU can fill one and check the other.
    let (from, to) = (allocate(&manager)?, allocate(&manager)?);
    let pattern: Vec<u8> = (0..BYTES).map(|index| (index * 7) as u8).collect();
    from.map()?.write(0, &pattern)?;

    // The packet language is part of the stream's type: a PM4 packet in this stream would not compile.
    let mut stream = Stream::new(&device, sdma::Version::of(device.info().gfx_level), 64)?;
    stream.push(&sdma::CopyLinear::new(to.address(), from.address(), BYTES))?;
    let list = stream.finish()?;

    // The submission keeps its lists and memory alive until the fence has signalled.
    let context = Context::new(&device, Priority::Normal)?;
    let queue = Queue::new(&context, Ip::Sdma, 0)?;
    let fence = queue.submit(&Submission { lists: &[&list], memory: &[&from, &to], ..Submission::default() })?;
    if !fence.wait(Deadline::after(Duration::from_secs(2)))? {
        return Err("the copy engine did not finish in time".into());
    }

    let mut copied = vec![0; pattern.len()];
    to.map()?.read(0, &mut copied)?;
    assert_eq!(copied, pattern);
    println!("{}: copied {BYTES} bytes from {} to {}", device.info().chip_name(), from.address(), to.address());
    Ok(())
}

fn allocate(manager: &MemoryManager) -> Result<DeviceMemory, Box<dyn std::error::Error>> {
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    Ok(manager.allocate(&AllocateInfo::new(memory_type, BYTES.into()))?)
}
