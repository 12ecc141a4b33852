//! Cached memory usage of the device.
//!
//! Clients query the budget on every allocation, and RADV makes up to six ioctls for each query (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_winsys.c`, `radv_amdgpu_winsys_query_value`). Here, a refresh is one INFO_MEMORY
//! query, and between refreshes the last answer is read from four words, without a lock or an ioctl. Allocations of this
//! process are counted by the usage tracker and take effect at once.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering, fence},
    time::Duration,
};

use nix::time::{ClockId, clock_gettime};
use parking_lot::Mutex;

use crate::{
    heaps::{BudgetRule, Budgets, MAX_HEAPS, MemoryProperties, SystemUsage, suballocation::Clock},
    winsys::{self, Device, Event, MoveCounters, PressureLevel},
};

/// Default maximum age of the answers that [`MemoryManager::cached_budgets`](crate::heaps::MemoryManager::cached_budgets)
/// reuses.
const INTERVAL: Duration = Duration::from_millis(100);

/// The clock CLOCK_MONOTONIC_COARSE, which has the resolution of the kernel's tick, one to ten milliseconds.
///
/// Reading it does not access the hardware. Reading an exact clock would take longer than all other work of a cached budget
/// query.
///
/// ```
/// use std::time::Duration;
/// use amdgpu_winsys::heaps::{BudgetRule, CoarseClock};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// // At most one ioctl a second for all calls of `cached_budgets`.
/// let manager = manager.with_budget_interval(CoarseClock, Duration::from_secs(1));
/// assert_eq!(manager.cached_budgets(BudgetRule::default())?.heaps().len(), manager.properties().heaps().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

impl Clock for CoarseClock {
    fn now(&self) -> Duration {
        // Linux has had this clock since 2.6.32. Without it, no answer would ever be too old.
        clock_gettime(ClockId::CLOCK_MONOTONIC_COARSE).map_or(Duration::MAX, Duration::from)
    }
}

/// The memory usage of the device, as the kernel reported it, with the number of the answer.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let first = manager.refresh_usage()?;
/// let second = manager.refresh_usage()?;
/// assert_eq!((first.generation, second.generation), (1, 2));
/// assert_eq!(first.usage, second.usage); // nothing was allocated in between
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageReading {
    /// Usage of the device's memory by all processes.
    pub usage: SystemUsage,
    /// Number of the answer, counted from 1. Readings with the same number are equal.
    pub generation: u64,
}

/// The device and the tables of its heaps.
#[derive(Clone, Copy)]
pub(in crate::heaps) struct Heaps<'m> {
    /// The device.
    pub(in crate::heaps) device: &'m Device,
    /// The tables of its heaps and memory types.
    pub(in crate::heaps) properties: &'m MemoryProperties,
}

impl Heaps<'_> {
    /// Returns the budget and usage of every heap for a usage that the kernel reported.
    #[inline]
    pub(in crate::heaps) fn budgets(self, system: &SystemUsage, rule: BudgetRule) -> Budgets {
        self.properties.budgets(&self.device.usage_tracker().usage(), system, rule)
    }
}

/// A cache of the kernel's last answer, which decides when to query again.
pub(in crate::heaps) struct BudgetMonitor {
    clock: Box<dyn Clock>,
    interval: Duration,
    last: Snapshot,
    /// Locked while the kernel is queried, so that only one thread does.
    asking: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    levels: [PressureLevel; MAX_HEAPS],
    moves: Option<MoveCounters>,
}

/// The last answer, written under a lock and read without one (a seqlock).
///
/// `sequence` is odd while the words change. A reader that finds it odd or changed retries.
#[derive(Debug, Default)]
struct Snapshot {
    sequence: AtomicU64,
    words: [AtomicU64; 3],
    /// Time of the answer by the clock, nanoseconds.
    taken: AtomicU64,
}

impl fmt::Debug for BudgetMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetMonitor")
            .field("interval", &self.interval)
            .field("last", &self.last.read())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the answer and its time.
    #[inline]
    fn read(&self) -> (UsageReading, Duration) {
        loop {
            let before = self.sequence.load(Ordering::Acquire);
            let [vram, visible_vram, gtt] = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
            let taken = self.taken.load(Ordering::Relaxed);
            // Orders the loads above before the one below.
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.sequence.load(Ordering::Relaxed) == before {
                let usage = SystemUsage { vram, visible_vram, gtt };
                return (UsageReading { usage, generation: before / 2 }, Duration::from_nanos(taken));
            }
            std::hint::spin_loop();
        }
    }

    /// Stores an answer. Only one thread at a time may call this.
    fn write(&self, usage: SystemUsage, taken: Duration) -> UsageReading {
        let before = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(before + 1, Ordering::Relaxed);
        // Orders the odd sequence number before the words.
        fence(Ordering::Release);
        let SystemUsage { vram, visible_vram, gtt } = usage;
        for (word, value) in self.words.iter().zip([vram, visible_vram, gtt]) {
            word.store(value, Ordering::Relaxed);
        }
        self.taken.store(u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.sequence.store(before + 2, Ordering::Release);
        UsageReading { usage, generation: before / 2 + 1 }
    }
}

impl Default for BudgetMonitor {
    fn default() -> Self {
        Self::new(CoarseClock, INTERVAL)
    }
}

impl BudgetMonitor {
    pub(in crate::heaps) fn new(clock: impl Clock + 'static, interval: Duration) -> Self {
        Self { clock: Box::new(clock), interval, last: Snapshot::default(), asking: Mutex::default() }
    }

    #[inline]
    fn is_fresh(&self, (reading, taken): (UsageReading, Duration)) -> bool {
        reading.generation > 0 && self.clock.now().saturating_sub(taken) < self.interval
    }
}

impl BudgetMonitor {
    /// Returns the budget and usage of every heap from the last answer if it is recent enough, otherwise from a new one.
    pub(in crate::heaps) fn budgets(&self, heaps: Heaps<'_>, rule: BudgetRule) -> winsys::Result<Budgets> {
        // If the answer is recent, the words are passed to the budget computation in registers, not through memory.
        let last = self.last.read();
        if self.is_fresh(last) {
            return Ok(heaps.budgets(&last.0.usage, rule));
        }
        Ok(heaps.budgets(&self.newer_usage(heaps, last.0)?.usage, rule))
    }

    /// Returns the last answer, regardless of its age; `None` before the first.
    pub(in crate::heaps) fn last_usage(&self) -> Option<SystemUsage> {
        let (last, _) = self.last.read();
        (last.generation > 0).then_some(last.usage)
    }

    /// Returns the last answer if it is recent enough, otherwise a new one.
    pub(in crate::heaps) fn usage(&self, heaps: Heaps<'_>) -> winsys::Result<UsageReading> {
        let last = self.last.read();
        if self.is_fresh(last) { Ok(last.0) } else { self.newer_usage(heaps, last.0) }
    }

    /// Replaces an answer that is too old: returns a new one, or the old one while another thread queries the kernel.
    #[cold]
    fn newer_usage(&self, heaps: Heaps<'_>, old: UsageReading) -> winsys::Result<UsageReading> {
        let mut asked = match self.asking.try_lock() {
            Some(asked) => asked,
            None if old.generation > 0 => return Ok(old),
            None => self.asking.lock(),
        };
        // Another thread may have refreshed the answer.
        let last = self.last.read();
        if self.is_fresh(last) { Ok(last.0) } else { self.ask(heaps, &mut asked) }
    }

    /// Queries the kernel, regardless of the cached answer.
    pub(in crate::heaps) fn refresh(&self, heaps: Heaps<'_>) -> winsys::Result<UsageReading> {
        self.ask(heaps, &mut self.asking.lock())
    }

    fn ask(&self, heaps: Heaps<'_>, asked: &mut Asked) -> winsys::Result<UsageReading> {
        let _span = tracing::trace_span!("refresh-usage").entered();
        let usage = heaps.device.system_usage()?;
        let (last, _) = self.last.read();
        let reading = self.last.write(usage, self.clock.now());
        if last.generation == 0 || last.usage != usage {
            let SystemUsage { vram, visible_vram, gtt } = usage;
            let generation = reading.generation;
            heaps.device.notify(|| Event::BudgetChanged { generation, vram, visible_vram, gtt });
        }
        note_pressure(heaps, &usage, &mut asked.levels);
        Ok(reading)
    }

    /// Returns the number of moves by the kernel since the last call. Takes two ioctls.
    pub(in crate::heaps) fn poll_evictions(&self, device: &Device) -> winsys::Result<MoveCounters> {
        let mut asked = self.asking.lock();
        let now = device.move_counters()?;
        let moved = asked.moves.replace(now).map_or(MoveCounters::default(), |before| now.since(before));
        let MoveCounters { evictions, bytes_moved } = moved;
        if moved != MoveCounters::default() {
            tracing::debug!(evictions, bytes_moved, "the kernel moved memory");
            device.notify(|| Event::Evicted { evictions, bytes_moved });
        }
        Ok(moved)
    }
}

/// Notifies the observer of heaps whose pressure level has changed.
fn note_pressure(heaps: Heaps<'_>, system: &SystemUsage, levels: &mut [PressureLevel; MAX_HEAPS]) {
    let budgets = heaps.budgets(system, BudgetRule::Corrected);
    for ((heap, now), known) in (0..).zip(budgets.heaps()).zip(levels) {
        let level = now.pressure(*known);
        if level != *known {
            *known = level;
            tracing::debug!(heap, ?level, usage = now.usage, budget = now.budget, "memory pressure");
            heaps.device.notify(|| Event::Pressure { heap, level, usage: now.usage, budget: now.budget });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn answers_are_counted_beyond_32_bits_and_words_are_whole() {
        for answers in [0, u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 40] {
            let last = Snapshot { sequence: AtomicU64::new(2 * answers), ..Snapshot::default() };
            let usage = SystemUsage { vram: u64::MAX, visible_vram: 1 << 33, gtt: 1 << 34 };
            for generation in [answers + 1, answers + 2] {
                let taken = Duration::from_nanos(generation);
                let written = last.write(usage, taken);
                assert_eq!(written, UsageReading { usage, generation });
                assert_eq!(last.read(), (written, taken));
            }
        }
    }

    /// With readers and a writer at once, every reading consists of words that were written together.
    #[test]
    fn a_reading_is_one_answer_whole() {
        // Miri is slow.
        const ANSWERS: u64 = if cfg!(miri) { 100 } else { 20_000 };
        let last = Snapshot::default();
        thread::scope(|scope| {
            let reader = || {
                let mut seen = 0;
                while seen < ANSWERS {
                    let (UsageReading { usage, generation }, taken) = last.read();
                    let SystemUsage { vram, visible_vram, gtt } = usage;
                    assert_eq!((vram, visible_vram, gtt), (generation, generation * 2, generation * 3));
                    assert_eq!(taken, Duration::from_nanos(generation));
                    assert!(generation >= seen, "answers do not go back");
                    seen = generation;
                }
            };
            for _ in 0..2 {
                scope.spawn(reader);
            }
            for n in 1..=ANSWERS {
                let usage = SystemUsage { vram: n, visible_vram: n * 2, gtt: n * 3 };
                assert_eq!(last.write(usage, Duration::from_nanos(n)).generation, n);
            }
        });
    }
}
