//! The memory cache against a slow model of it, and that what it frees goes under no lock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::Duration,
};

use crate::support::chip;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, TableOptions, suballocation::*},
    winsys::{Binding, Device},
};
use proptest::prelude::*;

/// A clock that the test turns, in milliseconds.
#[derive(Clone, Default)]
struct Hands(Arc<AtomicU64>);

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(SeqCst))
    }
}

/// Video memory of 64 and of 32 bits, and system memory, on navi21.
const TYPES: [u32; 3] = [0, 1, 5];

/// Pieces of video memory are multiples of it.
const UNIT: u64 = 256 << 10;

/// Idle time after which memory is freed.
const TIMEOUT: u64 = 40;

/// Divides video memory so that exactly eight units may be kept, and system memory so that it is almost as much.
const DIVISOR: u64 = 63 << 7;

fn cache(hands: &Hands) -> (Device, MemoryCache) {
    let device = Device::new(SimKernel::open(chip("navi21"))).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let limits = CacheLimits { timeout: Duration::from_millis(TIMEOUT), heap_divisor: DIVISOR };
    assert_eq!(manager.properties().heaps()[0].size / DIVISOR, 8 * UNIT);
    let cache = MemoryCache::with_clock(&manager, limits, hands.clone());
    (device, cache)
}

#[derive(Clone, Debug)]
enum Step {
    Take {
        ty: usize,
        units: u64,
        is_exportable: bool,
    },
    /// Plainly, or after work that goes on.
    Free {
        which: prop::sample::Index,
        has_work: bool,
        is_listed: bool,
    },
    /// The oldest work ends.
    Done,
    /// The oldest submission's list goes.
    Unlist,
    Trim,
    Flush,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let take = (0..TYPES.len(), 1..10_u64, prop::bool::weighted(0.1))
        .prop_map(|(ty, units, is_exportable)| Step::Take { ty, units, is_exportable });
    let free = (any::<prop::sample::Index>(), prop::bool::weighted(0.2), prop::bool::weighted(0.1))
        .prop_map(|(which, has_work, is_listed)| Step::Free { which, has_work, is_listed });
    prop_oneof![
        8 => take,
        8 => free,
        1 => Just(Step::Done),
        1 => Just(Step::Unlist),
        1 => Just(Step::Trim),
        1 => Just(Step::Flush),
        3 => prop::sample::select(vec![1, TIMEOUT / 4 - 2, TIMEOUT / 4 - 1, TIMEOUT / 4, TIMEOUT - 1, TIMEOUT]).prop_map(Step::Wait),
    ]
}

/// Kept memory.
#[derive(Clone, Debug)]
struct Piece {
    handle: u32,
    ty: u32,
    heap: u32,
    size: u64,
    is_reusable: bool,
    since: u64,
    busy: Vec<Arc<AtomicBool>>,
}

impl Piece {
    fn is_idle(&self) -> bool {
        self.busy.iter().all(|busy| !busy.load(SeqCst))
    }
}

/// Kept memory, oldest first.
#[derive(Debug, Default)]
struct Model {
    kept: Vec<Piece>,
    sweep_at: u64,
    hits: u64,
    misses: u64,
}

impl Model {
    fn bytes(&self, heap: u32) -> u64 {
        self.kept.iter().filter(|piece| piece.heap == heap).map(|piece| piece.size).sum()
    }

    fn free(&mut self, wanted: impl Fn(&Piece) -> bool) -> u64 {
        let freed = self.kept.extract_if(.., |piece| piece.is_idle() && (!piece.is_reusable || wanted(piece)));
        freed.map(|piece| piece.size).sum()
    }

    /// The handle of the piece that serves a request.
    fn reuse(&mut self, ty: u32, size: u64) -> Option<u32> {
        let most = size + size / 2;
        let found = (size.ilog2()..=most.ilog2()).find_map(|order| {
            let is_like = |piece: &Piece| piece.is_reusable && piece.ty == ty && piece.size.ilog2() == order;
            let oldest = self.kept.iter().position(|piece| is_like(piece) && (size..=most).contains(&piece.size))?;
            self.kept[oldest].is_idle().then_some(oldest)
        });
        match found {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        found.map(|at| self.kept.remove(at).handle)
    }

    fn keep(&mut self, piece: Piece, limit: u64) {
        let now = piece.since;
        if now >= self.sweep_at {
            self.sweep_at = now + TIMEOUT / 4;
            self.free(|old| now - old.since >= TIMEOUT);
        }
        while piece.size <= limit && self.bytes(piece.heap) + piece.size > limit {
            let is_candidate = |old: &(usize, &Piece)| old.1.heap == piece.heap && old.1.is_idle();
            let Some((oldest, _)) = self.kept.iter().enumerate().find(is_candidate) else { break };
            self.kept.remove(oldest);
        }
        if (piece.is_reusable && self.bytes(piece.heap) + piece.size <= limit) || !piece.is_idle() {
            self.kept.push(piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_cache_keeps_and_hands_out_what_a_slow_model_of_it_does(steps in prop::collection::vec(step(), 1..120)) {
        let hands = Hands::default();
        let (_device, cache) = cache(&hands);
        let limit = |heap: u32| cache.manager().properties().heaps()[heap as usize].size / DIVISOR;
        let mut model = Model::default();
        let mut held: Vec<(CachedMemory, Piece)> = Vec::new();
        let (mut works, mut lists) = (Vec::<Arc<AtomicBool>>::new(), Vec::<(Binding, Arc<AtomicBool>)>::new());
        for step in steps {
            // No two pieces are of one age.
            let now = hands.0.fetch_add(1, SeqCst) + 1;
            match step {
                Step::Take { ty, units, is_exportable } => {
                    let (ty, size) = (TYPES[ty], units * UNIT);
                    let flags = if is_exportable { AllocateFlags::EXPORTABLE } else { AllocateFlags::empty() };
                    let memory = cache.allocate(&AllocateInfo { flags, ..AllocateInfo::new(ty, size) }).unwrap();
                    let handle = memory.bo().handle();
                    let expected = if is_exportable { None } else { model.reuse(ty, size) };
                    if let Some(expected) = expected {
                        prop_assert_eq!(handle, expected);
                    } else {
                        prop_assert_eq!(memory.size(), size);
                        prop_assert!(model.kept.iter().all(|piece| piece.handle != handle));
                    }
                    let (heap, size) = (memory.heap(), memory.size());
                    let piece =
                        Piece { handle, ty, heap, size, is_reusable: !is_exportable, since: 0, busy: Vec::new() };
                    held.push((memory, piece));
                }
                Step::Free { which, has_work, is_listed } if !held.is_empty() => {
                    let (memory, mut piece) = held.swap_remove(which.index(held.len()));
                    piece.since = now;
                    if is_listed {
                        let busy = Arc::new(AtomicBool::new(true));
                        lists.push((memory.binding().clone(), Arc::clone(&busy)));
                        piece.busy.push(busy);
                    }
                    if has_work {
                        let busy = Arc::new(AtomicBool::new(true));
                        works.push(Arc::clone(&busy));
                        piece.busy.push(Arc::clone(&busy));
                        memory.free_after(move || !busy.load(SeqCst));
                    } else {
                        drop(memory);
                    }
                    let limit = limit(piece.heap);
                    model.keep(piece, limit);
                }
                Step::Done if !works.is_empty() => works.remove(0).store(false, SeqCst),
                Step::Unlist if !lists.is_empty() => lists.remove(0).1.store(false, SeqCst),
                Step::Free { .. } | Step::Done | Step::Unlist => {}
                Step::Trim => prop_assert_eq!(cache.trim(), model.free(|piece| now - piece.since >= TIMEOUT)),
                Step::Flush => prop_assert_eq!(cache.flush(), model.free(|_| true)),
                Step::Wait(ms) => {
                    hands.0.fetch_add(ms, SeqCst);
                }
            }
            let expected = CacheStats {
                entries: model.kept.len(),
                bytes: model.kept.iter().map(|piece| piece.size).sum(),
                busy: model.kept.iter().filter(|piece| !piece.is_idle()).count(),
                hits: model.hits,
                misses: model.misses,
            };
            prop_assert_eq!(cache.stats(), expected);
        }
    }
}

/// Work that is done, and that asks its owner for figures when it is dropped, from another thread: an answer shows that no
/// lock is held.
struct Asks {
    figures: Arc<dyn Fn() + Send + Sync>,
    answers: Arc<AtomicUsize>,
}

impl GpuWork for Asks {
    fn is_done(&self) -> bool {
        true
    }
}

impl Drop for Asks {
    fn drop(&mut self) {
        let (answered, answer) = mpsc::channel();
        let figures = Arc::clone(&self.figures);
        thread::spawn(move || {
            figures();
            let _ = answered.send(());
        });
        if answer.recv_timeout(Duration::from_secs(20)).is_ok() {
            self.answers.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn work_that_came_with_memory_is_dropped_under_no_lock_of_a_cache() {
    type Way = fn(&MemoryCache, &Hands);
    let ways: [(&str, Way); 4] = [
        ("reuse", |cache, _| drop(cache.allocate(&AllocateInfo::new(0, UNIT)).unwrap())),
        ("the time-out", |cache, hands| {
            let next = cache.allocate(&AllocateInfo::new(0, 8 * UNIT)).unwrap();
            hands.0.fetch_add(TIMEOUT, SeqCst);
            drop(next);
        }),
        ("a trim", |cache, hands| {
            hands.0.fetch_add(TIMEOUT, SeqCst);
            assert_eq!(cache.trim(), UNIT);
        }),
        ("a flush", |cache, _| assert_eq!(cache.flush(), UNIT)),
    ];
    let asks = |cache: &MemoryCache| {
        let (answers, cache) = (Arc::new(AtomicUsize::new(0)), cache.clone());
        let figures = Arc::new(move || assert!(!format!("{:?}", cache.stats()).is_empty()));
        (Arc::clone(&answers), Asks { figures, answers })
    };
    for (name, way) in ways {
        let hands = Hands::default();
        let (_device, cache) = cache(&hands);
        let (answers, work) = asks(&cache);
        cache.allocate(&AllocateInfo::new(0, UNIT)).unwrap().free_after(work);
        assert_eq!((cache.stats().entries, answers.load(SeqCst)), (1, 0), "{name}");
        way(&cache, &hands);
        assert_eq!(answers.load(SeqCst), 1, "{name}");
    }
    // Memory that is not kept at all.
    let (_device, cache) = cache(&Hands::default());
    let (answers, work) = asks(&cache);
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(0, UNIT) };
    cache.allocate(&info).unwrap().free_after(work);
    assert_eq!((cache.stats().entries, answers.load(SeqCst)), (0, 1));
}

#[test]
fn work_that_came_with_a_piece_is_dropped_under_no_lock_of_a_pool_or_ring() {
    const GTT: u32 = TYPES[2];
    let (_device, cache) = cache(&Hands::default());
    let pool = SlabPool::new(&cache);
    let answers = Arc::new(AtomicUsize::new(0));
    let asks = || {
        let pool = pool.clone();
        Asks {
            figures: Arc::new(move || assert!(!format!("{:?}", pool.stats()).is_empty())),
            answers: Arc::clone(&answers),
        }
    };
    let [first, second] = [(); 2].map(|()| pool.allocate(GTT, 1 << 20, 1).unwrap());
    first.free_after(asks());
    let third = pool.allocate(GTT, 1 << 20, 1).unwrap();
    assert_eq!(answers.load(SeqCst), 1, "the next piece takes its place");
    third.free_after(asks());
    pool.trim();
    assert_eq!(answers.load(SeqCst), 2, "a trim takes it back");
    drop(second);

    let ring = Arc::new(UploadRing::new(&cache, GTT, 4096).unwrap());
    let seen = Arc::clone(&ring);
    let work = Asks {
        figures: Arc::new(move || assert!(!format!("{:?}", seen.stats()).is_empty())),
        answers: Arc::clone(&answers),
    };
    let batch = ring.batch();
    batch.allocate(4096, 1).unwrap();
    batch.finish(work);
    assert_eq!(ring.batch().allocate(4096, 1).unwrap().offset(), 0);
    assert_eq!(answers.load(SeqCst), 3);
}
