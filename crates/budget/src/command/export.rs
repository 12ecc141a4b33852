//! `export`: the heaps for other tools and, with a dump of a process, its allocations in them.

use std::{io::Write, path::Path};

use serde_json::{Map, Value, json};

use super::dump::{Bo, Dump};
use crate::{
    cli::{ExportFormat, Global},
    exit::Exit,
    session::{self, Outcome, Stop},
    snapshot::model::Gpu,
};

/// Writes what the format wants: of a dump, else of the first GPU that is selected.
pub(super) fn run(format: ExportFormat, dump: Option<&Path>, global: &Global, out: &mut dyn Write) -> Outcome {
    let ExportFormat::Vma = format;
    let value = match dump {
        Some(path) => of_dump(&Dump::read(path)?),
        None => of_machine(global)?,
    };
    let text = serde_json::to_string_pretty(&value).map_err(Stop::failed)?;
    writeln!(out, "{text}")?;
    Ok(Exit::Fine)
}

fn of_machine(global: &Global) -> Result<Value, Stop> {
    let mut source = session::source(global, false)?;
    let snapshot = session::first(&mut *source, global)?;
    let gpu = snapshot.gpus.iter().find(|gpu| gpu.heaps.is_some());
    Ok(vma(gpu.ok_or_else(|| Stop::failed("no GPU reports its heaps"))?))
}

/// The same of a process that dumped its memory manager, with its allocations: each device memory is a dedicated one.
fn of_dump(dump: &Dump) -> Value {
    let of_type = |index: usize| dump.bos.iter().filter(move |bo| bo.memory_type == Some(index));
    let mut heaps = Map::new();
    for (index, heap) in dump.heaps.iter().enumerate() {
        let types = || dump.types.iter().enumerate().filter(|(_, ty)| ty.heap == index);
        let pools: Map<String, Value> = types()
            .map(|(index, ty)| {
                (format!("Type {index}"), json!({ "Flags": ty.flags, "Stats": statistics(of_type(index)) }))
            })
            .collect();
        let value = json!({
            "Flags": heap.flags,
            "Size": heap.size,
            "Budget": { "BudgetBytes": heap.budget, "UsageBytes": heap.usage },
            "Stats": statistics(types().flat_map(|(index, _)| of_type(index))),
            "MemoryPools": pools,
        });
        heaps.insert(format!("Heap {index}"), value);
    }
    let allocation = |bo: &Bo| match &bo.name {
        Some(name) => json!({ "Type": "UNKNOWN", "Size": bo.size, "Usage": 0, "Name": name }),
        None => json!({ "Type": "UNKNOWN", "Size": bo.size, "Usage": 0 }),
    };
    let pool = |index: usize| {
        let allocations: Vec<Value> = of_type(index).map(allocation).collect();
        json!({ "PreferredBlockSize": 0, "Blocks": {}, "DedicatedAllocations": allocations })
    };
    let pools: Map<String, Value> = (0..dump.types.len()).map(|index| (format!("Type {index}"), pool(index))).collect();
    json!({
        "General": {
            "API": "Vulkan",
            "GPU": dump.device.name,
            "MemoryHeapCount": dump.heaps.len(),
            "MemoryTypeCount": dump.types.len(),
        },
        "Total": statistics(dump.bos.iter().filter(|bo| bo.memory_type.is_some())),
        "MemoryInfo": heaps,
        "DefaultPools": pools,
        "CustomPools": {},
    })
}

/// `VmaDetailedStatistics`: every allocation is a block of its own, and none has room left.
fn statistics<'b>(bos: impl Iterator<Item = &'b Bo>) -> Value {
    let (count, bytes) = bos.fold((0_u64, 0_u64), |(count, bytes), bo| (count + 1, bytes.saturating_add(bo.size)));
    json!({
        "BlockCount": count,
        "BlockBytes": bytes,
        "AllocationCount": count,
        "AllocationBytes": bytes,
        "UnusedRangeCount": 0,
    })
}

/// The statistics string of the Vulkan Memory Allocator 3 (`vmaBuildStatsString`): general facts, and for each heap its
/// budget and its types. There are no blocks: they are inside processes and cannot be seen from outside.
fn vma(gpu: &Gpu) -> Value {
    let mut heaps = Map::new();
    for heap in gpu.heaps.iter().flatten() {
        let types = gpu.memory_types.iter().flatten().filter(|ty| ty.heap == heap.index);
        let types: Map<String, Value> =
            types.map(|ty| (format!("Type {}", ty.index), json!({ "Flags": ty.flags }))).collect();
        let value = json!({
            "Flags": heap.flags,
            "Size": heap.size,
            "Budget": { "BudgetBytes": heap.budget, "UsageBytes": heap.usage },
            "MemoryPools": types,
        });
        heaps.insert(format!("Heap {}", heap.index), value);
    }
    json!({
        "General": {
            "API": "Vulkan",
            "GPU": gpu.name,
            "MemoryHeapCount": gpu.heaps.as_ref().map_or(0, Vec::len),
            "MemoryTypeCount": gpu.memory_types.as_ref().map_or(0, Vec::len),
        },
        "MemoryInfo": heaps,
    })
}
