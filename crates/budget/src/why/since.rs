//! The last moment at which memory was where it is wanted.

use crate::past::{GpuPoint, Point};

/// A search through the past, point by point, that keeps two points however long the past is.
#[derive(Clone, Debug, Default)]
pub struct Since {
    first: Option<(Point, u64)>,
    /// The latest of the points at which least was displaced.
    best: Option<(Point, u64)>,
}

impl Since {
    /// Looks at the next point for the displaced bytes of one process, or of all processes of a GPU.
    pub fn see(&mut self, point: &Point, pci: &str, pid: Option<u32>) {
        let Some(gpu) = point.gpus.iter().find(|gpu| gpu.pci == pci) else { return };
        let Some(displaced) = displaced(gpu, pid) else { return };
        let keep = || Some((Point { gpus: vec![gpu.clone()], ..point.clone() }, displaced));
        if self.first.is_none() {
            self.first = keep();
        }
        if self.best.as_ref().is_none_or(|(_, least)| displaced <= *least) {
            self.best = keep();
        }
    }

    /// Returns the moment that now is to be compared with, and the bytes that were displaced then: the last one at which least was
    /// displaced, or the first one if it was never less than now. `None` without a past.
    pub fn reference(&self, now: u64) -> Option<&(Point, u64)> {
        let best = self.best.as_ref()?;
        if best.1 < now { Some(best) } else { self.first.as_ref() }
    }
}

/// A process that is not there yet has nothing displaced.
fn displaced(gpu: &GpuPoint, pid: Option<u32>) -> Option<u64> {
    match pid {
        None => gpu.evicted,
        Some(pid) => match gpu.processes.iter().find(|process| process.pid == pid) {
            Some(process) => process.evicted,
            None => Some(0),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(displaced: &[u64]) -> Since {
        let mut since = Since::default();
        for (index, &bytes) in (0..).zip(displaced) {
            let gpu = GpuPoint { pci: "a".to_owned(), evicted: Some(bytes), ..GpuPoint::default() };
            since.see(&Point { monotonic_ns: index, gpus: vec![gpu], ..Point::default() }, "a", None);
        }
        since
    }

    fn moment(displaced: &[u64], now: u64) -> Option<(u64, u64)> {
        search(displaced).reference(now).map(|(point, bytes)| (point.monotonic_ns, *bytes))
    }

    #[test]
    fn the_last_moment_at_which_least_was_displaced_is_taken() {
        assert_eq!(moment(&[0, 5, 0, 0, 7, 7], 7), Some((3, 0)));
        assert_eq!(moment(&[4, 3, 3, 9], 9), Some((2, 3)), "never all in place");
        assert_eq!(moment(&[7, 7, 7], 7), Some((0, 7)), "never less than now");
        assert_eq!(moment(&[], 7), None);
        let mut other = Since::default();
        other.see(&Point { gpus: vec![GpuPoint::default()], ..Point::default() }, "a", None);
        assert!(other.reference(1).is_none(), "another GPU");
    }
}
