//! Captures the address of an allocation in one run and allocates it again in the next, independent of other allocations.
//!
//! `cargo run --example capture_replay` runs on a simulated RX 6800. Two open files represent the two runs: each has its own
//! address space.

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
    // The capture run. A trace tool stores the address with the contents.
    let first = run()?;
    let memory_type = first.properties().type_for(MemoryUsage::GpuOnly).ok_or("no memory of the GPU")?;
    let memory = first.allocate(&AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(memory_type, SIZE) })?;
    let captured = memory.address();
    let kept = first.device().addresses().replay_windows().map(|windows| windows.range(VaWindow::High));
    println!("captured {captured}, from {:?}", kept.ok_or("no replay window")?);

    // The replay run allocates other memory first. This never uses the captured address, because replay windows are reserved.
    let second = run()?;
    let others: Result<Vec<_>, _> =
        (0..100).map(|_| second.allocate(&AllocateInfo::new(memory_type, 3 << 20))).collect();
    let replay = AllocateInfo { replay: Replay::At(captured), ..AllocateInfo::new(memory_type, SIZE) };
    let again = second.allocate(&replay)?;
    println!("behind {} others at {}", others?.len(), again.address());

    // A second allocation there fails with the result that Vulkan defines for this.
    let error = second.allocate(&replay).map(drop).unwrap_err();
    println!("{error}: {:?}", error.vk_result());
    Ok(())
}
