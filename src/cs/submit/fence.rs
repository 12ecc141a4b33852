//! Fences: points of completion on a queue.

use std::{
    fmt,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::state::QueueState;
use crate::{
    cs::PollableError,
    uapi::{CsChunkDep, Errno},
    winsys::{Deadline, Device, Error as WinsysError, KernelError, Syncobj, Until, WaitFor, wait_fences},
};

/// A submission's position on its queue. It is signalled when the submission and all earlier ones have completed.
///
/// ```
/// use amdgpu_winsys::{cs::{Fence, Submission}, winsys::{Deadline, WaitFor}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let first = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?;
/// let second = queue.submit(&Submission { lists: &[&list], after: &[&first], ..Submission::default() })?;
/// assert_eq!((first.sequence(), second.sequence()), (1, 2));
/// assert!(Fence::wait_many(&[&first, &second], WaitFor::All, Deadline::NEVER)?.is_some());
/// assert!(first.is_signalled() && second.outcome()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Fence {
    state: Arc<QueueState>,
    sequence: u64,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence")
            .field("ip", &self.state.ip)
            .field("ring", &self.state.ring)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

impl Fence {
    pub(super) fn new(state: Arc<QueueState>, sequence: u64) -> Self {
        Self { state, sequence }
    }

    /// Returns the kernel's sequence number, which counts the submissions of a queue from 1; 0 if the queue was never used.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns `true` if the GPU has written the sequence number. Makes no ioctl. A job that was lost to a GPU reset never signals
    /// this way; use [`Fence::wait`]. A job that the kernel stopped alone does signal, because the ring continues after it (Linux
    /// 6.12 `amdgpu_ring.c`, `amdgpu_ring_soft_recovery`); use [`Fence::outcome`].
    pub fn is_signalled(&self) -> bool {
        self.state.has_reached(self.sequence)
    }

    /// Waits for the submission. Returns `false` if the deadline passes first. Makes no ioctl if the submission has already
    /// completed.
    ///
    /// # Errors
    ///
    /// [`DeviceLost`](crate::winsys::Error::DeviceLost) if the job was lost to a reset.
    pub fn wait(&self, deadline: Deadline) -> Result<bool, WinsysError> {
        self.state.wait(self.sequence, deadline)
    }

    /// Queries the kernel for the outcome of the submission. Returns `false` while it runs. Unlike [`Fence::wait`] this always
    /// makes an ioctl, so it also reports a hung job that the kernel stopped alone and whose sequence number was written
    /// nevertheless. The kernel remembers the last 32 submissions of a queue; older ones count as completed.
    ///
    /// # Errors
    ///
    /// The errors of [`Fence::wait`].
    pub fn outcome(&self) -> Result<bool, WinsysError> {
        self.state.ask(self.sequence, Deadline::POLL)
    }

    /// Waits for submissions to queues of one device. With [`WaitFor::All`] returns `Some(0)` when all have completed, with
    /// [`WaitFor::Any`] the index of a completed one; `None` if the deadline passes first. Makes no ioctl if the GPU has already
    /// written enough sequence numbers, otherwise one.
    ///
    /// # Errors
    ///
    /// [`ForeignDevice`](WinsysError::ForeignDevice) if the fences are of different devices,
    /// [`DeviceLost`](WinsysError::DeviceLost) if one of the submissions was lost.
    pub fn wait_many(fences: &[&Self], condition: WaitFor, deadline: Deadline) -> Result<Option<usize>, WinsysError> {
        let Some((first, rest)) = fences.split_first() else { return Ok(Some(0)) };
        rest.iter().try_for_each(|fence| first.state.own("fence", fence.state.device()))?;
        let (done, running): (Vec<_>, Vec<_>) = (0..).zip(fences).partition(|(_, fence)| fence.is_signalled());
        match (condition, done.first()) {
            (WaitFor::Any, Some(&(index, _))) => return Ok(Some(index)),
            (WaitFor::All, _) if running.is_empty() => return Ok(Some(0)),
            _ => {}
        }
        let numbers: Vec<_> = running.iter().map(|(_, fence)| fence.state.number(fence.sequence)).collect();
        match wait_fences(first.state.device(), &numbers, condition, deadline) {
            // With `WaitFor::Any` no fence was signalled before, so the indices are those of `fences`.
            Ok(met) => Ok(met),
            Err(error) => Err(Self::first_loss(fences).unwrap_or(error)),
        }
    }

    /// Returns the loss of the first of these fences that was lost.
    fn first_loss(fences: &[&Self]) -> Option<WinsysError> {
        fences.iter().find_map(|fence| fence.wait(Deadline::POLL).err())
    }

    /// Creates a sync object that contains this fence.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`](WinsysError) if the kernel refuses or the job was lost.
    pub fn to_syncobj(&self) -> Result<Syncobj, WinsysError> {
        self.state.context.fence_to_syncobj(self.state.ip, self.state.ring, self.sequence)
    }

    /// Creates a sync file: a descriptor that is readable when the submission has completed, and that other drivers and processes
    /// accept. It is closed on exec.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`](WinsysError) if the kernel refuses or the job was lost.
    pub fn to_sync_file(&self) -> Result<OwnedFd, WinsysError> {
        self.state.context.fence_to_sync_file(self.state.ip, self.state.ring, self.sequence)
    }

    /// Creates a fence with a descriptor for an event loop.
    ///
    /// # Errors
    ///
    /// [`PollableError::Winsys`] if the kernel refuses or the job was lost; [`PollableError::NoDescriptor`] if no eventfd can be created.
    pub fn to_pollable(&self) -> Result<PollableFence, PollableError> {
        let syncobj = self.to_syncobj()?;
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|errno| PollableError::NoDescriptor { errno: Errno::from_raw(errno as i32) })?;
        let fence = self.clone();
        match syncobj.notify(0, Until::Signalled, event.as_fd()) {
            Ok(()) => Ok(PollableFence { fence, descriptor: event.into(), _registration: Some(syncobj) }),
            // Before Linux 6.6 sync objects cannot signal an eventfd.
            Err(WinsysError::Kernel(KernelError {
                errno: Errno::EINVAL | Errno::EOPNOTSUPP | Errno::ENOTTY, ..
            })) => Ok(PollableFence { fence, descriptor: self.to_sync_file()?, _registration: None }),
            Err(error) => Err(error.into()),
        }
    }

    pub(in crate::cs) fn state(&self) -> &QueueState {
        &self.state
    }

    pub(in crate::cs) fn device(&self) -> &Device {
        self.state.device()
    }

    pub(in crate::cs) fn dependency(&self) -> CsChunkDep {
        self.state.dependency(self.sequence)
    }
}

/// A fence for poll, epoll and event loops: its descriptor becomes readable when the submission has ended, and stays readable.
/// [`Fence::wait`] then returns the outcome without waiting.
///
/// ```
/// use std::os::fd::AsFd;
/// use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
/// use amdgpu_winsys::{cs::Submission, winsys::Deadline};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() })?.to_pollable()?;
/// let mut polled = [PollFd::new(fence.as_fd(), PollFlags::POLLIN)];
/// assert_eq!(poll(&mut polled, PollTimeout::NONE)?, 1);
/// assert!(fence.fence().wait(Deadline::POLL)?); // returns the outcome without waiting
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PollableFence {
    fence: Fence,
    /// An eventfd, or a sync file.
    descriptor: OwnedFd,
    /// The sync object that signals the eventfd, and with which the kernel's registration ends.
    _registration: Option<Syncobj>,
}

impl PollableFence {
    /// Returns the fence, to query the outcome.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }
}

impl AsFd for PollableFence {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
