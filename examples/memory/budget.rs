//! The memory budget of a program by three rules, and its changes while another process fills the GPU.
//!
//! `cargo run --example budget` runs on a simulated APU, the most difficult case: carve-out and GTT are the same memory, and the
//! sum of the heaps exceeds the memory of the machine.

use std::{io::Write, time::Duration};

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    heaps::{
        AllocateInfo, BudgetRule, CoarseClock, EffectivePool, HostMemory, MemoryManager, MemoryUsage, TableOptions,
    },
    winsys::{Device, Event, Observer},
};

/// An observer that prints changes of budgets. A driver would start its texture streaming.
#[derive(Debug)]
struct Alarm;

impl Observer for Alarm {
    fn observe(&self, event: &Event) {
        match event {
            Event::BudgetChanged { generation, vram, gtt, .. } => {
                println!("  (answer {generation}: {} MiB of VRAM and {} MiB of GTT in use)", vram >> 20, gtt >> 20);
            }
            Event::Pressure { heap, level, .. } => println!("  (pressure on heap {heap} is {level:?} now)"),
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = SimDevice::new(profile("renoir").ok_or("no such chip")?, SimOptions::default());
    let device = Device::with_observer(gpu.open(), Alarm)?;
    // One query to the kernel every ten milliseconds suffices.
    let manager = MemoryManager::new(&device, &TableOptions::default())?
        .with_budget_interval(CoarseClock, Duration::from_millis(10));

    // The library does not read the host's memory state itself; the caller passes it.
    let meminfo = std::fs::read_to_string("/proc/meminfo")?;
    let host = HostMemory::parse(&meminfo).ok_or("no MemAvailable")?;

    println!("at first:");
    print(&manager, &host)?;
    let memory_type = manager.properties().type_for(MemoryUsage::GpuOnly).ok_or("no memory of the GPU")?;
    let own = manager.allocate(&AllocateInfo::new(memory_type, 512 << 20))?;
    println!("with {} MiB of our own:", own.size() >> 20);
    print(&manager, &host)?;

    let neighbour = MemoryManager::new(&Device::new(gpu.open())?, &TableOptions::default())?;
    let types = neighbour.properties().types().len() as u32;
    let theirs: Vec<_> = (0..types).map(|ty| neighbour.allocate(&AllocateInfo::new(ty, 256 << 20))).collect();
    manager.refresh_usage()?;
    println!("with {} allocations of a neighbour:", theirs.iter().flatten().count());
    print(&manager, &host)?;
    Ok(())
}

fn print(manager: &MemoryManager, host: &HostMemory) -> Result<(), Box<dyn std::error::Error>> {
    let system = manager.cached_usage()?.usage;
    let honest = system.capped_by(manager.properties().facts(), host);
    let views = [
        ("as RADV tells it", manager.budgets_from(&system, BudgetRule::Radv)),
        ("corrected", manager.budgets_from(&system, BudgetRule::Corrected)),
        ("given the host's memory", manager.budgets_from(&honest, BudgetRule::Corrected)),
    ];
    let mut out = std::io::stdout().lock();
    for (name, budgets) in views {
        let figures = budgets.heaps().iter().map(|heap| format!("{} of {} MiB", heap.usage >> 20, heap.budget >> 20));
        writeln!(out, "  {name:<24} {}", figures.collect::<Vec<_>>().join(", "))?;
    }
    let EffectivePool { size, available, limit, .. } = manager.effective_pool(host)?;
    writeln!(out, "  {:<24} {} of {} MiB available, limited by the {limit:?}", "really", available >> 20, size >> 20)?;
    Ok(())
}
