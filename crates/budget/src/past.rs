//! The recent past of the GPUs in few bytes: what the server remembers, and what growth is measured against.
//!
//! A snapshot of a busy machine has a hundred KiB. A [`Point`] keeps the sums of each GPU and its largest processes, so that an hour
//! stays below a few MiB however many processes there are.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::snapshot::model::{Gpu, Process, Snapshot};

/// The name and major version of the JSON schema of [`Past::document`].
pub const SCHEMA: &str = "amdgpu-budget-history/1";
/// Processes of a GPU that a point keeps, the largest first.
pub const MOST_PROCESSES: usize = 24;
/// Points that are kept: an hour at [`INTERVAL_NS`].
pub const MOST_POINTS: usize = 720;
/// Nanoseconds between two points.
pub const INTERVAL_NS: u64 = 5_000_000_000;

/// The sums of all GPUs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The time: UTC, RFC 3339.
    pub time: String,
    /// The time on a monotonic clock in nanoseconds.
    pub monotonic_ns: u64,
    /// The GPUs.
    pub gpus: Vec<GpuPoint>,
}

/// The sums of one GPU. All figures are in bytes, except for counters; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuPoint {
    /// The PCI address.
    pub pci: String,
    /// VRAM in use.
    pub vram: Option<u64>,
    /// Visible VRAM in use.
    pub visible_vram: Option<u64>,
    /// GTT in use.
    pub gtt: Option<u64>,
    /// The memory that programs can still allocate.
    pub available: Option<u64>,
    /// Bytes that prefer VRAM and are not there.
    pub evicted: Option<u64>,
    /// The driver's counter of evictions.
    pub evictions: Option<u64>,
    /// The largest processes.
    #[serde(default)]
    pub processes: Vec<ProcessPoint>,
}

/// The memory of one process. All figures are in bytes; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPoint {
    /// The process ID.
    pub pid: u32,
    /// The name.
    pub name: Option<String>,
    /// Bytes in VRAM, including shared memory.
    pub vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, including shared memory.
    pub gtt: Option<u64>,
    /// Bytes that prefer VRAM and are not there.
    pub evicted: Option<u64>,
}

impl ProcessPoint {
    fn new(process: &Process) -> Self {
        Self {
            pid: process.pid,
            name: process.name.clone(),
            vram: process.vram,
            visible_vram: process.visible_vram,
            gtt: process.gtt,
            evicted: process.evicted.vram,
        }
    }
}

impl GpuPoint {
    /// Returns the sums of a GPU, with all of its processes or only the largest.
    pub fn new(gpu: &Gpu, most_processes: usize) -> Self {
        let mut processes: Vec<&Process> = gpu.processes.iter().flatten().collect();
        processes.sort_by_key(|process| (std::cmp::Reverse(process.memory()), process.pid));
        Self {
            pci: gpu.pci.clone(),
            vram: gpu.domains.vram.used,
            visible_vram: gpu.domains.visible_vram.used,
            gtt: gpu.domains.gtt.used,
            available: gpu.effective.available,
            evicted: gpu.domains.vram.evicted,
            evictions: gpu.counters.evictions,
            processes: processes.into_iter().take(most_processes).map(ProcessPoint::new).collect(),
        }
    }
}

impl Point {
    /// Returns the sums of a snapshot, with all processes or only the largest.
    pub fn new(snapshot: &Snapshot, most_processes: usize) -> Self {
        Self {
            time: snapshot.time.clone(),
            monotonic_ns: snapshot.monotonic_ns,
            gpus: snapshot.gpus.iter().map(|gpu| GpuPoint::new(gpu, most_processes)).collect(),
        }
    }
}

/// The last hour, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Past {
    points: VecDeque<Point>,
}

/// The JSON of the past.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Document {
    /// The schema, always [`SCHEMA`].
    pub schema: String,
    /// The points, oldest first.
    pub points: Vec<Point>,
}

impl Past {
    /// Remembers a snapshot, unless the last one was less than [`INTERVAL_NS`] ago. The oldest is forgotten for it after an hour. Time
    /// that goes back begins anew.
    pub fn see(&mut self, snapshot: &Snapshot) {
        if let Some(last) = self.points.back() {
            match snapshot.monotonic_ns.checked_sub(last.monotonic_ns) {
                None => self.points.clear(),
                Some(passed) if passed < INTERVAL_NS => return,
                Some(_) => {}
            }
        }
        if self.points.len() >= MOST_POINTS {
            self.points.pop_front();
        }
        self.points.push_back(Point::new(snapshot, MOST_PROCESSES));
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns `true` if nothing was remembered yet.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the points as JSON has them, with or without processes.
    pub fn document(&self, with_processes: bool) -> Document {
        let mut points: Vec<Point> = self.points.iter().cloned().collect();
        if !with_processes {
            points.iter_mut().flat_map(|point| &mut point.gpus).for_each(|gpu| gpu.processes.clear());
        }
        Document { schema: SCHEMA.to_owned(), points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Snapshot {
        let processes =
            (1..=100).map(|pid| Process { pid, vram: Some(u64::from(pid)), ..Process::default() }).collect();
        let gpu = Gpu { processes: Some(processes), ..Gpu::default() };
        Snapshot { monotonic_ns: seconds * 1_000_000_000, gpus: vec![gpu], ..Snapshot::default() }
    }

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let mut past = Past::default();
        for second in 0..10_000 {
            past.see(&at(second));
        }
        let points = past.document(true).points;
        assert_eq!(points.len(), MOST_POINTS);
        let seconds = |point: &Point| point.monotonic_ns / 1_000_000_000;
        assert_eq!((seconds(&points[0]), seconds(&points[719])), (9995 - 3595, 9995), "one every five seconds");
        assert_eq!(points[0].gpus[0].processes.len(), MOST_PROCESSES);
        assert_eq!(points[0].gpus[0].processes[0].pid, 100, "the largest are kept");
        let without = past.document(false);
        assert!(without.points.iter().all(|point| point.gpus[0].processes.is_empty()));
        let bytes = serde_json::to_string(&past.document(true)).unwrap().len();
        assert!(bytes < 3 << 20, "{bytes}");
    }

    #[test]
    fn time_that_goes_back_begins_anew() {
        let mut past = Past::default();
        past.see(&at(100));
        past.see(&at(106));
        past.see(&at(3));
        assert_eq!(past.len(), 1);
        assert_eq!(past.document(false).points[0].monotonic_ns, 3_000_000_000);
    }
}
