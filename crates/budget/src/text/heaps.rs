//! `heaps`: the Vulkan heaps and memory types.

use std::io::{self, Write};

use super::{Style, Table, known};
use crate::snapshot::{
    model::{Gpu, Heap, Snapshot},
    units::Units,
};

/// Writes the Vulkan heaps and memory types.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(snapshot: &Snapshot, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for gpu in &snapshot.gpus {
        writeln!(out, "GPU {}  {}  {}", gpu.index, gpu.pci, known(gpu.name.as_deref()))?;
        let Some(heaps) = &gpu.heaps else {
            unknown(gpu, out)?;
            continue;
        };
        let headings = ["HEAP", "SIZE", "BUDGET", "USAGE", "MADE OF", "SHARES WITH", "FLAGS"];
        let mut table = Table::new(if style.header { &headings } else { &[] }, &[0, 1, 2, 3]);
        for heap in heaps {
            let shares: Vec<_> = heap.shares_with.iter().map(usize::to_string).collect();
            table.row(vec![
                heap.index.to_string(),
                style.units.text(heap.size),
                style.units.text(heap.budget),
                style.units.text(heap.usage),
                heap.kind.clone(),
                if shares.is_empty() { "-".to_owned() } else { shares.join(",") },
                flags(&heap.flags),
            ]);
        }
        table.write(out, "  ")?;
        let mut table = Table::new(if style.header { &["TYPE", "HEAP", "FLAGS"] } else { &[] }, &[0, 1]);
        for ty in gpu.memory_types.iter().flatten() {
            table.row(vec![ty.index.to_string(), ty.heap.to_string(), flags(&ty.flags)]);
        }
        table.write(out, "  ")?;
    }
    Ok(())
}

fn unknown(gpu: &Gpu, out: &mut dyn Write) -> io::Result<()> {
    let missing = gpu.missing.iter().find(|missing| missing.source.starts_with("INFO") || missing.source == "heaps");
    writeln!(out, "  unknown: {}", missing.map_or("the GPU was not asked", |missing| missing.reason.as_str()))
}

fn flags(flags: &[String]) -> String {
    if flags.is_empty() { "-".to_owned() } else { flags.join(" ") }
}

/// Writes the Vulkan heaps and memory types in the layout of vulkaninfo.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write_as_vulkan(snapshot: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
    for gpu in &snapshot.gpus {
        writeln!(out, "GPU{}:\n{}\n", gpu.index, known(gpu.name.as_deref()))?;
        let (Some(heaps), Some(types)) = (&gpu.heaps, &gpu.memory_types) else {
            unknown(gpu, out)?;
            continue;
        };
        writeln!(out, "VkPhysicalDeviceMemoryProperties:\n=================================")?;
        writeln!(out, "memoryHeaps: count = {}", heaps.len())?;
        for heap in heaps {
            vulkan_heap(heap, out)?;
        }
        writeln!(out, "memoryTypes: count = {}", types.len())?;
        for ty in types {
            writeln!(out, "\tmemoryTypes[{}]:\n\t\theapIndex     = {}", ty.index, ty.heap)?;
            writeln!(out, "\t\tpropertyFlags: count = {}", ty.flags.len())?;
            for flag in &ty.flags {
                writeln!(out, "\t\t\tMEMORY_PROPERTY_{}", bit_name(flag))?;
            }
        }
    }
    Ok(())
}

fn vulkan_heap(heap: &Heap, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\tmemoryHeaps[{}]:", heap.index)?;
    for (name, bytes) in [("size  ", heap.size), ("budget", heap.budget), ("usage ", heap.usage)] {
        writeln!(out, "\t\t{name} = {bytes} ({bytes:#x}) ({})", Units::Auto.text(bytes))?;
    }
    writeln!(out, "\t\tflags: count = {}", heap.flags.len())?;
    if heap.flags.is_empty() {
        writeln!(out, "\t\t\tNone")?;
    }
    heap.flags.iter().try_for_each(|flag| writeln!(out, "\t\t\tMEMORY_HEAP_{}", bit_name(flag)))
}

/// `DEVICE_LOCAL_BIT`, and `DEVICE_COHERENT_BIT_AMD` where a vendor's suffix comes last.
fn bit_name(flag: &str) -> String {
    match flag.strip_suffix("_AMD") {
        Some(flag) => format!("{flag}_BIT_AMD"),
        None => format!("{flag}_BIT"),
    }
}
