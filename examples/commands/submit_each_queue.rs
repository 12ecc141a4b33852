//! Records and submits on every queue of a chip: graphics, compute and copy rings.
//!
//! `cargo run --example submit_each_queue` runs on a simulated RX 6800, so that it works on any machine. On a Radeon, replace the
//! first line of `main` with `Device::open("/dev/dri/renderD128")?`.

use std::time::Duration;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{CommandList, Marker, Queue, Queues, RecordError, Stream, Submission, Target},
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
    vamgr::GpuVa,
    winsys::{Context, Deadline, Device, Ip, Priority},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let memory = allocate(&device)?;

    // High priority if it is permitted, otherwise the highest permitted one.
    let context = Context::new_at_most(&device, Priority::High)?;
    println!("{} with {:?} priority", device.info().chip_name(), context.priority());

    // A queue is identified by context, IP and ring, and has one object. Different queues run concurrently.
    let queues = Queues::new(&context);
    let mut fences = Vec::new();
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        for queue in queues.of_ip(ip)? {
            let offset = 4 * fences.len() as u64;
            let at = memory.address().checked_add(offset).ok_or("the memory is too small")?;
            let list = record(&device, &queue, at, 100 + queue.ring())?;
            let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
            fences.push((queue, offset, fence));
        }
    }

    for (queue, offset, fence) in &fences {
        if !fence.wait(Deadline::after(Duration::from_secs(2)))? {
            return Err("a queue did not finish in time".into());
        }
        let stored = memory.mapping().ok_or("not mapped")?.load_u32(*offset)?;
        assert_eq!(stored, 100 + queue.ring());
        println!("{} ring {} stored {stored}", queue.ip(), queue.ring());
    }
    Ok(())
}

/// Records in the language of the ring: PM4 for graphics and compute, SDMA packets for the copy engine.
fn record(device: &Device, queue: &Queue, at: GpuVa, value: u32) -> Result<CommandList, RecordError> {
    match queue.target() {
        Target::Pm4(target) => record_in(device, target, at, value),
        Target::Sdma(version) => record_in(device, version, at, value),
    }
}

/// Records a store of a dword in either packet language.
fn record_in<L: Marker>(device: &Device, language: L, at: GpuVa, value: u32) -> Result<CommandList, RecordError> {
    let mut stream = Stream::new(device, language, 64)?;
    L::store(&mut stream, at, value)?;
    stream.finish()
}

fn allocate(device: &Device) -> Result<DeviceMemory, Box<dyn std::error::Error>> {
    let manager = MemoryManager::new(device, &TableOptions::default())?;
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    memory.map()?;
    Ok(memory)
}
