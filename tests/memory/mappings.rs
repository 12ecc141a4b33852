//! CPU mappings of device memory: once, placed, reserved, flushed.
#![expect(unsafe_code, reason = "placed mappings")]

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use crate::pages::Pages;
use crate::support::{chip, chips, device};
use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    heaps::{
        AllocateInfo, DeviceMemory, FlushError, MapPlacedError, MemoryManager, TableOptions, UnmapError, VkResult,
        WHOLE_SIZE,
    },
    winsys::{AccessError, Device, Errno, MapError, OutOfRange},
};

/// Cached system memory on the RX 6800.
const CACHED: u32 = 5;
const SIZE: usize = 64 << 10;

type Kernel = Arc<FaultInjector<SimKernel>>;

fn bench() -> (Kernel, MemoryManager) {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    (kernel, MemoryManager::new(&device, &TableOptions::default()).unwrap())
}

fn allocate(manager: &MemoryManager) -> DeviceMemory {
    manager.allocate(&AllocateInfo::new(CACHED, SIZE as u64)).unwrap()
}

/// W-36: RADV's cached pointer is not synchronised; two threads that map at once leave one mapping behind.
#[test]
fn many_threads_that_map_at_once_get_one_mapping() {
    for _ in 0..20 {
        let (kernel, manager) = bench();
        let memory = allocate(&manager);
        let maps = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&maps);
        kernel.fail_every_where(Errno::ENOMEM, move |attempt| {
            counted.fetch_add(usize::from(matches!(attempt, Attempt::Mmap { .. })), Relaxed);
            false
        });
        let start = Barrier::new(4);
        let bases = thread::scope(|scope| {
            let map = || {
                start.wait();
                memory.map().unwrap().as_ptr().addr()
            };
            let threads = [(); 4].map(|()| scope.spawn(map));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(bases.iter().all(|base| *base == bases[0]));
        assert_eq!((maps.load(Relaxed), kernel.inner().census().mappings), (1, 1));
    }
}

#[test]
fn a_mapping_that_failed_is_tried_again() {
    let (kernel, manager) = bench();
    let memory = allocate(&manager);
    for n in 0..2 {
        kernel.fail_nth(n, Errno::ENOMEM);
        let error = memory.map().unwrap_err();
        assert_eq!(error.vk_result(), VkResult::MemoryMapFailed, "{error}");
        assert!(memory.mapping().is_none());
    }
    kernel.stop();
    memory.map().unwrap().write(0, b"there").unwrap();
}

#[test]
fn a_placed_mapping_is_at_its_address_and_leaves_it_reserved() {
    let (kernel, manager) = bench();
    let place = Pages::reserved(SIZE);
    let memory = allocate(&manager);
    for round in 0..3_u8 {
        // SAFETY: the addresses are ours and hold nothing.
        let mapping = unsafe { memory.map_placed(place.base()) }.unwrap();
        assert_eq!((mapping.as_ptr(), mapping.len()), (place.base(), SIZE));
        drop(mapping);
        assert_eq!(place.load(0), round, "the contents stay with the memory");
        place.store(0, round + 1);
        assert_eq!(place.rights().as_deref(), Some("rw-s"));
        memory.unmap_reserving().unwrap();
        assert_eq!(place.rights().as_deref(), Some("---p"));
        assert_eq!((kernel.inner().census().mappings, memory.mapping().is_some()), (0, false));
    }
    assert_eq!(memory.unmap_reserving(), Ok(()), "nothing is mapped");
}

#[test]
fn a_plain_unmap_lets_the_addresses_go() {
    let (kernel, manager) = bench();
    let place = Pages::reserved(SIZE);
    let memory = allocate(&manager);
    // SAFETY: the addresses are ours and hold nothing.
    unsafe { memory.map_placed(place.base()) }.unwrap();
    let (unmapped, reserved) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counters = (Arc::clone(&unmapped), Arc::clone(&reserved));
    kernel.fail_every_where(Errno::ENOMEM, move |attempt| {
        counters.0.fetch_add(usize::from(matches!(attempt, Attempt::Munmap { .. })), Relaxed);
        counters.1.fetch_add(usize::from(matches!(attempt, Attempt::Reserve { .. })), Relaxed);
        false
    });
    memory.unmap();
    assert_eq!((unmapped.load(Relaxed), reserved.load(Relaxed)), (1, 0));
    // Another thread may have the addresses already.
    std::mem::forget(place);
}

#[test]
fn a_place_that_cannot_be_is_a_failed_map_and_changes_nothing() {
    let (kernel, manager) = bench();
    let place = Pages::reserved(2 * SIZE);
    let memory = allocate(&manager);
    let middle = place.base().map_addr(|address| address.checked_add(100).unwrap());
    // SAFETY: the addresses are ours and hold nothing.
    let error = unsafe { memory.map_placed(middle) }.unwrap_err();
    assert!(matches!(error, MapPlacedError::Map(MapError::Misaligned(_))), "{error}");
    assert_eq!(error.vk_result(), VkResult::MemoryMapFailed);
    for n in 0..2 {
        kernel.fail_nth(n, Errno::ENOMEM);
        // SAFETY: as above.
        let error = unsafe { memory.map_placed(place.base()) }.unwrap_err();
        assert_eq!(error.vk_result(), VkResult::MemoryMapFailed);
        assert_eq!(place.rights().as_deref(), Some("---p"));
    }
    kernel.stop();
    memory.map().unwrap();
    // SAFETY: as above.
    let error = unsafe { memory.map_placed(place.base()) }.unwrap_err();
    assert_eq!(error, MapPlacedError::MappedElsewhere { at: place.base().addr().get() });
    assert_eq!(error.vk_result(), VkResult::MemoryMapFailed);
}

/// W-36: RADV ignores it when the addresses cannot be reserved, and reports success.
#[test]
fn addresses_that_could_not_be_reserved_are_an_error_and_the_memory_stays_mapped() {
    let (kernel, manager) = bench();
    let memory = allocate(&manager);
    memory.map().unwrap().store_u32(0, 7).unwrap();
    kernel.fail_nth_where(0, Errno::ENOMEM, |attempt| matches!(attempt, Attempt::Reserve { .. }));
    let error = memory.unmap_reserving().unwrap_err();
    assert!(kernel.has_fired());
    assert_eq!(error.vk_result(), VkResult::MemoryMapFailed, "{error}");
    assert_eq!(memory.mapping().unwrap().load_u32(0), Ok(7));
    memory.unmap_reserving().unwrap();
    assert_eq!(kernel.inner().census().mappings, 0);
}

#[test]
fn ranges_to_flush_are_those_vulkan_allows() {
    let (_, manager) = bench();
    let memory = manager.allocate(&AllocateInfo::new(CACHED, 5000)).unwrap();
    assert!(matches!(memory.flush(0, WHOLE_SIZE), Err(FlushError::NotMapped { .. })));
    memory.map().unwrap();
    for (offset, size) in [(0, 64), (64, 128), (0, 8192), (8128, 64), (8064, WHOLE_SIZE), (0, WHOLE_SIZE), (0, 0)] {
        assert_eq!(memory.flush(offset, size), Ok(()), "{size} from {offset}");
        assert_eq!(memory.invalidate(offset, size), Ok(()), "{size} from {offset}");
    }
    for (offset, size) in [(1, 64), (0, 63), (8192, 64), (8192, WHOLE_SIZE), (64, 8192), (64, u64::MAX - 1)] {
        let error = memory.flush(offset, size).unwrap_err();
        assert_eq!(error, FlushError::Range { offset, size, memory: 8192 });
        assert_eq!(error.vk_result(), VkResult::Unknown);
    }
}

#[test]
fn loads_and_stores_reach_the_last_byte_and_none_behind_it() {
    let (_kernel, manager) = bench();
    let memory = allocate(&manager);
    memory.map().unwrap();
    let mapping = memory.mapping().unwrap();
    let end = mapping.len() as u64;
    assert_eq!(end, SIZE as u64);
    let refused = |result: Result<(), AccessError>, at: u64, wanted: u64| {
        let Err(AccessError::OutOfRange(OutOfRange { offset, len, size, .. })) = result else { panic!("{result:?}") };
        assert_eq!((offset, len, size), (at, wanted, end));
    };
    for len in [1, 2, 7, 8, 9, 100, SIZE] {
        let (mut bytes, at) = (vec![0x5a; len], end - len as u64);
        mapping.write(at, &bytes).unwrap();
        bytes.fill(0);
        mapping.read(at, &mut bytes).unwrap();
        assert_eq!(bytes, vec![0x5a; len]);
        refused(mapping.write(at + 1, &bytes).map_err(Into::into), at + 1, len as u64);
        refused(mapping.read(at + 1, &mut bytes).map_err(Into::into), at + 1, len as u64);
    }
    mapping.write(end, &[]).unwrap();
    refused(mapping.write(end + 1, &[]).map_err(Into::into), end + 1, 0);
    refused(mapping.write(u64::MAX, &[1, 2]).map_err(Into::into), u64::MAX, 2);
    mapping.store_u32(end - 4, 7).unwrap();
    assert_eq!(mapping.load_u32(end - 4).unwrap(), 7);
    refused(mapping.store_u32(end, 7), end, 4);
    refused(mapping.load_u64(end).map(drop), end, 8);
    mapping.store_u64(end - 8, 1 << 40).unwrap();
    assert_eq!(mapping.load_u64(end - 8).unwrap(), 1 << 40);
    mapping.write_dwords(end - 8, &[1, 2]).unwrap();
    refused(mapping.write_dwords(end - 8, &[1, 2, 3]).map_err(Into::into), end - 8, 12);
}

#[test]
fn exactly_the_host_visible_types_can_be_mapped_and_all_of_them_are_coherent() {
    use amdgpu_winsys::heaps::MemoryPropertyFlags as Property;
    for name in chips() {
        let manager = MemoryManager::new(&device(name), &TableOptions::default()).unwrap();
        for (index, ty) in (0..).zip(manager.properties().types()) {
            if ty.is_protected() {
                continue;
            }
            let memory = manager.allocate(&AllocateInfo::new(index, 4096)).unwrap();
            let visible = ty.properties.contains(Property::HOST_VISIBLE);
            assert_eq!(memory.map().is_ok(), visible, "{name}: type {index}");
            assert_eq!(ty.properties.contains(Property::HOST_COHERENT), visible, "{name}: type {index}");
        }
    }
}

/// A driver shares memory between threads and unmaps it through any of its handles.
#[test]
fn a_shared_handle_maps_and_unmaps_and_takes_nothing_from_who_uses_it() {
    let (kernel, manager) = bench();
    let memory = Arc::new(allocate(&manager));
    let other = Arc::clone(&memory);
    let mappings = || kernel.inner().census().mappings;
    other.unmap();
    assert!(memory.mapping().is_none(), "unmapping nothing is nothing");

    let first = memory.map().unwrap();
    let second = other.map().unwrap();
    other.unmap();
    assert!(memory.mapping().is_none(), "it is unmapped for whoever asks");
    assert_eq!(memory.unmap_reserving(), Err(UnmapError::InUse { memory_type: CACHED }));
    first.store_u32(0, 7).unwrap();
    drop(first);
    assert_eq!((second.load_u32(0), mappings()), (Ok(7), 1), "it goes with the last that uses it");
    other.unmap();
    drop(second);
    assert_eq!(mappings(), 0);

    // One that is in use goes on when it is mapped again.
    let first = memory.map().unwrap();
    memory.unmap();
    assert_eq!(memory.map().unwrap().as_ptr(), first.as_ptr());
    drop(first);
    assert_eq!((mappings(), memory.mapping().is_some()), (1, true));
    memory.unmap();
    assert_eq!((mappings(), memory.mapping().is_some()), (0, false));
}

#[test]
fn a_lasting_mapping_stays_and_replaces_the_other_one() {
    let (kernel, manager) = bench();
    let mappings = || kernel.inner().census().mappings;
    let memory = allocate(&manager);
    assert!(memory.lasting_mapping().is_none());
    let base = memory.map().unwrap().as_ptr();
    let lasting = memory.map_lasting().unwrap();
    assert_eq!((lasting.as_ptr(), mappings()), (base, 1), "it is the one that was there");
    memory.unmap();
    assert_eq!(memory.unmap_reserving(), Ok(()));
    lasting.store_u32(0, 7).unwrap();
    assert_eq!((memory.map().unwrap().load_u32(0), mappings()), (Ok(7), 1));

    // One that is in use stays what it is, and a second one is made.
    let memory = allocate(&manager);
    let used = memory.map().unwrap();
    let lasting = memory.map_lasting().unwrap();
    assert_ne!(lasting.as_ptr(), used.as_ptr());
    used.store_u32(0, 7).unwrap();
    assert_eq!(lasting.load_u32(0), Ok(7));
    drop(used);
    memory.unmap();
    assert_eq!(mappings(), 2, "one for each memory");
}

/// Threads that map, unmap and use at once: every use finds what it stored, and nothing is mapped in the end.
#[test]
fn threads_that_map_and_unmap_at_once_never_lose_what_they_use() {
    let (kernel, manager) = bench();
    let memory = allocate(&manager);
    thread::scope(|scope| {
        for number in 0..4_u32 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..200_u32 {
                    let mapping = memory.map().unwrap();
                    mapping.store_u32(u64::from(number) * 4, round).unwrap();
                    memory.unmap();
                    assert_eq!(mapping.load_u32(u64::from(number) * 4), Ok(round));
                }
            });
        }
    });
    memory.unmap();
    assert_eq!((kernel.inner().census().mappings, memory.mapping().is_some()), (0, false));
}
