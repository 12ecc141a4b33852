//! A snapshot as a list of named numbers, which CSV prints.

use std::fmt::Write as _;

use crate::snapshot::model::{Domain, Gpu, Process, Snapshot};

/// A known figure of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure<'s> {
    /// The kind of object: `domain`, `sensor`, `effective`, `counter`, `heap` or `process`.
    pub kind: &'static str,
    /// The identifier of the object, such as a domain, a heap index or a process ID.
    pub id: String,
    /// The name of the figure, such as `used`.
    pub metric: String,
    /// The value: bytes, a count, or the unit in the name.
    pub value: u64,
    /// The name of the process, for figures of processes.
    pub name: Option<&'s str>,
}

/// Returns all known figures of a GPU in a fixed order. Unknown figures are omitted.
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
    let sensors = &gpu.sensors;
    for (metric, value) in [
        ("busy_percent", sensors.busy_percent),
        ("memory_busy_percent", sensors.memory_busy_percent),
        ("shader_clock_hz", sensors.shader_clock_hz),
        ("memory_clock_hz", sensors.memory_clock_hz),
        ("temperature_mc", sensors.temperature_mc),
        ("power_uw", sensors.power_uw),
    ] {
        put("sensor", "gpu", metric, value, None);
    }
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

fn process_figures(process: &Process) -> [(&'static str, Option<u64>); 11] {
    [
        ("vram", process.vram),
        ("own_vram", process.own().vram),
        ("visible_vram", process.visible_vram),
        ("gtt", process.gtt),
        ("own_gtt", process.own().gtt),
        ("cpu", process.cpu),
        ("shared_vram", process.shared.vram),
        ("shared_gtt", process.shared.gtt),
        ("requested_vram", process.requested.vram),
        ("requested_gtt", process.requested.gtt),
        ("evicted_vram", process.evicted.vram),
    ]
}

/// The header line of the CSV format.
pub const CSV_HEADER: &str = "time,gpu,kind,id,metric,value";

/// Returns a snapshot as CSV (RFC 4180), with a row for each known figure.
///
/// With `kind`, only objects of this kind, such as `process`, have rows.
pub fn csv(snapshot: &Snapshot, kind: Option<&str>) -> String {
    let mut text = String::new();
    for gpu in &snapshot.gpus {
        for figure in of(gpu).into_iter().filter(|figure| kind.is_none_or(|kind| kind == figure.kind)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::example::snapshot;

    #[test]
    fn csv_has_a_row_for_what_is_known_and_quotes_what_must_be() {
        let rows = "\"t,1\",0000:03:00.0,domain,vram,total,9\r\n\"t,1\",0000:03:00.0,process,7,vram,5\r\n\
                    \"t,1\",0000:03:00.0,process,7,own_vram,5\r\n";
        assert_eq!(csv(&snapshot(), None), rows);
        assert_eq!(csv(&snapshot(), Some("heap")), "");
    }
}
