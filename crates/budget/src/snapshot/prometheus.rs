//! A snapshot in Prometheus's text format, version 0.0.4.
//!
//! Names follow Prometheus's rules: the base unit at the end, `_total` for counters only, no types and labels in names. Each series
//! has a HELP line. Processes have series only on request, because each process is a new series for the database.

use std::fmt::Write as _;

use crate::{
    snapshot::model::{Domain, Gpu, Process, Snapshot},
    text::ps::Sort,
};

/// The selection of the processes that have series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// `true` if processes have series.
    pub per_process: bool,
    /// The maximum number of processes with series; the ones with the most memory are chosen.
    pub most_processes: usize,
}

/// One family of series.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    /// Label sets without the GPU's, and their values.
    of: fn(&Gpu, &[&Process]) -> Samples,
}

/// A sample's value.
enum Value {
    Whole(u64),
    /// Thousandths.
    Milli(u64),
    /// Millionths.
    Micro(u64),
}

type Samples = Vec<(String, Value)>;

const fn gauge(name: &'static str, help: &'static str, of: fn(&Gpu, &[&Process]) -> Samples) -> Family {
    Family { name, kind: "gauge", help, of }
}

const fn counter(name: &'static str, help: &'static str, of: fn(&Gpu, &[&Process]) -> Samples) -> Family {
    Family { name, kind: "counter", help, of }
}

fn one(value: Option<u64>) -> Samples {
    value.map(|value| (String::new(), Value::Whole(value))).into_iter().collect()
}

fn domains(gpu: &Gpu, of: impl Fn(&Domain) -> Option<u64>) -> Samples {
    let domains = &gpu.domains;
    let all = [("vram", &domains.vram), ("visible_vram", &domains.visible_vram), ("gtt", &domains.gtt)];
    all.into_iter()
        .filter_map(|(name, domain)| Some((format!("domain=\"{name}\""), Value::Whole(of(domain)?))))
        .collect()
}

fn heaps(gpu: &Gpu, of: impl Fn(&crate::snapshot::model::Heap) -> u64) -> Samples {
    let heaps = gpu.heaps.iter().flatten();
    heaps.map(|heap| (format!("heap=\"{}\"", heap.index), Value::Whole(of(heap)))).collect()
}

fn per_process(processes: &[&Process], of: impl Fn(&Process) -> Option<u64>) -> Samples {
    let labels = |process: &Process| {
        let name = label(process.name.as_deref().unwrap_or_default());
        format!("pid=\"{}\",name=\"{name}\"", process.pid)
    };
    processes.iter().filter_map(|process| Some((labels(process), Value::Whole(of(process)?)))).collect()
}

fn info(gpu: &Gpu, _: &[&Process]) -> Samples {
    let kind = match gpu.apu {
        Some(true) => "apu",
        Some(false) => "dgpu",
        None => "",
    };
    let labels = [
        ("name", gpu.name.as_deref()),
        ("chip", gpu.chip.as_deref()),
        ("kind", Some(kind)),
        ("driver", gpu.driver.as_deref()),
        ("node", gpu.render.as_deref()),
    ];
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label(value.unwrap_or_default()))).collect();
    vec![(labels.join(","), Value::Whole(1))]
}

const FAMILIES: [Family; 37] = [
    gauge("amdgpu_info", "Name, chip, kind, driver and render node of the GPU; always 1.", info),
    gauge("amdgpu_asleep", "1 while the GPU is suspended at run time, else 0.", |gpu, _| {
        one(gpu.power.as_deref().map(|power| u64::from(power == "suspended")))
    }),
    gauge("amdgpu_memory_size_bytes", "Size of a memory domain of the kernel.", |gpu, _| {
        domains(gpu, |domain| domain.total)
    }),
    gauge("amdgpu_memory_usable_bytes", "Size of a domain less what is pinned or reserved.", |gpu, _| {
        domains(gpu, |domain| domain.usable)
    }),
    gauge("amdgpu_memory_used_bytes", "Bytes of a domain that all processes and the kernel use.", |gpu, _| {
        domains(gpu, |domain| domain.used)
    }),
    gauge("amdgpu_memory_allocation_limit_bytes", "Largest allocation that the kernel advises.", |gpu, _| {
        domains(gpu, |domain| domain.max_allocation)
    }),
    gauge("amdgpu_memory_evicted_bytes", "Bytes that prefer a domain and are not there.", |gpu, _| {
        domains(gpu, |domain| domain.evicted)
    }),
    gauge("amdgpu_memory_unattributed_bytes", "Bytes in use that belong to no process that can be read.", |gpu, _| {
        let rest = gpu.unattributed.unwrap_or_default();
        let each = [("vram", rest.vram), ("gtt", rest.gtt)];
        each.into_iter()
            .filter_map(|(name, bytes)| Some((format!("domain=\"{name}\""), Value::Whole(bytes?))))
            .collect()
    }),
    gauge("amdgpu_pool_size_bytes", "Bytes that programs can have at most.", |gpu, _| one(gpu.effective.total)),
    gauge("amdgpu_pool_available_bytes", "Bytes that a program could have now.", |gpu, _| one(gpu.effective.available)),
    counter("amdgpu_evictions_total", "Evictions since the driver was loaded.", |gpu, _| one(gpu.counters.evictions)),
    counter("amdgpu_moved_bytes_total", "Bytes that moves and evictions copied.", |gpu, _| {
        one(gpu.counters.bytes_moved)
    }),
    counter("amdgpu_cpu_page_faults_total", "CPU faults on VRAM that the CPU cannot map.", |gpu, _| {
        one(gpu.counters.cpu_page_faults)
    }),
    counter("amdgpu_vram_lost_total", "Resets that lost the contents of VRAM.", |gpu, _| one(gpu.counters.vram_lost)),
    gauge("amdgpu_busy_ratio", "Share of the time that the shaders were busy, 0 to 1.", |gpu, _| {
        hundredths(gpu.sensors.busy_percent)
    }),
    gauge("amdgpu_memory_busy_ratio", "Share of the time that the memory controller was busy, 0 to 1.", |gpu, _| {
        hundredths(gpu.sensors.memory_busy_percent)
    }),
    gauge("amdgpu_shader_clock_hertz", "Clock of the shaders.", |gpu, _| one(gpu.sensors.shader_clock_hz)),
    gauge("amdgpu_memory_clock_hertz", "Clock of the memory.", |gpu, _| one(gpu.sensors.memory_clock_hz)),
    gauge("amdgpu_temperature_celsius", "Temperature of the edge of the die.", |gpu, _| {
        gpu.sensors.temperature_mc.map(|value| (String::new(), Value::Milli(value))).into_iter().collect()
    }),
    gauge("amdgpu_power_watts", "Power that the GPU takes.", |gpu, _| {
        gpu.sensors.power_uw.map(|value| (String::new(), Value::Micro(value))).into_iter().collect()
    }),
    gauge("amdgpu_heap_size_bytes", "Size of a Vulkan heap.", |gpu, _| heaps(gpu, |heap| heap.size)),
    gauge("amdgpu_heap_budget_bytes", "Budget of a Vulkan heap for a process that has just started.", |gpu, _| {
        heaps(gpu, |heap| heap.budget)
    }),
    gauge("amdgpu_heap_usage_bytes", "Bytes of a Vulkan heap that the reading process uses.", |gpu, _| {
        heaps(gpu, |heap| heap.usage)
    }),
    gauge("amdgpu_unreadable_processes", "Processes that could not be read.", |gpu, _| {
        one(Some(gpu.unreadable.processes))
    }),
    gauge("amdgpu_processes", "Processes that hold memory of the GPU.", |gpu, _| {
        one(gpu.processes.as_ref().map(|list| list.len() as u64))
    }),
    gauge("amdgpu_process_vram_bytes", "Bytes of a process in VRAM, shared ones included.", |_, list| {
        per_process(list, |process| process.vram)
    }),
    gauge("amdgpu_process_own_vram_bytes", "Bytes of a process in VRAM that no other client holds.", |_, list| {
        per_process(list, |process| process.own().vram)
    }),
    gauge("amdgpu_process_visible_vram_bytes", "Bytes of a process in VRAM that the CPU can map.", |_, list| {
        per_process(list, |process| process.visible_vram)
    }),
    gauge("amdgpu_process_gtt_bytes", "Bytes of a process in GTT, shared ones included.", |_, list| {
        per_process(list, |process| process.gtt)
    }),
    gauge("amdgpu_process_own_gtt_bytes", "Bytes of a process in GTT that no other client holds.", |_, list| {
        per_process(list, |process| process.own().gtt)
    }),
    gauge("amdgpu_process_moved_out_bytes", "Bytes of a process that were moved out to system memory.", |_, list| {
        per_process(list, |process| process.cpu)
    }),
    gauge("amdgpu_process_shared_vram_bytes", "Bytes of a process in VRAM that other clients hold too.", |_, list| {
        per_process(list, |process| process.shared.vram)
    }),
    gauge("amdgpu_process_shared_gtt_bytes", "Bytes of a process in GTT that other clients hold too.", |_, list| {
        per_process(list, |process| process.shared.gtt)
    }),
    gauge("amdgpu_process_requested_vram_bytes", "Bytes that a process would like to have in VRAM.", |_, list| {
        per_process(list, |process| process.requested.vram)
    }),
    gauge("amdgpu_process_requested_gtt_bytes", "Bytes that a process would like to have in GTT.", |_, list| {
        per_process(list, |process| process.requested.gtt)
    }),
    gauge("amdgpu_process_evicted_vram_bytes", "Bytes of a process that prefer VRAM and are not there.", |_, list| {
        per_process(list, |process| process.evicted.vram)
    }),
    gauge("amdgpu_process_age_seconds", "Time since a process was started.", |_, list| {
        per_process(list, |process| process.age_s)
    }),
];

fn hundredths(percent: Option<u64>) -> Samples {
    percent.map(|percent| (String::new(), Value::Milli(percent.saturating_mul(10)))).into_iter().collect()
}

/// Returns a snapshot in the text format of Prometheus. Unknown figures have no series.
pub fn prometheus(snapshot: &Snapshot, labels: Labels) -> String {
    let mut text = String::new();
    for family in &FAMILIES {
        let mut lines = String::new();
        for gpu in &snapshot.gpus {
            let shown = if labels.per_process { most_memory(gpu, labels.most_processes) } else { Vec::new() };
            for (more, value) in (family.of)(gpu, &shown) {
                let comma = if more.is_empty() { "" } else { "," };
                // Writing to a string does not fail.
                let _ = write!(lines, "{}{{gpu=\"{}\"{comma}{more}}} ", family.name, label(&gpu.pci));
                let _ = match value {
                    Value::Whole(value) => writeln!(lines, "{value}"),
                    Value::Milli(value) => writeln!(lines, "{}.{:03}", value / 1000, value % 1000),
                    Value::Micro(value) => writeln!(lines, "{}.{:06}", value / 1_000_000, value % 1_000_000),
                };
            }
        }
        if !lines.is_empty() {
            let Family { name, kind, help, .. } = family;
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
        }
    }
    text
}

fn most_memory(gpu: &Gpu, most: usize) -> Vec<&Process> {
    let mut processes: Vec<&Process> = gpu.processes.iter().flatten().collect();
    Sort::Memory.sort(&mut processes);
    processes.truncate(most);
    processes
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{example, model::Sensors};

    /// Returns the example asleep, with sensors.
    fn snapshot() -> Snapshot {
        let mut snapshot = example::snapshot();
        for gpu in &mut snapshot.gpus {
            gpu.sensors = Sensors {
                power_uw: Some(7_050_000),
                busy_percent: Some(7),
                temperature_mc: Some(41_500),
                ..Sensors::default()
            };
            gpu.power = Some("suspended".to_owned());
        }
        snapshot
    }

    #[test]
    fn processes_are_series_only_when_asked_for_and_few() {
        let text = |per_process, most_processes| prometheus(&snapshot(), Labels { per_process, most_processes });
        assert!(!text(false, 9).contains("pid") && !text(true, 0).contains("pid"));
        let all = text(true, 1);
        assert!(all.contains(r#"amdgpu_process_vram_bytes{gpu="0000:03:00.0",pid="7",name="a\"b\\\n"} 5"#), "{all}");
        assert!(all.contains("# TYPE amdgpu_memory_size_bytes gauge\namdgpu_memory_size_bytes{"), "{all}");
    }

    #[test]
    fn every_family_has_help_and_a_name_by_the_rules() {
        for Family { name, kind, help, .. } in &FAMILIES {
            assert!(help.ends_with('.') && help.len() > 15, "{name}: {help}");
            assert_eq!(name.ends_with("_total"), *kind == "counter", "{name}");
            assert!(!name.contains("counter") && !name.contains("gauge"), "{name} contains a type");
        }
    }

    #[test]
    fn a_sleeping_gpu_is_a_series_and_units_are_base_units() {
        let text = prometheus(&snapshot(), Labels::default());
        for line in [
            "amdgpu_asleep{gpu=\"0000:03:00.0\"} 1",
            "_watts{gpu=\"0000:03:00.0\"} 7.050000",
            "_celsius{gpu=\"0000:03:00.0\"} 41.500",
            "amdgpu_busy_ratio{gpu=\"0000:03:00.0\"} 0.070",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
