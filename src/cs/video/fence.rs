//! Fences of video queues.

use std::{fmt, os::fd::OwnedFd, sync::Arc};

use super::{VideoError, state::State};
use crate::winsys::{Deadline, Syncobj};

/// A submission's position on its [`VideoQueue`](super::VideoQueue). It is signalled when the submission and all earlier ones have
/// ended.
///
/// The kernel identifies it by its sequence number, which is never written to memory: every query is an ioctl. To make another ring
/// wait for it, use [`VideoFence::to_syncobj`] or a sync object that the submission signals.
///
/// ```
/// use std::time::Duration;
/// use amdgpu_sim::{SimDevice, SimOptions, profile};
/// use amdgpu_winsys::{
///     cs::{VideoIb, VideoQueue, VideoSubmission},
///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
///     winsys::{Context, Deadline, Device, Ip, Priority},
/// };
///
/// let options = SimOptions { video: true, ..SimOptions::default() };
/// let device = Device::new(SimDevice::new(profile("navi21").ok_or("no such chip")?, options).open())?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let memory = manager.allocate(&AllocateInfo::new(upload, 4096))?;
/// memory.map()?.write_dwords(0, &[0x81ff, 0].repeat(8))?;
///
/// let queue = VideoQueue::new(&Context::new(&device, Priority::Normal)?, Ip::VcnDec, 0)?;
/// let ib = VideoIb { memory: memory.binding(), offset: 0, dwords: 16 };
/// let fence = queue.submit(&VideoSubmission { ibs: &[ib], ..VideoSubmission::default() })?;
/// assert!(fence.to_syncobj()?.wait(Deadline::after(Duration::from_secs(10)))?);
/// assert!(fence.is_done()? && fence.sequence() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VideoFence {
    state: Arc<State>,
    sequence: u64,
}

impl fmt::Debug for VideoFence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VideoFence")
            .field("ip", &self.state.ip)
            .field("ring", &self.state.ring)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

impl VideoFence {
    pub(super) fn new(state: Arc<State>, sequence: u64) -> Self {
        Self { state, sequence }
    }

    /// Returns the kernel's sequence number, which counts the submissions of a queue from 1.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Waits for the submission, and releases the resources of it and all earlier ones. Returns `false` if the deadline passes
    /// first.
    ///
    /// Request: AMDGPU_WAIT_CS.
    ///
    /// # Errors
    ///
    /// [`VideoError::Winsys`] with [`DeviceLost`](crate::winsys::Error::DeviceLost) if the job was lost to a reset.
    pub fn wait(&self, deadline: Deadline) -> Result<bool, VideoError> {
        self.state.wait(self.sequence, deadline)
    }

    /// Returns `true` if the submission has ended. Makes one ioctl.
    ///
    /// # Errors
    ///
    /// The errors of [`VideoFence::wait`].
    pub fn is_done(&self) -> Result<bool, VideoError> {
        self.wait(Deadline::POLL)
    }

    /// Creates a sync object that contains this fence.
    ///
    /// # Errors
    ///
    /// [`VideoError::Winsys`] if the kernel refuses or the job was lost.
    pub fn to_syncobj(&self) -> Result<Syncobj, VideoError> {
        let State { context, ip, ring, .. } = &*self.state;
        Ok(context.fence_to_syncobj(*ip, *ring, self.sequence)?)
    }

    /// Creates a sync file: a descriptor that is readable when the submission has ended. It is closed on exec.
    ///
    /// # Errors
    ///
    /// [`VideoError::Winsys`] if the kernel refuses or the job was lost.
    pub fn to_sync_file(&self) -> Result<OwnedFd, VideoError> {
        let State { context, ip, ring, .. } = &*self.state;
        Ok(context.fence_to_sync_file(*ip, *ring, self.sequence)?)
    }
}
