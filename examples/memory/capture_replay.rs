//! Captures an address in one run and gets it again in the next, whatever else is allocated there.
//!
//! `cargo run --example capture_replay` runs on a simulated RX 6800. Two open files stand for the two runs: each has
//! addresses of its own.

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, MemoryUsage, Replay, TableOptions},
    vamgr::VaWindow,
    winsys::Device,
};

const SIZE: u64 = 1 << 20;

fn run() -> Result<MemoryManager, Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    Ok(MemoryManager::new(&device, &TableOptions::default())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The first run is recorded. A trace tool notes the address beside the contents.
    let first = run()?;
    let memory_type = first.properties().type_for(MemoryUsage::GpuOnly).ok_or("no memory of the GPU")?;
    let memory = first.allocate(&AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(memory_type, SIZE) })?;
    let captured = memory.address();
    let kept = first.device().addresses().replay_windows().map(|windows| windows.range(VaWindow::High));
    println!("captured {captured}, from {:?}", kept.ok_or("no replay window")?);

    // The second run allocates other things first. None of them can be in the way: those addresses are kept.
    let second = run()?;
    let others: Result<Vec<_>, _> =
        (0..100).map(|_| second.allocate(&AllocateInfo::new(memory_type, 3 << 20))).collect();
    let replay = AllocateInfo { replay: Replay::At(captured), ..AllocateInfo::new(memory_type, SIZE) };
    let again = second.allocate(&replay)?;
    println!("behind {} others at {}", others?.len(), again.address());

    // A second time it is not free, which Vulkan has a result for.
    let error = second.allocate(&replay).map(drop).unwrap_err();
    println!("{error}: {:?}", error.vk_result());
    Ok(())
}
