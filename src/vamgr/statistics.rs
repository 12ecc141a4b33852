//! Statistics of a window: its use, and the fragmentation of its free addresses.

use amdgpu_hw::num::index;

/// The number of holes in each size class. Class `n` contains sizes of at least 2^n and less than 2^(n+1) bytes.
///
/// ```
/// use amdgpu_va::HoleHistogram;
///
/// let holes: HoleHistogram = [4096, 8191, 8192, 1 << 40].into_iter().collect();
/// assert_eq!(holes.classes().collect::<Vec<_>>(), [(12, 2), (13, 1), (40, 1)]);
/// assert_eq!((holes.count(), holes.fitting(8192)), (4, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoleHistogram {
    counts: [u64; 64],
}

impl HoleHistogram {
    /// Returns the classes that have holes and the number of their holes, in ascending order.
    pub fn classes(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).zip(self.counts).filter(|&(_, count)| count > 0)
    }

    /// Returns the total number of holes.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of holes that certainly fit `bytes` without regard to alignment: those in larger classes, and those
    /// in the same class if `bytes` is a power of two.
    pub fn fitting(&self, bytes: u64) -> u64 {
        let class = bytes.max(1).checked_next_power_of_two().map_or(64, u64::trailing_zeros);
        self.classes().filter(|&(size, _)| size >= class).map(|(_, count)| count).sum()
    }
}

impl FromIterator<u64> for HoleHistogram {
    /// Counts sizes in bytes. Sizes of 0 are ignored.
    fn from_iter<I: IntoIterator<Item = u64>>(sizes: I) -> Self {
        let mut counts = [0; 64];
        for class in sizes.into_iter().filter_map(u64::checked_ilog2) {
            if let Some(count) = counts.get_mut(index(class)) {
                *count += 1;
            }
        }
        Self { counts }
    }
}

/// Current statistics of a window, in bytes unless stated otherwise.
///
/// ```
/// use amdgpu_va::{VaRequest, VaWindow};
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
/// let (first, _second) = (manager.allocate(VaRequest::new(4096))?, manager.allocate(VaRequest::new(8192))?);
/// drop(first);
/// let stats = manager.stats(VaWindow::High);
/// assert_eq!((stats.leases, stats.leased, stats.holes), (1, 8192, 2));
/// assert_eq!(stats.free - stats.largest_hole, 4096); // the hole in front
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowStats {
    /// Number of live leases in the window.
    pub leases: u64,
    /// Total size of the leases.
    pub leased: u64,
    /// Total size of the holes.
    pub free: u64,
    /// Number of holes between the leases.
    pub holes: u64,
    /// Size of the largest hole.
    pub largest_hole: u64,
    /// Host memory that the window's data occupies.
    pub host_memory: usize,
}

impl WindowStats {
    /// Returns the share of the free addresses that is not in the largest hole, in thousandths: 0 if there is at most one hole,
    /// and almost 1000 if all holes are small.
    pub fn fragmentation_permille(&self) -> u64 {
        let scattered = u128::from(self.free.saturating_sub(self.largest_hole));
        match scattered.checked_mul(1000).and_then(|scattered| scattered.checked_div(self.free.into())) {
            // At most 1000.
            Some(permille) => u64::try_from(permille).unwrap_or(1000),
            None => 0,
        }
    }
}
