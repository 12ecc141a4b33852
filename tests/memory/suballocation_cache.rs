//! The memory cache on the simulator: what is reused, when it goes, and that nothing is lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use crate::support::chip;
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, Replay, TableOptions, suballocation::*},
    uapi::{Argument, GemCreate},
    winsys::{Device, Errno},
};

/// A clock that the test turns, in milliseconds.
#[derive(Clone, Default)]
struct Hands(Arc<AtomicU64>);

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(SeqCst))
    }
}

struct Rig {
    kernel: Arc<FaultInjector<SimKernel>>,
    cache: MemoryCache,
    hands: Hands,
}

fn rig(limits: CacheLimits) -> Rig {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let hands = Hands::default();
    let cache = MemoryCache::with_clock(&manager, limits, hands.clone());
    Rig { kernel, cache, hands }
}

impl Rig {
    fn take(&self, size: u64) -> CachedMemory {
        self.cache.allocate(&AllocateInfo::new(GTT, size)).unwrap()
    }

    fn bos(&self) -> usize {
        self.kernel.inner().census().handles
    }
}

/// Cached system memory on navi21.
const GTT: u32 = 5;
const MIB: u64 = 1 << 20;

/// Work, and the switch that ends it.
fn work() -> (Arc<AtomicBool>, impl GpuWork + 'static) {
    let done = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&done);
    (done, move || seen.load(SeqCst))
}

#[test]
fn freed_memory_serves_requests_of_its_size_down_to_two_thirds() {
    let rig = rig(CacheLimits::default());
    let handle = |memory: &CachedMemory| memory.bo().handle();
    let first = rig.take(3 * MIB);
    let known = handle(&first);
    drop(first);
    assert_eq!(handle(&rig.take(2 * MIB)), known);
    assert_ne!(handle(&rig.take(2 * MIB - 4096)), known);
    assert_ne!(handle(&rig.take(3 * MIB + 4096)), known);
    assert_eq!((rig.cache.stats().hits, rig.cache.stats().misses), (1, 3));
}

#[test]
fn a_mapping_stays_with_the_memory() {
    let rig = rig(CacheLimits::default());
    let first = rig.take(MIB);
    first.map().unwrap();
    drop(first);
    assert!(rig.take(MIB).mapping().is_some());
}

#[test]
fn other_types_flags_and_priorities_are_not_served() {
    let rig = rig(CacheLimits::default());
    drop(rig.take(MIB));
    let plain = AllocateInfo::new(GTT, MIB);
    for other in [
        AllocateInfo::new(GTT - 1, MIB),
        AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..plain },
        AllocateInfo { flags: AllocateFlags::ZERO, ..plain },
        AllocateInfo { flags: AllocateFlags::BYPASS_L2, ..plain },
        AllocateInfo { priority: 1.0, ..plain },
        AllocateInfo { flags: AllocateFlags::DISCARDABLE, ..plain },
        AllocateInfo { replay: Replay::Capture, ..plain },
    ] {
        drop(rig.cache.allocate(&other).unwrap());
    }
    assert_eq!(rig.cache.stats().hits, 0);
    // Exportable, zeroed, discardable and replayable memory is not even kept.
    assert_eq!(rig.cache.stats().entries, 4);
}

#[test]
fn nothing_is_kept_where_all_vram_is_to_be_zeroed() {
    let device = Device::new(SimKernel::open(chip("navi21"))).unwrap();
    let options = TableOptions { zero_vram: true, ..TableOptions::default() };
    let manager = MemoryManager::new(&device, &options).unwrap();
    let cache = MemoryCache::new(&manager, CacheLimits::default());
    drop(cache.allocate(&AllocateInfo::new(0, MIB)).unwrap());
    assert_eq!(cache.stats().entries, 0);
}

#[test]
fn memory_is_not_reused_before_the_gpu_is_done_with_it() {
    let rig = rig(CacheLimits::default());
    let (done, pending) = work();
    rig.take(MIB).free_after(pending);
    drop(rig.take(MIB));
    assert_eq!(rig.cache.stats().hits, 0);
    rig.cache.flush();
    assert_eq!((rig.cache.stats().entries, rig.cache.stats().busy, rig.bos()), (1, 1, 1));
    done.store(true, SeqCst);
    drop(rig.take(MIB));
    assert_eq!(rig.cache.stats().hits, 1);
}

#[test]
fn memory_is_not_reused_while_a_submission_holds_its_binding() {
    let rig = rig(CacheLimits::default());
    let memory = rig.take(MIB);
    let listed = memory.binding().clone();
    drop(memory);
    assert_ne!(rig.take(MIB).address(), listed.address());
    drop(listed);
    rig.cache.flush();
    assert_eq!(rig.bos(), 0);
}

/// Row 109: no reason to make room reaches memory that the GPU still uses.
#[test]
fn busy_memory_is_never_freed_to_make_room() {
    let heap = rig(CacheLimits::default()).cache.manager().properties().heaps()[1].size;
    let rig = rig(CacheLimits { heap_divisor: heap / (2 * MIB), ..CacheLimits::default() });
    let (done, pending) = work();
    let pending = Arc::new(pending);
    let memories: Vec<_> = (0..6).map(|_| rig.take(MIB)).collect();
    let listed: Vec<_> = memories[..3].iter().map(|memory| memory.binding().clone()).collect();
    for (index, memory) in memories.into_iter().enumerate() {
        // The first three are in a submission's list, the others were freed after work that goes on.
        let pending = Arc::clone(&pending);
        if index < 3 { drop(memory) } else { memory.free_after(move || pending.is_done()) }
    }
    let all_there = |what: &str| {
        let stats = rig.cache.stats();
        assert_eq!((stats.entries, stats.busy, rig.bos()), (6, 6, 6), "{what}");
    };
    all_there("three times the heap's share");
    rig.hands.0.store(10_000, SeqCst);
    assert_eq!(rig.cache.trim(), 0);
    all_there("the time-out");
    assert_eq!(rig.cache.flush(), 0);
    all_there("a flush");
    rig.kernel.fail_nth_ioctl(GemCreate::REQUEST, 0, Errno::ENOMEM);
    assert!(rig.cache.allocate(&AllocateInfo::new(GTT, 16 * MIB)).is_err(), "there was nothing to free");
    all_there("a kernel without memory");
    drop(rig.take(32 << 10));
    all_there("the next memory that comes back, for which there is no room");
    done.store(true, SeqCst);
    assert_eq!((rig.cache.flush(), rig.bos()), (3 * MIB, 3), "the work is done, and the submission is not");
    drop(listed);
    assert_eq!((rig.cache.flush(), rig.bos()), (3 * MIB, 0));
}

/// W-42: radeonsi's cache cuts sizes to 32 bits. Pieces and shares of more than 4 GiB count as what they are.
#[test]
fn sizes_of_a_cache_are_not_cut_to_32_bits() {
    const VRAM: u32 = 0;
    const PIECE: u64 = 5 << 30;
    let rig = rig(CacheLimits { heap_divisor: 2, ..CacheLimits::default() });
    let share = rig.cache.manager().properties().heaps()[0].size / 2;
    assert!((PIECE..2 * PIECE).contains(&share), "{share}");
    let take = || rig.cache.allocate(&AllocateInfo::new(VRAM, PIECE)).unwrap();
    let (first, second) = (take(), take());
    let kept = second.bo().handle();
    drop(first);
    assert_eq!((rig.cache.stats().entries, rig.cache.stats().bytes), (1, PIECE), "one fits the share");
    drop(second);
    assert_eq!((rig.cache.stats().entries, rig.cache.stats().bytes), (1, PIECE), "two do not");
    assert_eq!(take().bo().handle(), kept, "the older one went");
    assert_eq!(rig.cache.flush(), PIECE);
}

#[test]
fn what_nobody_wants_goes_after_the_time_out() {
    let rig = rig(CacheLimits::default());
    drop(rig.take(MIB));
    rig.hands.0.store(499, SeqCst);
    assert_eq!((rig.cache.trim(), rig.bos()), (0, 1));
    rig.hands.0.store(500, SeqCst);
    assert_eq!((rig.cache.trim(), rig.bos()), (MIB, 0));
    // Giving back sweeps as well.
    drop(rig.take(MIB));
    rig.hands.0.store(2000, SeqCst);
    drop(rig.take(8 * MIB));
    assert_eq!((rig.cache.stats().entries, rig.cache.stats().bytes), (1, 8 * MIB));
}

#[test]
fn the_oldest_goes_when_the_heap_has_its_share() {
    let heap = rig(CacheLimits::default()).cache.manager().properties().heaps()[0].size;
    let rig = rig(CacheLimits { heap_divisor: heap / (4 * MIB), ..CacheLimits::default() });
    let memories: Vec<_> = (0..6).map(|_| rig.take(MIB)).collect();
    let handles: Vec<u32> = memories.iter().map(|memory| memory.bo().handle()).collect();
    drop(memories);
    let kept = rig.cache.stats().entries;
    assert!((1..6).contains(&kept), "{kept}");
    assert_eq!(rig.take(MIB).bo().handle(), handles[6 - kept]);
    assert_eq!(rig.bos(), kept);
}

/// For any sizes, the ages of pieces in different lists are compared too.
#[test]
fn the_oldest_goes_among_pieces_of_all_sizes() {
    let heap = rig(CacheLimits::default()).cache.manager().properties().heaps()[1].size;
    let rig = rig(CacheLimits { heap_divisor: heap / (4 * MIB), ..CacheLimits::default() });
    let [old, young, new] = [MIB, 2 * MIB, 3 * MIB / 2].map(|size| rig.take(size));
    let kept = young.bo().handle();
    for (now, memory) in [(10, old), (20, young), (30, new)] {
        rig.hands.0.store(now, SeqCst);
        drop(memory);
    }
    assert_eq!((rig.cache.stats().entries, rig.cache.stats().bytes), (2, 7 * MIB / 2), "1 MiB made room for 1.5");
    assert_eq!(rig.take(2 * MIB).bo().handle(), kept);
}

#[test]
fn nothing_is_kept_of_a_heap_without_a_share() {
    let rig = rig(CacheLimits { heap_divisor: 0, ..CacheLimits::default() });
    drop(rig.take(MIB));
    assert_eq!(rig.bos(), 0);
}

#[test]
fn the_cache_is_flushed_and_the_kernel_asked_again_when_memory_is_out() {
    let rig = rig(CacheLimits::default());
    drop(rig.take(MIB));
    rig.kernel.fail_nth_ioctl(GemCreate::REQUEST, 0, Errno::ENOMEM);
    let other = rig.take(16 * MIB);
    assert!(rig.kernel.has_fired());
    assert_eq!((rig.cache.stats().entries, rig.bos()), (0, 1));
    // With nothing to flush there is no second try, and other errors get none at all.
    rig.kernel.fail_nth_ioctl(GemCreate::REQUEST, 0, Errno::ENOMEM);
    assert!(rig.cache.allocate(&AllocateInfo::new(GTT, MIB)).is_err());
    drop(other);
    rig.kernel.fail_nth_ioctl(GemCreate::REQUEST, 0, Errno::EINVAL);
    assert!(rig.cache.allocate(&AllocateInfo::new(GTT, MIB)).is_err());
    assert_eq!(rig.cache.stats().entries, 1);
}

#[test]
fn nothing_is_lost_in_two_threads() {
    let rig = rig(CacheLimits::default());
    let before = (rig.kernel.inner().census(), rig.cache.manager().usage_tracker().usage());
    thread::scope(|scope| {
        for seed in 0..2u64 {
            let rig = &rig;
            scope.spawn(move || {
                let mut held = Vec::new();
                for step in 0..200 {
                    held.push(rig.take(((1 + (step * 7 + seed) % 5) * 64) << 10));
                    if held.len() > 5 {
                        drop(held.swap_remove(step as usize % 5));
                    }
                }
            });
        }
    });
    rig.cache.flush();
    assert_eq!((rig.kernel.inner().census(), rig.cache.manager().usage_tracker().usage()), before);
}
