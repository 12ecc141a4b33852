//! The dumps say what is there, in the form that others read.

use std::sync::Arc;

use amdgpu_winsys::{
    heaps::{Addressing, AllocateInfo, BudgetRule, DUMP_SCHEMA, DeviceMemory, MemoryManager},
    winsys::AddressBook,
};
use serde_json::{Map, Value};

use crate::rig::{MIB, Rig, gtt, vram};

struct Scene {
    book: Arc<AddressBook>,
    manager: MemoryManager,
    memories: Vec<DeviceMemory>,
}

/// Three memories, one of them named, and one that was freed.
fn scene(chip: &str) -> Scene {
    let book = Arc::new(AddressBook::new(8));
    let rig = Rig::observed(chip, Arc::clone(&book) as _);
    let manager = rig.manager();
    let memories = [vram(&manager, MIB), gtt(&manager, 2 * MIB), gtt(&manager, 3 * MIB)]
        .map(|info| manager.allocate(&info).unwrap());
    book.name(memories[1].bo().handle(), "a \"name\"\n");
    drop(manager.allocate(&AllocateInfo::new(0, 4096)).unwrap());
    Scene { book, manager, memories: memories.into() }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object"))
}

fn keys(value: &Value) -> Vec<&str> {
    object(value).keys().map(String::as_str).collect()
}

#[test]
fn a_dump_holds_everything_that_is_known() {
    let Scene { book, manager, memories } = scene("navi21");
    let dump: Value = serde_json::from_str(&manager.dump_json(&book).unwrap()).unwrap();
    assert_eq!(dump["schema"], DUMP_SCHEMA);
    assert_eq!(dump["device"]["chip"], "NAVI21");
    let own = manager.ledger().usage();
    assert_eq!(dump["own"]["gtt"], own.gtt);
    assert_eq!(dump["always_valid"]["gtt"], own.gtt, "nothing here is shared");
    let budgets = manager.cached_budgets(BudgetRule::Radv).unwrap();
    for (heap, figures) in dump["heaps"].as_array().unwrap().iter().zip(budgets.heaps()) {
        assert_eq!((&heap["budget"], &heap["usage"]), (&figures.budget.into(), &figures.usage.into()));
    }
    let index = memories[1].memory_type() as usize;
    assert_eq!((&dump["types"][index]["allocations"], &dump["types"][index]["bytes"]), (&2.into(), &(5 * MIB).into()));
    let bos = dump["bos"].as_array().unwrap();
    let named = bos.iter().find(|bo| bo["handle"] == memories[1].bo().handle()).unwrap();
    assert_eq!((&named["name"], &named["size"]), (&"a \"name\"\n".into(), &(2 * MIB).into()));
    let bound = dump["bound"].as_array().unwrap();
    for memory in &memories {
        let address = format!("{:#x}", memory.address().as_u64());
        assert!(bound.iter().any(|place| place["address"] == address && place["len"] == memory.size()), "{address}");
    }
    assert_eq!(dump["freed"].as_array().unwrap().len(), 1);
    let windows = dump["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 4);
    for window in windows {
        let sizes = window["hole_sizes"].as_array().unwrap();
        assert_eq!(
            sizes.iter().map(|class| class[1].as_u64().unwrap()).sum::<u64>(),
            window["holes"].as_u64().unwrap()
        );
    }
}

#[test]
fn an_old_chip_has_two_windows_in_its_dump() {
    let Scene { book, manager, .. } = scene("polaris10");
    let dump: Value = serde_json::from_str(&manager.dump_json(&book).unwrap()).unwrap();
    assert_eq!(dump["windows"].as_array().unwrap().len(), 2);
    assert!(manager.properties().types().iter().any(|ty| ty.addressing == Addressing::Bits64));
}

#[test]
fn a_dump_counts_more_than_4_gib() {
    let book = Arc::new(AddressBook::new(8));
    let rig = Rig::observed("navi21", Arc::clone(&book) as _);
    let manager = rig.manager();
    let memories = [5 << 30, 3 << 30].map(|size| manager.allocate(&vram(&manager, size)).unwrap());
    let dump: Value = serde_json::from_str(&manager.dump_json(&book).unwrap()).unwrap();
    assert_eq!(dump["types"][memories[0].memory_type() as usize]["bytes"], 8_u64 << 30);
    let dump: Value = serde_json::from_str(&manager.dump_vma_json(&book).unwrap()).unwrap();
    check_statistics(&dump["Total"], 2, 8 << 30);
    let limits = ["AllocationSizeMin", "AllocationSizeMax"].map(|key| dump["Total"][key].as_u64());
    assert_eq!(limits, [Some(3 << 30), Some(5 << 30)]);
}

fn check_statistics(stats: &Value, count: u64, bytes: u64) {
    assert_eq!((&stats["BlockCount"], &stats["AllocationCount"]), (&count.into(), &count.into()));
    assert_eq!((&stats["BlockBytes"], &stats["AllocationBytes"]), (&bytes.into(), &bytes.into()));
    assert_eq!(stats["UnusedRangeCount"], 0);
    let limits = ["AllocationSizeMin", "AllocationSizeMax"].map(|key| stats.get(key).is_some());
    assert_eq!(limits, [count > 1; 2]);
}

/// The keys are those that vmaBuildStatsString writes and GpuMemDumpVis reads.
#[test]
fn the_dump_for_vmas_visualiser_has_its_structure() {
    for chip in ["navi21", "renoir", "polaris10"] {
        let Scene { book, manager, memories } = scene(chip);
        let text = manager.dump_vma_json(&book).unwrap();
        let dump: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(keys(&dump), ["CustomPools", "DefaultPools", "General", "MemoryInfo", "Total"]);
        let (heaps, types) = (manager.properties().heaps(), manager.properties().types());
        assert_eq!(dump["General"]["memoryHeapCount"], heaps.len());
        assert_eq!(dump["General"]["deviceType"], if chip == "renoir" { 1 } else { 2 });
        check_statistics(&dump["Total"], 3, 6 * MIB);
        let infos = object(&dump["MemoryInfo"]);
        assert_eq!(infos.len(), heaps.len());
        let mut in_heaps = 0;
        for (index, heap) in heaps.iter().enumerate() {
            let info = &infos[&format!("Heap {index}")];
            assert_eq!(keys(info), ["Budget", "Flags", "MemoryPools", "Size", "Stats"]);
            assert_eq!(info["Size"], heap.size);
            in_heaps += info["Stats"]["AllocationBytes"].as_u64().unwrap();
            for (name, pool) in object(&info["MemoryPools"]) {
                let ty = &types[name.strip_prefix("Type ").unwrap().parse::<usize>().unwrap()];
                assert_eq!(ty.heap as usize, index);
                assert_eq!(keys(pool), ["Flags", "Stats"]);
            }
        }
        assert_eq!(in_heaps, 6 * MIB);
        let pools = object(&dump["DefaultPools"]);
        assert_eq!(pools.len(), types.len());
        for (name, pool) in pools {
            assert_eq!(keys(pool), ["Blocks", "DedicatedAllocations", "PreferredBlockSize"]);
            let index: u32 = name.strip_prefix("Type ").unwrap().parse().unwrap();
            let sizes: Vec<_> =
                pool["DedicatedAllocations"].as_array().unwrap().iter().map(|one| &one["Size"]).collect();
            let expected: Vec<Value> = memories
                .iter()
                .filter(|memory| memory.memory_type() == index)
                .map(|memory| memory.size().into())
                .collect();
            assert_eq!(sizes, expected.iter().collect::<Vec<_>>());
        }
    }
}
