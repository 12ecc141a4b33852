//! Addresses, distances and histories of large ranges, as observers know them.

use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRange},
    winsys::{
        BoHistory, Event, FaultAccess, FaultReport, GfxLevel, HistoryEntry, MappedRange, Observer, PageFault, VaLookup,
        VaMap, Verdict,
    },
};

const PAGE: u64 = 4096;
const GIB: u64 = 1 << 30;
const RIGHTS: VaFlags = VaFlags::READABLE.union(VaFlags::WRITEABLE);

/// Address of the first binding in the map of these tests.
const BASE: u64 = 1 << 40;

/// A map in which 16 GiB are bound, from 8 GiB of a BO on, and of which 4 GiB in the middle went again.
fn map() -> VaMap {
    let map = VaMap::new(4);
    let range = |at: u64, len| VaRange::new(GpuVa::new(BASE + at).unwrap(), len).unwrap();
    let (domains, flags) = (GemDomain::VRAM, GemCreateFlags::empty());
    map.observe(&Event::BoOpened { handle: 7, size: 24 * GIB, domains, flags });
    map.observe(&Event::Bound { range: range(0, 16 * GIB), handle: 7, bo_offset: 8 * GIB, flags: VaFlags::READABLE });
    map.observe(&Event::Unbound { range: range(5 * GIB, 4 * GIB) });
    map
}

fn extent(place: &MappedRange) -> (u64, u64, u64) {
    (place.range.start().as_u64() - BASE, place.range.len(), place.offset)
}

#[test]
fn an_address_is_found_however_far_it_is_from_the_start() {
    let map = map();
    let live = |at| match map.lookup(BASE + at) {
        VaLookup::Live(place) => extent(&place),
        other => panic!("{other}"),
    };
    assert_eq!(live(5 * GIB - 1), (0, 5 * GIB, 13 * GIB - 1));
    assert_eq!(live(9 * GIB), (9 * GIB, 7 * GIB, 17 * GIB));
    assert_eq!(live(16 * GIB - 1), (9 * GIB, 7 * GIB, 24 * GIB - 1));
    let VaLookup::Freed { place, changes_ago } = map.lookup(BASE + 9 * GIB - 1) else { panic!("it went") };
    assert_eq!((extent(&place), changes_ago), ((5 * GIB, 4 * GIB, 17 * GIB - 1), 0));
    assert_eq!(
        map.live().iter().map(extent).collect::<Vec<_>>(),
        [(0, 5 * GIB, 8 * GIB), (9 * GIB, 7 * GIB, 17 * GIB)]
    );
    assert_eq!(map.freed().iter().map(extent).collect::<Vec<_>>(), [(5 * GIB, 4 * GIB, 13 * GIB)]);
}

#[test]
fn the_distance_to_a_neighbour_is_told_in_full() {
    let map = map();
    let neighbours = |at| match map.lookup(at) {
        VaLookup::Nowhere { below, above } => (below.map(|(_, gap)| gap), above.map(|(_, gap)| gap)),
        other => panic!("{other}"),
    };
    assert_eq!(neighbours(BASE - 6 * GIB), (None, Some(6 * GIB)));
    assert_eq!(neighbours(BASE + 23 * GIB), (Some(7 * GIB), None));
}

#[test]
fn an_access_missed_a_range_if_it_is_at_most_two_mebibytes_away() {
    let map = map();
    let verdict = |at| Verdict::new(&map.lookup(at), FaultAccess::Write);
    let near = 2 << 20;
    assert_eq!(verdict(BASE + 16 * GIB + near), Verdict::Overrun { beyond: near });
    assert_eq!(verdict(BASE + 16 * GIB + near + 1), Verdict::Wild);
    assert_eq!(verdict(BASE - near), Verdict::Underrun { before: near });
    assert_eq!(verdict(BASE - near - 1), Verdict::Wild);
    assert_eq!(verdict(BASE + 4 * GIB + near), Verdict::ReadOnly);
    assert_eq!(verdict(BASE + 6 * GIB), Verdict::UseAfterFree);
    assert_eq!(Verdict::new(&map.lookup(BASE), FaultAccess::Read), Verdict::BoundNow);
    // Between two ranges the nearer one was missed, and of two that are as near the one below.
    let range = |at: u64| VaRange::new(GpuVa::new(at).unwrap(), PAGE).unwrap();
    let between = VaMap::new(0);
    for at in [BASE, BASE + 11 * PAGE] {
        between.observe(&Event::Bound { range: range(at), handle: 1, bo_offset: 0, flags: RIGHTS });
    }
    let verdict = |at| Verdict::new(&between.lookup(BASE + at), FaultAccess::Read);
    assert_eq!(verdict(6 * PAGE), Verdict::Overrun { beyond: 5 * PAGE });
    assert_eq!(verdict(6 * PAGE + 1), Verdict::Underrun { before: 5 * PAGE - 1 });
    assert_eq!(verdict(6 * PAGE - 1), Verdict::Overrun { beyond: 5 * PAGE - 1 });
}

#[test]
fn a_history_counts_what_it_forgets_and_finds_what_it_keeps() {
    let range = |at: u64| VaRange::new(GpuVa::new(BASE + at).unwrap(), 6 * GIB).unwrap();
    let bound = |handle, at| Event::Bound { range: range(at), handle, bo_offset: 0, flags: RIGHTS };
    let history = BoHistory::new(3);
    let note = |history: &BoHistory| {
        for event in [
            Event::BoClosed { handle: 1 },
            bound(2, 0),
            Event::Evicted { evictions: 1, bytes_moved: 1 }, // of no BO in particular
            bound(3, 8 * GIB),
            Event::Unbound { range: range(0) },
        ] {
            history.observe(&event);
        }
    };
    note(&history);
    let numbers = |entries: Vec<HistoryEntry>| entries.iter().map(|entry| entry.number).collect::<Vec<_>>();
    assert_eq!((numbers(history.entries()), history.forgotten()), (vec![1, 2, 3], 1));
    assert_eq!(numbers(history.about(BASE + 5 * GIB)), [1, 3]);
    assert_eq!((numbers(history.of_handle(2)), numbers(history.of_handle(1))), (vec![1], vec![]));
    let nothing = BoHistory::new(0);
    note(&nothing);
    assert_eq!((nothing.entries(), nothing.forgotten()), (vec![], 4));
}

#[test]
fn a_page_fault_beyond_4_gib_is_explained_with_its_buffer() {
    let map = map();
    map.name(7, "vertices");
    // A store of the fifth client in the page, of GFX10 and later.
    let fault = PageFault { page: GpuVa::new(BASE + 4 * GIB).unwrap(), status: 1 << 18 | 5 << 9, hub: 0 };
    let report = FaultReport::new(fault, GfxLevel::Gfx10_3, &map, None);
    assert_eq!((report.verdict.clone(), report.client), (Verdict::ReadOnly, Some("CPC")));
    let text = report.to_string();
    let start = format!("page fault: a write in the page at {} by CPC of graphics hub 0", fault.page);
    assert!(text.starts_with(&start) && text.contains(&format!("{} bytes into \"vertices\"", 12 * GIB)), "{text}");
    assert!(map.explain(&fault).contains("graphics hub"));
    let other = PageFault { hub: 0x100 | 1, ..fault };
    assert!(map.explain(&other).contains("multimedia hub"));
    assert!(map.explain(&PageFault { hub: 0x100, ..fault }).contains("graphics hub"), "the die does not matter");
}
