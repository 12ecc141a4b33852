//! Candidates of the measurement: the index that ships, the manager around it, and the structures it was chosen over.

use std::num::NonZeroU64;

use amdgpu_winsys::vamgr::{Holes, Step, VaLease, VaLimits, VaManager, VaRequest, VaWindow};

/// The pages of the low window of a GFX9 GPU.
pub(crate) const FIRST: u64 = 1 << 20;
pub(crate) const END: u64 = 1 << 35;

/// A first-fit allocator of pages.
pub(crate) trait Candidate {
    /// State kept for a taken range.
    type Lease;
    const NAME: &'static str;
    /// Live ranges it is not measured beyond: it would take minutes.
    const LIMIT: u64 = u64::MAX;

    fn new() -> Self;
    /// The lowest run that fits. Pages.
    fn take(&mut self, len: u64, align: u64) -> Option<Self::Lease>;
    fn give(&mut self, lease: Self::Lease);
    fn start(lease: &Self::Lease) -> u64;
    /// Host memory of the books themselves.
    fn host_bytes(&self) -> usize;
}

/// First page and number of pages.
pub(crate) type Run = (u64, u64);

impl Candidate for Holes {
    type Lease = Run;
    const NAME: &'static str = "Holes, the index alone";

    fn new() -> Self {
        Self::new(FIRST..END).unwrap()
    }

    fn take(&mut self, len: u64, align: u64) -> Option<Run> {
        self.take_lowest(len, Step::new(NonZeroU64::new(align)?)).ok().map(|start| (start, len))
    }

    fn give(&mut self, (start, len): Run) {
        Self::give(self, start, len).unwrap();
    }

    fn start(lease: &Run) -> u64 {
        lease.0
    }

    fn host_bytes(&self) -> usize {
        Self::host_bytes(self)
    }
}

impl Candidate for VaManager {
    type Lease = VaLease;
    const NAME: &'static str = "VaManager: lock, checks and leases";

    fn new() -> Self {
        Self::new(&VaLimits {
            low_offset: 0x1_0000,
            low_max: END << 12,
            high_offset: 0,
            high_max: 0,
            alignment: 4096,
            pte_fragment: 2 << 20,
            half_for_sparse: false,
        })
        .unwrap()
    }

    fn take(&mut self, len: u64, align: u64) -> Option<VaLease> {
        self.allocate(VaRequest::new(len << 12).aligned(align << 12)).ok()
    }

    fn give(&mut self, lease: VaLease) {
        drop(lease);
    }

    fn start(lease: &VaLease) -> u64 {
        lease.start().as_u64() >> 12
    }

    fn host_bytes(&self) -> usize {
        self.stats(VaWindow::Low).host_memory
    }
}
