//! Slabs and the upload ring on the simulator: where pieces lie, when they are reused, and that nothing is lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use crate::support::chip;
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    heaps::{MemoryManager, TableOptions, suballocation::*},
    winsys::{Device, Errno, OutOfRange},
};
use proptest::prelude::*;

struct Rig {
    kernel: Arc<FaultInjector<SimKernel>>,
    cache: MemoryCache,
    pool: SlabPool,
}

fn rig() -> Rig {
    rig_with(CacheLimits::default())
}

fn rig_with(limits: CacheLimits) -> Rig {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let cache = MemoryCache::new(&manager, limits);
    Rig { kernel, pool: SlabPool::new(&cache), cache }
}

/// Cached system memory on navi21, and VRAM that the CPU does not see.
const GTT: u32 = 5;
const VRAM: u32 = 0;

/// Work, and the switch that ends it.
fn work() -> (Arc<AtomicBool>, impl GpuWork + 'static) {
    let done = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&done);
    (done, move || seen.load(SeqCst))
}

#[test]
fn pieces_of_every_class_are_aligned_apart_and_hold_what_is_written() {
    let rig = rig();
    let mut pieces = Vec::new();
    for class in SizeClass::all() {
        for _ in 0..3 {
            let piece = rig.pool.allocate(GTT, class.entry_size(), class.alignment()).unwrap();
            assert_eq!(piece.class(), class);
            assert!(piece.address().is_aligned(class.alignment()));
            assert_eq!(piece.address().as_u64(), piece.memory().address().as_u64() + piece.offset());
            let pattern = vec![pieces.len() as u8; class.entry_size() as usize];
            piece.view().unwrap().write(0, &pattern).unwrap();
            pieces.push((piece, pattern));
        }
    }
    for (piece, pattern) in &pieces {
        let mut found = vec![0xff; pattern.len()];
        piece.view().unwrap().read(0, &mut found).unwrap();
        assert!(found == *pattern, "{:?}", piece.class());
    }
    let stats = rig.pool.stats();
    assert_eq!((stats.entries, stats.slabs), (75, 26), "a slab a class, but 1 MiB has only two entries in one");
}

#[test]
fn a_view_ends_where_the_piece_does() {
    let rig = rig();
    let piece = rig.pool.allocate(GTT, 300, 256).unwrap();
    let view = piece.view().unwrap();
    assert_eq!((view.len(), piece.class().entry_size()), (300, 512));
    view.write(299, &[1]).unwrap();
    assert!(matches!(view.write(299, &[1, 2]), Err(OutOfRange { offset: 299, len: 2, size: 300, .. })));
    assert!(view.read(u64::MAX, &mut [0]).is_err());
    let hidden = rig.pool.allocate(VRAM, 300, 256).unwrap();
    assert!(hidden.view().is_err());
}

#[test]
fn requests_that_no_slab_serves_say_why() {
    let rig = rig();
    let ask = |ty, size, alignment| rig.pool.allocate(ty, size, alignment).unwrap_err();
    assert_eq!(ask(GTT, 0, 1), SuballocationError::ZeroSize);
    assert_eq!(ask(GTT, (1 << 20) + 1, 1), SuballocationError::TooLarge { size: (1 << 20) + 1 });
    assert_eq!(ask(99, 1, 1).to_string(), "memory type 99 does not exist, there are 11");
    assert!(matches!(ask(GTT, 1, 3), SuballocationError::Alignment { alignment: 3, .. }));
    assert!(matches!(ask(GTT, 1, 1 << 40), SuballocationError::Alignment { .. }));
    assert_eq!(rig.pool.stats(), SlabStats::default());
}

#[test]
fn an_entry_is_reused_at_once_when_dropped_and_later_when_the_gpu_is_at_work() {
    let rig = rig();
    let _keeps_the_slab = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
    let first = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
    let place = first.address();
    drop(first);
    let again = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
    assert_eq!(again.address(), place);
    let (done, pending) = work();
    again.free_after(pending);
    assert_eq!(rig.pool.stats().parked, 1);
    let other = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
    assert_ne!(other.address(), place);
    let filler = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
    done.store(true, SeqCst);
    assert_eq!(rig.pool.allocate(GTT, 1 << 20, 1).unwrap().address(), place);
    drop(filler);
}

#[test]
fn an_empty_slab_goes_to_the_cache_and_comes_back_mapped() {
    let rig = rig();
    drop(rig.pool.allocate(GTT, 256, 1).unwrap());
    assert_eq!((rig.pool.stats().slabs, rig.cache.stats().entries), (0, 1));
    let calls = rig.kernel.calls();
    let piece = rig.pool.allocate(GTT, 4096, 1).unwrap();
    piece.view().unwrap().write(0, &[1]).unwrap();
    assert_eq!(rig.kernel.calls(), calls, "nothing was asked of the kernel");
}

#[test]
fn a_pool_that_goes_leaves_busy_slabs_to_the_cache_until_the_gpu_is_done() {
    let Rig { kernel, cache, pool } = rig();
    let (done, pending) = work();
    pool.allocate(GTT, 4096, 1).unwrap().free_after(pending);
    drop(pool);
    assert_eq!((cache.flush(), cache.stats().busy), (0, 1));
    done.store(true, SeqCst);
    assert_eq!(cache.flush(), 2 << 20);
    assert_eq!(kernel.inner().census().handles, 0);
}

#[test]
fn caches_are_flushed_and_the_kernel_asked_again_when_memory_is_out() {
    // A cache that keeps nothing frees the slab itself, and has nothing left to flush.
    for limits in [CacheLimits::default(), CacheLimits { heap_divisor: 0, ..CacheLimits::default() }] {
        let rig = rig_with(limits);
        let (done, pending) = work();
        rig.pool.allocate(GTT, 4096, 1).unwrap().free_after(pending);
        done.store(true, SeqCst);
        // The cache has nothing idle to give and passes the error on; the pool finds its own slab.
        rig.kernel.fail_nth(0, Errno::ENOMEM);
        rig.pool.allocate(VRAM, 4096, 1).unwrap();
        assert!(rig.kernel.has_fired());
        assert_eq!(rig.pool.stats().parked, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A slab comes when all entries of the others are in use, and goes with its last entry; no two owners share an entry.
    #[test]
    fn there_are_as_many_slabs_as_there_must_be(
        steps in prop::collection::vec((0..5_u8, any::<prop::sample::Index>()), 1..100),
    ) {
        let (rig, mut held) = (rig(), Vec::<SubAllocation>::new());
        for (step, which) in steps {
            let before = rig.pool.stats().slabs;
            if step < 3 || held.is_empty() {
                // Two entries in each slab.
                let is_full = rig.pool.stats().entries == 2 * before;
                let piece = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
                prop_assert_eq!(rig.pool.stats().slabs, before + usize::from(is_full));
                prop_assert!(held.iter().all(|other| other.address() != piece.address()));
                held.push(piece);
            } else {
                let piece = held.swap_remove(which.index(held.len()));
                let slab = piece.memory().address();
                drop(piece);
                let is_used = held.iter().any(|other| other.memory().address() == slab);
                prop_assert_eq!(rig.pool.stats().slabs, before - usize::from(!is_used));
            }
        }
    }
}

#[test]
fn a_busy_entry_does_not_hide_one_that_is_done_behind_it() {
    let rig = rig();
    let [first, second] = [(); 2].map(|()| rig.pool.allocate(GTT, 1 << 20, 1).unwrap());
    let place = second.address();
    let (_done, pending) = work();
    first.free_after(pending);
    second.free_after(|| true);
    assert_eq!(rig.pool.allocate(GTT, 1 << 20, 1).unwrap().address(), place);
    assert_eq!(rig.pool.stats().slabs, 1);
}

/// Source: Mesa 25.0.7 `src/gallium/auxiliary/pipebuffer/pb_slab.c`, `MAX_FAILED_RECLAIMS`.
#[test]
fn behind_two_busy_entries_nothing_is_looked_at() {
    for busy in 0..4 {
        let rig = rig();
        let pieces: Vec<_> = (0..4).map(|_| rig.pool.allocate(GTT, 1 << 20, 1).unwrap()).collect();
        let (_done, pending) = work();
        let pending = Arc::new(pending);
        for (index, piece) in pieces.into_iter().enumerate() {
            let pending = Arc::clone(&pending);
            piece.free_after(move || index >= busy || pending.is_done());
        }
        let _piece = rig.pool.allocate(GTT, 1 << 20, 1).unwrap();
        // What is done is all taken back on the way, or none of it.
        let stats = rig.pool.stats();
        let expected = [(1, 0), (1, 1), (3, 4), (3, 4)];
        assert_eq!((stats.slabs, stats.parked), expected[busy], "{busy}");
        rig.pool.trim();
        assert_eq!(rig.pool.stats().parked, busy, "a trim looks at all of them");
    }
}

/// A bit of everything.
fn scenario(rig: &Rig) -> Result<(), SuballocationError> {
    let mut held = Vec::new();
    for size in [256, 700, 5000, 80_000, 1 << 20, 1 << 20, 1 << 20, 700 << 10] {
        held.push(rig.pool.allocate(GTT, size, 256)?);
        held.push(rig.pool.allocate(VRAM, size, 256)?);
    }
    for piece in held.drain(..8) {
        piece.free_after(|| true);
    }
    let ring = UploadRing::new(&rig.cache, GTT, 64 << 10)?;
    for _ in 0..10 {
        let batch = ring.batch();
        batch.allocate(20_000, 256)?.view().write(100, &[7; 64])?;
        batch.finish(|| true);
    }
    Ok(())
}

#[test]
fn whatever_call_fails_nothing_is_lost() {
    for n in 0.. {
        let rig = rig();
        let counts = || {
            let manager = rig.cache.manager();
            (rig.kernel.inner().census(), manager.usage_tracker().usage(), manager.device().addresses().leased_bytes())
        };
        let before = counts();
        rig.kernel.fail_nth(n, Errno::ENOMEM);
        let outcome = scenario(&rig);
        let fired = rig.kernel.has_fired();
        rig.kernel.stop();
        rig.pool.trim();
        rig.cache.flush();
        assert_eq!(counts(), before, "call {n}: {outcome:?}");
        if !fired {
            assert!(outcome.is_ok() && n > 10);
            return;
        }
    }
}

#[test]
fn nothing_is_lost_or_shared_in_two_threads() {
    let rig = rig();
    let before = rig.kernel.inner().census();
    thread::scope(|scope| {
        for who in 0..2u8 {
            let pool = rig.pool.clone();
            scope.spawn(move || {
                let mut held: Vec<(SubAllocation, u8)> = Vec::new();
                for step in 0..600u32 {
                    let size = u64::from(256 + step * 37 % 3000);
                    let (piece, mark) = (pool.allocate(GTT, size, 256).unwrap(), who + 2 * (step % 100) as u8);
                    piece.view().unwrap().write(0, &vec![mark; size as usize]).unwrap();
                    held.push((piece, mark));
                    if held.len() > 20 {
                        let (piece, mark) = held.swap_remove(step as usize * 7 % 20);
                        let mut found = vec![0; piece.size() as usize];
                        piece.view().unwrap().read(0, &mut found).unwrap();
                        assert!(found.iter().all(|&byte| byte == mark));
                        if step % 2 == 0 { piece.free_after(|| true) } else { drop(piece) }
                    }
                }
            });
        }
    });
    rig.pool.trim();
    rig.cache.flush();
    assert_eq!(rig.kernel.inner().census(), before);
}

#[test]
fn a_ring_comes_free_in_order_as_submissions_are_done() {
    let rig = rig();
    let ring = UploadRing::new(&rig.cache, GTT, 4096).unwrap();
    let (first, first_pending) = work();
    let (second, second_pending) = work();
    let batch = ring.batch();
    let piece = batch.allocate(2048, 256).unwrap();
    assert_eq!((piece.offset(), piece.address()), (0, ring.memory().address()));
    batch.finish(first_pending);
    let batch = ring.batch();
    assert_eq!(batch.allocate(2048, 256).unwrap().offset(), 2048);
    batch.finish(second_pending);

    let batch = ring.batch();
    let full = SuballocationError::RingFull { size: 1, used: 4096, capacity: 4096 };
    assert_eq!(batch.allocate(1, 1).unwrap_err(), full);
    second.store(true, SeqCst);
    assert_eq!(batch.allocate(1, 1).unwrap_err(), full, "the first is not done");
    first.store(true, SeqCst);
    assert_eq!(batch.allocate(4096, 4096).unwrap().offset(), 0);
}

#[test]
fn the_pieces_of_an_open_batch_are_nobody_elses() {
    let rig = rig();
    let ring = UploadRing::new(&rig.cache, GTT, 4096).unwrap();
    let (open, other) = (ring.batch(), ring.batch());
    assert_eq!(open.allocate(2048, 256).unwrap().offset(), 0);
    assert_eq!(other.allocate(2048, 256).unwrap().offset(), 2048);
    other.finish(|| true);
    let full = SuballocationError::RingFull { size: 1, used: 4096, capacity: 4096 };
    assert_eq!(ring.batch().allocate(1, 1).unwrap_err(), full);
    open.finish(|| true);
    assert_eq!(ring.batch().allocate(4096, 1).unwrap().offset(), 0);
}

#[test]
fn a_batch_that_is_dropped_gives_its_pieces_back() {
    let rig = rig();
    let ring = UploadRing::new(&rig.cache, GTT, 4096).unwrap();
    for _ in 0..3 {
        let batch = ring.batch();
        batch.allocate(4096, 1).unwrap().view().write_dwords(0, &[1, 2, 3]).unwrap();
    }
    ring.reclaim();
    assert_eq!(ring.stats(), RingStats { capacity: 4096, used: 0 });
}

#[test]
fn a_ring_that_goes_leaves_its_memory_alone_until_the_gpu_is_done() {
    let rig = rig();
    let (done, pending) = work();
    let ring = UploadRing::new(&rig.cache, GTT, 4096).unwrap();
    let batch = ring.batch();
    batch.allocate(64, 1).unwrap();
    batch.finish(pending);
    drop(ring);
    assert_eq!((rig.cache.flush(), rig.cache.stats().busy), (0, 1));
    done.store(true, SeqCst);
    assert_eq!(rig.cache.flush(), 4096);
}
