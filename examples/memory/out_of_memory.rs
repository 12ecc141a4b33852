//! Runs out of memory on purpose, prints the reason, and recovers.
//!
//! `cargo run --example out_of_memory`. By default the kernel accepts allocations that exceed the memory, and fails the submission
//! that uses them. With an admission policy the allocation itself fails, when the program can still react.

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{
        AdmissionPolicy, AllocateFlags, AllocateInfo, AllocateMemoryError, DeviceMemory, MemoryManager, MemoryUsage,
        TableOptions, WorkingSet, WorkingSetError,
    },
    winsys::{Context, Device, Ip, Priority},
};

const CHUNK: u64 = 1 << 30;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;

    println!("without a policy:");
    let careless = MemoryManager::new(&device, &TableOptions::default())?;
    let chunk = system_memory(&careless)?;
    let gtt = device.memory_info()?.gtt.usable_heap_size;
    let memories: Vec<_> = (0..gtt / CHUNK + 2).map(|_| careless.allocate(&chunk)).collect::<Result<_, _>>()?;
    println!("  {} GiB of {} allocated without an error", memories.len(), gtt >> 30);
    // The memory of a submission can be checked before the submission ...
    let mut set = WorkingSet::new();
    for memory in &memories {
        set.add(memory.binding());
    }
    match careless.check_working_set(&set) {
        Err(error @ WorkingSetError::DoesNotFit(_)) => println!("  {error}"),
        other => return Err(format!("that cannot fit: {other:?}").into()),
    }
    // ... because the kernel reports it too late.
    println!("  the kernel: {}", submit(&device, &memories).err().ok_or("that cannot run")?);
    drop(memories);

    println!("with a policy:");
    let careful =
        MemoryManager::new(&device, &TableOptions::default())?.with_admission(AdmissionPolicy::within_budget());
    let mut memories = Vec::new();
    let refusal = loop {
        match careful.allocate(&chunk) {
            Ok(memory) => memories.push(memory),
            Err(AllocateMemoryError::Refused(refusal)) => break refusal,
            Err(error) => return Err(error.into()),
        }
    };
    println!("  after {} GiB: {refusal}", memories.len());

    // Recover: free one chunk, and allocate again.
    memories.pop();
    memories.push(careful.allocate(&chunk)?);
    println!("  one chunk freed, one allocated: {} GiB", memories.len());
    submit(&device, &memories)?;
    println!("  and all of it can be used at once");
    Ok(())
}

/// Returns the parameters of a chunk of system memory that submissions list explicitly. (Memory that cannot be shared belongs to
/// every submission.)
fn system_memory(manager: &MemoryManager) -> Result<AllocateInfo, Box<dyn std::error::Error>> {
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    Ok(AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(memory_type, CHUNK) })
}

/// Submits a job that lists all of this memory and does not access it.
fn submit(device: &Device, memories: &[DeviceMemory]) -> Result<(), Box<dyn std::error::Error>> {
    let mut stream = Stream::new(device, pm4::Target::gfx(device.info().gfx_level), 16)?;
    stream.push(&pm4::Nop::Skip(&[0]))?;
    let list = stream.finish()?;
    let queue = Queue::new(&Context::new(device, Priority::Normal)?, Ip::Gfx, 0)?;
    queue.submit(&Submission { lists: &[&list], memory: &memories, ..Submission::default() })?;
    Ok(())
}
