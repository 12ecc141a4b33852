//! Submissions to a video ring.

use super::VideoIb;
use crate::{
    cs::{Fence, SyncPoint},
    winsys::Resident,
};

/// A submission to a video ring: IBs that run in order, and what they touch.
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
    /// The IBs, at least one; at most one but for JPEG ([`GpuInfo::max_ibs`](crate::winsys::GpuInfo::max_ibs)).
    pub ibs: &'a [VideoIb<'a>],
    /// The memory that the engine reads or writes: streams, pictures, sessions. Resident while the IBs run, and kept alive
    /// until the queue has noticed their end.
    pub memory: &'a dyn Resident,
    /// Sync objects that must have signalled first; one without a fence yet is waited for inside the kernel, five seconds at
    /// most.
    pub waits: &'a [SyncPoint<'a>],
    /// Sync objects that signal when the IBs are done.
    pub signals: &'a [SyncPoint<'a>],
    /// Submissions to other queues of this device that must have finished first.
    pub after: &'a [&'a Fence],
}
