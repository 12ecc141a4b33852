//! Addresses of freed device memory are leased again by the thread that freed it. No other thread notices.

mod unbinding_by_closing;

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, MemoryPolicy, Replay, TableOptions},
    vamgr::{GpuVa, VaRequest},
    winsys::{Device, VaLookup, VaMap},
};

const SIZE: u64 = 64 << 10;

struct Rig {
    map: VaMap,
    device: Device,
    manager: MemoryManager,
}

impl Rig {
    fn new(policy: MemoryPolicy) -> Self {
        let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let map = VaMap::new(64);
        let device = Device::with_observer(gpu.open(), map.clone()).unwrap();
        let manager = MemoryManager::with_policy(&device, &TableOptions::default(), policy).unwrap();
        Self { map, device, manager }
    }

    /// Allocates and frees; where it was.
    fn round(&self) -> GpuVa {
        self.manager.allocate(&AllocateInfo::new(0, SIZE)).unwrap().address()
    }
}

#[test]
fn freed_addresses_are_found_as_freed_until_they_are_bound_again() {
    let rig = Rig::new(MemoryPolicy::default());
    let mut past: Vec<GpuVa> = Vec::new();
    for _ in 0..40 {
        let memory = rig.manager.allocate(&AllocateInfo::new(0, SIZE)).unwrap();
        let address = memory.address();
        assert!(
            matches!(rig.map.lookup(address.as_u64()), VaLookup::Live(place) if place.handle == memory.bo().handle())
        );
        for other in past.iter().filter(|&&other| other != address) {
            let finding = rig.map.lookup(other.as_u64() + 5);
            assert!(matches!(&finding, VaLookup::Freed { place, .. } if place.offset == 5), "{other}: {finding}");
        }
        past.push(address);
    }
}

#[test]
fn a_use_after_the_free_meets_no_new_binding_for_three_frees() {
    let rig = Rig::new(MemoryPolicy::default());
    let rounds: Vec<_> = (0..40).map(|_| rig.round()).collect();
    for window in rounds.windows(4) {
        assert!(!window[1..].contains(&window[0]), "{rounds:?}");
    }
}

#[test]
fn whoever_asks_finds_freed_addresses_free() {
    let rig = Rig::new(MemoryPolicy::default());
    let addresses = rig.device.addresses();
    let rounds: Vec<_> = (0..5).map(|_| rig.round()).collect();
    assert_eq!(addresses.leased_bytes(), 0);
    for address in [rig.round(), rounds[0]] {
        let lease = addresses.allocate(VaRequest::new(SIZE).at(address)).unwrap();
        assert_eq!(addresses.leased_bytes(), SIZE);
        drop(lease);
    }
}

#[test]
fn a_captured_address_is_never_given_to_memory_that_may_be_anywhere() {
    let rig = Rig::new(MemoryPolicy::default());
    let capture = AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(0, SIZE) };
    for _ in 0..10 {
        let captured = rig.manager.allocate(&capture).unwrap().address();
        let elsewhere: Vec<_> = (0..10).map(|_| rig.round()).collect();
        assert!(!elsewhere.contains(&captured));
        let replay = AllocateInfo { replay: Replay::At(captured), ..capture };
        assert_eq!(rig.manager.allocate(&replay).unwrap().address(), captured);
    }
}

#[test]
fn one_thread_has_the_same_addresses_in_every_run() {
    let run = || {
        let rig = Rig::new(MemoryPolicy::default());
        let mut kept = Vec::new();
        let mut places = Vec::new();
        for round in 0..200_u64 {
            let memory = rig.manager.allocate(&AllocateInfo::new(0, SIZE << (round % 3))).unwrap();
            places.push(memory.address());
            if round % 5 == 0 {
                kept.push(memory);
            }
            if round % 20 == 19 {
                kept.remove(0);
            }
        }
        places
    };
    assert_eq!(run(), run());
}

#[test]
fn with_guard_gaps_a_use_after_the_free_meets_no_new_binding_for_eight_frees() {
    let rig = Rig::new(MemoryPolicy { guard_gaps: true, ..MemoryPolicy::default() });
    let rounds: Vec<_> = (0..40).map(|_| rig.round()).collect();
    for window in rounds.windows(9) {
        assert!(!window[1..].contains(&window[0]), "{rounds:?}");
    }
    assert_eq!(rig.device.addresses().leased_bytes(), 0);
}
