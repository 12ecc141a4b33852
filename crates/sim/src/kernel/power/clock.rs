//! The GPU's clock.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{gpu::Clock, testing::hooks::Hooks};

/// The GPU clock: ticks at its frequency since the device was created, unless a test has stopped it.
#[derive(Clone, Debug)]
pub(crate) struct Ticker {
    hooks: Arc<dyn Hooks>,
    born: Instant,
    khz: u32,
}

impl Ticker {
    /// Creates a clock with this frequency in kHz that starts now.
    pub(crate) fn new(hooks: Arc<dyn Hooks>, khz: u32) -> Self {
        Self { hooks, born: Instant::now(), khz }
    }

    /// Returns the time of the clock since the device was created.
    pub(crate) fn time(&self) -> Duration {
        let nanoseconds = u128::from(self.ticks()) * 1_000_000 / u128::from(self.khz.max(1));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

impl Clock for Ticker {
    fn ticks(&self) -> u64 {
        if let Some(stopped) = self.hooks.stopped_clock() {
            return stopped;
        }
        let ticks = self.born.elapsed().as_nanos() * u128::from(self.khz) / 1_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}
