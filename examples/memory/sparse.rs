//! Binds a few pages of memory in a buffer of one gigabyte, as for a virtual texture.
//!
//! `cargo run --example sparse` runs on a simulated RX 6800. The GPU may access all of a sparse range: reads of unbound pages
//! return zero, and writes to them are lost.

use std::time::Duration;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, sdma},
    heaps::{
        AllocateInfo, Backing, DeviceMemory, MemoryManager, MemoryUsage, SparseBind, SparsePoint, SparseQueue,
        SparseRange, SparseSubmission, TableOptions,
    },
    vamgr::VaRequest,
    winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
};

/// Vulkan's sparse block size, bytes.
const BLOCK: u64 = 64 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let memory = host_memory(&manager, 4 * BLOCK)?;
    memory.map()?.store_u32(2 * BLOCK, 42)?;

    // The addresses are allocated first, memory is bound later.
    let range = SparseRange::new(&device, VaRequest::new(1 << 30).aligned(BLOCK))?;
    println!("{} MiB of addresses at {}, {} bytes bound", range.size() >> 20, range.address(), range.bound_bytes());

    // Four blocks, bound one by one and out of order. Their memory is contiguous, so one ioctl binds them.
    let place = 512 << 20;
    let block = |index: u64| SparseBind {
        offset: place + index * BLOCK,
        len: BLOCK,
        backing: Some(Backing { memory: memory.binding().clone(), offset: index * BLOCK }),
    };
    let ioctls = range.bind(&[block(2), block(0), block(3), block(1)])?;
    println!("{} KiB bound in {ioctls} ioctl", range.bound_bytes() >> 10);
    println!("the GPU reads {} there", gpu_reads(&manager, &range, place + 2 * BLOCK)?);

    // A queue operation: it waits for sync objects before the change, and signals others after it.
    let [frame_done, unbound] = [Syncobj::new(&device, false)?, Syncobj::new(&device, false)?];
    let point = |syncobj: &Syncobj| SparsePoint { syncobj: syncobj.clone(), point: 0 };
    let queue = SparseQueue::new(&device)?;
    let change = SparseBind { offset: place + 2 * BLOCK, len: BLOCK, backing: None };
    let fence = queue.submit(SparseSubmission {
        waits: vec![point(&frame_done)],
        binds: vec![(range.clone(), vec![change])],
        signals: vec![point(&unbound)],
    })?;
    println!("before the frame is done it still reads {}", gpu_reads(&manager, &range, place + 2 * BLOCK)?);
    frame_done.signal()?;
    let patience = Deadline::after(Duration::from_secs(2));
    if !fence.wait(patience)? || !unbound.wait(patience)? {
        return Err("the queue did not come to it in time".into());
    }
    println!(
        "then {} KiB are bound, and it reads {}",
        range.bound_bytes() >> 10,
        gpu_reads(&manager, &range, place + 2 * BLOCK)?
    );
    Ok(())
}

/// Reads a dword of the range with a copy engine.
fn gpu_reads(manager: &MemoryManager, range: &SparseRange, offset: u64) -> Result<u32, Box<dyn std::error::Error>> {
    let device = manager.device();
    let result = host_memory(manager, 4096)?;
    let from = range.address().checked_add(offset).ok_or("no such address")?;
    let mut stream = Stream::new(device, sdma::Version::of(device.info().gfx_level), 64)?;
    stream.push(&sdma::CopyLinear::new(result.address(), from, 4))?;
    let list = stream.finish()?;
    let queue = Queue::new(&Context::new(device, Priority::Normal)?, Ip::Sdma, 0)?;
    // The memory bound at the time of submission is listed with it.
    let sets = [range.residents()];
    let fence = queue.submit(&Submission { lists: &[&list], memory: &result, sets: &sets, ..Submission::default() })?;
    if !fence.wait(Deadline::after(Duration::from_secs(2)))? {
        return Err("the copy engine did not finish in time".into());
    }
    Ok(result.map()?.load_u32(0)?)
}

fn host_memory(manager: &MemoryManager, size: u64) -> Result<DeviceMemory, Box<dyn std::error::Error>> {
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    Ok(manager.allocate(&AllocateInfo::new(memory_type, size))?)
}
