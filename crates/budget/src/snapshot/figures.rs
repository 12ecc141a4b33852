//! A snapshot as a list of named numbers: what CSV and Prometheus print.

use std::fmt::Write as _;

use crate::snapshot::model::{Domain, Gpu, Process, Snapshot};

/// One number that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure<'s> {
    /// Kind of object: `gpu`, `domain`, `heap` or `process`.
    pub kind: &'static str,
    /// Identifier of the object: a PCI address, a domain, an index, a process number.
    pub id: String,
    /// Name of the figure: `used`, `total`,
    pub metric: String,
    /// Bytes, or a count.
    pub value: u64,
    /// The process's name, for rows of processes.
    pub name: Option<&'s str>,
}

/// All that is known of a GPU, in a fixed order. The unknown is left out.
pub fn of(gpu: &Gpu) -> Vec<Figure<'_>> {
    let mut list = Vec::new();
    let mut put = |kind, id: &str, metric: &str, value: Option<u64>, name| {
        if let Some(value) = value {
            list.push(Figure { kind, id: id.to_owned(), metric: metric.to_owned(), value, name });
        }
    };
    let domains = &gpu.domains;
    for (id, domain) in [("vram", &domains.vram), ("visible_vram", &domains.visible_vram), ("gtt", &domains.gtt)] {
        let Domain { total, usable, used, max_allocation, evicted } = *domain;
        for (metric, value) in [
            ("total", total),
            ("usable", usable),
            ("used", used),
            ("max_allocation", max_allocation),
            ("evicted", evicted),
        ] {
            put("domain", id, metric, value, None);
        }
    }
    let rest = gpu.unattributed.unwrap_or_default();
    put("domain", "vram", "unattributed", rest.vram, None);
    put("domain", "gtt", "unattributed", rest.gtt, None);
    put("effective", "pool", "total", gpu.effective.total, None);
    put("effective", "pool", "available", gpu.effective.available, None);
    for (metric, value) in [
        ("evictions", gpu.counters.evictions),
        ("bytes_moved", gpu.counters.bytes_moved),
        ("cpu_page_faults", gpu.counters.cpu_page_faults),
        ("vram_lost", gpu.counters.vram_lost),
    ] {
        put("counter", "driver", metric, value, None);
    }
    for heap in gpu.heaps.iter().flatten() {
        let id = heap.index.to_string();
        for (metric, value) in [("size", heap.size), ("budget", heap.budget), ("usage", heap.usage)] {
            put("heap", &id, metric, Some(value), None);
        }
    }
    for process in gpu.processes.iter().flatten() {
        for (metric, value) in process_figures(process) {
            put("process", &process.pid.to_string(), metric, value, process.name.as_deref());
        }
    }
    list
}

fn process_figures(process: &Process) -> [(&'static str, Option<u64>); 9] {
    [
        ("vram", process.vram),
        ("visible_vram", process.visible_vram),
        ("gtt", process.gtt),
        ("cpu", process.cpu),
        ("shared_vram", process.shared.vram),
        ("shared_gtt", process.shared.gtt),
        ("requested_vram", process.requested.vram),
        ("requested_gtt", process.requested.gtt),
        ("evicted_vram", process.evicted.vram),
    ]
}

/// The heading of the CSV.
pub const CSV_HEADER: &str = "time,gpu,kind,id,metric,value";

/// A snapshot as CSV, RFC 4180: a row for each known number.
pub fn csv(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for gpu in &snapshot.gpus {
        for figure in of(gpu) {
            let Figure { kind, id, metric, value, .. } = figure;
            let fields = [&snapshot.time, &gpu.pci, &id, &metric].map(|field| csv_field(field));
            let [time, pci, id, metric] = fields;
            // Writing to a string does not fail.
            let _ = write!(text, "{time},{pci},{kind},{id},{metric},{value}\r\n");
        }
    }
    text
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Labels of processes in Prometheus's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Rows of processes: each is a series of its own, so they are wanted explicitly.
    pub per_process: bool,
    /// The processes with the most memory; more would be too many series.
    pub most_processes: usize,
}

/// A snapshot in Prometheus's text format, version 0.0.4.
pub fn prometheus(snapshot: &Snapshot, labels: Labels) -> String {
    let mut series: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for gpu in &snapshot.gpus {
        let most = most_memory(gpu, labels.most_processes);
        for figure in of(gpu) {
            let Figure { kind, id, metric, value, name } = figure;
            if kind == "process" && !(labels.per_process && most.contains(&id)) {
                continue;
            }
            let name = name.map(|name| format!(",name=\"{}\"", label(name))).unwrap_or_default();
            let suffix = if kind == "counter" { "total" } else { "bytes" };
            let (pci, key) = (label(&gpu.pci), if kind == "process" { "pid" } else { kind });
            let line = format!("{{gpu=\"{pci}\",{key}=\"{}\"{name}}} {value}", label(&id));
            series.entry(format!("amdgpu_{kind}_{metric}_{suffix}")).or_default().push(line);
        }
        let readable = format!("{{gpu=\"{}\"}} {}", label(&gpu.pci), gpu.unreadable.processes);
        series.entry("amdgpu_unreadable_processes".to_owned()).or_default().push(readable);
    }
    let mut text = String::new();
    for (name, lines) in series {
        let kind = if name.ends_with("_total") && name.starts_with("amdgpu_counter") { "counter" } else { "gauge" };
        let _ = writeln!(text, "# TYPE {name} {kind}");
        for line in lines {
            let _ = writeln!(text, "{name}{line}");
        }
    }
    text
}

fn most_memory(gpu: &Gpu, most: usize) -> Vec<String> {
    let mut processes: Vec<&Process> = gpu.processes.iter().flatten().collect();
    crate::text::ps::Sort::Memory.sort(&mut processes);
    processes.iter().take(most).map(|process| process.pid.to_string()).collect()
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let process = Process { pid: 7, name: Some("a\"b\\\n".to_owned()), vram: Some(5), ..Process::default() };
        let vram = Domain { total: Some(9), ..Domain::default() };
        let domains = crate::snapshot::model::Domains { vram, ..Default::default() };
        let gpu = Gpu { pci: "0000:03:00.0".to_owned(), domains, processes: Some(vec![process]), ..Gpu::default() };
        Snapshot { time: "t,1".to_owned(), gpus: vec![gpu], ..Snapshot::default() }
    }

    #[test]
    fn csv_has_a_row_for_what_is_known_and_quotes_what_must_be() {
        let rows = "\"t,1\",0000:03:00.0,domain,vram,total,9\r\n\"t,1\",0000:03:00.0,process,7,vram,5\r\n";
        assert_eq!(csv(&snapshot()), rows);
    }

    #[test]
    fn processes_are_series_only_when_asked_for_and_few() {
        let text = |per_process, most_processes| prometheus(&snapshot(), Labels { per_process, most_processes });
        assert!(!text(false, 9).contains("pid") && !text(true, 0).contains("pid"));
        let all = text(true, 1);
        assert!(all.contains(r#"amdgpu_process_vram_bytes{gpu="0000:03:00.0",pid="7",name="a\"b\\\n"} 5"#), "{all}");
        assert!(all.contains("# TYPE amdgpu_domain_total_bytes gauge\namdgpu_domain_total_bytes{"), "{all}");
    }
}
