//! From an address to what it means.

use amdgpu_winsys::{
    cs::{Queue, QueueOptions, Stream, Submission, pm4},
    heaps::DeviceMemory,
    uapi::VaFlags,
    vamgr::{GpuVa, HoleHistogram, VaLease, VaLimits, VaManager, VaRequest, VaWindow, WindowStats},
    winsys::{
        Binding, BoHistory, Context, Event, FaultAccess, FaultHub, FaultReport, Ip, NEAR, Observer, Priority, VaMap,
        Verdict,
    },
};
use proptest::prelude::*;

use crate::{
    rig::{GIB, MIB, PAGE, Rig, gtt},
    support::job_time,
};

struct Scene {
    rig: Rig,
    map: VaMap,
    history: BoHistory,
}

impl Scene {
    fn new(chip: &str) -> Self {
        let (map, history) = (VaMap::new(64), BoHistory::new(64));
        let both: Vec<Box<dyn Observer>> = vec![Box::new(map.clone()), Box::new(history.clone())];
        Self { rig: Rig::observed(chip, both), map, history }
    }

    fn memory(&self, pages: u64) -> DeviceMemory {
        let manager = self.rig.manager();
        let memory = manager.allocate(&gtt(&manager, pages * PAGE)).unwrap();
        self.map.name(memory.bo().handle(), "target");
        memory
    }

    /// Makes the GPU store a dword there, and explains the fault.
    fn report(&self, address: u64) -> FaultReport {
        let device = &self.rig.device;
        // The invalidation before submissions would be at an address that the tests take for free.
        let options = QueueOptions { acquires: false, ..QueueOptions::default() };
        let context = Context::new(device, Priority::Normal).unwrap();
        let queue = Queue::with_options(&context, Ip::Gfx, 0, options).unwrap();
        let mut stream = Stream::new(device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap();
        stream.push(&pm4::WriteData::new(GpuVa::new(address).unwrap(), &[1])).unwrap();
        let list = stream.finish().unwrap();
        let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        device.fault_report(&self.map, Some(&self.history)).unwrap().expect("a fault")
    }
}

/// Rows 17 and 58: the report names object, offset, client, access and what happened there.
#[test]
fn a_store_to_freed_memory_is_called_use_after_free_with_its_history() {
    let scene = Scene::new("navi31");
    assert_eq!(scene.rig.device.fault_report(&scene.map, None).unwrap(), None);
    let memory = scene.memory(4);
    let (handle, address) = (memory.bo().handle(), memory.address().as_u64());
    drop(memory);
    let report = scene.report(address + PAGE);
    assert_eq!((&report.verdict, report.status.access), (&Verdict::UseAfterFree, FaultAccess::Write));
    assert_eq!((report.hub, report.client), (FaultHub::Graphics(0), Some("CPG")));
    let events: Vec<_> = report.history.iter().map(|entry| entry.event).collect();
    let [Event::Bound { handle: bound, .. }, Event::Unbound { .. }] = events[..] else { panic!("{events:?}") };
    assert_eq!(bound, handle);
    let text = report.to_string();
    let start = format!("page fault: a write in the page at {:#x} by CPG of graphics hub 0", address + PAGE);
    assert!(text.starts_with(&start), "{text}");
    assert!(text.contains("use after free: 4096 bytes into \"target\""), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn a_store_behind_the_end_is_an_overrun_and_one_far_away_is_wild() {
    let scene = Scene::new("vega10");
    let memory = scene.memory(4);
    let end = memory.address().as_u64() + 4 * PAGE;
    // GFX9 has a guard page behind each memory.
    let report = scene.report(end + 3 * PAGE);
    assert!(matches!(report.verdict, Verdict::Overrun { beyond } if beyond <= 3 * PAGE), "{report}");
    assert_eq!(scene.report(end + (1 << 40)).verdict, Verdict::Wild);
}

#[test]
fn a_store_to_what_is_bound_read_only_is_told_from_one_to_nothing() {
    let scene = Scene::new("navi21");
    let memory = scene.memory(1);
    let lease = scene.rig.device.addresses().allocate(VaRequest::new(PAGE)).unwrap();
    let binding = Binding::new(memory.bo(), lease, VaFlags::READABLE).unwrap();
    let report = scene.report(binding.address().as_u64());
    assert_eq!(report.verdict, Verdict::ReadOnly, "{report}");
}

/// W-44: RADV's log grows for as long as the device lives.
#[test]
fn a_history_keeps_the_last_events_and_counts_the_rest() {
    let scene = Scene::new("navi21");
    for _ in 0..50 {
        drop(scene.memory(1));
    }
    let (entries, forgotten) = (scene.history.entries(), scene.history.forgotten());
    assert_eq!(entries.len(), 64);
    assert_eq!(forgotten, entries[0].number);
    assert!(entries.is_sorted_by(|a, b| a.number + 1 == b.number && a.at <= b.at));
    assert!(matches!(entries[63].event, Event::BoClosed { .. }));
    let last = scene.memory(1);
    let handle = last.bo().handle();
    assert!(scene.history.of_handle(handle).iter().any(|entry| matches!(entry.event, Event::Allocated { .. })));
    let low = last.address().as_u64() & 0xffff_ffff_ffff;
    assert_eq!(scene.history.about(low), scene.history.about(last.address().as_u64()), "both spellings");
    let nothing = BoHistory::new(0);
    nothing.observe(&Event::BoClosed { handle: 1 });
    assert_eq!((nothing.entries().len(), nothing.forgotten()), (0, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Row 58: what a simple list of everything that was bound says of an address.
    #[test]
    fn verdicts_agree_with_a_list_of_what_was_bound(
        frees in prop::collection::vec(any::<bool>(), 1..10),
        probe in 0..16 * MIB,
    ) {
        let scene = Scene::new("navi10");
        let memories: Vec<_> = frees.iter().map(|_| scene.memory(3)).collect();
        let ranges: Vec<_> = memories.iter().map(|memory| (memory.address().as_u64(), 3 * PAGE)).collect();
        let kept: Vec<_> = memories.into_iter().zip(&frees).map(|(memory, &frees)| (!frees).then_some(memory)).collect();
        let at = ranges[0].0 + probe;
        let holding = ranges.iter().position(|&(start, len)| (start..start + len).contains(&at));
        let is_live = |index: usize| kept[index].is_some();
        let live = || (0..kept.len()).filter(|&index| is_live(index)).map(|index| ranges[index]);
        let expected = match holding {
            Some(index) if is_live(index) => Verdict::BoundNow,
            Some(_) => Verdict::UseAfterFree,
            None => {
                let beyond = live().filter_map(|(start, len)| at.checked_sub(start + len)).min().filter(|&gap| gap <= NEAR);
                let before = live().filter(|&(start, _)| start > at).map(|(start, _)| start - at).min();
                match (beyond, before.filter(|&gap| gap <= NEAR)) {
                    (Some(beyond), before) if before.is_none_or(|before| beyond <= before) => Verdict::Overrun { beyond },
                    (_, Some(before)) => Verdict::Underrun { before },
                    _ => Verdict::Wild,
                }
            }
        };
        prop_assert_eq!(Verdict::new(&scene.map.lookup(at), FaultAccess::Read), expected);
    }

    /// Row 30: the histogram and the figures of a window are those of the leases that are left.
    #[test]
    fn window_figures_agree_with_the_leases_that_are_left(
        sizes in prop::collection::vec(1..64_u64, 1..60),
        keep in prop::collection::vec(any::<bool>(), 60),
    ) {
        let manager = VaManager::new(&VaLimits {
            low_offset: 0x1_0000,
            low_max: 0x8000_0000_0000,
            high_offset: 0,
            high_max: 0,
            alignment: PAGE,
            pte_fragment: 2 << 20,
            half_for_sparse: false,
        }).unwrap();
        let window = manager.windows().range(VaWindow::Low);
        let mut leases: Vec<_> =
            sizes.iter().map(|pages| manager.allocate(VaRequest::new(pages * PAGE).within(VaWindow::Low)).unwrap()).collect();
        let mut keep = keep.into_iter();
        leases.retain(|_| keep.next() == Some(true));
        leases.sort_by_key(VaLease::start);
        let mut holes = Vec::new();
        let mut at = window.start().as_u64();
        for lease in &leases {
            holes.extend((lease.start().as_u64() > at).then(|| lease.start().as_u64() - at));
            at = lease.start().as_u64() + lease.len();
        }
        holes.extend((window.end() > at).then(|| window.end() - at));
        let histogram: HoleHistogram = holes.iter().copied().collect();
        let stats = manager.stats(VaWindow::Low);
        prop_assert_eq!(manager.hole_histogram(VaWindow::Low), histogram);
        prop_assert_eq!((stats.holes, stats.largest_hole), (histogram.count(), holes.iter().copied().max().unwrap_or(0)));
        prop_assert_eq!(stats.free, holes.iter().sum::<u64>());
        let scattered = stats.free - stats.largest_hole;
        prop_assert_eq!(stats.fragmentation_permille(), (u128::from(scattered) * 1000 / u128::from(stats.free)) as u64);
        prop_assert!(histogram.fitting(GIB) <= histogram.count());
    }
}

#[test]
fn no_figures_of_a_window_make_its_fragmentation_absurd() {
    for (free, largest_hole) in [(0, 0), (0, 1), (u64::MAX, 0), (u64::MAX, u64::MAX), (1, 0)] {
        let stats = WindowStats { free, largest_hole, ..WindowStats::default() };
        assert!(stats.fragmentation_permille() <= 1000);
    }
    assert_eq!([0, u64::MAX].into_iter().collect::<HoleHistogram>().classes().collect::<Vec<_>>(), [(63, 1)]);
    assert_eq!(HoleHistogram::from_iter([u64::MAX]).fitting(u64::MAX), 0);
}
