//! Requests of a program to a VA manager, in any order.

use std::collections::BTreeMap;

use amdgpu_fuzz::reach::Reach;
use amdgpu_winsys::vamgr::{VaLimits, VaManager, VaRequest, VaWindow, WindowStats};

static REACH: Reach = Reach::new("addresses::any_requests_are_refused_or_granted_without_overlap");

const LIMITS: VaLimits = VaLimits {
    low_offset: 0x1_0000,
    low_max: 1 << 47,
    high_offset: 0xffff_8000_0000_0000,
    high_max: 0xffff_ffff_ffbf_0000,
    alignment: 4096,
    pte_fragment: 2 << 20,
    half_for_sparse: false,
};

#[test]
fn any_requests_are_refused_or_granted_without_overlap() {
    bolero::check!().with_type::<Vec<(u8, u64, u64, u8)>>().with_iterations(2_000).for_each(|steps| {
        let manager = VaManager::new(&LIMITS).expect("limits of a real chip");
        // The memory of its own that it keeps for the next leases is no part of this.
        let stats = || VaWindow::ALL.map(|window| WindowStats { host_memory: 0, ..manager.stats(window) });
        let before = stats();
        let mut live = BTreeMap::new();
        for &(kind, size, alignment, pick) in steps {
            if kind % 4 == 3 {
                let start = live.keys().nth(usize::from(pick) % live.len().max(1)).copied();
                start.map(|start| live.remove(&start));
                continue;
            }
            // Sizes and alignments of every magnitude.
            let request = VaRequest::new(size >> (pick % 64)).aligned(alignment >> (kind % 64));
            let request = request.within(VaWindow::ALL[usize::from(pick) % VaWindow::ALL.len()]);
            let request = if kind % 2 == 0 { request } else { request.highest() };
            let Ok(lease) = manager.allocate(request) else { continue };
            let (start, len) = (lease.start().as_u64(), lease.range().len());
            let end = start.checked_add(len).expect("a lease ends below the end");
            let below = live.range(..end).next_back().map(|(&start, &(len, _))| start + len);
            assert!(below.is_none_or(|below: u64| below <= start), "{start:#x} overlaps");
            live.insert(start, (len, lease));
        }
        REACH.count(!live.is_empty());
        drop(live);
        assert_eq!(stats(), before);
    });
    REACH.report();
}
