//! The library's own dump format, which is complete.

use serde_json::{Value, json};

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
pub(super) fn json(heaps: Heaps<'_>, reading: &UsageReading, map: &VaMap) -> String {
    let Heaps { device, properties } = heaps;
    let tracker = device.usage_tracker();
    let SystemUsage { vram, visible_vram, gtt } = reading.usage;
    let [radv, corrected] = [BudgetRule::Radv, BudgetRule::Corrected].map(|rule| heaps.budgets(&reading.usage, rule));
    let dump = json!({
        "schema": DUMP_SCHEMA,
        "device": { "chip": device.info().chip_name(), "name": device.info().marketing_name },
        "own": own(&tracker.usage()),
        "always_valid": own(&tracker.always_valid()),
        "system": { "vram": vram, "visible_vram": visible_vram, "gtt": gtt, "generation": reading.generation },
        "heaps": with_budgets(properties, &radv, &corrected),
        "types": types(properties, map),
        "windows": windows(device.addresses()),
        "bos": bos(map),
        "bound": ranges(&map.live()),
        "freed": ranges(&map.freed()),
    });
    dump.to_string()
}

/// Returns an address as a string, because most JSON readers do not keep 64 bits of a number.
fn address(value: u64) -> String {
    format!("{value:#x}")
}

fn with_budgets(properties: &MemoryProperties, radv: &Budgets, corrected: &Budgets) -> Value {
    let budgets = radv.heaps().iter().zip(corrected.heaps());
    let heaps = properties.heaps().iter().zip(budgets).map(|(heap, (radv, corrected))| {
        json!({
            "kind": format!("{:?}", heap.kind),
            "flags": heap.flags.iter_names().map(|(name, _)| name).collect::<Value>(),
            "size": heap.size,
            "usage": radv.usage,
            "budget": radv.budget,
            "corrected_budget": corrected.budget,
        })
    });
    heaps.collect()
}

fn types(properties: &MemoryProperties, map: &VaMap) -> Value {
    let bos = map.bos();
    let types = (0..).zip(properties.types()).map(|(index, ty)| {
        let of_type = || bos.iter().filter(|bo| bo.memory_type == Some(index));
        json!({
            "heap": ty.heap,
            "flags": ty.properties.iter_names().map(|(name, _)| name).collect::<Value>(),
            "allocations": of_type().count(),
            "bytes": of_type().map(|bo| bo.size).sum::<u64>(),
        })
    });
    types.collect()
}

fn own(usage: &OwnUsage) -> Value {
    let OwnUsage { invisible_vram, visible_vram, gtt } = *usage;
    json!({ "invisible_vram": invisible_vram, "visible_vram": visible_vram, "gtt": gtt })
}

/// Returns the windows that have addresses of their own.
fn windows(addresses: &VaManager) -> Value {
    let all = addresses.windows();
    let own = VaWindow::ALL.into_iter().filter(|&window| all.serving(window) == window);
    let windows = own.map(|window| {
        let (range, stats) = (all.range(window), addresses.stats(window));
        json!({
            "window": window.to_string(),
            "start": address(range.start().as_u64()),
            "len": range.len(),
            "leases": stats.leases,
            "leased": stats.leased,
            "free": stats.free,
            "holes": stats.holes,
            "largest_hole": stats.largest_hole,
            "fragmentation_permille": stats.fragmentation_permille(),
            "hole_sizes": addresses.hole_histogram(window).classes().collect::<Vec<_>>(),
        })
    });
    windows.collect()
}

fn bos(map: &VaMap) -> Value {
    let bos = map.bos().into_iter().map(|bo| {
        json!({
            "handle": bo.handle,
            "name": bo.name.as_deref(),
            "size": bo.size,
            "domains": bo.domains.iter_names().map(|(name, _)| name).collect::<Value>(),
            "memory_type": bo.memory_type,
        })
    });
    bos.collect()
}

fn ranges(ranges: &[MappedRange]) -> Value {
    let ranges = ranges.iter().map(|range| {
        json!({
            "handle": range.handle,
            "name": range.name.as_deref(),
            "address": address(range.range.start().as_u64()),
            "len": range.range.len(),
            "offset": range.offset,
        })
    });
    ranges.collect()
}
