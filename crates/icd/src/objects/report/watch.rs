//! The observer of a GPU, which finds memory that is not a Vulkan object's.

use std::{
    cell::Cell,
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_winsys::{
    heaps::MemoryManager,
    winsys::{Device, Event, FaultReport, Observer, VaMap},
};
use ash::vk;
use parking_lot::Mutex;

use super::Reports;
use crate::{border::Failure, objects::Program};

/// The number of ranges that are remembered after they were unbound.
const FREED_RANGES: usize = 256;

thread_local! {
    /// `true` while this thread allocates or frees memory that the driver reports with its Vulkan object.
    static IS_REPORTED: Cell<bool> = const { Cell::new(false) };
}

/// The observer of a GPU's library objects. It reports memory that the library allocates for itself, such as that of recorded
/// commands. Memory that belongs to a Vulkan object is reported by the command that creates the object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// `true` if a device reports its memory. Without one and without a map, an event costs two loads.
    has_listeners: AtomicBool,
    /// The addresses of all objects since a device needs them to explain faults.
    map: OnceLock<VaMap>,
    state: Mutex<State>,
}

/// The device that reports a BO, and the number of the report.
type Reported = (Weak<Reports>, u64);

#[derive(Debug, Default)]
struct State {
    /// The devices that report their memory. The first one that still exists reports the memory of the library, which all share.
    listeners: Vec<Weak<Reports>>,
    /// The open BOs by handle, with the number of their report, or `None` for those of Vulkan objects. The kernel may reuse a handle
    /// before the event of its closing arrives, so that a handle may have several BOs, the oldest first.
    open: BTreeMap<u32, VecDeque<Option<Reported>>>,
}

impl Watch {
    /// Creates the reports that a program requests for a device. They get memory of the library and its addresses from now on.
    pub(crate) fn reports(
        &self,
        info: &vk::DeviceCreateInfo<'_>,
        manager: &MemoryManager,
        program: &Arc<Program>,
    ) -> Arc<Reports> {
        let reports = Arc::new(Reports::new(info, manager, program));
        if reports.is_on() {
            self.listen(&reports);
        }
        reports
    }

    fn listen(&self, reports: &Arc<Reports>) {
        let mut state = self.0.state.lock();
        state.listeners.retain(|other| other.strong_count() > 0);
        state.listeners.push(Arc::downgrade(reports));
        self.0.has_listeners.store(true, Ordering::Release);
    }

    /// Keeps the addresses of objects from now on, so that a fault is explained by the object at its address.
    pub(crate) fn keep_map(&self) {
        self.0.map.get_or_init(|| VaMap::new(FREED_RANGES));
    }

    /// Returns the last page fault of a device of this watch; `None` if there was none.
    ///
    /// # Errors
    ///
    /// The errors of the kernel.
    pub(crate) fn fault_report(&self, device: &Device) -> Result<Option<FaultReport>, Failure> {
        let nothing_known = VaMap::new(0);
        Ok(device.fault_report(self.0.map.get().unwrap_or(&nothing_known), None)?)
    }

    /// Calls a function that allocates or frees the memory of a Vulkan object.
    pub(crate) fn of_object<T>(work: impl FnOnce() -> T) -> T {
        let before = IS_REPORTED.replace(true);
        let result = work();
        IS_REPORTED.set(before);
        result
    }
}

impl Observer for Watch {
    fn observe(&self, event: &Event) {
        if let Some(map) = self.0.map.get() {
            map.observe(event);
        }
        if !self.0.has_listeners.load(Ordering::Acquire) {
            return;
        }
        match *event {
            Event::BoOpened { handle, size, domains, .. } => {
                let mut state = self.0.state.lock();
                let listener = state.listeners.iter().find_map(Weak::upgrade).filter(|_| !IS_REPORTED.get());
                let number = listener.as_ref().map(|listener| (Arc::downgrade(listener), super::memory_id::serial()));
                let reported = listener.zip(number.as_ref().map(|(_, number)| *number));
                state.open.entry(handle).or_default().push_back(number);
                drop(state);
                if let Some((listener, number)) = reported {
                    listener.library_allocated(number, size, domains);
                }
            }
            Event::BoClosed { handle } => {
                let mut state = self.0.state.lock();
                let Some(bos) = state.open.get_mut(&handle) else { return };
                let closed = bos.pop_front().flatten();
                if bos.is_empty() {
                    state.open.remove(&handle);
                }
                drop(state);
                if let Some((listener, number)) = closed
                    && let Some(listener) = listener.upgrade()
                {
                    listener.library_freed(number);
                }
            }
            Event::Bound { range, handle, .. } => {
                let state = self.0.state.lock();
                let bo = state.open.get(&handle).and_then(|bos| bos.back()).and_then(Option::as_ref);
                let listener = bo.and_then(|(listener, _)| listener.upgrade());
                drop(state);
                if let Some(listener) = listener {
                    listener.library_bound(range.start().as_u64(), range.len());
                }
            }
            Event::Unbound { range } => {
                let listeners = self.0.state.lock().listeners.clone();
                for listener in listeners.iter().filter_map(Weak::upgrade) {
                    listener.library_unbound(range.start().as_u64());
                }
            }
            _ => {}
        }
    }
}
