//! The health of a device: counted errors of memory and bus, the trained PCI Express link, and overheating.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A hardware fault that the driver, the PCI core or a sensor reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HardwareError {
    /// An error in memory that its ECC could not correct.
    RasUncorrectable,
    /// An error in memory that its ECC corrected.
    RasCorrectable,
    /// A data link protocol error of the PCI Express link, which is fatal.
    AerFatal,
    /// A completion timeout on the PCI Express link, which is not fatal.
    AerNonfatal,
    /// A bad packet (TLP) that was retransmitted on the PCI Express link.
    AerCorrectable,
    /// The link is trained with half of its lanes.
    NarrowLink,
    /// The link is trained at the speed of the first generation.
    SlowLink,
    /// The die is at its critical temperature.
    Overheating,
}

/// The critical temperature at the edge of the die in thousandths of a degree Celsius.
pub(crate) const CRITICAL_EDGE: i32 = 100_000;

/// The errors since the device was created, and lasting faults.
#[derive(Debug, Default)]
pub(crate) struct Health {
    ras_uncorrectable: AtomicU64,
    ras_correctable: AtomicU64,
    aer_fatal: AtomicU64,
    aer_nonfatal: AtomicU64,
    aer_correctable: AtomicU64,
    narrow: AtomicBool,
    slow: AtomicBool,
    hot: AtomicBool,
}

impl Health {
    /// Counts an error, or sets a lasting fault.
    pub(crate) fn record_error(&self, error: HardwareError) {
        match error {
            HardwareError::NarrowLink => self.narrow.store(true, Ordering::Release),
            HardwareError::SlowLink => self.slow.store(true, Ordering::Release),
            HardwareError::Overheating => self.hot.store(true, Ordering::Release),
            counted => {
                if let Some(counter) = self.counter(counted) {
                    counter.fetch_add(1, Ordering::AcqRel);
                }
            }
        }
    }

    /// Returns the number of errors of a kind; 0 for lasting faults.
    pub(crate) fn count(&self, error: HardwareError) -> u64 {
        self.counter(error).map_or(0, |counter| counter.load(Ordering::Acquire))
    }

    const fn counter(&self, error: HardwareError) -> Option<&AtomicU64> {
        Some(match error {
            HardwareError::RasUncorrectable => &self.ras_uncorrectable,
            HardwareError::RasCorrectable => &self.ras_correctable,
            HardwareError::AerFatal => &self.aer_fatal,
            HardwareError::AerNonfatal => &self.aer_nonfatal,
            HardwareError::AerCorrectable => &self.aer_correctable,
            HardwareError::NarrowLink | HardwareError::SlowLink | HardwareError::Overheating => return None,
        })
    }

    /// Returns the number of active lanes. `most` is the number of lanes of the link.
    pub(crate) fn lanes(&self, most: u32) -> u32 {
        if self.narrow.load(Ordering::Acquire) { (most / 2).max(1) } else { most }
    }

    /// Returns the generation whose speed the link has, at most `most`.
    pub(crate) fn generation(&self, most: u32) -> u32 {
        if self.slow.load(Ordering::Acquire) { most.min(1) } else { most }
    }

    /// Returns the temperature of an overheating die in thousandths of a degree Celsius; `None` if it does not overheat.
    pub(crate) fn heat(&self) -> Option<i32> {
        self.hot.load(Ordering::Acquire).then_some(CRITICAL_EDGE)
    }
}
