//! A recording of any length in bounded memory: what a picture shows of it.
//!
//! Snapshots are reduced to the figures of a plot. When there are too many, two neighbours become the one with more memory in use,
//! so that peaks stay. The first and the last snapshot are always kept.

use crate::{
    cli::By,
    snapshot::model::{Domains, Effective, Gpu, Process, Snapshot},
};

/// The most that is kept, in units of about half a KiB: many times the columns of a picture.
const MOST: usize = 40_000;
/// The units of a GPU, and of a process.
const GPU: usize = 4;
const PROCESS: usize = 1;

/// The snapshots of a plot.
#[derive(Debug)]
pub(super) struct Thinned {
    by: By,
    kept: Vec<Snapshot>,
    weight: usize,
    /// The number of snapshots that each of those after the first stands for.
    stride: u64,
    /// The snapshots of the present group: their number, and the one with most memory in use.
    group: u64,
    peak: Option<Snapshot>,
    last: Option<Snapshot>,
}

impl Thinned {
    pub(super) const fn new(by: By) -> Self {
        Self { by, kept: Vec::new(), weight: 0, stride: 1, group: 0, peak: None, last: None }
    }

    /// Adds the next snapshot.
    pub(super) fn push(&mut self, snapshot: Snapshot) {
        let snapshot = reduced(snapshot, self.by);
        if self.kept.is_empty() {
            self.keep(snapshot);
            return;
        }
        if self.stride > 1 {
            self.last = Some(snapshot.clone());
        }
        self.peak = Some(match self.peak.take() {
            Some(peak) => higher(peak, snapshot),
            None => snapshot,
        });
        self.group += 1;
        if self.group >= self.stride {
            self.group = 0;
            if let Some(peak) = self.peak.take() {
                self.keep(peak);
            }
        }
    }

    fn keep(&mut self, snapshot: Snapshot) {
        self.weight += weight(&snapshot);
        self.kept.push(snapshot);
        // Few snapshots are never merged, however large they are.
        while self.weight > MOST && self.kept.len() > 3 {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut all = std::mem::take(&mut self.kept).into_iter();
        self.kept.extend(all.next());
        while let Some(one) = all.next() {
            self.kept.push(match all.next() {
                Some(other) => higher(one, other),
                None => one,
            });
        }
        self.weight = self.kept.iter().map(weight).sum();
        self.stride = self.stride.saturating_mul(2);
    }

    /// Returns the snapshots, in the order of time.
    pub(super) fn finish(mut self) -> Vec<Snapshot> {
        self.kept.extend(self.peak.take());
        let is_later = |last: &Snapshot| self.kept.last().is_none_or(|kept| kept.monotonic_ns < last.monotonic_ns);
        let last = self.last.take().filter(is_later);
        self.kept.extend(last);
        self.kept
    }
}

/// Returns the one of two snapshots with more memory in use.
fn higher(one: Snapshot, other: Snapshot) -> Snapshot {
    if used(&other) > used(&one) { other } else { one }
}

fn used(snapshot: &Snapshot) -> u64 {
    let of = |gpu: &Gpu| gpu.domains.vram.used.unwrap_or(0).saturating_add(gpu.domains.gtt.used.unwrap_or(0));
    snapshot.gpus.iter().map(of).fold(0, u64::saturating_add)
}

fn weight(snapshot: &Snapshot) -> usize {
    let of = |gpu: &Gpu| GPU + PROCESS * gpu.processes.as_ref().map_or(0, Vec::len);
    1 + snapshot.gpus.iter().map(of).sum::<usize>()
}

/// Returns a snapshot with the figures of a plot alone.
fn reduced(snapshot: Snapshot, by: By) -> Snapshot {
    let process = |process: Process| Process {
        pid: process.pid,
        name: process.name,
        vram: process.vram,
        own_vram: process.own_vram,
        gtt: process.gtt,
        own_gtt: process.own_gtt,
        shared: process.shared,
        ..Process::default()
    };
    let gpu = |gpu: Gpu| Gpu {
        index: gpu.index,
        pci: gpu.pci,
        name: gpu.name,
        apu: gpu.apu,
        domains: Domains { vram: gpu.domains.vram, gtt: gpu.domains.gtt, ..Domains::default() },
        effective: Effective { total: gpu.effective.total, ..Effective::default() },
        processes: match by {
            By::Domain => None,
            By::Process => gpu.processes.map(|processes| processes.into_iter().map(process).collect()),
        },
        ..Gpu::default()
    };
    Snapshot {
        time: snapshot.time,
        monotonic_ns: snapshot.monotonic_ns,
        gpus: snapshot.gpus.into_iter().map(gpu).collect(),
        ..Snapshot::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::model::Domain;

    fn at(second: u64, used: u64, processes: u32) -> Snapshot {
        let process = |pid| Process { pid, name: Some(format!("p{pid}")), ..Process::default() };
        let gpu = Gpu {
            pci: "0000:03:00.0".to_owned(),
            domains: Domains { vram: Domain { used: Some(used), ..Domain::default() }, ..Domains::default() },
            processes: Some((0..processes).map(process).collect()),
            ..Gpu::default()
        };
        Snapshot { monotonic_ns: second * 1_000_000_000, gpus: vec![gpu], ..Snapshot::default() }
    }

    #[test]
    fn two_hundred_thousand_snapshots_keep_their_ends_and_peaks_in_bounded_memory() {
        for by in [By::Domain, By::Process] {
            let mut thinned = Thinned::new(by);
            let mut most = 0;
            for second in 0..200_000 {
                thinned.push(at(second, if second == 123_457 { 1 << 40 } else { second }, 3));
                most = most.max(thinned.weight);
            }
            assert!(most <= MOST + 8, "{most}");
            let kept = thinned.finish();
            assert!(kept.len() > 2000, "{}", kept.len());
            assert_eq!(kept[0].monotonic_ns, 0);
            assert_eq!(kept[kept.len() - 1].monotonic_ns, 199_999 * 1_000_000_000);
            assert!(kept.iter().any(|snapshot| used(snapshot) == 1 << 40));
            assert!(kept.is_sorted_by(|one, next| one.monotonic_ns < next.monotonic_ns));
        }
    }

    #[test]
    fn few_snapshots_are_kept_one_by_one_and_one_that_is_huge_is_kept() {
        let mut thinned = Thinned::new(By::Process);
        (0..5).for_each(|second| thinned.push(at(second, second, 10)));
        assert_eq!(thinned.finish().len(), 5);
        let mut thinned = Thinned::new(By::Process);
        (0..4).for_each(|second| thinned.push(at(second, second, 100_000)));
        assert!((2..=4).contains(&thinned.finish().len()));
    }
}
