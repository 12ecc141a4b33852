//! Cost of querying the budget: cached, and from the kernel.
//!
//! `cargo bench -p amdgpu-bench --bench budget` prints one line a row: ours, the floor, and their ratio, medians of rounds in turn. The
//! floors of a remembered answer are what reading a clock once costs.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use amdgpu_bench::measure::{Compared, compare, each};
use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    heaps::{BudgetRule, CoarseClock, MemoryManager, TableOptions, suballocation::Clock},
    winsys::Device,
};

/// Measurements of each side; odd, so that there is a median.
const ROUNDS: usize = 21;

fn row(name: &str, count: u32, mut ours: impl FnMut(), floor_name: &str, mut floor: impl FnMut()) {
    let times = compare(ROUNDS, || each(count, &mut ours), || each(count, &mut floor));
    let Compared { ours, floor } = times;
    println!("{name:<34} {ours:>10.1} ns   {floor_name:<28} {floor:>10.1} ns  ratio {:>6.2}", times.ratio());
}

fn main() {
    for chip in ["navi21", "renoir"] {
        let profile = profile(chip).expect("the simulator has the chip");
        let device = Device::new(SimKernel::open(profile)).expect("a simulated GPU opens");
        let manager = MemoryManager::new(&device, &TableOptions::default())
            .expect("its tables are built")
            .with_budget_interval(CoarseClock, Duration::from_hours(1));
        let answer = |budgets: Result<_, _>| {
            black_box(budgets.expect("the kernel answers"));
        };
        let clock = || {
            black_box(Instant::now());
        };
        let cached = || answer(manager.cached_budgets(BudgetRule::Radv));
        row(&format!("{chip}: cached budgets"), 200_000, cached, "reading CLOCK_MONOTONIC", clock);
        let last = || {
            black_box(manager.last_budgets(BudgetRule::Radv).expect("the kernel was asked"));
        };
        let coarse = || {
            black_box(CoarseClock.now());
        };
        row(&format!("{chip}: last budgets"), 200_000, last, "reading the coarse clock", coarse);
        let asked = || answer(manager.budgets(BudgetRule::Radv));
        let ioctl = || {
            black_box(device.memory_info().expect("the kernel answers"));
        };
        row(&format!("{chip}: budgets, asked for"), 2_000, asked, "one INFO_MEMORY, simulated", ioctl);
    }
}
