//! Vector clocks of waves.

use std::collections::BTreeMap;

/// The number of a wave in its dispatch.
pub(crate) type WaveNumber = u64;

/// Waves that a clock knows of one by one.
const MOST: usize = 4096;

/// The times of other waves that are known to be over. Waves below the floor are all taken to be: they started long ago, and
/// clocks would grow with the dispatch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    floor: WaveNumber,
    times: BTreeMap<WaveNumber, u32>,
}

impl Clock {
    /// Returns the time of a wave that is over.
    pub(crate) fn of(&self, wave: WaveNumber) -> u32 {
        if wave < self.floor { u32::MAX } else { self.times.get(&wave).copied().unwrap_or(0) }
    }

    /// Begins the next time of the clock's own wave.
    pub(crate) fn tick(&mut self, wave: WaveNumber) {
        *self.times.entry(wave).or_default() += 1;
    }

    /// Learns what another clock knows.
    pub(crate) fn join(&mut self, other: &Self) {
        for (wave, time) in &other.times {
            let own = self.times.entry(*wave).or_default();
            *own = (*own).max(*time);
        }
        self.floor = self.floor.max(other.floor);
        while self.times.len() > MOST
            && let Some((wave, _)) = self.times.pop_first()
        {
            self.floor = self.floor.max(wave + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_learn_from_each_other_and_stay_small() {
        let (mut first, mut second) = (Clock::default(), Clock::default());
        first.tick(1);
        second.tick(2);
        assert_eq!((first.of(1), first.of(2)), (1, 0));
        first.join(&second);
        assert_eq!((first.of(1), first.of(2)), (1, 1));
        for wave in 0..10_000 {
            let mut other = Clock::default();
            other.tick(wave);
            first.join(&other);
        }
        assert!(first.times.len() <= MOST);
        assert_eq!((first.of(0), first.of(9_999), first.of(10_000)), (u32::MAX, 1, 0));
    }
}
