//! Submissions to a video ring.

use super::VideoIb;
use crate::{
    cs::{Fence, Keep, SyncPoint},
    winsys::Resident,
};

/// A submission to a video ring: IBs that run in order, and the memory that they access.
///
/// ```
/// use amdgpu_winsys::{cs::{SyncPoint, VideoIb, VideoSubmission}, winsys::Syncobj};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let commands = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(0, 4096))?;
/// # let pictures = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(0, 4096))?;
/// let decoded = Syncobj::new(&device, false)?;
/// let submission = VideoSubmission {
///     ibs: &[VideoIb { memory: commands.binding(), offset: 0, dwords: 64 }],
///     memory: &pictures,
///     signals: &[SyncPoint::binary(&decoded)],
///     ..VideoSubmission::default()
/// };
/// assert_eq!(submission.memory.binding_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct VideoSubmission<'a> {
    /// The IBs to execute, in order; at least one. Only JPEG rings accept more than one
    /// ([`GpuInfo::max_ibs`](crate::winsys::GpuInfo::max_ibs)).
    pub ibs: &'a [VideoIb<'a>],
    /// The memory that the engine reads or writes: bitstreams, pictures, sessions. It is resident while the IBs run, and kept alive
    /// until the queue has retired the submission, unless `keep` says otherwise.
    pub memory: &'a dyn Resident,
    /// Sync objects that must signal before the IBs run. If a sync object has no fence yet, the kernel blocks the caller until it
    /// has one, for at most five seconds.
    pub waits: &'a [SyncPoint<'a>],
    /// Sync objects that signal when the IBs have completed.
    pub signals: &'a [SyncPoint<'a>],
    /// Submissions to other queues of this device that must have completed first.
    pub after: &'a [&'a Fence],
    /// Resources that the queue keeps alive until it has retired the submission. IBs count as lists.
    pub keep: Keep,
}
