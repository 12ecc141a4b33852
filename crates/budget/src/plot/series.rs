//! Data of a plot: bytes over time, in layers.
//!
//! A panel shows memory to which one limit applies: the VRAM of a card, its GTT, or the pool of an APU, where both are the same
//! memory. Each layer is therefore compared with the limit of its own memory.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use crate::{
    cli::By,
    snapshot::model::{Gpu, Pair, Process, Snapshot},
};

/// Processes with a layer of their own.
const LAYERS: usize = 6;
/// Panels of one picture.
const MOST_PANELS: usize = 64;

/// A panel of a plot: the layers of one kind of memory of one GPU. Each layer has as many values as `seconds`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The title: the GPU and the kind of memory.
    pub title: String,
    /// The time of day of the first moment, in seconds since midnight UTC; `None` if unknown.
    pub began: Option<u64>,
    /// The moments, in seconds since the first one.
    pub seconds: Vec<f64>,
    /// The layers, from the bottom to the top.
    pub layers: Vec<Layer>,
    /// The maximum of the memory in use, if known.
    pub limit: Option<Limit>,
}

/// A layer of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// The name of the layer, for the legend.
    pub name: String,
    /// The bytes at each moment. An unknown number is drawn as zero.
    pub bytes: Vec<u64>,
    /// `true` if the layer shows displaced memory: bytes whose preferred domain this is, but which are elsewhere.
    pub is_missing: bool,
}

/// A limit, drawn as a horizontal line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name of the limit.
    pub name: String,
    /// The limit in bytes.
    pub bytes: u64,
}

/// The kind of memory that a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The VRAM of a card.
    Vram,
    /// The system memory that a card maps.
    Gtt,
    /// The whole memory of an APU.
    Pool,
}

impl Kind {
    /// Returns the kinds of memory of a GPU, one for each panel.
    pub fn of(gpu: &Gpu) -> &'static [Self] {
        if gpu.apu == Some(true) { &[Self::Pool] } else { &[Self::Vram, Self::Gtt] }
    }

    /// Returns the name of the memory, for titles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vram => "VRAM",
            Self::Gtt => "GTT",
            Self::Pool => "VRAM and GTT",
        }
    }

    /// Returns the limit of this kind of memory on a GPU; `None` if it is unknown.
    pub fn limit(self, gpu: &Gpu) -> Option<Limit> {
        let domains = &gpu.domains;
        let (name, bytes) = match self {
            Self::Vram => ("usable VRAM", domains.vram.usable.or(domains.vram.total)),
            Self::Gtt => ("usable GTT", domains.gtt.usable.or(domains.gtt.total)),
            Self::Pool => ("pool", gpu.effective.total),
        };
        Some(Limit { name: name.to_owned(), bytes: bytes? })
    }

    fn used(self, gpu: &Gpu) -> u64 {
        let (vram, gtt) = (gpu.domains.vram.used.unwrap_or(0), gpu.domains.gtt.used.unwrap_or(0));
        self.pick(Pair { vram: Some(vram), gtt: Some(gtt) })
    }

    fn own(self, process: &Process) -> u64 {
        self.pick(process.own())
    }

    fn pick(self, pair: Pair) -> u64 {
        let (vram, gtt) = (pair.vram.unwrap_or(0), pair.gtt.unwrap_or(0));
        match self {
            Self::Vram => vram,
            Self::Gtt => gtt,
            Self::Pool => vram.saturating_add(gtt),
        }
    }
}

/// Returns the panels over all snapshots, for the GPUs of the first snapshot.
pub fn panels(snapshots: &[Snapshot], by: By) -> Vec<Panel> {
    let Some(first) = snapshots.first() else { return Vec::new() };
    let mut panels = Vec::new();
    for gpu in &first.gpus {
        for kind in Kind::of(gpu) {
            panels.push(panel(snapshots, first, gpu, *kind, by));
        }
    }
    panels.truncate(MOST_PANELS);
    panels
}

fn panel(snapshots: &[Snapshot], first: &Snapshot, gpu: &Gpu, kind: Kind, by: By) -> Panel {
    let moments: Vec<(&Snapshot, &Gpu)> = snapshots
        .iter()
        .filter_map(|snapshot| Some((snapshot, snapshot.gpus.iter().find(|other| other.pci == gpu.pci)?)))
        .collect();
    let seconds = moments.iter().map(|(snapshot, _)| {
        Duration::from_nanos(snapshot.monotonic_ns.saturating_sub(first.monotonic_ns)).as_secs_f64()
    });
    let gpus: Vec<&Gpu> = moments.iter().map(|(_, gpu)| *gpu).collect();
    let date = first.time.split('T').next().unwrap_or_default();
    let name = gpu.name.as_deref().unwrap_or("GPU");
    Panel {
        title: format!("{name} ({}): {}, {date} UTC", gpu.pci, kind.name()),
        began: second_of_day(&first.time),
        seconds: seconds.collect(),
        layers: match by {
            By::Domain => domains(&gpus, kind),
            By::Process => processes(&gpus, kind),
        },
        limit: gpus.iter().rev().find_map(|gpu| kind.limit(gpu)),
    }
}

/// Returns the time of day of an RFC 3339 time, in seconds since midnight; `None` if the text is invalid.
pub fn second_of_day(time: &str) -> Option<u64> {
    let clock = time.split_once('T')?.1.get(..8)?;
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    (hours < 24 && minutes < 60 && seconds < 61).then_some(hours * 3600 + minutes * 60 + seconds)
}

impl Panel {
    /// Returns the top of the vertical axis in bytes: the largest sum of the layers, or the limit if it is larger.
    pub fn top(&self) -> u64 {
        let sum = |index: usize| {
            self.layers
                .iter()
                .filter_map(|layer| layer.bytes.get(index))
                .fold(0_u64, |sum, &bytes| sum.saturating_add(bytes))
        };
        let highest = (0..self.seconds.len()).map(sum).max().unwrap_or(0);
        highest.max(self.limit.as_ref().map_or(0, |limit| limit.bytes)).max(1)
    }

    /// Returns the time of day of a moment as text; if it is unknown, the seconds since the first moment.
    pub fn clock(&self, seconds: f64) -> String {
        let Some(began) = self.began else { return format!("{seconds:.0} s") };
        let now = began.saturating_add(Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs());
        format!("{:02}:{:02}:{:02}", now / 3600 % 24, now / 60 % 60, now % 60)
    }
}

fn domains(gpus: &[&Gpu], kind: Kind) -> Vec<Layer> {
    let layer = |name: &str, is_missing, of: fn(&Gpu) -> Option<u64>| Layer {
        name: name.to_owned(),
        bytes: gpus.iter().map(|gpu| of(gpu).unwrap_or(0)).collect(),
        is_missing,
    };
    let vram = |name| layer(name, false, |gpu| gpu.domains.vram.used);
    let gtt = |name| layer(name, false, |gpu| gpu.domains.gtt.used);
    match kind {
        Kind::Vram => vec![vram("in use"), layer("displaced from it", true, |gpu| gpu.domains.vram.evicted)],
        Kind::Gtt => vec![gtt("in use")],
        Kind::Pool => vec![vram("carve-out"), gtt("GTT")],
    }
}

/// Returns the layers of the processes that had the most memory at any moment, of all other processes, and of memory that no
/// process holds alone.
fn processes(gpus: &[&Gpu], kind: Kind) -> Vec<Layer> {
    let mut all: BTreeMap<u32, Layer> = BTreeMap::new();
    let mut rest: Vec<u64> = gpus.iter().map(|gpu| kind.used(gpu)).collect();
    for (index, gpu) in gpus.iter().enumerate() {
        for process in gpu.processes.iter().flatten() {
            let name = || format!("{} {}", process.pid, process.name.as_deref().unwrap_or("-"));
            let empty = || Layer { name: name(), bytes: vec![0; gpus.len()], is_missing: false };
            let layer = all.entry(process.pid).or_insert_with(empty);
            let own = kind.own(process);
            if let (Some(place), Some(rest)) = (layer.bytes.get_mut(index), rest.get_mut(index)) {
                *place = own;
                *rest = rest.saturating_sub(own);
            }
        }
    }
    let mut layers: Vec<(u32, Layer)> = all.into_iter().collect();
    layers.sort_by_key(|(pid, layer)| (Reverse(layer.bytes.iter().copied().max()), *pid));
    let mut layers: Vec<Layer> = layers.into_iter().map(|(_, layer)| layer).collect();
    let others = layers.split_off(layers.len().min(LAYERS));
    if !others.is_empty() {
        let sum = |index: usize| {
            others.iter().filter_map(|layer| layer.bytes.get(index)).fold(0, |a: u64, &b| a.saturating_add(b))
        };
        let bytes = (0..gpus.len()).map(sum).collect();
        layers.push(Layer { name: format!("{} others", others.len()), bytes, is_missing: false });
    }
    if rest.iter().any(|&bytes| bytes > 0) {
        layers.push(Layer { name: "shared, kernel".to_owned(), bytes: rest, is_missing: false });
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::model::{Domain, Domains, Effective};

    const GIB: u64 = 1 << 30;

    fn at(second: u64, apu: bool) -> Snapshot {
        let domain = |used, usable| Domain { used: Some(used), usable: Some(usable), ..Domain::default() };
        let vram = Domain { evicted: Some(GIB), ..domain(15 * GIB, 16 * GIB) };
        let domains = Domains { vram, gtt: domain(3 * GIB, 15 * GIB), ..Domains::default() };
        let effective = Effective { total: Some(20 * GIB), ..Effective::default() };
        let process = Process { pid: 1, vram: Some(9 * GIB), gtt: Some(GIB), ..Process::default() };
        let gpu = |pci: &str| Gpu {
            pci: pci.to_owned(),
            apu: Some(apu),
            domains: domains.clone(),
            effective: effective.clone(),
            processes: Some(vec![process.clone()]),
            ..Gpu::default()
        };
        Snapshot {
            time: "2026-01-01T23:59:58.000Z".to_owned(),
            monotonic_ns: second * 1_000_000_000,
            gpus: vec![gpu("a"), gpu("b")],
            ..Snapshot::default()
        }
    }

    /// A healthy card with much in GTT is not over the limit of its VRAM.
    #[test]
    fn no_layer_counts_against_the_limit_of_another_memory() {
        for by in [By::Domain, By::Process] {
            let panels = panels(&[at(0, false), at(4, false)], by);
            assert_eq!(panels.len(), 4, "two for each GPU");
            for (panel, (used, limit)) in panels.iter().zip([(15, 16), (3, 15)].into_iter().cycle()) {
                let here = |layer: &&Layer| !layer.is_missing;
                let sum: u64 = panel.layers.iter().filter(here).filter_map(|layer| layer.bytes.last()).sum();
                assert_eq!((sum, panel.limit.as_ref().unwrap().bytes), (used * GIB, limit * GIB), "{}", panel.title);
            }
        }
        let pools = panels(&[at(0, true)], By::Domain);
        assert_eq!(pools.len(), 2);
        let sum: u64 = pools[0].layers.iter().filter_map(|layer| layer.bytes.last()).sum();
        assert_eq!((sum, pools[0].limit.as_ref().unwrap().bytes), (18 * GIB, 20 * GIB));
    }

    #[test]
    fn moments_are_told_as_times_of_day() {
        let panel = &panels(&[at(0, true), at(4, true)], By::Domain)[0];
        assert_eq!([0.0, 4.0].map(|seconds| panel.clock(seconds)), ["23:59:58", "00:00:02"]);
        assert_eq!(Panel::default().clock(4.0), "4 s");
        for time in ["", "T", "2026-01-01T9:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01Tä0:00:00"] {
            assert_eq!(second_of_day(time), None, "{time}");
        }
    }
}
