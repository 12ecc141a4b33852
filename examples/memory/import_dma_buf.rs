//! Shares memory as a dma-buf between two open files of a GPU, and with another GPU.
//!
//! `cargo run --example import_dma_buf` runs on a simulated RX 6800 and a simulated APU in one machine.

use std::os::fd::OwnedFd;

use amdgpu_sim::{SimMachine, SimOptions, profile};
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, ExternalHandleTypes, ImportInfo, MemoryManager, MemoryUsage, TableOptions},
    winsys::Device,
};

const DMA_BUF: ExternalHandleTypes = ExternalHandleTypes::DMA_BUF;
const SIZE: u64 = 64 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = SimMachine::new();
    let card = machine.add(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    let apu = machine.add(profile("renoir").ok_or("no such chip")?, SimOptions::default());
    let manager = |kernel| MemoryManager::new(&Device::new(kernel)?, &TableOptions::default());
    let (compositor, game, other_gpu) = (manager(card.open())?, manager(card.open())?, manager(apu.open())?);

    // Only memory that was allocated as exportable can be shared, because the kernel never shares always-resident memory.
    let uploads = game.properties().type_for(MemoryUsage::Upload).ok_or("no memory that the CPU writes")?;
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(uploads, SIZE) };
    let frame = game.allocate(&info)?;
    frame.map()?.write(0, b"a frame")?;
    let fd = frame.export(DMA_BUF)?;

    // The memory types for the import, like `vkGetMemoryFdPropertiesKHR`, according to the placement that the kernel reports.
    let types = compositor.fd_types(DMA_BUF, &fd)?;
    let memory_type = types.iter().next().ok_or("nothing fits")?;
    let shown =
        compositor.import_fd(fd.try_clone()?, &ImportInfo::new(memory_type, SIZE)).map_err(|(_, error)| error)?;
    let mut seen = [0; 7];
    shown.map()?.read(0, &mut seen)?;
    println!(
        "types {types:?}: imported {} bytes at {}: {:?}",
        shown.size(),
        shown.address(),
        std::str::from_utf8(&seen)?
    );

    // A second import of the same memory refers to the same BO, and is charged once.
    let again =
        compositor.import_fd(fd.try_clone()?, &ImportInfo::new(memory_type, SIZE)).map_err(|(_, error)| error)?;
    let usage = compositor.usage_tracker().usage();
    let charged = usage.visible_vram + usage.gtt;
    println!("handles {} and {}, {charged} bytes charged", shown.bo().handle(), again.bo().handle());

    // If the import fails, because the memory is too small, the error returns the descriptor.
    let (fd, error): (OwnedFd, _) =
        compositor.import_fd(fd, &ImportInfo::new(memory_type, SIZE * 2)).map(drop).unwrap_err();
    println!("{error}: {:?}", error.vk_result());

    // Another GPU accesses the memory over the bus, as system memory, and reports its origin.
    let memory_type = other_gpu.fd_types(DMA_BUF, &fd)?.iter().next().ok_or("nothing fits")?;
    let foreign = other_gpu.import_fd(fd, &ImportInfo::new(memory_type, SIZE)).map_err(|(_, error)| error)?;
    println!("on the other GPU: {:?}, {:?}", foreign.bo().origin(), foreign.bo().domains());
    Ok(())
}
