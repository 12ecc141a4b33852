//! The core dumps of a world: one for a device at most, which goes when a client writes to it, or after some minutes.

use std::{collections::HashMap, time::Duration, time::Instant};

use amdgpu_sim::{
    HangRecord, SimDevice,
    sysfs::{COREDUMP_LIFE, Place},
};

/// A core dump that is there.
#[derive(Debug)]
struct Shown {
    number: u64,
    place: Place,
    since: Instant,
}

/// The core dumps of all devices.
#[derive(Debug, Default)]
pub(super) struct Coredumps {
    /// The number of dumps so far. The first one has the number 1.
    count: u64,
    shown: Vec<Shown>,
    /// The number of hangs of the device at a place that were looked at.
    seen: HashMap<Place, usize>,
    is_disabled: bool,
}

impl Coredumps {
    /// Returns the hang of which a new dump is due, with the number of the dump. While a device has a dump, later ones are thrown away.
    pub(super) fn due(&mut self, device: &SimDevice, now: Instant) -> Option<(u64, HangRecord)> {
        let place = device.place();
        let seen = self.seen.entry(place).or_default();
        // A device that was found again begins anew.
        *seen = (*seen).min(device.hang_count());
        if device.hang_count() == *seen {
            return None;
        }
        for hang in device.hangs().into_iter().skip(*seen) {
            let is_of_a_job = hang.ip_type.is_some();
            if is_of_a_job && hang.recovered.is_none() {
                return None;
            }
            *seen += 1;
            let is_free = !self.is_disabled && self.shown.iter().all(|shown| shown.place != place);
            if hang.has_coredump() && is_free {
                self.count += 1;
                self.shown.push(Shown { number: self.count, place, since: now });
                return Some((self.count, hang));
            }
        }
        None
    }

    /// Forgets a dump. Returns the place of its device; `None` if there is no such dump.
    pub(super) fn forget(&mut self, number: u64) -> Option<Place> {
        let index = self.shown.iter().position(|shown| shown.number == number)?;
        Some(self.shown.swap_remove(index).place)
    }

    /// Returns the numbers of the dumps that have been there for too long.
    pub(super) fn old(&self, now: Instant) -> Vec<u64> {
        self.which(|shown| now.saturating_duration_since(shown.since) >= COREDUMP_LIFE)
    }

    /// Returns the numbers of all dumps.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.which(|_| true)
    }

    /// Returns the numbers of the dumps of the device at a place.
    pub(super) fn of(&self, place: Place) -> Vec<u64> {
        self.which(|shown| shown.place == place)
    }

    /// Makes no further dumps.
    pub(super) fn disable(&mut self) {
        self.is_disabled = true;
    }

    fn which(&self, condition: impl Fn(&Shown) -> bool) -> Vec<u64> {
        self.shown.iter().filter(|shown| condition(shown)).map(|shown| shown.number).collect()
    }
}

/// Returns the time since the computer was started, for the header of a dump.
pub(super) fn uptime() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R251.
    #[test]
    fn a_dump_is_there_for_five_minutes() {
        let begun = Instant::now();
        let shown = |number, after| Shown { number, place: Place::FIRST, since: begun + Duration::from_mins(after) };
        let mut dumps = Coredumps { shown: vec![shown(1, 0), shown(2, 1)], ..Coredumps::default() };
        let after = |dumps: &Coredumps, seconds| dumps.old(begun + Duration::from_secs(seconds));
        assert_eq!([0, 299, 300, 359].map(|time| after(&dumps, time).len()), [0, 0, 1, 1]);
        assert_eq!((after(&dumps, 300), after(&dumps, 360)), (vec![1], vec![1, 2]));
        assert_eq!(dumps.forget(1), Some(Place::FIRST));
        assert_eq!((after(&dumps, 360), dumps.forget(1)), (vec![2], None));
    }
}
