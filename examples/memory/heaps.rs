//! Prints heaps, memory types and budgets of every chip of the simulator, in the form in which a Vulkan driver reports them.
//!
//! `cargo run --example heaps`

use std::io::Write as _;

use amdgpu_sim::{SimKernel, profiles};
use amdgpu_winsys::{
    heaps::{BudgetRule, MemoryManager, TableOptions},
    winsys::Device,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for profile in profiles() {
        let device = Device::new(SimKernel::open(profile))?;
        let manager = MemoryManager::new(&device, &TableOptions::default())?;
        writeln!(out, "{} ({}, {})", device.info().marketing_name, device.info().chip_name(), device.info().gfx_level)?;
        let (tables, budgets) = (manager.properties(), manager.budgets(BudgetRule::default())?);
        for (index, (heap, budget)) in tables.heaps().iter().zip(budgets.heaps()).enumerate() {
            writeln!(
                out,
                "  heap {index}: {:>6} MiB, budget {:>6} MiB, {:?}",
                heap.size >> 20,
                budget.budget >> 20,
                heap.flags
            )?;
        }
        for (index, ty) in tables.types().iter().enumerate() {
            writeln!(out, "  type {index:>2}: heap {}, {:?}", ty.heap, ty.properties)?;
        }
    }
    Ok(())
}
