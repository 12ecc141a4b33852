//! The rows of `amdgpu-bench memory`.

use std::{path::Path, sync::Arc};

use amdgpu_bench::measure::{each, median};
use amdgpu_winsys::{
    heaps::{
        AllocateInfo, MemoryManager, TableOptions,
        suballocation::{CacheLimits, MemoryCache, SizeClass, SlabPool},
    },
    winsys::Device,
};

use super::vma;
use crate::{
    child::{self, NODE, Wanted},
    contest::{
        ours::Addresses,
        parts::{noting_failures, parts},
        race::{HOLES, Holes, alone, contest, empty},
        traces::{Kind, PARTS, Trace, VA},
    },
    peers::{buddy::Buddy, libdrm::Libdrm, offset::Offset},
    row::{Goal, Row},
};

const SHIM: &str = "libamdgpu_noop_drm_shim.so";
const LIBDRM: &str = "libdrm_amdgpu";
/// Ranges of the worst case, which leave half their number of holes.
const RANGES: u64 = 100_000;

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    if ["va-empty", "va"].iter().chain(HOLES.iter().map(|(name, ..)| name)).any(|bench| wanted.has(bench)) {
        in_a_child(wanted, add);
    }
    // Measured without a peer that drives ours out of the caches between two batches.
    for trace in wanted.traces(&VA) {
        let ours = alone(trace, Addresses::new(), 4 * trace.live);
        add(Row::alone("va", trace.live, ours.pair, absolute(trace)));
    }
    for trace in wanted.traces(&PARTS) {
        let Kind::Parts { space, .. } = trace.kind else { continue };
        parts(trace, "offset-allocator", space, Offset::new(space), add);
        parts(trace, "buddy_system_allocator", space, Buddy::new(space), add);
    }
    if PARTS.iter().any(|trace| wanted.has(trace.name)) {
        add(Row::missing(
            "S, T, S32",
            "gpu-allocator",
            "its sub-allocator is private, and reached through a VkDevice only",
        ));
    }
    floor(wanted, add);
    if NULL.iter().any(|bench| wanted.has(bench)) {
        child::on_the_null_kernel("memory", wanted, add);
    }
    // At the end, as cargo may put another build in the place of this program, which then cannot be run once more.
    vma::all(wanted, add);
}

/// The rows that are measured on the null kernel.
const NULL: [&str; 10] = [
    "null-requests",
    "allocate-64K",
    "allocate-2M",
    "allocate-map-64K",
    "allocate-map-2M",
    "allocate-flat",
    "two-threads",
    "budget",
    "budget-asked",
    "bytes-per-memory",
];

/// The rows against libdrm, measured here: this process has a node, if need be the shim's.
pub(crate) fn beside_libdrm(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let mut theirs = match Libdrm::open() {
        Ok(libdrm) => libdrm,
        Err(why) => return add(Row::missing("va", LIBDRM, why)),
    };
    if wanted.has("va-empty") {
        let (ours, theirs) = empty(&mut Addresses::new(), &mut theirs, 64 << 10);
        add(Row::times("va-empty", 0, ours, LIBDRM, theirs, Goal::RatioAtMost(1.0)));
    }
    // Beyond 10,000 a run would take minutes.
    for trace in wanted.traces(&VA).filter(|trace| trace.live <= 10_000) {
        let Ok(theirs) = Libdrm::open() else { continue };
        let goal = if trace.live == 10_000 { Goal::RatioAtMost(1.0 / 150.0) } else { Goal::RatioAtMost(1.0) };
        let (ours, theirs) = contest(trace, Addresses::new(), theirs, 4 * trace.live);
        add(noting_failures(Row::times("va", trace.live, ours.pair, LIBDRM, theirs.pair, goal), ours, theirs));
    }
    if HOLES.iter().any(|(name, ..)| wanted.has(name)) {
        holes(wanted, theirs, add);
    }
}

fn holes(wanted: &Wanted, theirs: Libdrm, add: &mut impl FnMut(Row)) {
    let (mut ours, mut theirs) = (Holes::new(Addresses::new(), RANGES as usize), Holes::new(theirs, RANGES as usize));
    for (name, size, align) in HOLES.into_iter().filter(|(name, ..)| wanted.has(name)) {
        // The fast side is timed before and after, as the slow one takes seconds.
        let before = ours.time(size, align);
        let theirs = theirs.time(size, align);
        let mut times = [before, ours.time(size, align), ours.time(size, align)];
        let goal = if name == "holes-fit" { Goal::None } else { Goal::RatioAtMost(1.0 / 1000.0) };
        add(Row::times(name, RANGES, median(&mut times), LIBDRM, theirs, goal));
    }
}

/// Runs this program once more with Mesa's no-op shim before it, so that libdrm finds a device.
fn in_a_child(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let missing = |why: String| Row::missing("va, holes", LIBDRM, why);
    let mut environment = vec![("AMDGPU_GPU_ID", "navi21".into())];
    if !Path::new(NODE).exists() {
        environment.push(("LD_PRELOAD", SHIM.into()));
    }
    match child::rows(&["memory", "--beside-libdrm"], wanted, &environment) {
        Ok(rows) => rows.into_iter().for_each(add),
        Err(why) => add(missing(why)),
    }
}

/// The goals at sizes where libdrm takes too long to compare.
fn absolute(trace: &Trace) -> Goal {
    match trace.live {
        100_000 => Goal::Below(300.0),
        1_000_000 => Goal::Below(600.0),
        _ => Goal::None,
    }
}

/// Allocating and freeing device memory on the simulator: mostly the simulator's own time, so a floor and no contest.
/// Beside it, the cache and the slabs, which do not ask it.
fn floor(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    const NAMES: [&str; 3] = ["sim-memory", "sim-cache", "sim-slab"];
    if !NAMES.iter().any(|name| wanted.has(name)) {
        return;
    }
    let Some(profile) = amdgpu_sim::profile("navi21") else { return };
    let manager = Device::new(amdgpu_sim::SimKernel::open(profile))
        .map_err(Into::into)
        .and_then(|device| MemoryManager::new(&device, &TableOptions::default()));
    let manager = match manager {
        Ok(manager) => Arc::new(manager),
        Err(error) => return add(Row::missing("sim-memory", "-", error)),
    };
    let cache = MemoryCache::new(&manager, CacheLimits::default());
    let pool = SlabPool::new(&cache);
    for size in [64 << 10, 2 << 20] {
        let info = AllocateInfo::new(0, size);
        let mut row = |name: &str, time: f64| {
            if wanted.has(name) {
                add(Row::alone(name, 0, time, Goal::None).noting(format!("{} KiB", size >> 10)));
            }
        };
        row(NAMES[0], pairs(|| drop(manager.allocate(&info))));
        row(NAMES[1], pairs(|| drop(cache.allocate(&info))));
        if size <= SizeClass::LARGEST {
            let _keeps_the_slab = pool.allocate(0, size, 1);
            row(NAMES[2], pairs(|| drop(pool.allocate(0, size, 1))));
        }
    }
}

/// Nanoseconds of a call, the median of some batches.
fn pairs(mut pair: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..51).map(|_| each(200, &mut pair)).collect();
    median(&mut times)
}
