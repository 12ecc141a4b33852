//! The dumps say what is there, in the form that others read.

use std::time::Duration;

use amdgpu_winsys::{
    heaps::{Addressing, AllocateInfo, BudgetRule, CoarseClock, DUMP_SCHEMA, DeviceMemory, MemoryManager, OwnUsage},
    vamgr::VaWindow,
    winsys::{MappedRange, VaMap},
};
use serde_json::{Map, Value, json};

use crate::rig::{MIB, Rig, gtt, vram};

struct Scene {
    map: VaMap,
    manager: MemoryManager,
    memories: Vec<DeviceMemory>,
}

/// Three memories, one of them named, and one that was freed.
fn scene(chip: &str) -> Scene {
    let map = VaMap::new(8);
    let rig = Rig::observed(chip, map.clone());
    let manager = rig.manager();
    let memories = [vram(&manager, MIB), gtt(&manager, 2 * MIB), gtt(&manager, 3 * MIB)]
        .map(|info| manager.allocate(&info).unwrap());
    map.name(memories[1].bo().handle(), "a \"name\"\n");
    drop(manager.allocate(&AllocateInfo::new(0, 4096)).unwrap());
    Scene { map, manager, memories: memories.into() }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object"))
}

fn keys(value: &Value) -> Vec<&str> {
    object(value).keys().map(String::as_str).collect()
}

#[test]
fn a_dump_holds_everything_that_is_known() {
    let Scene { map, manager, memories } = scene("navi21");
    let dump: Value = serde_json::from_str(&manager.dump_json(&map).unwrap()).unwrap();
    assert_eq!(dump["schema"], DUMP_SCHEMA);
    assert_eq!(dump["device"]["chip"], "NAVI21");
    let own = manager.usage_tracker().usage();
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

/// Every value of the library's own form, from where the program would ask for it.
#[test]
fn a_dump_says_what_the_manager_and_the_book_say() {
    for chip in ["navi21", "renoir", "polaris10"] {
        let Scene { map, manager, memories: _memories } = scene(chip);
        // The kernel is asked once, so the dump and this test tell of one answer.
        let manager = manager.with_budget_interval(CoarseClock, Duration::from_hours(1));
        let dump: Value = serde_json::from_str(&manager.dump_json(&map).unwrap()).unwrap();
        let (info, system) = (manager.device().info(), manager.cached_usage().unwrap());
        let own = |own: OwnUsage| json!({ "invisible_vram": own.invisible_vram, "visible_vram": own.visible_vram, "gtt": own.gtt });
        let budgets = [BudgetRule::Radv, BudgetRule::Corrected].map(|rule| manager.cached_budgets(rule).unwrap());
        let heaps = manager.properties().heaps().iter().zip(budgets[0].heaps()).zip(budgets[1].heaps());
        let heaps = heaps.map(|((heap, radv), corrected)| {
            let flags: Vec<_> = heap.flags.iter_names().map(|(name, _)| name).collect();
            json!({
                "kind": format!("{:?}", heap.kind), "flags": flags, "size": heap.size, "usage": radv.usage,
                "budget": radv.budget, "corrected_budget": corrected.budget,
            })
        });
        let types = (0..).zip(manager.properties().types()).map(|(index, ty)| {
            let flags: Vec<_> = ty.properties.iter_names().map(|(name, _)| name).collect();
            let of_type: Vec<_> = map.bos().into_iter().filter(|bo| bo.memory_type == Some(index)).collect();
            let bytes: u64 = of_type.iter().map(|bo| bo.size).sum();
            json!({ "heap": ty.heap, "flags": flags, "allocations": of_type.len(), "bytes": bytes })
        });
        let addresses = manager.device().addresses();
        let windows = VaWindow::ALL.into_iter().filter(|&window| addresses.windows().serving(window) == window);
        let windows = windows.map(|window| {
            let (range, stats) = (addresses.windows().range(window), addresses.stats(window));
            let sizes: Vec<_> = addresses.hole_histogram(window).classes().map(|class| json!(class)).collect();
            json!({
                "window": window.to_string(), "start": format!("{:#x}", range.start().as_u64()), "len": range.len(),
                "leases": stats.leases, "leased": stats.leased, "free": stats.free, "holes": stats.holes,
                "largest_hole": stats.largest_hole, "fragmentation_permille": stats.fragmentation_permille(),
                "hole_sizes": sizes,
            })
        });
        let bos = map.bos().into_iter().map(|bo| {
            let domains: Vec<_> = bo.domains.iter_names().map(|(name, _)| name).collect();
            json!({
                "handle": bo.handle, "name": bo.name.as_deref(), "size": bo.size, "domains": domains,
                "memory_type": bo.memory_type,
            })
        });
        let places = |places: Vec<MappedRange>| -> Value {
            let place = |place: &MappedRange| {
                json!({
                    "handle": place.handle, "name": place.name.as_deref(), "len": place.range.len(),
                    "address": format!("{:#x}", place.range.start().as_u64()), "offset": place.offset,
                })
            };
            places.iter().map(place).collect()
        };
        let expected = json!({
            "schema": DUMP_SCHEMA,
            "device": { "chip": info.chip_name().to_string(), "name": info.marketing_name },
            "own": own(manager.usage_tracker().usage()),
            "always_valid": own(manager.usage_tracker().always_valid()),
            "system": {
                "vram": system.usage.vram, "visible_vram": system.usage.visible_vram, "gtt": system.usage.gtt,
                "generation": system.generation,
            },
            "heaps": heaps.collect::<Value>(),
            "types": types.collect::<Value>(),
            "windows": windows.collect::<Value>(),
            "bos": bos.collect::<Value>(),
            "bound": places(map.live()),
            "freed": places(map.freed()),
        });
        assert_eq!(dump, expected, "{chip}");
        assert!(system.usage.vram > 0 && system.generation > 0, "{chip}: {system:?}");
    }
}

#[test]
fn an_old_chip_has_two_windows_in_its_dump() {
    let Scene { map, manager, .. } = scene("polaris10");
    let dump: Value = serde_json::from_str(&manager.dump_json(&map).unwrap()).unwrap();
    assert_eq!(dump["windows"].as_array().unwrap().len(), 2);
    assert!(manager.properties().types().iter().any(|ty| ty.addressing == Addressing::Bits64));
}

#[test]
fn a_dump_counts_more_than_4_gib() {
    let map = VaMap::new(8);
    let rig = Rig::observed("navi21", map.clone());
    let manager = rig.manager();
    let memories = [5 << 30, 3 << 30].map(|size| manager.allocate(&vram(&manager, size)).unwrap());
    let dump: Value = serde_json::from_str(&manager.dump_json(&map).unwrap()).unwrap();
    assert_eq!(dump["types"][memories[0].memory_type() as usize]["bytes"], 8_u64 << 30);
    let dump: Value = serde_json::from_str(&manager.dump_vma_json(&map).unwrap()).unwrap();
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
    if count > 1 {
        assert!(stats["AllocationSizeMin"].as_u64() <= stats["AllocationSizeMax"].as_u64());
    }
}

/// The keys are those that vmaBuildStatsString writes and GpuMemDumpVis reads.
#[test]
fn the_dump_for_vmas_visualiser_has_its_structure() {
    for chip in ["navi21", "renoir", "polaris10"] {
        let Scene { map, manager, memories } = scene(chip);
        let text = manager.dump_vma_json(&map).unwrap();
        let dump: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(keys(&dump), ["CustomPools", "DefaultPools", "General", "MemoryInfo", "Total"]);
        let (heaps, types) = (manager.properties().heaps(), manager.properties().types());
        let info = manager.device().info();
        let general = json!({
            "API": "Vulkan", "apiVersion": "1.4.0", "GPU": info.marketing_name,
            "deviceType": if chip == "renoir" { 1 } else { 2 },
            "maxMemoryAllocationCount": u32::MAX, "bufferImageGranularity": 1, "nonCoherentAtomSize": 64,
            "memoryHeapCount": heaps.len(), "memoryTypeCount": types.len(),
        });
        assert_eq!(dump["General"], general);
        check_statistics(&dump["Total"], 3, 6 * MIB);
        let sizes = (&dump["Total"]["AllocationSizeMin"], &dump["Total"]["AllocationSizeMax"]);
        assert_eq!(sizes, (&MIB.into(), &(3 * MIB).into()));
        let infos = object(&dump["MemoryInfo"]);
        assert_eq!(infos.len(), heaps.len());
        let (mut in_heaps, mut pools_of_heaps) = (0, 0);
        let budgets = manager.cached_budgets(BudgetRule::Radv).unwrap();
        for (index, heap) in heaps.iter().enumerate() {
            let info = &infos[&format!("Heap {index}")];
            assert_eq!(keys(info), ["Budget", "Flags", "MemoryPools", "Size", "Stats"]);
            assert_eq!(info["Size"], heap.size);
            let figures = budgets.heaps()[index];
            assert_eq!(info["Budget"], json!({ "BudgetBytes": figures.budget, "UsageBytes": figures.usage }));
            let flags: Vec<_> = heap.flags.iter_names().map(|(name, _)| name).collect();
            assert_eq!(info["Flags"], json!(flags));
            in_heaps += info["Stats"]["AllocationBytes"].as_u64().unwrap();
            pools_of_heaps += object(&info["MemoryPools"]).len();
            for (name, pool) in object(&info["MemoryPools"]) {
                let ty = &types[name.strip_prefix("Type ").unwrap().parse::<usize>().unwrap()];
                assert_eq!(ty.heap as usize, index);
                assert_eq!(keys(pool), ["Flags", "Stats"]);
                let flags: Vec<_> = ty.properties.iter_names().map(|(name, _)| name).collect();
                assert_eq!(pool["Flags"], json!(flags));
                let index: u32 = name.strip_prefix("Type ").unwrap().parse().unwrap();
                let sizes: Vec<_> =
                    memories.iter().filter(|m| m.memory_type() == index).map(DeviceMemory::size).collect();
                check_statistics(&pool["Stats"], sizes.len() as u64, sizes.iter().sum());
            }
        }
        assert_eq!((in_heaps, pools_of_heaps), (6 * MIB, types.len()));
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
            assert_eq!((&pool["PreferredBlockSize"], &pool["Blocks"]), (&0.into(), &json!({})));
            for one in pool["DedicatedAllocations"].as_array().unwrap() {
                assert_eq!((&one["Type"], &one["Usage"]), (&"UNKNOWN".into(), &0.into()));
                let name = (one["Size"] == 2 * MIB).then(|| json!("a \"name\"\n"));
                assert_eq!(one.get("Name"), name.as_ref());
            }
        }
    }
}
