//! The library's own dump format, which is complete.

use amdgpu_hw::num::wide;

use super::json::{Json, names};
use crate::heaps::{
    BudgetRule, Budgets, MemoryProperties, OwnUsage, SystemUsage, UsageReading, budget::budget_monitor::Heaps,
};
use crate::{
    vamgr::{VaManager, VaWindow},
    winsys::{MappedRange, VaMap},
};

/// The version of the format of [`MemoryManager::dump_json`](crate::heaps::MemoryManager::dump_json). It changes when the
/// meaning of a key changes.
pub const DUMP_SCHEMA: u64 = 1;

/// Returns the text of [`MemoryManager::dump_json`](crate::heaps::MemoryManager::dump_json).
pub(in crate::heaps) fn json(heaps: Heaps<'_>, reading: &UsageReading, map: &VaMap) -> String {
    let Heaps { device, properties } = heaps;
    let mut json = Json::default();
    json.object(|json| {
        json.count("schema", DUMP_SCHEMA);
        json.key("device").object(|json| {
            json.key("chip").string(device.info().chip_name());
            json.key("name").string(&device.info().marketing_name);
        });
        own(json.key("own"), &device.usage_tracker().usage());
        own(json.key("always_valid"), &device.usage_tracker().always_valid());
        let SystemUsage { vram, visible_vram, gtt } = reading.usage;
        json.key("system").object(|json| {
            json.count("vram", vram);
            json.count("visible_vram", visible_vram);
            json.count("gtt", gtt);
            json.count("generation", reading.generation);
        });
        let [radv, corrected] =
            [BudgetRule::Radv, BudgetRule::Corrected].map(|rule| heaps.budgets(&reading.usage, rule));
        write_heaps(json.key("heaps"), properties, &radv, &corrected);
        types(json.key("types"), properties, map);
        windows(json.key("windows"), device.addresses());
        bos(json.key("bos"), map);
        places(json.key("bound"), &map.live());
        places(json.key("freed"), &map.freed());
    });
    json.finish()
}

fn write_heaps(json: &mut Json, properties: &MemoryProperties, radv: &Budgets, corrected: &Budgets) {
    json.array(|json| {
        let figures = radv.heaps().iter().zip(corrected.heaps());
        for (heap, (radv, corrected)) in properties.heaps().iter().zip(figures) {
            json.object(|json| {
                json.key("kind").string(format_args!("{:?}", heap.kind));
                names(json.key("flags"), heap.flags.iter_names().map(|(name, _)| name));
                json.count("size", heap.size);
                json.count("usage", radv.usage);
                json.count("budget", radv.budget);
                json.count("corrected_budget", corrected.budget);
            });
        }
    });
}

fn types(json: &mut Json, properties: &MemoryProperties, map: &VaMap) {
    let bos = map.bos();
    json.array(|json| {
        for (index, ty) in (0..).zip(properties.types()) {
            let of_type = || bos.iter().filter(|bo| bo.memory_type == Some(index));
            json.object(|json| {
                json.count("heap", ty.heap.into());
                names(json.key("flags"), ty.properties.iter_names().map(|(name, _)| name));
                json.count("allocations", wide(of_type().count()));
                json.count("bytes", of_type().map(|bo| bo.size).sum());
            });
        }
    });
}

fn own(json: &mut Json, usage: &OwnUsage) {
    let OwnUsage { invisible_vram, visible_vram, gtt } = *usage;
    json.object(|json| {
        json.count("invisible_vram", invisible_vram);
        json.count("visible_vram", visible_vram);
        json.count("gtt", gtt);
    });
}

/// Writes the windows that have addresses of their own.
fn windows(json: &mut Json, addresses: &VaManager) {
    let all = addresses.windows();
    json.array(|json| {
        for window in VaWindow::ALL.into_iter().filter(|&window| all.serving(window) == window) {
            let (range, stats) = (all.range(window), addresses.stats(window));
            json.object(|json| {
                json.key("window").string(window);
                json.key("start").address(range.start().as_u64());
                json.count("len", range.len());
                json.count("leases", stats.leases);
                json.count("leased", stats.leased);
                json.count("free", stats.free);
                json.count("holes", stats.holes);
                json.count("largest_hole", stats.largest_hole);
                json.count("fragmentation_permille", stats.fragmentation_permille());
                json.key("hole_sizes").array(|json| {
                    for (class, count) in addresses.hole_histogram(window).classes() {
                        json.array(|json| {
                            json.number(class.into());
                            json.number(count);
                        });
                    }
                });
            });
        }
    });
}

fn bos(json: &mut Json, map: &VaMap) {
    json.array(|json| {
        for bo in map.bos() {
            json.object(|json| {
                json.count("handle", bo.handle.into());
                name(json, bo.name.as_deref());
                json.count("size", bo.size);
                names(json.key("domains"), bo.domains.iter_names().map(|(name, _)| name));
                let json = json.key("memory_type");
                match bo.memory_type {
                    Some(index) => json.number(index.into()),
                    None => json.null(),
                }
            });
        }
    });
}

fn places(json: &mut Json, places: &[MappedRange]) {
    json.array(|json| {
        for place in places {
            json.object(|json| {
                json.count("handle", place.handle.into());
                name(json, place.name.as_deref());
                json.key("address").address(place.range.start().as_u64());
                json.count("len", place.range.len());
                json.count("offset", place.offset);
            });
        }
    });
}

fn name(json: &mut Json, name: Option<&str>) {
    let json = json.key("name");
    match name {
        Some(name) => json.string(name),
        None => json.null(),
    }
}
