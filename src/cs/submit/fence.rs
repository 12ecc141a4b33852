//! Fences: points on a queue.

use std::{
    fmt,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::shared::Shared;
use crate::{
    cs::{Error, Result},
    uapi::{CsChunkDep, Errno},
    winsys::{Deadline, Device, Error as WinsysError, Syncobj, Until, WaitFor, wait_fences},
};

/// A submission's place on its queue. It has signalled once the submission and all before it are done.
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
    shared: Arc<Shared>,
    sequence: u64,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence")
            .field("ip", &self.shared.ip)
            .field("ring", &self.shared.ring)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}

impl Fence {
    pub(super) fn new(shared: Arc<Shared>, sequence: u64) -> Self {
        Self { shared, sequence }
    }

    /// Returns the kernel's sequence number, which counts the submissions of a queue from 1; 0 if the queue was never used.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns `true` if the GPU has written the sequence number. No ioctl. A job that a reset took never signals this way,
    /// ask [`Fence::wait`]. One that the kernel stopped alone does, because the ring continues after it (Linux 6.12
    /// `amdgpu_ring.c`, `amdgpu_ring_soft_recovery`): ask [`Fence::outcome`].
    pub fn is_signalled(&self) -> bool {
        self.shared.has_reached(self.sequence)
    }

    /// Waits for the submission; false when the deadline came first. No ioctl when it is already done.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`] with [`DeviceLost`](crate::winsys::Error::DeviceLost) when the job was lost to a reset.
    pub fn wait(&self, deadline: Deadline) -> Result<bool> {
        self.shared.wait(self.sequence, deadline)
    }

    /// Asks the kernel how the submission has ended: false while it runs. Unlike [`Fence::wait`] it always makes an ioctl, so
    /// that it tells of a hung job that the kernel stopped alone, whose number was written all the same. The kernel remembers
    /// the last 32 submissions of a queue; what is older counts as done.
    ///
    /// # Errors
    ///
    /// Those of [`Fence::wait`].
    pub fn outcome(&self) -> Result<bool> {
        self.shared.ask(self.sequence, Deadline::POLL)
    }

    /// Waits for submissions to queues of one device. For all: `Some(0)` when they are done; for any: which one is; `None`
    /// when the deadline came first. No ioctl when the GPU has written enough numbers already, else one.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`]: [`ForeignDevice`](WinsysError::ForeignDevice), or
    /// [`DeviceLost`](WinsysError::DeviceLost) when one of them was lost.
    pub fn wait_many(fences: &[&Self], condition: WaitFor, deadline: Deadline) -> Result<Option<usize>> {
        let Some((first, rest)) = fences.split_first() else { return Ok(Some(0)) };
        rest.iter().try_for_each(|fence| first.shared.own("fence", fence.shared.device()))?;
        let (done, running): (Vec<_>, Vec<_>) = (0..).zip(fences).partition(|(_, fence)| fence.is_signalled());
        match (condition, done.first()) {
            (WaitFor::Any, Some(&(index, _))) => return Ok(Some(index)),
            (WaitFor::All, _) if running.is_empty() => return Ok(Some(0)),
            _ => {}
        }
        let numbers: Vec<_> = running.iter().map(|(_, fence)| fence.shared.number(fence.sequence)).collect();
        match wait_fences(first.shared.device(), &numbers, condition, deadline) {
            // For any, nothing was done before, so that the numbers are those of `fences`.
            Ok(met) => Ok(met),
            Err(error) => Err(Self::first_loss(fences).unwrap_or(error.into())),
        }
    }

    /// Returns the first of them that was lost, and how.
    fn first_loss(fences: &[&Self]) -> Option<Error> {
        fences.iter().find_map(|fence| fence.wait(Deadline::POLL).err())
    }

    /// Creates a new sync object with this fence.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`], also when the job was lost.
    pub fn to_syncobj(&self) -> Result<Syncobj> {
        Ok(self.shared.context.fence_to_syncobj(self.shared.ip, self.shared.ring, self.sequence)?)
    }

    /// Creates a sync file: a descriptor that is readable when the submission is done, and that other drivers and processes
    /// understand. Closed on exec.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`], also when the job was lost.
    pub fn to_sync_file(&self) -> Result<OwnedFd> {
        Ok(self.shared.context.fence_to_sync_file(self.shared.ip, self.shared.ring, self.sequence)?)
    }

    /// Creates a descriptor for an event loop.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`], also when the job was lost; [`Error::NoDescriptor`].
    pub fn to_pollable(&self) -> Result<PollableFence> {
        let syncobj = self.to_syncobj()?;
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|errno| Error::NoDescriptor { errno: Errno::from_raw(errno as i32) })?;
        let fence = self.clone();
        match syncobj.tell(0, Until::Signalled, event.as_fd()) {
            Ok(()) => Ok(PollableFence { fence, source: Source::Event { event, _told_by: syncobj } }),
            // Before Linux 6.6 sync objects cannot signal an eventfd.
            Err(WinsysError::Descriptor { errno: Errno::EINVAL | Errno::EOPNOTSUPP | Errno::ENOTTY, .. }) => {
                Ok(PollableFence { fence, source: Source::SyncFile(self.to_sync_file()?) })
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(in crate::cs) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(in crate::cs) fn device(&self) -> &Device {
        self.shared.device()
    }

    pub(in crate::cs) fn dependency(&self) -> CsChunkDep {
        self.shared.dependency(self.sequence)
    }
}

/// A fence that poll, epoll and any reactor understands: its descriptor is readable once the submission has ended, and
/// stays so. [`Fence::wait`] then reports how it ended, without waiting.
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
/// assert!(fence.fence().wait(Deadline::POLL)?); // how it ended, without waiting
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PollableFence {
    fence: Fence,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// The registration ends with the sync object.
    Event {
        event: EventFd,
        _told_by: Syncobj,
    },
    SyncFile(OwnedFd),
}

impl PollableFence {
    /// Returns the fence.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }
}

impl AsFd for PollableFence {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.source {
            Source::Event { event, .. } => event.as_fd(),
            Source::SyncFile(file) => file.as_fd(),
        }
    }
}
