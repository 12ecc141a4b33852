//! Finding out whose address it is, and hearing of what happens.

use std::sync::Arc;

use crate::support::{chip, job_time, queue};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Stream, Submission, pm4},
    heaps::{AllocateInfo, Backing, DeviceMemory, MemoryManager, SparseBind, SparseRange, TableOptions},
    uapi::VaFlags,
    vamgr::{GpuVa, VaRequest},
    winsys::{Device, Error, Event, Ip, MappedRange, Mapping, Observer, Reservation, VaLookup, VaMap},
};
use parking_lot::Mutex;
use proptest::prelude::*;

const PAGE: u64 = 4096;

fn observed(observer: impl Observer + 'static) -> Device {
    Device::with_observer(SimKernel::open(chip("navi21")), observer).unwrap()
}

fn allocate(device: &Device, pages: u64) -> DeviceMemory {
    let manager = MemoryManager::new(device, &TableOptions::default()).unwrap();
    manager.allocate(&AllocateInfo::new(5, pages * PAGE)).unwrap()
}

fn live(finding: VaLookup) -> MappedRange {
    let VaLookup::Live(place) = finding else { panic!("{finding}") };
    place
}

#[test]
fn an_address_is_found_in_both_spellings_from_the_first_byte_to_the_last() {
    let map = VaMap::new(8);
    let device = observed(map.clone());
    let memory = allocate(&device, 3);
    map.name(memory.bo().handle(), "vertices");
    let start = memory.address().as_u64();
    assert_eq!(start >> 48, 0xffff, "navi21 allocates in the high half");
    for offset in [0, 1, PAGE, 3 * PAGE - 1] {
        for address in [start + offset, (start + offset) & 0xffff_ffff_ffff] {
            let place = live(map.lookup(address));
            assert_eq!((place.handle, place.offset, place.size), (memory.bo().handle(), offset, 3 * PAGE));
            assert_eq!((place.range.start(), place.range.len()), (memory.address(), 3 * PAGE));
            assert_eq!(place.name.as_deref(), Some("vertices"));
        }
    }
    let beyond = map.lookup(start + 3 * PAGE);
    let VaLookup::Nowhere { below: Some((place, 0)), above: None } = &beyond else { panic!("{beyond}") };
    assert_eq!(place.handle, memory.bo().handle());
    let far = memory.address().checked_add(5 << 32).unwrap().as_u64();
    let VaLookup::Nowhere { below: Some((_, away)), .. } = map.lookup(far) else { panic!("{far:#x} is bound") };
    assert_eq!(away, (5 << 32) - 3 * PAGE, "distances have 64 bits");
    let text = beyond.to_string();
    assert!(text.starts_with("nothing is bound there; 0 bytes after \"vertices\" (BO"), "{text}");
}

#[test]
fn what_was_freed_is_remembered_and_the_oldest_forgotten() {
    let map = VaMap::new(2);
    let device = observed(map.clone());
    let memories: Vec<_> = (0..3).map(|_| allocate(&device, 1)).collect();
    let addresses: Vec<_> = memories.iter().map(|memory| memory.address().as_u64() + 16).collect();
    for memory in memories {
        map.name(memory.bo().handle(), "gone");
    }
    assert!(matches!(map.lookup(addresses[0]), VaLookup::Nowhere { .. }), "only two are remembered");
    for (address, ago) in [(addresses[1], 1), (addresses[2], 0)] {
        let VaLookup::Freed { place, changes_ago } = map.lookup(address) else { panic!("{address:#x}") };
        assert_eq!((place.name.as_deref(), place.offset, changes_ago), (Some("gone"), 16, ago));
    }
    // The addresses come into use again: what lives there now counts.
    let again = allocate(&device, 1);
    assert_eq!(live(map.lookup(again.address().as_u64())).name, None);
}

#[test]
fn a_page_fault_names_the_buffer_that_was_overrun() {
    let map = VaMap::new(8);
    let kernel = SimDevice::new(chip("navi31"), SimOptions::default()).open();
    let device = Device::with_observer(kernel, map.clone()).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let mut stream = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 16).unwrap();
    let memory = allocate(&device, 2);
    map.name(memory.bo().handle(), "particles");
    let beyond = GpuVa::new(memory.address().as_u64() + 2 * PAGE).unwrap();
    let guard = live(map.lookup(memory.address().as_u64())).range.len();
    assert_eq!(guard, 2 * PAGE, "no guard page is bound behind it");
    stream.push(&pm4::WriteData::new(beyond, &[1])).unwrap();
    let list = stream.finish().unwrap();
    let submission = Submission { lists: &[&list], ..Submission::default() };
    assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    let report = map.explain(&device.page_fault().unwrap().unwrap());
    assert!(report.starts_with(&format!("page fault of the graphics hub at {beyond}")), "{report}");
    assert!(report.contains("0 bytes after \"particles\""), "{report}");
}

#[test]
fn what_a_reservation_binds_is_there_until_it_takes_it_away() {
    let map = VaMap::new(8);
    let device = observed(map.clone());
    let memory = allocate(&device, 4);
    let lease = device.addresses().allocate(VaRequest::new(16 * PAGE)).unwrap();
    let reservation = Reservation::new(&device, lease).unwrap();
    let start = reservation.range().start();
    reservation.bind(8 * PAGE, 2 * PAGE, memory.bo(), PAGE, VaFlags::READABLE).unwrap();
    let place = live(map.lookup(start.as_u64() + 9 * PAGE));
    assert_eq!((place.handle, place.offset), (memory.bo().handle(), 2 * PAGE));
    assert_eq!((place.range.start(), place.range.len()), (start.checked_add(8 * PAGE).unwrap(), 2 * PAGE));
    reservation.unbind(9 * PAGE, PAGE).unwrap();
    assert!(matches!(map.lookup(start.as_u64() + 9 * PAGE), VaLookup::Freed { .. }));
    assert_eq!(live(map.lookup(start.as_u64() + 8 * PAGE)).range.len(), PAGE);
    let past = reservation.bind(15 * PAGE, 2 * PAGE, memory.bo(), 0, VaFlags::READABLE).unwrap_err();
    assert!(matches!(past, Error::OutOfRange(_)), "{past}");
}

#[test]
fn pieces_of_a_sparse_range_are_found_one_by_one() {
    let map = VaMap::new(8);
    let device = observed(map.clone());
    let range = SparseRange::new(&device, VaRequest::new(16 * PAGE)).unwrap();
    let memory = allocate(&device, 8);
    let bind = |page: u64, pages: u64, from: Option<u64>| SparseBind {
        offset: page * PAGE,
        len: pages * PAGE,
        backing: from.map(|page| Backing { memory: memory.binding().clone(), offset: page * PAGE }),
    };
    range.bind(&[bind(4, 8, Some(0))]).unwrap();
    range.bind(&[bind(6, 2, None)]).unwrap();
    let at = |page: u64| map.lookup(range.address().as_u64() + page * PAGE + 5);
    assert_eq!(live(at(5)).offset, PAGE + 5);
    assert_eq!(live(at(9)).offset, 5 * PAGE + 5);
    assert!(matches!(at(7), VaLookup::Freed { place, .. } if place.offset == 3 * PAGE + 5));
    assert!(matches!(at(3), VaLookup::Nowhere { .. }));
}

/// Hears everything.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<Event>>);

impl Observer for Log {
    fn observe(&self, event: &Event) {
        self.0.lock().push(*event);
    }
}

#[test]
fn an_observer_hears_of_each_step_once_and_in_order() {
    let log = Arc::new(Log::default());
    let device = observed(Arc::clone(&log));
    let memory = allocate(&device, 1);
    let (handle, base) = (memory.bo().handle(), memory.map().unwrap().as_ptr());
    let second = Mapping::new(memory.bo()).unwrap();
    let (second_base, address) = (second.as_ptr(), memory.address());
    drop(second);
    drop(memory);
    let heard: Vec<_> = log
        .0
        .lock()
        .drain(..)
        .map(|event| match event {
            Event::BoOpened { handle, size: PAGE, .. } => ("opened", handle, 0),
            Event::Bound { range, handle, bo_offset: 0, .. } => ("bound", handle, range.start().as_u64()),
            Event::Allocated { handle, memory_type: 5, size: PAGE, .. } => ("allocated", handle, 0),
            Event::Mapped { handle, base, len: 4096 } => ("mapped", handle, base as u64),
            Event::Unmapped { handle, base, len: 4096 } => ("unmapped", handle, base as u64),
            Event::Unbound { range } => ("unbound", 0, range.start().as_u64()),
            Event::BoClosed { handle } => ("closed", handle, 0),
            other => panic!("{other:?}"),
        })
        .collect();
    let (base, second_base) = (base.as_ptr().addr() as u64, second_base.as_ptr().addr() as u64);
    assert_eq!(
        heard,
        [
            ("opened", handle, 0),
            ("bound", handle, address.as_u64()),
            ("allocated", handle, 0),
            ("mapped", handle, base),
            ("mapped", handle, second_base),
            ("unmapped", handle, second_base),
            ("unmapped", handle, base),
            ("unbound", 0, address.as_u64()),
            ("closed", handle, 0),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_book_agrees_with_a_list_of_everything_that_was_ever_bound(
        steps in prop::collection::vec((any::<bool>(), 0..8_usize, 1..5_u64), 1..60),
    ) {
        let map = VaMap::new(1000);
        let device = observed(map.clone());
        let mut memories: [Option<DeviceMemory>; 8] = Default::default();
        let mut ever: Vec<(u64, u64, u32, bool)> = Vec::new();
        for (allocates, which, pages) in steps {
            if let Some(old) = memories[which].take() {
                let start = old.address().as_u64();
                ever.iter_mut().filter(|entry| entry.0 == start).for_each(|entry| entry.3 = false);
                // The last that went is found first.
                let place = ever.iter().rposition(|entry| entry.0 == start).unwrap();
                let entry = ever.remove(place);
                ever.push(entry);
            }
            if allocates {
                let memory = allocate(&device, pages);
                ever.push((memory.address().as_u64(), pages * PAGE, memory.bo().handle(), true));
                memories[which] = Some(memory);
            }
            for &(start, len, ..) in &ever {
                let at = start + len - 1;
                let holds = |entry: &&(u64, u64, u32, bool)| (entry.0..entry.0 + entry.1).contains(&at);
                let expected = ever.iter().filter(holds).find(|entry| entry.3);
                let expected = expected.or_else(|| ever.iter().rev().find(holds)).unwrap();
                let (place, is_live) = match map.lookup(at) {
                    VaLookup::Live(place) => (place, true),
                    VaLookup::Freed { place, .. } => (place, false),
                    VaLookup::Nowhere { .. } => panic!("{at:#x} was bound"),
                };
                prop_assert_eq!((place.handle, place.offset, is_live), (expected.2, at - expected.0, expected.3));
            }
        }
    }
}
