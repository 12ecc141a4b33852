//! `export`: the heaps for other tools.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::{
    app::{self, Outcome, Stop},
    cli::{ExportFormat, Global},
    exit::Exit,
    model::Gpu,
};

/// Writes what the format wants, of the first GPU that is selected.
pub(super) fn run(format: ExportFormat, global: &Global, out: &mut dyn Write) -> Outcome {
    let ExportFormat::Vma = format;
    let mut source = app::source(global, false)?;
    let snapshot = app::first(&mut *source, global)?;
    let gpu = snapshot.gpus.iter().find(|gpu| gpu.heaps.is_some());
    let gpu = gpu.ok_or_else(|| Stop::failed("no GPU told its heaps"))?;
    let text = serde_json::to_string_pretty(&vma(gpu)).map_err(Stop::failed)?;
    writeln!(out, "{text}")?;
    Ok(Exit::Fine)
}

/// The statistics string of the Vulkan Memory Allocator 3 (`vmaBuildStatsString`): general facts, and for each heap its
/// budget and its types. There are no blocks: they are inside processes, which nobody sees from outside.
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
