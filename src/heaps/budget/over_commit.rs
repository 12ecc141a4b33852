//! The error of a working set that does not fit.

use std::fmt;

/// The error that a working set does not fit into memory at once. Its submission would fail with ENOMEM.
///
/// ```
/// use amdgpu_winsys::heaps::{OverCommit, Pool};
///
/// let error = OverCommit { pool: Pool::Gtt, needed: 3 << 30, usable: 2 << 30 };
/// let excess = error.needed - error.usable; // bytes that must leave the submission
/// assert_eq!(excess, 1 << 30);
/// assert!(error.to_string().contains("3221225472"), "{error}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a working set needs {needed} bytes of {pool} at once, which has {usable} usable")]
pub struct OverCommit {
    /// The pool that is too small.
    pub pool: Pool,
    /// Bytes that must be resident in the pool at once.
    pub needed: u64,
    /// Bytes of the pool that BOs can use; excludes pinned memory.
    pub usable: u64,
}

/// The memory pools in which BOs can be resident.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateFlags, AllocateInfo, Pool, WorkingSet, WorkingSetError};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let properties = manager.properties();
/// let (mut set, heap) = (WorkingSet::new(), properties.heaps()[0].size);
/// let flags = AllocateFlags::LISTED | AllocateFlags::NO_SPILL;
/// let half = AllocateInfo { flags, ..AllocateInfo::new(0, heap / 8 * 5) };
/// let memories = [manager.allocate(&half)?, manager.allocate(&half)?];
/// memories.iter().for_each(|memory| set.add(memory.binding()));
/// let error = manager.check_working_set(&set).unwrap_err();
/// assert!(matches!(error, WorkingSetError::DoesNotFit(over) if over.pool == Pool::Vram && over.needed == set.bytes()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pool {
    /// VRAM, for BOs that can be placed only there.
    Vram,
    /// GTT, for BOs that can be placed only there.
    Gtt,
    /// VRAM and GTT together, for all BOs.
    Both,
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vram => "VRAM",
            Self::Gtt => "GTT",
            Self::Both => "VRAM and GTT",
        })
    }
}
