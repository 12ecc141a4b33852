//! The ranges at the address of a page fault, if `AMDGPU_WINSYS_FAULTS` asks for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, VaFlags, VaOperation},
    vamgr::{GpuVa, VaRange},
    winsys::{Event, Observer as _, PageFault, VaMap},
};

use crate::environment;

/// Number of ranges that are remembered after they were unmapped.
const MOST_FREED: usize = 4096;

/// The ranges that a device has mapped for the GPU.
#[derive(Debug)]
pub(crate) struct Faults {
    map: VaMap,
    /// The page that was told last, so that a fault is told once.
    told: AtomicU64,
}

impl Faults {
    /// Returns an empty map if the variable asks for it.
    pub(super) fn from_environment() -> Option<Self> {
        let asked =
            environment::variable("AMDGPU_WINSYS_FAULTS").is_some_and(|value| !value.is_empty() && value != "0");
        asked.then(|| Self { map: VaMap::new(MOST_FREED), told: AtomicU64::new(0) })
    }

    /// Notes a BO, which has a handle from now on.
    pub(crate) fn opened(&self, handle: u32, size: u64) {
        let (domains, flags) = (GemDomain::empty(), GemCreateFlags::empty());
        self.map.observe(&Event::BoOpened { handle, size, domains, flags });
    }

    /// Returns what is mapped at a fault; `None` if this page was told last.
    pub(super) fn explain(&self, fault: &PageFault) -> Option<String> {
        let page = fault.page.as_u64();
        (self.told.swap(page, Relaxed) != page).then(|| self.map.explain(fault))
    }

    /// Notes the end of a BO. The kernel ends its mappings.
    pub(crate) fn closed(&self, handle: u32) {
        for place in self.map.live().into_iter().filter(|place| place.handle == handle) {
            self.map.observe(&Event::Unbound { range: place.range });
        }
        self.map.observe(&Event::BoClosed { handle });
    }

    /// Notes a request about addresses that the kernel granted.
    pub(crate) fn changed(&self, handle: u32, bo_offset: u64, address: u64, size: u64, operation: u32) {
        let Some(range) = GpuVa::new(address).ok().and_then(|start| VaRange::new(start, size)) else { return };
        let binds = [VaOperation::Map as u32, VaOperation::Replace as u32].contains(&operation);
        self.map.observe(&if binds && handle != 0 {
            Event::Bound { range, handle, bo_offset, flags: VaFlags::empty() }
        } else {
            Event::Unbound { range }
        });
    }
}
