//! Addresses that are reserved for replayable leases.

use super::{VaRange, VaWindow, Windows};

/// Shift for the share of a 64-bit window, a quarter.
const QUARTER: u32 = 2;
/// Shift for the share of a 32-bit window, where addresses are scarce, an eighth.
const EIGHTH: u32 = 3;

/// The part of each window that is reserved for replayable leases: the top quarter, or the top eighth of a 32-bit window.
///
/// An application captures an address in one run and requests it in a later one. It is available only if no other allocation
/// has taken it, and a driver's other allocations differ from run to run. With a part of the window reserved,
/// [`Placement::Lowest`](super::Placement::Lowest) never places a lease there, and
/// [`Placement::Highest`](super::Placement::Highest) always does, so that replayable leases compete only with each other, in
/// the order that the application determines. Fixed addresses can be leased anywhere, so addresses that another driver captured
/// work too.
///
/// RADV only searches from the other end: when a window fills up, both kinds of addresses meet, and an ordinary buffer can
/// occupy a captured address (Mesa 25.0.7, `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`; libdrm 2.4.124,
/// `amdgpu_vamgr.c`, `amdgpu_vamgr_find_va`). The first replayable address is the same in both, at the top of the window.
///
/// ```
/// use amdgpu_va::{VaManager, VaRequest, VaWindow};
///
/// # let limits = amdgpu_va::VaLimits {
/// #     low_offset: 0x1_0000,
/// #     low_max: 0x8000_0000_0000,
/// #     high_offset: 0xffff_8000_0000_0000,
/// #     high_max: 0xffff_ffff_ffbf_0000,
/// #     alignment: 4096,
/// #     pte_fragment: 2 << 20,
/// #     half_for_sparse: false,
/// # };
/// # let manager = amdgpu_va::VaManager::new(&limits)?;
/// # let limits_of_the_device = limits;
/// let manager = VaManager::with_replay_windows(&limits_of_the_device)?;
/// let kept = manager.replay_windows().ok_or("none")?.range(VaWindow::High);
/// let replayable = manager.allocate(VaRequest::new(1 << 20).highest())?;
/// let ordinary = manager.allocate(VaRequest::new(1 << 20))?;
/// assert!(kept.includes(replayable.range()) && !kept.contains(ordinary.start()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayWindows {
    ranges: [VaRange; 4],
}

impl ReplayWindows {
    /// Computes the reserved parts of `windows`, whose first addresses are multiples of `granule` (a power of two).
    pub(super) fn new(windows: &Windows, granule: u64) -> Self {
        Self { ranges: VaWindow::ALL.map(|window| top_of(windows.range(window), window, granule)) }
    }

    /// Returns the addresses that are reserved in `window`; empty if the window is.
    pub const fn range(&self, window: VaWindow) -> VaRange {
        self.ranges[window.index()]
    }
}

fn top_of(range: VaRange, window: VaWindow, granule: u64) -> VaRange {
    let share = if window.in_32_bits() == window { EIGHTH } else { QUARTER };
    // The window ends at a multiple of the granule, so a part whose size is a multiple also starts at one.
    let len = (range.len() >> share) & !(granule - 1);
    let start = range.start().as_u64().wrapping_add(range.len() - len);
    VaRange::of_48_bits(start, len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VaLimits;

    #[test]
    fn the_kept_addresses_are_the_top_of_each_window() {
        let windows = Windows::new(&VaLimits {
            low_offset: 0x1_0000,
            low_max: 1 << 47,
            high_offset: 0xffff_8000_0000_0000,
            high_max: 0xffff_ffff_ffbf_0000,
            alignment: 4096,
            pte_fragment: 2 << 20,
            half_for_sparse: false,
        })
        .unwrap();
        let replay = ReplayWindows::new(&windows, 4096);
        for window in VaWindow::ALL {
            let (all, kept) = (windows.range(window), replay.range(window));
            assert!(all.includes(kept) && all.end() == kept.end(), "{window}: {kept:?} of {all:?}");
            let share = if window.in_32_bits() == window { 8 } else { 4 };
            assert_eq!(kept.len() / 4096, all.len() / share / 4096, "{window}");
            assert!(kept.start().is_aligned(4096));
        }
    }

    #[test]
    fn what_is_kept_is_whole_granules_whatever_the_window() {
        for (granules, granule) in (0..40).flat_map(|granules| [4096, 1 << 16].map(|granule| (granules, granule))) {
            for window in VaWindow::ALL {
                let range = VaRange::of_48_bits(1 << 40, granules * granule);
                let kept = top_of(range, window, granule);
                let share = if window.in_32_bits() == window { 8 } else { 4 };
                assert_eq!(kept.len(), granules / share * granule, "{window}: {granules} of {granule}");
                assert_eq!(kept.end(), range.end(), "{window}: {granules} of {granule}");
            }
        }
    }

    #[test]
    fn an_empty_window_keeps_nothing() {
        let limits = VaLimits {
            low_offset: 0x1_0000,
            low_max: 1 << 30,
            high_offset: 0,
            high_max: 0,
            alignment: 4096,
            pte_fragment: 2 << 20,
            half_for_sparse: false,
        };
        let replay = ReplayWindows::new(&Windows::new(&limits).unwrap(), 4096);
        assert!(replay.range(VaWindow::Low).is_empty() && replay.range(VaWindow::High).is_empty());
    }
}
