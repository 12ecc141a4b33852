//! A snapshot for tests of what snapshots are written as.

use super::model::{Domain, Domains, Gpu, Process, Snapshot};

/// Returns a snapshot of one GPU, a domain of which is known, with a process whose name has every character that formats quote.
pub(crate) fn snapshot() -> Snapshot {
    let process = Process { pid: 7, name: Some("a\"b\\\n".to_owned()), vram: Some(5), ..Process::default() };
    let vram = Domain { total: Some(9), ..Domain::default() };
    let domains = Domains { vram, ..Domains::default() };
    let gpu = Gpu { pci: "0000:03:00.0".to_owned(), domains, processes: Some(vec![process]), ..Gpu::default() };
    Snapshot { time: "t,1".to_owned(), gpus: vec![gpu], ..Snapshot::default() }
}
