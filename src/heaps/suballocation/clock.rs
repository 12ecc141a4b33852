//! The clock for the time-out of the cache.

use std::time::{Duration, Instant};

/// A monotonic clock.
///
/// ```
/// use std::{sync::{Arc, atomic::{AtomicU64, Ordering}}, time::Duration};
/// use amdgpu_winsys::heaps::{AllocateInfo, suballocation::{CacheLimits, Clock, MemoryCache}};
///
/// struct Frames(Arc<AtomicU64>);
/// impl Clock for Frames {
///     fn now(&self) -> Duration {
///         Duration::from_secs(self.0.load(Ordering::Relaxed)) // one "second" for each frame
///     }
/// }
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let frame = Arc::new(AtomicU64::new(0));
/// let limits = CacheLimits { timeout: Duration::from_secs(3), ..CacheLimits::default() };
/// let cache = MemoryCache::with_clock(&manager, limits, Frames(Arc::clone(&frame)));
/// drop(cache.allocate(&AllocateInfo::new(0, 64 << 10))?);
/// frame.store(4, Ordering::Relaxed);
/// assert_eq!(cache.trim(), 64 << 10); // idle for more than three frames
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Clock: Send + Sync {
    /// Returns the time since some fixed moment.
    fn now(&self) -> Duration;
}

/// The clock CLOCK_MONOTONIC, counted from the creation of this value.
///
/// ```
/// use amdgpu_winsys::heaps::suballocation::{Clock, MonotonicClock};
///
/// let clock = MonotonicClock::default();
/// let before = clock.now();
/// assert!(clock.now() >= before);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}
