//! Memory dumps of the library, shown and exported.

use std::fs;

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    winsys::{Device, VaMap},
};

use crate::support::{Directory, golden, run, run_with};

/// Returns the memory dump of a process with three allocations.
pub(crate) fn memory_dump() -> String {
    let map = VaMap::new(8);
    let gpu = SimDevice::new(amdgpu_sim::profile("navi21").unwrap(), SimOptions::default());
    let device = Device::with_observer(gpu.open(), map.clone()).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let allocate = |memory_type, size| manager.allocate(&AllocateInfo::new(memory_type, size)).unwrap();
    let held = [allocate(0, 1 << 20), allocate(5, 2 << 20), allocate(5, 64 << 10)];
    drop(allocate(0, 4096));
    map.name(held[1].bo().handle(), "staging");
    manager.dump_json(&map).unwrap()
}

#[test]
fn the_librarys_own_dump_is_shown_and_exported() {
    let dump = memory_dump();
    let va = run_with(&["va", "-"], dump.as_bytes());
    assert_eq!(va.code, 0, "{}", va.stderr);
    golden("tests/golden/va.txt", &va.stdout);
    let directory = Directory::new();
    let file = directory.join("dump.json");
    fs::write(&file, &dump).unwrap();
    assert_eq!(run(&["va", &file]).stdout, va.stdout);
    let exported = run(&["export", "--dump", &file]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let vma: serde_json::Value = serde_json::from_str(&exported.stdout).unwrap();
    let held = &vma["DefaultPools"]["Type 5"]["DedicatedAllocations"];
    let sizes: Vec<_> = held.as_array().unwrap().iter().map(|one| one["Size"].as_u64().unwrap()).collect();
    assert_eq!(sizes.iter().sum::<u64>(), (2 << 20) + (64 << 10));
    assert!(held.as_array().unwrap().iter().any(|one| one["Name"] == "staging"), "{held}");
    assert_eq!((&vma["Total"]["AllocationCount"], &vma["General"]["MemoryHeapCount"]), (&3.into(), &3.into()));
    let in_heaps = |key: &str| -> u64 {
        let heaps = vma["MemoryInfo"].as_object().unwrap().values();
        heaps.map(|heap| heap["Stats"][key].as_u64().unwrap()).sum()
    };
    assert_eq!(in_heaps("AllocationBytes"), (3 << 20) + (64 << 10));
}
