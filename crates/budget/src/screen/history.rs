//! History of earlier snapshots: a few numbers for each GPU and process, not whole snapshots.

use std::collections::{BTreeMap, VecDeque};

use crate::{
    plot::series::{Kind, Layer, Panel, second_of_day},
    snapshot::{
        metric::Rates,
        model::{Gpu, Snapshot},
    },
};

/// Looks that are remembered.
const MOST: usize = 3600;

/// Nanoseconds.
const MINUTE: u64 = 60_000_000_000;

/// The figures of a GPU at one moment. Figures that are not known are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Seconds since the first snapshot.
    pub seconds: f64,
    /// Time of day in seconds since midnight, UTC.
    pub second_of_day: Option<u64>,
    /// VRAM in use, in bytes.
    pub vram: Option<u64>,
    /// GTT in use, in bytes.
    pub gtt: Option<u64>,
    /// Bytes whose preferred domain is VRAM but which are not in VRAM.
    pub evicted: Option<u64>,
    /// Changes per second since the previous snapshot.
    pub rates: Rates,
}

/// A number for each process, by GPU and number.
type ByProcess = BTreeMap<(String, u32), u64>;

/// The time of each engine for each process, by GPU and number.
type Engines = BTreeMap<(String, u32), BTreeMap<String, u64>>;

/// The history of a few figures of each GPU and process.
#[derive(Clone, Debug, Default)]
pub struct History {
    points: BTreeMap<String, VecDeque<Point>>,
    /// Memory of processes by GPU and number, a minute back.
    memory: VecDeque<(u64, ByProcess)>,
    /// Time of each engine of processes at the last two looks.
    engines: [Engines; 2],
    began: Option<u64>,
}

fn by_process<T>(
    snapshot: &Snapshot,
    of: impl Fn(&crate::snapshot::model::Process) -> T,
) -> BTreeMap<(String, u32), T> {
    let rows = snapshot.gpus.iter().flat_map(|gpu| gpu.processes.iter().flatten().map(move |process| (gpu, process)));
    rows.map(|(gpu, process)| ((gpu.pci.clone(), process.pid), of(process))).collect()
}

impl History {
    /// Adds a snapshot to the history. `earlier` is the previous snapshot.
    pub fn remember(&mut self, earlier: Option<&Snapshot>, snapshot: &Snapshot) {
        let now = snapshot.monotonic_ns;
        let began = *self.began.get_or_insert(now);
        for gpu in &snapshot.gpus {
            let points = self.points.entry(gpu.pci.clone()).or_default();
            points.push_back(Point {
                seconds: std::time::Duration::from_nanos(now.saturating_sub(began)).as_secs_f64(),
                second_of_day: second_of_day(&snapshot.time),
                vram: gpu.domains.vram.used,
                gtt: gpu.domains.gtt.used,
                evicted: gpu.domains.vram.evicted,
                rates: earlier.map(|earlier| Rates::between(earlier, snapshot, &gpu.pci)).unwrap_or_default(),
            });
            while points.len() > MOST {
                points.pop_front();
            }
        }
        self.memory.push_back((now, by_process(snapshot, crate::snapshot::model::Process::memory)));
        let minute = now.saturating_sub(MINUTE);
        while self.memory.len() > 2 && self.memory.get(1).is_some_and(|(when, _)| *when <= minute) {
            self.memory.pop_front();
        }
        self.engines.swap(0, 1);
        self.engines[1] = by_process(snapshot, |process| process.engines_ns.clone());
    }

    /// Returns the history of a GPU, the oldest point first.
    pub fn points(&self, pci: &str) -> impl DoubleEndedIterator<Item = &Point> + ExactSizeIterator + Clone {
        static NONE: VecDeque<Point> = VecDeque::new();
        self.points.get(pci).unwrap_or(&NONE).iter()
    }

    /// Returns the seconds between the first and the last point of a GPU.
    pub fn span(&self, pci: &str) -> f64 {
        let mut points = self.points(pci);
        points.next().zip(points.next_back()).map_or(0.0, |(first, last)| last.seconds - first.seconds)
    }

    /// Returns the growth of a process in bytes per minute; `None` until the history covers a minute.
    pub fn growth(&self, pci: &str, pid: u32) -> Option<i128> {
        let ((then, was), (now, is)) = (self.memory.front()?, self.memory.back()?);
        let elapsed = i128::from(now.checked_sub(*then).filter(|&elapsed| elapsed >= MINUTE)?);
        let key = (pci.to_owned(), pid);
        let change = i128::from(*is.get(&key)?) - i128::from(*was.get(&key)?);
        Some(change * i128::from(MINUTE) / elapsed)
    }

    /// Returns the load of all engines together by a process since the previous snapshot, in percent.
    pub fn busy(&self, pci: &str, pid: u32) -> Option<u64> {
        let loads = self.engines(pci, pid)?;
        Some(loads.values().fold(0, |sum, load| sum.saturating_add(*load)))
    }

    /// Returns the load of each engine by a process since the previous snapshot, in percent.
    pub fn engines(&self, pci: &str, pid: u32) -> Option<BTreeMap<String, u64>> {
        let (now, _) = self.memory.back()?;
        let elapsed = now.checked_sub(self.memory.iter().rev().nth(1)?.0)?;
        let key = (pci.to_owned(), pid);
        let (before, after) = (self.engines[0].get(&key)?, self.engines[1].get(&key)?);
        let load = |(engine, time): (&String, &u64)| {
            let worked = time.saturating_sub(before.get(engine).copied().unwrap_or(0));
            Some((engine.clone(), crate::snapshot::units::percent(worked, elapsed)?))
        };
        after.iter().map(load).collect()
    }

    /// Returns the history of a GPU as panels of a plot.
    pub fn panels(&self, gpu: &Gpu, window: f64) -> Vec<Panel> {
        let points = self.points(&gpu.pci);
        let last = points.clone().next_back().map_or(0.0, |point| point.seconds);
        let points: Vec<&Point> = points.filter(|point| point.seconds >= last - window).collect();
        let first = points.first().map_or(0.0, |point| point.seconds);
        let layer = |name: &str, is_missing, of: fn(&Point) -> Option<u64>| Layer {
            name: name.to_owned(),
            bytes: points.iter().map(|point| of(point).unwrap_or(0)).collect(),
            is_missing,
        };
        let panel = |kind: Kind| Panel {
            title: match last - first {
                span if span > 0.0 => format!("{} in use, last {span:.0} s", kind.name()),
                _ => format!("{} in use", kind.name()),
            },
            began: points.first().and_then(|point| point.second_of_day),
            seconds: points.iter().map(|point| point.seconds - first).collect(),
            layers: match kind {
                Kind::Vram => {
                    vec![
                        layer("in use", false, |point| point.vram),
                        layer("displaced from it", true, |point| point.evicted),
                    ]
                }
                Kind::Gtt => vec![layer("in use", false, |point| point.gtt)],
                Kind::Pool => {
                    vec![layer("carve-out", false, |point| point.vram), layer("GTT", false, |point| point.gtt)]
                }
            },
            limit: kind.limit(gpu),
        };
        Kind::of(gpu).iter().map(|kind| panel(*kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::model::Process;

    #[test]
    fn growth_is_measured_over_a_minute_and_not_guessed_before() {
        let at = |second: u64| {
            let process = Process { pid: 7, vram: Some(second << 20), ..Process::default() };
            let gpu = Gpu { processes: Some(vec![process]), ..Gpu::default() };
            Snapshot { monotonic_ns: second * 1_000_000_000, gpus: vec![gpu], ..Snapshot::default() }
        };
        let mut history = History::default();
        for second in 0..60 {
            history.remember(None, &at(second));
            assert_eq!(history.growth("", 7), None, "after {second} s");
        }
        for second in 60..150 {
            history.remember(None, &at(second));
            assert_eq!(history.growth("", 7), Some(60 << 20), "after {second} s");
        }
    }
}
