//! `explain`: the arithmetic of every figure, the sources of its terms, and the settings and events that change it.

use std::io::{self, Write};

use serde::Serialize;

use super::{Style, known};
use crate::snapshot::model::{Domain, Gpu, Heap, Snapshot, System};

/// The explanation of a figure: its arithmetic, its source, and the settings and events that change it.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The name of the figure, such as `effective.available`.
    pub figure: String,
    /// The value in bytes; `None` if it is unknown.
    pub value: Option<u64>,
    /// The terms from which the value is computed, as text.
    pub arithmetic: String,
    /// The source of the rule: a file and function of the kernel or of Mesa.
    pub source: &'static str,
    /// The settings and events that change the value. May be empty.
    pub change: &'static str,
}

/// Returns the names of all figures of a snapshot, each once.
pub fn names(snapshot: &Snapshot) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for gpu in &snapshot.gpus {
        for one in explanations(gpu, &snapshot.system, &Style::default()) {
            if !names.contains(&one.figure) {
                names.push(one.figure);
            }
        }
    }
    names
}

/// Writes an explanation of every figure, or only of the figures whose name begins with `figure`. Returns `false` if there are
/// none.
///
/// # Errors
///
/// The errors of writing to `out`.
pub fn write(snapshot: &Snapshot, figure: Option<&str>, style: &Style, out: &mut dyn Write) -> io::Result<bool> {
    let mut is_any = false;
    for gpu in &snapshot.gpus {
        let explanations = explanations(gpu, &snapshot.system, style);
        let wanted = explanations.iter().filter(|one| figure.is_none_or(|figure| one.figure.starts_with(figure)));
        let wanted: Vec<_> = wanted.collect();
        is_any |= !wanted.is_empty();
        writeln!(out, "GPU {}  {}  {}", gpu.index, gpu.pci, known(gpu.name.as_deref()))?;
        for one in wanted {
            writeln!(out, "\n{} = {}", style.paint(1, &one.figure), style.units.known(one.value))?;
            writeln!(out, "  = {}", one.arithmetic)?;
            writeln!(out, "  source: {}", one.source)?;
            if !one.change.is_empty() {
                writeln!(out, "  changes with: {}", one.change)?;
            }
        }
        for missing in &gpu.missing {
            writeln!(out, "\n{}: {}", missing.source, missing.reason)?;
        }
    }
    Ok(is_any)
}

/// Explains every figure of a GPU.
pub fn explanations(gpu: &Gpu, system: &System, style: &Style) -> Vec<Explanation> {
    let mut list = Vec::new();
    let asked = gpu.driver.is_some();
    for (name, domain) in
        [("vram", &gpu.domains.vram), ("visible_vram", &gpu.domains.visible_vram), ("gtt", &gpu.domains.gtt)]
    {
        domain_figures(name, domain, gpu.apu, asked, style, &mut list);
    }
    list.push(effective_total(gpu, system, style));
    list.push(effective_available(gpu, system, style));
    for heap in gpu.heaps.iter().flatten() {
        heap_figures(heap, gpu, style, &mut list);
    }
    rest(gpu, style, &mut list);
    list
}

fn domain_figures(
    name: &str,
    domain: &Domain,
    apu: Option<bool>,
    asked: bool,
    style: &Style,
    list: &mut Vec<Explanation>,
) {
    let what = if asked {
        format!("INFO MEMORY, {name}")
    } else {
        format!("sysfs mem_info_{}", name.replace("visible", "vis"))
    };
    let size_change = match (name, apu) {
        ("gtt", _) => "amdgpu.gttsize, ttm.pages_limit, the machine's memory",
        ("visible_vram", Some(false)) => "resizable BAR in the firmware setup",
        ("vram", Some(true)) => "the UMA frame buffer size in the firmware setup",
        _ => "",
    };
    list.push(Explanation {
        figure: format!("{name}.total"),
        value: domain.total,
        arithmetic: format!("{what}, total_heap_size"),
        source: "Linux 6.12 amdgpu_kms.c, amdgpu_info_ioctl, AMDGPU_INFO_MEMORY; amdgpu_vram_mgr.c, amdgpu_gtt_mgr.c",
        change: size_change,
    });
    let reserved = domain.total.zip(domain.usable).map(|(total, usable)| total.checked_sub(usable));
    list.push(Explanation {
        figure: format!("{name}.usable"),
        value: domain.usable,
        arithmetic: match reserved {
            Some(None) => format!("as reported, although more than the total {}", style.units.known(domain.total)),
            reserved => format!(
                "total {} - pinned and reserved {}",
                style.units.known(domain.total),
                style.units.known(reserved.flatten())
            ),
        },
        source: "Linux 6.12 amdgpu_kms.c: real_vram_size less vram_pin_size less the reserved page pool; GTT less gart_pin_size",
        change: "framebuffers that are pinned, firmware that reserves memory",
    });
    list.push(Explanation {
        figure: format!("{name}.used"),
        value: domain.used,
        arithmetic: format!("{what}, heap_usage: all processes and the kernel"),
        source: "Linux 6.12 ttm_resource.c, ttm_resource_manager_usage; amdgpu_vram_mgr.c, amdgpu_vram_mgr_vis_usage",
        change: "",
    });
    if name == "vram" {
        list.push(Explanation {
            figure: "vram.evicted".to_owned(),
            value: domain.evicted,
            arithmetic: "what is displaced: sum of amd-evicted-vram over all clients, each once".to_owned(),
            source: "Linux 6.12 amdgpu_object.c, amdgpu_bo_get_memory: buffers that prefer VRAM and are not there",
            change: "more free VRAM, and a submission that uses the buffer",
        });
    }
}

/// The words of a difference that does not go below zero.
fn less(from: &str, whole: Option<u64>, what: &str, part: Option<u64>, style: &Style) -> String {
    let difference = format!("{from} {} - {what} {}", style.units.known(whole), style.units.known(part));
    if whole < part { format!("max(0, {difference})") } else { difference }
}

fn effective_total(gpu: &Gpu, system: &System, style: &Style) -> Explanation {
    let text = |bytes| style.units.known(bytes);
    let (vram, gtt) = (&gpu.domains.vram, &gpu.domains.gtt);
    let (arithmetic, change) = match gpu.apu {
        Some(true) => (
            format!(
                "carve-out {} + min(GTT {}, MemTotal {}{})",
                text(vram.usable.or(vram.total)),
                text(gtt.usable.or(gtt.total)),
                text(system.mem_total),
                system.ttm_limit.map_or(String::new(), |most| format!(", ttm.pages_limit {}", text(Some(most))))
            ),
            "the carve-out in the firmware setup, ttm.pages_limit, more memory",
        ),
        Some(false) => (format!("usable VRAM {}", text(vram.usable.or(vram.total))), ""),
        None => ("unknown: the kernel does not say whether it is an APU".to_owned(), "waking the GPU (--wake)"),
    };
    Explanation {
        figure: "effective.total".to_owned(),
        value: gpu.effective.total,
        arithmetic,
        source: "this program's rule; MemTotal leaves the carve-out out, so nothing counts twice",
        change,
    }
}

fn effective_available(gpu: &Gpu, system: &System, style: &Style) -> Explanation {
    let text = |bytes| style.units.known(bytes);
    let (vram, gtt) = (&gpu.domains.vram, &gpu.domains.gtt);
    let by_cgroup = gpu.effective.limited_by.as_deref() == Some("cgroup");
    let left =
        gpu.cgroup_limit.as_ref().filter(|_| by_cgroup).map(|limit| {
            format!("{} that dmem.max of {} leaves", text(limit.left), known(limit.limited_at.as_deref()))
        });
    let bounded = |free: String| left.as_ref().map_or(free.clone(), |left| format!("min({free}, {left})"));
    let arithmetic = match gpu.apu {
        Some(true) => {
            let mut system_memory =
                format!("min(free GTT {}, MemAvailable {}", text(gtt.free()), text(system.mem_available));
            if let Some(most) = system.ttm_limit {
                let pages = less("ttm.pages_limit", Some(most), "used", gtt.used, style);
                system_memory = format!("{system_memory}, {pages}");
            }
            format!("{} + {system_memory})", bounded(format!("free carve-out {}", text(vram.free()))))
        }
        Some(false) => bounded(less("usable VRAM", vram.usable.or(vram.total), "used", vram.used, style)),
        None => "unknown: the kernel does not say whether it is an APU".to_owned(),
    };
    Explanation {
        figure: "effective.available".to_owned(),
        value: gpu.effective.available,
        arithmetic,
        source: "this program's rule; /proc/meminfo, INFO MEMORY, dmem of cgroup v2",
        change: "what others free; dmem.max of the cgroup; on an APU, memory that programs without GPU use",
    }
}

fn heap_figures(heap: &Heap, gpu: &Gpu, style: &Style, list: &mut Vec<Explanation>) {
    let text = |bytes| style.units.text(bytes);
    let domains = &gpu.domains;
    let known = |domain: &Domain| style.units.known(domain.total);
    let size = match (gpu.apu, heap.kind.as_str()) {
        (Some(true), "gtt") => "what the device-local heap leaves of carve-out and GTT".to_owned(),
        (Some(true), _) => {
            format!("2/3 of (carve-out {} + GTT {}), up to a page", known(&domains.visible_vram), known(&domains.gtt))
        }
        (_, "gtt") => format!("GTT {}", known(&domains.gtt)),
        (_, "invisible_vram") => {
            format!("VRAM {} up to 256 MiB - visible {}", known(&domains.vram), known(&domains.visible_vram))
        }
        _ => format!("visible VRAM {}", known(&domains.visible_vram)),
    };
    list.push(Explanation {
        figure: format!("heaps[{}].size", heap.index),
        value: Some(heap.size),
        arithmetic: size,
        source: "Mesa 26.2 radv_physical_device.c, radv_physical_device_init_mem_types",
        change: "radv_enable_unified_heap_on_apu, radv_hide_rebar_on_dgpu, override_vram_size; resizable BAR",
    });
    let free = heap.budget.saturating_sub(heap.usage);
    let pool = if heap.shares_with.is_empty() { "" } else { " of a pool that it shares" };
    list.push(Explanation {
        figure: format!("heaps[{}].budget", heap.index),
        value: Some(heap.budget),
        arithmetic: format!("min(size {}, free {}{pool} + own {})", text(heap.size), text(free), text(heap.usage)),
        source: "Mesa 26.2 radv_physical_device.c, radv_get_memory_budget_properties, with its two mistakes corrected",
        change: "what others free",
    });
}

fn rest(gpu: &Gpu, style: &Style, list: &mut Vec<Explanation>) {
    let Some(rest) = &gpu.unattributed else { return };
    let text = |bytes| style.units.known(bytes);
    let own = |of: fn(&crate::snapshot::model::Pair) -> Option<u64>| {
        let mut sum = None;
        gpu.processes.iter().flatten().for_each(|process| crate::snapshot::model::add(&mut sum, of(&process.own())));
        sum
    };
    let rows = [
        ("vram", gpu.domains.vram.used, own(|pair| pair.vram), rest.shared.vram, rest.overcounted.vram, rest.vram),
        ("gtt", gpu.domains.gtt.used, own(|pair| pair.gtt), rest.shared.gtt, rest.overcounted.gtt, rest.gtt),
    ];
    for (name, used, own, shared, overcounted, value) in rows {
        list.push(Explanation {
            figure: format!("unattributed.{name}"),
            value,
            arithmetic: format!(
                "used {} + overcounted {} - processes' own {} - shared {}",
                text(used),
                text(overcounted),
                text(own),
                text(shared)
            ),
            source: "fdinfo of every client, each once (drm-usage-stats.rst)",
            change: "the right to read more processes",
        });
    }
}
