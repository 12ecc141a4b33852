//! Data of a plot: bytes over time, in layers.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    cli::By,
    snapshot::model::{Gpu, Snapshot},
};

/// Processes with a layer of their own.
const LAYERS: usize = 6;

/// Layers of one GPU's memory, each as long as `seconds`.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Title of the plot.
    pub title: String,
    /// When, from the first moment on.
    pub seconds: Vec<f64>,
    /// From the bottom up.
    pub layers: Vec<Layer>,
    /// The effective pool, where known: a line.
    pub limit: Option<u64>,
    /// Bytes that should be in VRAM and are not, at each moment.
    pub evicted: Vec<u64>,
}

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Name of the layer.
    pub name: String,
    /// Bytes; what is unknown is drawn as none.
    pub bytes: Vec<u64>,
}

impl Series {
    /// The first GPU of the first snapshot through all of them; `None` without one.
    pub fn new(snapshots: &[Snapshot], by: By) -> Option<Self> {
        let first = snapshots.first()?;
        let gpu = first.gpus.first()?;
        let moments: Vec<(&Snapshot, &Gpu)> = snapshots
            .iter()
            .filter_map(|snapshot| Some((snapshot, snapshot.gpus.iter().find(|other| other.pci == gpu.pci)?)))
            .collect();
        let seconds = moments.iter().map(|(snapshot, _)| {
            std::time::Duration::from_nanos(snapshot.monotonic_ns.saturating_sub(first.monotonic_ns)).as_secs_f64()
        });
        let gpus: Vec<&Gpu> = moments.iter().map(|(_, gpu)| *gpu).collect();
        Some(Self {
            title: format!("{} ({}), from {}", gpu.name.as_deref().unwrap_or("GPU"), gpu.pci, first.time),
            seconds: seconds.collect(),
            layers: match by {
                By::Domain => domains(&gpus),
                By::Process => processes(&gpus),
            },
            limit: gpus.iter().rev().find_map(|gpu| gpu.effective.total),
            evicted: gpus.iter().map(|gpu| gpu.domains.vram.evicted.unwrap_or(0)).collect(),
        })
    }

    /// The height of the picture in bytes: no layer and no limit is higher.
    pub fn top(&self) -> u64 {
        let sum = |index: usize| {
            self.layers
                .iter()
                .filter_map(|layer| layer.bytes.get(index))
                .fold(0_u64, |sum, &bytes| sum.saturating_add(bytes))
        };
        let highest = (0..self.seconds.len()).map(sum).max().unwrap_or(0);
        highest.max(self.limit.unwrap_or(0)).max(1)
    }
}

fn domains(gpus: &[&Gpu]) -> Vec<Layer> {
    let layer = |name: &str, of: fn(&Gpu) -> Option<u64>| Layer {
        name: name.to_owned(),
        bytes: gpus.iter().map(|gpu| of(gpu).unwrap_or(0)).collect(),
    };
    vec![layer("VRAM", |gpu| gpu.domains.vram.used), layer("GTT", |gpu| gpu.domains.gtt.used)]
}

/// The processes that once had the most, then all others.
fn processes(gpus: &[&Gpu]) -> Vec<Layer> {
    let mut all: BTreeMap<u32, Layer> = BTreeMap::new();
    for (index, gpu) in gpus.iter().enumerate() {
        for process in gpu.processes.iter().flatten() {
            let name = || format!("{} {}", process.pid, process.name.as_deref().unwrap_or("-"));
            let layer = all.entry(process.pid).or_insert_with(|| Layer { name: name(), bytes: vec![0; gpus.len()] });
            let own = process.own();
            if let Some(place) = layer.bytes.get_mut(index) {
                *place = own.vram.unwrap_or(0).saturating_add(own.gtt.unwrap_or(0));
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
        layers.push(Layer { name: format!("{} others", others.len()), bytes: (0..gpus.len()).map(sum).collect() });
    }
    layers
}
