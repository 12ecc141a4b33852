//! The VA manager as its users see it: leases, refusals, fallback, threads.

use std::{collections::BTreeMap, thread};

use amdgpu_va::{
    GpuVa, HoleHistogram, VaError, VaLease, VaLimits, VaManager, VaRange, VaRequest, VaWindow, WindowStats,
};
use proptest::{collection::vec, prelude::*};

const PAGE: u64 = 4096;
const HIGH: u64 = 0xffff_8000_0000_0000;

/// A GFX10 GPU on Linux 6.12.
const LIMITS: VaLimits = VaLimits {
    low_offset: 0x1_0000,
    low_max: 1 << 47,
    high_offset: HIGH,
    high_max: 0xffff_ffff_ffbf_0000,
    alignment: PAGE,
    pte_fragment: 2 << 20,
    half_for_sparse: false,
};

fn manager() -> VaManager {
    VaManager::new(&LIMITS).unwrap()
}

/// A manager whose only window is the low 32-bit one, with `pages` pages.
fn small(pages: u64) -> VaManager {
    let low_max = LIMITS.low_offset + pages * PAGE;
    VaManager::new(&VaLimits { low_max, high_offset: 0, high_max: 0, ..LIMITS }).unwrap()
}

fn low32(size: u64) -> VaRequest {
    VaRequest::new(size).within(VaWindow::Low32)
}

fn va(raw: u64) -> GpuVa {
    GpuVa::new(raw).unwrap()
}

fn range(start: u64, len: u64) -> VaRange {
    VaRange::new(va(start), len).unwrap()
}

#[test]
fn every_window_starts_to_fill_at_its_bottom_and_replayable_leases_at_its_top() {
    let manager = manager();
    for (window, bottom, top) in [
        (VaWindow::Low32, 0x1_0000, 1 << 32),
        (VaWindow::Low, 1 << 32, 1 << 47),
        (VaWindow::High32, HIGH, HIGH + (1 << 32)),
        (VaWindow::High, HIGH + (1 << 32), LIMITS.high_max),
    ] {
        let lowest = manager.allocate(VaRequest::new(PAGE).within(window)).unwrap();
        let highest = manager.allocate(VaRequest::new(PAGE).within(window).highest()).unwrap();
        assert_eq!((lowest.range(), highest.range()), (range(bottom, PAGE), range(top - PAGE, PAGE)));
        assert_eq!((lowest.window(), manager.windows().containing(lowest.start())), (window, Some(window)));
    }
}

#[test]
fn without_a_high_half_the_low_one_serves() {
    let manager = VaManager::new(&VaLimits { low_max: 64 << 30, high_offset: 0, high_max: 0, ..LIMITS }).unwrap();
    let leases = [VaWindow::High, VaWindow::High32].map(|w| manager.allocate(VaRequest::new(PAGE).within(w)).unwrap());
    assert_eq!(leases.each_ref().map(VaLease::window), [VaWindow::Low, VaWindow::Low32]);
    assert_eq!(manager.stats(VaWindow::High), manager.stats(VaWindow::Low));
    assert_eq!(manager.windows().address32_hi(), 0);
}

#[test]
fn sizes_and_alignments_are_rounded_up_to_the_granule() {
    let manager = manager();
    let _first = manager.allocate(low32(1)).unwrap();
    for (alignment, want) in [(1, 0x1_1000), (512, 0x1_1000), (PAGE, 0x1_1000), (3, 0x1_2000), (3 * PAGE, 0x1_2000)] {
        let lease = manager.allocate(low32(5000).aligned(alignment)).unwrap();
        assert_eq!(lease.range(), range(want, 2 * PAGE), "alignment {alignment}");
    }
    let odd = manager.allocate(low32(1).aligned(5 * PAGE + 512)).unwrap();
    assert!(odd.start().is_aligned(8 * (5 * PAGE + 512)), "{odd:?}: the least common multiple");
}

/// W-03: libdrm takes a size of zero, and an address plus a size that wraps.
#[test]
fn what_makes_no_sense_is_refused_with_the_numbers() {
    let manager = manager();
    let refused = |request| manager.allocate(request).unwrap_err();
    assert_eq!(refused(VaRequest::new(0)), VaError::ZeroSize);
    assert_eq!(refused(VaRequest::new(1).aligned(0)), VaError::ZeroAlignment);
    let size = u64::MAX;
    assert_eq!(refused(VaRequest::new(size)), VaError::SizeOverflow { size, granule: PAGE });
    let alignment = u64::MAX;
    assert_eq!(refused(VaRequest::new(1).aligned(alignment)), VaError::AlignmentOverflow { alignment, granule: PAGE });
    let start = va(0x2_1000);
    let misaligned = VaError::Misaligned { start, alignment: 0x2000 };
    assert_eq!(refused(low32(1).at(start).aligned(0x2000)), misaligned);
    assert_eq!(refused(low32(1).at(va(0x2_0800))), VaError::Misaligned { start: va(0x2_0800), alignment: PAGE });
    for (start, size) in [(va(u64::MAX - 4095), 2 * PAGE), (va((1 << 47) - PAGE), 2 * PAGE), (va(0x1_0000), 1 << 47)] {
        assert_eq!(refused(VaRequest::new(size).at(start)), VaError::Wraps { start, size });
    }
    assert!(misaligned.is_about_the_address() && !misaligned.is_out_of_space());
}

#[test]
fn a_fixed_address_is_had_exactly_or_the_refusal_names_what_is_in_the_way() {
    let manager = manager();
    let lease = manager.allocate(low32(4 * PAGE).at(va(0x10_0000))).unwrap();
    let _next = manager.allocate(low32(PAGE).at(va(0x10_4000))).unwrap();
    for (start, size) in [(0xf_f000, 2 * PAGE), (0x10_2000, PAGE), (0x10_0000, 1 << 20), (0x10_4000, PAGE)] {
        let taken = range(0x10_0000, 5 * PAGE);
        let start = va(start);
        assert_eq!(manager.allocate(low32(size).at(start)).unwrap_err(), VaError::Taken { start, size, taken });
    }
    drop(lease);
    assert_eq!(manager.allocate(low32(4 * PAGE).at(va(0x10_0000))).unwrap().range(), range(0x10_0000, 4 * PAGE));
    let window = VaWindow::Low32;
    let outside =
        VaError::OutsideWindow { start: va(0), size: PAGE, window, range: range(0x1_0000, (1 << 32) - 0x1_0000) };
    assert_eq!(manager.allocate(low32(PAGE).at(GpuVa::NULL)).unwrap_err(), outside);
    assert!(matches!(manager.allocate(low32(PAGE).at(va(1 << 32))), Err(VaError::OutsideWindow { .. })));
    assert!(matches!(manager.allocate(low32(2 * PAGE).at(va((1 << 32) - PAGE))), Err(VaError::OutsideWindow { .. })));
}

/// W-04: libdrm always falls back into the scarce 4 GiB, and hides the first error.
#[test]
fn a_full_window_falls_back_only_if_asked_to_and_the_first_error_stays() {
    let limits = VaLimits { low_max: (1 << 32) + 4 * PAGE, high_offset: 0, high_max: 0, ..LIMITS };
    let manager = VaManager::new(&limits).unwrap();
    let low = VaRequest::new(3 * PAGE).within(VaWindow::Low);
    let first = manager.allocate(low).unwrap();
    let (window, free, largest) = (VaWindow::Low, PAGE, PAGE);
    let full = VaError::NoSpace { size: 3 * PAGE, alignment: PAGE, window, free, largest };
    assert_eq!(manager.allocate(low).unwrap_err(), full);
    assert!(full.is_out_of_space());
    let second = manager.allocate(low.or_in_32_bits()).unwrap();
    assert_eq!((first.window(), second.window()), (VaWindow::Low, VaWindow::Low32));
    let too_much = VaRequest::new(1 << 33).within(VaWindow::Low).or_in_32_bits();
    let full = VaError::NoSpace { size: 1 << 33, alignment: PAGE, window, free, largest };
    assert_eq!(manager.allocate(too_much).unwrap_err(), full);
    assert_eq!(manager.allocate(VaRequest::new(0).or_in_32_bits()).unwrap_err(), VaError::ZeroSize);
    let replay = low.at(va(0x20_0000)).or_in_32_bits();
    assert_eq!(manager.allocate(replay).unwrap().window(), VaWindow::Low32);
}

/// W-05: libdrm lets a window reach beyond the addresses that the GPU has.
#[test]
fn a_window_without_addresses_refuses() {
    let manager = small(16);
    let (window, size, alignment) = (VaWindow::Low, PAGE, PAGE);
    let refused = manager.allocate(VaRequest::new(PAGE).within(window)).unwrap_err();
    assert_eq!(refused, VaError::NoSpace { size, alignment, window, free: 0, largest: 0 });
}

#[test]
fn leases_outlive_the_manager() {
    let lease = manager().allocate(VaRequest::new(PAGE)).unwrap();
    assert_eq!(lease.len(), PAGE);
    thread::spawn(move || drop(lease)).join().unwrap();
}

/// W-02: libdrm loses addresses when it has no memory for a list node while they are given back.
#[test]
fn stats_follow_every_lease_and_come_back_to_the_beginning() {
    let manager = small(100);
    let beginning = manager.stats(VaWindow::Low32);
    let bytes = 100 * PAGE;
    let empty = WindowStats { free: bytes, holes: 1, largest_hole: bytes, ..WindowStats::default() };
    assert_eq!(WindowStats { host_memory: 0, ..beginning }, empty);
    let mut leases: Vec<_> = (0..20).map(|_| manager.allocate(low32(5 * PAGE)).unwrap()).collect();
    let full = manager.stats(VaWindow::Low32);
    assert_eq!((full.leases, full.leased, full.free, full.holes, full.largest_hole), (20, bytes, 0, 0, 0));
    leases.retain(|lease| (lease.start().as_u64() / PAGE).is_multiple_of(2));
    let half = manager.stats(VaWindow::Low32);
    assert_eq!((half.leases, half.leased, half.free, half.holes), (10, bytes / 2, bytes / 2, 10));
    assert_eq!(half.largest_hole, 5 * PAGE);
    drop(leases);
    assert_eq!(WindowStats { host_memory: 0, ..manager.stats(VaWindow::Low32) }, empty);
}

#[test]
fn the_same_requests_have_the_same_addresses_in_the_next_run() {
    let run = || {
        let manager = manager();
        let mut leases = Vec::new();
        for i in 1..500u64 {
            let request = VaRequest::new(i * 7919 % 90_000).aligned(1 << (i % 20));
            leases.push(manager.allocate(if i % 5 == 0 { request.highest() } else { request }).unwrap());
            if i % 3 == 0 {
                drop(leases.swap_remove((i as usize * 31) % leases.len()));
            }
        }
        leases.iter().map(VaLease::start).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn leases_of_several_threads_never_overlap() {
    let manager = small(4096);
    let rounds = |seed: u64| {
        let manager = manager.clone();
        move || {
            let (mut state, mut leases) = (seed, Vec::new());
            for _ in 0..3000 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let request = low32((state >> 40) % (8 * PAGE) + 1).aligned(PAGE << ((state >> 33) % 4));
                leases.extend(manager.allocate(if state >> 63 == 0 { request } else { request.highest() }));
                if leases.len() > 200 {
                    drop(leases.swap_remove((state >> 20) as usize % 200));
                }
            }
            leases
        }
    };
    let threads = [1, 2, 3].map(|seed| thread::spawn(rounds(seed)));
    let leases: Vec<VaLease> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert!(leases.len() > 300);
    let mut ranges: Vec<_> = leases.iter().map(|lease| (lease.start().as_u64(), lease.range().end())).collect();
    ranges.sort_unstable();
    assert!(ranges.is_sorted_by(|a, b| a.1 <= b.0), "overlap");
    let leased: u64 = leases.iter().map(VaLease::len).sum();
    assert_eq!(manager.stats(VaWindow::Low32).leased, leased);
    drop(leases);
    assert_eq!(manager.stats(VaWindow::Low32).holes, 1);
}

/// The leased pages of a small world.
struct Bitmap {
    pages: Vec<bool>,
}

impl Bitmap {
    const FIRST: u64 = LIMITS.low_offset / PAGE;

    fn is_free(&self, page: u64, pages: u64) -> bool {
        page >= Self::FIRST
            && (page..page + pages).all(|page| self.pages.get((page - Self::FIRST) as usize) == Some(&false))
    }

    fn set(&mut self, page: u64, pages: u64, leased: bool) {
        (page..page + pages).for_each(|page| self.pages[(page - Self::FIRST) as usize] = leased);
    }

    /// First fit, page by page.
    fn place(&mut self, pages: u64, alignment: u64, highest: bool) -> Option<u64> {
        let fits = |&page: &u64| (page * PAGE).is_multiple_of(alignment) && self.is_free(page, pages);
        let mut all = Self::FIRST..Self::FIRST + self.pages.len() as u64;
        let page = if highest { all.rfind(fits) } else { all.find(fits) }?;
        self.set(page, pages, true);
        Some(page)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Lease { size: u64, alignment: u64, highest: bool },
    LeaseAt { page: u64, size: u64 },
    Drop(usize),
}

fn any_op() -> impl Strategy<Value = Op> {
    let alignment = prop_oneof![3 => Just(1), 3 => (0..18u32).prop_map(|shift| 1 << shift), 1 => 1..40_000u64];
    prop_oneof![
        5 => (1..9 * PAGE, alignment, any::<bool>())
            .prop_map(|(size, alignment, highest)| Op::Lease { size, alignment, highest }),
        2 => (10..90u64, 1..9 * PAGE).prop_map(|(page, size)| Op::LeaseAt { page, size }),
        4 => any::<usize>().prop_map(Op::Drop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_manager_agrees_with_a_bitmap(ops in vec(any_op(), 0..150)) {
        let (manager, mut naive) = (small(64), Bitmap { pages: vec![false; 64] });
        let mut leases: BTreeMap<u64, VaLease> = BTreeMap::new();
        for op in ops {
            match op {
                Op::Lease { size, alignment, highest } => {
                    let request = low32(size).aligned(alignment);
                    let got = manager.allocate(if highest { request.highest() } else { request });
                    let want = naive.place(size.div_ceil(PAGE), alignment, highest);
                    prop_assert_eq!(got.as_ref().ok().map(|l| l.start().as_u64()), want.map(|page| page * PAGE));
                    leases.extend(got.ok().map(|lease| (lease.start().as_u64(), lease)));
                }
                Op::LeaseAt { page, size } => {
                    let (free, pages) = (naive.is_free(page, size.div_ceil(PAGE)), size.div_ceil(PAGE));
                    let got = manager.allocate(low32(size).at(va(page * PAGE)));
                    prop_assert_eq!(got.is_ok(), free);
                    if let Err(VaError::Taken { taken, .. }) = &got {
                        let (first, last) = (taken.start().as_u64() / PAGE, taken.end() / PAGE);
                        prop_assert!((first..last).all(|page| !naive.is_free(page, 1)));
                        prop_assert!(first < page + pages && page < last);
                    }
                    if let Ok(lease) = got {
                        naive.set(page, pages, true);
                        leases.insert(lease.start().as_u64(), lease);
                    }
                }
                Op::Drop(which) => {
                    let Some(&start) = leases.keys().nth(which % leases.len().max(1)) else { continue };
                    let lease = leases.remove(&start).unwrap();
                    naive.set(start / PAGE, lease.len() / PAGE, false);
                }
            }
        }
        let leased = naive.pages.iter().filter(|&&leased| leased).count() as u64;
        let stats = manager.stats(VaWindow::Low32);
        prop_assert_eq!((stats.leases, stats.leased), (leases.len() as u64, leased * PAGE));
        drop(leases);
        prop_assert_eq!(manager.stats(VaWindow::Low32).holes, 1);
    }
}

#[test]
fn managers_and_leases_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<VaManager>();
    shared::<VaLease>();
    assert!(size_of::<VaLease>() <= 24);
}

#[test]
fn a_histogram_counts_the_holes_that_surely_fit() {
    let sizes = [0, 1, 4096, 4096, 8191, 8192, 3 << 20, 1 << 40, u64::MAX];
    let holes: HoleHistogram = sizes.into_iter().collect();
    assert_eq!(holes.classes().collect::<Vec<_>>(), [(0, 1), (12, 3), (13, 1), (21, 1), (40, 1), (63, 1)]);
    assert_eq!(holes.count(), 8, "one of no bytes is none");
    for (bytes, fitting) in [
        (0, 8),
        (1, 8),
        (2, 7),
        (4095, 7),
        (4096, 7),
        (4097, 4),
        (8192, 4),
        (8193, 3),
        (2 << 20, 3),
        ((2 << 20) + 1, 2),
        (1 << 40, 2),
        ((1 << 40) + 1, 1),
        (1 << 63, 1),
        ((1 << 63) + 1, 0),
        (u64::MAX, 0),
    ] {
        assert_eq!(holes.fitting(bytes), fitting, "{bytes:#x}");
    }
}

/// Freed leases rest, up to 64 MiB; longer ones go where they came from.
#[test]
fn leases_of_up_to_64_mebibytes_rest_and_longer_ones_do_not() {
    const LONGEST: u64 = 64 << 20;
    for (size, rests) in [(PAGE, true), (LONGEST, true), (LONGEST + PAGE, false), (2 * LONGEST, false)] {
        let manager = manager();
        let request = VaRequest::new(size);
        let leases: Vec<_> = (0..6).map(|_| manager.allocate(request).unwrap()).collect();
        let first = leases[0].range();
        for lease in leases {
            manager.free(lease);
        }
        assert_eq!(manager.cached(&request).map(|lease| lease.range()), rests.then_some(first), "{size:#x}");
    }
}
