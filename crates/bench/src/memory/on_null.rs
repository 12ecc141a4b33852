//! The rows of `amdgpu-bench memory` that are measured on the null kernel, in a child.

use std::{path::Path, thread, time::Instant};

use amdgpu_bench::measure::{in_turn, median};
use amdgpu_winsys::{
    heaps::{AllocateInfo, BudgetRule, DeviceMemory, MemoryManager, TableOptions},
    uapi::GemDomain,
    winsys::Device,
};
use ash::vk::MemoryPropertyFlags;

use crate::{
    child::{NODE, Wanted},
    contest::traces::random,
    counting::growth,
    peers::{libdrm_bo::LibdrmBos, radv::Radv},
    row::{Goal, Row, Unit},
};

/// Memories alive while pairs are timed.
const LIVE: [u64; 3] = [0, 1_000, 10_000];
const SIZES: [(&str, u64); 2] = [("64K", 64 << 10), ("2M", 2 << 20)];
const RADV: &str = "RADV";
const LIBDRM: &str = "libdrm_amdgpu";
const PAGE: u64 = 4096;

/// The library on the child's node.
pub(crate) fn manager() -> Result<MemoryManager, String> {
    let device = Device::open(Path::new(NODE)).map_err(|error| error.to_string())?;
    MemoryManager::new(&device, &TableOptions::default()).map_err(|error| error.to_string())
}

/// Every row.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let manager = match manager() {
        Ok(manager) => manager,
        Err(why) => return add(Row::missing("memory", "the null kernel", why)),
    };
    if SIZES.iter().any(|(name, _)| ["", "map-"].iter().any(|map| wanted.has(&format!("allocate-{map}{name}")))) {
        pairs(wanted, &manager, add);
    }
    if wanted.has("two-threads") {
        two_threads(&manager, add);
    }
    if wanted.has("null-requests") {
        requests(&manager, add);
    }
    if wanted.has("allocate-flat") {
        flat(&manager, add);
    }
    if wanted.has("budget") {
        budget(&manager, add);
    }
    if wanted.has("bytes-per-memory") {
        bytes_per_memory(&manager, add);
    }
}

/// A driver or library that allocates device memory.
trait Memories {
    type Memory;
    fn allocate(&mut self, size: u64) -> Self::Memory;
    fn free(&mut self, memory: Self::Memory);

    /// A state in which the addresses are not one block: of `2 * live` memories of random sizes a random half is freed.
    fn fragmented(&mut self, live: u64) -> Vec<Self::Memory> {
        let mut draws = random(0x5EED_1000 + live);
        let mut all: Vec<_> = (0..2 * live).map(|_| self.allocate(PAGE << (draws() % 7))).collect();
        for _ in 0..live {
            let gone = all.swap_remove((draws() % all.len() as u64) as usize);
            self.free(gone);
        }
        all
    }

    #[inline]
    fn pair(&mut self, size: u64) {
        let memory = self.allocate(size);
        self.free(memory);
    }
}

struct Ours<'a> {
    manager: &'a MemoryManager,
    memory_type: u32,
}

impl Memories for Ours<'_> {
    type Memory = DeviceMemory;

    #[inline]
    fn allocate(&mut self, size: u64) -> DeviceMemory {
        self.manager.allocate(&AllocateInfo::new(self.memory_type, size)).expect("the null kernel refuses nothing")
    }

    #[inline]
    fn free(&mut self, memory: DeviceMemory) {
        drop(memory);
    }
}

struct Theirs<'a> {
    radv: &'a Radv,
    memory_type: u32,
}

impl Memories for Theirs<'_> {
    type Memory = ash::vk::DeviceMemory;

    #[inline]
    fn allocate(&mut self, size: u64) -> Self::Memory {
        self.radv.allocate(self.memory_type, size)
    }

    #[inline]
    fn free(&mut self, memory: Self::Memory) {
        self.radv.free(memory);
    }
}

impl Memories for LibdrmBos {
    type Memory = crate::peers::libdrm_bo::BoundBo;

    #[inline]
    fn allocate(&mut self, size: u64) -> Self::Memory {
        self.allocate(size, if size < 2 << 20 { 64 << 10 } else { size })
    }

    #[inline]
    fn free(&mut self, memory: Self::Memory) {
        self.free(memory);
    }
}

fn pairs(wanted: &Wanted, manager: &MemoryManager, add: &mut impl FnMut(Row)) {
    let radv = Radv::open().map_err(|why| add(Row::missing("allocate", RADV, why))).ok();
    let mut libdrm = LibdrmBos::open().map_err(|why| add(Row::missing("allocate", LIBDRM, why))).ok();
    for live in LIVE {
        let batch = if live > 1000 { 50 } else { 200 };
        if let Some(radv) = &radv {
            beside_radv(wanted, manager, radv, live, batch, add);
        }
        if let Some(libdrm) = &mut libdrm {
            let mut ours = Ours { manager, memory_type: 0 };
            let kept = (ours.fragmented(live), libdrm.fragmented(live));
            for (name, size) in SIZES {
                let name = format!("allocate-{name}");
                if wanted.has(&name) {
                    let [mine, its] = in_turn(
                        batch,
                        [&mut |n| (0..n).for_each(|_| ours.pair(size)), &mut |n| {
                            (0..n).for_each(|_| libdrm.pair(size));
                        }],
                    );
                    add(Row::times(&name, live, mine, LIBDRM, its, Goal::RatioAtMost(1.0)));
                }
            }
            kept.1.into_iter().for_each(|memory| libdrm.free(memory));
        }
    }
}

fn beside_radv(
    wanted: &Wanted,
    manager: &MemoryManager,
    radv: &Radv,
    live: u64,
    batch: usize,
    add: &mut impl FnMut(Row),
) {
    let types = [
        radv.memory_type(MemoryPropertyFlags::DEVICE_LOCAL),
        radv.memory_type(MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_CACHED),
    ];
    let [Ok(local), Ok(visible)] = types else { return };
    let (mut ours, mut theirs) = (Ours { manager, memory_type: local }, Theirs { radv, memory_type: local });
    let kept = (ours.fragmented(live), theirs.fragmented(live));
    let (allocate, map) = (Goal::RatioAtMost(0.45), Goal::RatioAtMost(0.65));
    for (name, size) in SIZES {
        let bench = format!("allocate-{name}");
        if wanted.has(&bench) {
            (ours.memory_type, theirs.memory_type) = (local, local);
            let [mine, its] = in_turn(
                batch,
                [&mut |n| (0..n).for_each(|_| ours.pair(size)), &mut |n| (0..n).for_each(|_| theirs.pair(size))],
            );
            add(Row::times(&bench, live, mine, RADV, its, allocate));
        }
        let bench = format!("allocate-map-{name}");
        if wanted.has(&bench) {
            (ours.memory_type, theirs.memory_type) = (visible, visible);
            let [mine, its] = in_turn(
                batch,
                [
                    &mut |n| {
                        for _ in 0..n {
                            let memory = ours.allocate(size);
                            std::hint::black_box(memory.map().expect("the null kernel refuses nothing"));
                            ours.free(memory);
                        }
                    },
                    &mut |n| {
                        for _ in 0..n {
                            let memory = theirs.allocate(size);
                            radv.map(memory);
                            theirs.free(memory);
                        }
                    },
                ],
            );
            add(Row::times(&bench, live, mine, RADV, its, map));
        }
    }
    kept.1.into_iter().for_each(|memory| theirs.free(memory));
}

/// Measures the null kernel's part of a pair: GEM_CREATE, GEM_VA twice and GEM_CLOSE. It is included in every row.
fn requests(manager: &MemoryManager, add: &mut impl FnMut(Row)) {
    const REQUESTS: u64 = 4;
    let Ok(memory) = manager.allocate(&AllocateInfo::new(0, PAGE)) else { return };
    let [ours] = in_turn(
        500,
        [&mut |n| {
            for _ in 0..n as u64 * REQUESTS {
                memory.bo().prefer(GemDomain::VRAM).expect("the null kernel refuses nothing");
            }
        }],
    );
    add(Row::alone("null-requests", REQUESTS, ours, Goal::None).noting("the null kernel's share of a pair".into()));
}

/// Pairs with many memories alive beside pairs with none. Both sides are ours, with a device each, and there is no peer that
/// drives them out of the caches between two batches.
fn flat(manager: &MemoryManager, add: &mut impl FnMut(Row)) {
    const COUNT: u64 = 10_000;
    let crowded = match self::manager() {
        Ok(crowded) => crowded,
        Err(why) => return add(Row::missing("allocate-flat", "ours with nothing alive", why)),
    };
    let (mut alone, mut beside) = (Ours { manager, memory_type: 0 }, Ours { manager: &crowded, memory_type: 0 });
    let _kept = beside.fragmented(COUNT);
    for (_, size) in SIZES {
        let [many, none] = in_turn(
            500,
            [&mut |n| (0..n).for_each(|_| beside.pair(size)), &mut |n| (0..n).for_each(|_| alone.pair(size))],
        );
        let row = Row::times("allocate-flat", COUNT, many, "ours with nothing alive", none, Goal::RatioAtMost(1.3));
        add(row.noting(format!("{} KiB", size >> 10)));
    }
}

/// The budget, remembered and asked for.
fn budget(manager: &MemoryManager, add: &mut impl FnMut(Row)) {
    const RULE: BudgetRule = BudgetRule::Corrected;
    let [cached, asked] = in_turn(
        500,
        [
            &mut |n| {
                for _ in 0..n {
                    std::hint::black_box(manager.cached_budgets(RULE).expect("INFO"));
                }
            },
            &mut |n| {
                for _ in 0..n {
                    std::hint::black_box(manager.budgets(RULE).expect("INFO"));
                }
            },
        ],
    );
    add(Row::alone("budget", 0, cached, Goal::Below(50.0)).noting("cached_budgets: no ioctl, but a clock".into()));
    add(Row::alone("budget-asked", 0, asked, Goal::None).noting("one INFO each; the simulator answers it".into()));
}

/// Pairs of two threads at once beside those of one. Both sides are ours.
fn two_threads(manager: &MemoryManager, add: &mut impl FnMut(Row)) {
    const PAIRS: u32 = 20_000;
    const ROUNDS: usize = 21;
    let work = || {
        let mut ours = Ours { manager, memory_type: 0 };
        (0..PAIRS).for_each(|_| ours.pair(64 << 10));
    };
    let timed = |threads: u32| {
        let start = Instant::now();
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        start.elapsed().as_secs_f64() * 1e9 / f64::from(threads * PAIRS)
    };
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        one.push(timed(1));
        two.push(timed(2));
    }
    let row = Row::times(
        "two-threads",
        2,
        median(&mut two),
        "one thread of ours",
        median(&mut one),
        Goal::RatioAtMost(1.0 / 1.6),
    );
    add(row.noting(format!(
        "ns of wall time a pair, {} processors",
        thread::available_parallelism().map_or(1, usize::from)
    )));
}

fn bytes_per_memory(manager: &MemoryManager, add: &mut impl FnMut(Row)) {
    const COUNT: u64 = 10_000;
    let mut ours = Ours { manager, memory_type: 0 };
    let (kept, bytes) = growth(|| ours.fragmented(COUNT).into_boxed_slice());
    let each = bytes as f64 / kept.len() as f64;
    add(Row::figure("bytes-per-memory", COUNT, each, Unit::Bytes, Goal::Below(300.0)));
}
