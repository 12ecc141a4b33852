//! Recent events of BOs and their bindings.

use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use amdgpu_hw::num::wide;
use parking_lot::Mutex;

use crate::{vamgr::GpuVa, winsys::Event};

/// An event in a [`BoHistory`], with its number and time.
///
/// ```
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, TableOptions}, winsys::{BoHistory, Device}};
///
/// let history = BoHistory::new(2);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::with_observer(kernel, history.clone())?;
/// drop(MemoryManager::new(&device, &TableOptions::default())?.allocate(&AllocateInfo::new(0, 4096))?);
/// let entries = history.entries(); // the last two
/// assert_eq!(entries[0].number, history.forgotten());
/// assert!(entries[0].at <= entries[1].at);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Number of the event, counted from 0.
    pub number: u64,
    /// Time since the history was created.
    pub at: Duration,
    /// The recorded event.
    pub event: Event,
}

/// A bounded history of the last events of BOs and their bindings. RADV's log instead grows for the lifetime of the device
/// and is never freed (Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_log_bo`).
///
/// A [`VaMap`](crate::winsys::VaMap) records the last binding at an address; a history records the order of events there. To have
/// both, use a `Vec` of them as the observer.
///
/// A `BoHistory` is a reference-counted handle: its clones are the same history and compare equal.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, TableOptions}, winsys::{BoHistory, Device}};
///
/// let history = BoHistory::new(64);
/// let kernel = SimKernel::open(profile("navi21").ok_or("no such chip")?);
/// let device = Device::with_observer(kernel, history.clone())?;
/// let memory = MemoryManager::new(&device, &TableOptions::default())?.allocate(&AllocateInfo::new(0, 4096))?;
/// assert_eq!(history.about(memory.address().as_u64()).len(), 1); // its binding
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoHistory(Arc<State>);

/// Two handles are equal if they refer to the same history.
impl PartialEq for BoHistory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for BoHistory {}

/// The state that all handles of a history share.
#[derive(Debug)]
struct State {
    start: Instant,
    most: usize,
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    entries: VecDeque<HistoryEntry>,
    /// The number of events so far.
    count: u64,
}

impl BoHistory {
    /// Creates a history of the last `most` events, and allocates its memory, about 64 bytes for each event.
    pub fn new(most: usize) -> Self {
        let ring = Ring { entries: VecDeque::with_capacity(most), count: 0 };
        Self(Arc::new(State { start: Instant::now(), most, ring: Mutex::new(ring) }))
    }

    /// Returns the recorded events, oldest first.
    pub fn entries(&self) -> Vec<HistoryEntry> {
        self.0.ring.lock().entries.iter().copied().collect()
    }

    /// Returns the number of events that have been dropped from the history.
    pub fn forgotten(&self) -> u64 {
        let ring = self.0.ring.lock();
        ring.count.saturating_sub(wide(ring.entries.len()))
    }

    /// Returns the recorded map and unmap events of an address, oldest first. `address` may be canonical or truncated to 48 bits,
    /// as for [`VaMap::lookup`](crate::winsys::VaMap::lookup).
    pub fn about(&self, address: u64) -> Vec<HistoryEntry> {
        let at = GpuVa::from_48_bits(address);
        let is_about = |entry: &&HistoryEntry| entry.event.addresses().is_some_and(|range| range.contains(at));
        self.0.ring.lock().entries.iter().filter(is_about).copied().collect()
    }

    /// Returns the recorded events of a handle, oldest first. If the kernel reused the handle, they belong to several BOs.
    pub fn of_handle(&self, wanted: u32) -> Vec<HistoryEntry> {
        let is_about = |entry: &&HistoryEntry| entry.event.handle() == Some(wanted);
        self.0.ring.lock().entries.iter().filter(is_about).copied().collect()
    }
}

impl BoHistory {
    /// Records an event.
    pub(super) fn note(&self, event: &Event) {
        if event.handle().is_none() && event.addresses().is_none() {
            return;
        }
        let at = self.0.start.elapsed();
        let mut ring = self.0.ring.lock();
        let number = ring.count;
        ring.count += 1;
        if ring.entries.len() >= self.0.most {
            ring.entries.pop_front();
        }
        if self.0.most > 0 {
            ring.entries.push_back(HistoryEntry { number, at, event: *event });
        }
    }
}

impl fmt::Display for HistoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s: ", self.at.as_secs_f64())?;
        match self.event {
            Event::BoOpened { handle, size, domains, .. } => {
                write!(f, "BO {handle} opened, {size} bytes in {domains:?}")
            }
            Event::BoClosed { handle } => write!(f, "BO {handle} closed"),
            Event::Allocated { handle, memory_type, .. } => {
                write!(f, "BO {handle} became memory of type {memory_type}")
            }
            Event::Bound { range, handle, bo_offset, flags } => {
                let (start, len) = (range.start(), range.len());
                write!(f, "{len} bytes at {start} bound to BO {handle} from byte {bo_offset} on, {flags:?}")
            }
            Event::Unbound { range } => write!(f, "{} bytes at {} unbound", range.len(), range.start()),
            Event::Mapped { handle, len, .. } => write!(f, "{len} bytes of BO {handle} mapped"),
            Event::Unmapped { handle, len, .. } => write!(f, "{len} bytes of BO {handle} unmapped"),
            other => write!(f, "{other:?}"),
        }
    }
}
