//! Allocates device memory, maps it, and frees it, and prints the kernel's counts before and after.
//!
//! `cargo run --example allocate` runs on a simulated RX 6800. On a Radeon, replace the first lines of `main` with
//! `Device::open("/dev/dri/renderD128")?`.

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    winsys::Device,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    let device = Device::new(gpu.open())?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;

    // The memory type for data that the CPU writes and the GPU reads. `find_type` selects by property flags, as in Vulkan.
    let tables = manager.properties();
    let memory_type = tables.type_for(MemoryUsage::Upload).ok_or("no memory that the CPU writes")?;
    let memory = manager.allocate(&AllocateInfo::new(memory_type, 100_000))?;
    println!("type {memory_type}: {:?}", tables.types()[memory_type as usize].properties);
    println!("{} bytes at {}, {} bytes of VRAM in use", memory.size(), memory.address(), gpu.census().vram_bytes);

    // The first call maps. Later calls, from any thread, return the same mapping until one of them unmaps. A mapping cannot outlive
    // the memory, and is not unmapped while it is in use.
    let mapping = memory.map()?;
    mapping.write(0, b"hello")?;
    let mut read = [0; 5];
    mapping.read(0, &mut read)?;
    println!("read back {:?}", std::str::from_utf8(&read)?);

    // The mapping, the binding, the handle and the addresses are freed in this order.
    drop(mapping);
    drop(memory);
    println!(
        "freed: {} bytes of VRAM in use, {} bytes of addresses leased",
        gpu.census().vram_bytes,
        device.addresses().leased_bytes()
    );

    // An impossible request returns a reason with numbers, and Vulkan's result.
    let error = manager.allocate(&AllocateInfo::new(memory_type, 1 << 40)).map(drop).unwrap_err();
    println!("{error}: {:?}", error.vk_result());
    Ok(())
}
