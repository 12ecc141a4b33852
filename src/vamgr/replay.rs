//! Addresses that only replayable leases take.

use super::{VaRange, VaWindow, Windows};

/// Shift that makes the share of a 64-bit window: a quarter.
const QUARTER: u32 = 2;
/// Shift that makes the share of a 32-bit window, where addresses are scarce: an eighth.
const EIGHTH: u32 = 3;

/// The part of each window that is kept for replayable leases: its top quarter, or eighth if the window is one of 4 GiB.
///
/// An application captures an address in one run and asks for it in a later one. It is free only if no other allocation has
/// taken it first, and what else a driver allocates differs from run to run. With a sub-window of its own,
/// [`Placement::Lowest`](super::Placement::Lowest) never places a lease in there, and
/// [`Placement::Highest`](super::Placement::Highest) always does: only replayable leases compete, and those the
/// application orders itself. Fixed addresses are had anywhere, so addresses that another driver captured are tried too.
///
/// RADV only searches from the other end: addresses of both kinds meet when a window fills, and an ordinary buffer can
/// hold a captured address (Mesa 25.0.7, `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create`; libdrm 2.4.124,
/// `amdgpu_vamgr.c`, `amdgpu_vamgr_find_va`). The first replayable address is the same here as there, the window's top.
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
    /// The sub-windows of `windows`, whose first addresses are multiples of `granule` (a power of two).
    pub(super) fn new(windows: &Windows, granule: u64) -> Self {
        Self { ranges: VaWindow::ALL.map(|window| top_of(windows.range(window), window, granule)) }
    }

    /// Returns the addresses kept in `window`; empty where the window is.
    pub const fn range(&self, window: VaWindow) -> VaRange {
        self.ranges[window.index()]
    }
}

fn top_of(range: VaRange, window: VaWindow, granule: u64) -> VaRange {
    let share = if window.in_32_bits() == window { EIGHTH } else { QUARTER };
    // The window ends on a multiple of the granule, so its last part of a multiple starts on one.
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
