//! DRM sync objects.

use std::{
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use amdgpu_hw::num::{count, index, wide};
use smallvec::SmallVec;

use crate::{
    host_memory::ArcRoom,
    uapi::{
        Argument, CREATE_SIGNALED, Errno, QUERY_LAST_SUBMITTED, SYNC_FILE, SYNC_FILE_OF_POINT, SYNCOBJ_FD_TO_HANDLE,
        SYNCOBJ_SIGNAL, SYNCOBJ_TIMELINE_SIGNAL, SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjEventfd,
        SyncobjHandle, SyncobjHandlePoint, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer, SyncobjWait,
        SyncobjWaitFlags,
    },
    winsys::{
        Deadline, Device, Error, HandleOwnership, InvalidReply, KernelError, Result, answers,
        kernel::send_raw,
        own::{send, send_as, send_quietly},
        release::release,
    },
};

/// A DRM sync object. It is binary or a timeline, depending on its use.
///
/// A `Syncobj` is a reference-counted handle: its clones are the same object and compare equal. Dropping the last one
/// destroys the kernel's handle; the fence stays valid for waiters and exported descriptors.
///
/// # Examples
///
/// ```
/// use amdgpu_winsys::winsys::{Deadline, Device, Syncobj};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?;
/// let timeline = Syncobj::new(&device, false)?;
/// let waiter = timeline.clone();
/// timeline.signal_point(3)?;
/// assert!(waiter.wait_point(2, Deadline::POLL)?);
/// assert_eq!((waiter.query()?, waiter.handle_count()), (3, 2));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Syncobj(Arc<SyncobjState>);

/// The state that all handles of a sync object share.
#[derive(Debug)]
struct SyncobjState {
    device: Device,
    handle: u32,
    ownership: HandleOwnership,
}

/// Two handles are equal if they refer to the same object in this process.
impl PartialEq for Syncobj {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Syncobj {}

/// The sync objects that end a wait for several sync objects: all of them, or any one.
///
/// ```
/// use amdgpu_winsys::winsys::{Deadline, Syncobj, WaitFor};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let (done, not_done) = (Syncobj::new(&device, true)?, Syncobj::new(&device, false)?);
/// assert!(Syncobj::wait_many(&[&not_done, &done], WaitFor::Any, Deadline::POLL)?);
/// assert!(!Syncobj::wait_many(&[&not_done, &done], WaitFor::All, Deadline::POLL)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// The wait ends when all sync objects meet the condition.
    All,
    /// The wait ends when any sync object meets the condition.
    Any,
}

/// The condition of a sync object's point that ends a wait.
///
/// ```
/// use amdgpu_winsys::winsys::{Deadline, Syncobj, Until, WaitFor};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let mut stream = amdgpu_winsys::cs::Stream::new(&device, target, 64)?;
/// # stream.push(&amdgpu_winsys::cs::pm4::WaitRegMem::new(memory.address(), amdgpu_winsys::cs::pm4::Compare::Equal, 1))?;
/// # let (waits, used) = (stream.finish()?, [memory.binding().clone()]);
/// # let fence = queue.submit(&amdgpu_winsys::cs::Submission { lists: &[&waits], memory: &used, ..Default::default() })?;
/// let unfinished = fence.to_syncobj()?; // submitted, but waits for a dword
/// let poll = |until| Syncobj::wait_points(&[(&unfinished, 0)], WaitFor::All, until, Deadline::POLL);
/// assert_eq!(poll(Until::Submitted)?, Some(0)); // other work that waits for it can be submitted
/// assert_eq!(poll(Until::Signalled)?, None);
/// # memory.map()?.store_u32(0, 1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The point has a fence: work that signals it has been submitted. A submission that waits for a point without a fence
    /// would block in the kernel.
    Submitted,
    /// The fence of the point has signalled.
    Signalled,
}

/// Allocates the host memory of a sync object, before its handle exists.
fn room() -> Result<ArcRoom<SyncobjState>> {
    Ok(ArcRoom::new().map_err(|error| error.of("a sync object"))?)
}

impl Syncobj {
    /// Creates a sync object, with a signalled fence if `signalled` is set, otherwise without a fence.
    ///
    /// Request: SYNCOBJ_CREATE.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request; [`Error::HostMemory`] if host memory is exhausted.
    pub fn new(device: &Device, signalled: bool) -> Result<Self> {
        let room = room()?;
        let mut argument = SyncobjCreate { handle: 0, flags: if signalled { CREATE_SIGNALED } else { 0 } };
        let made = send(device.kernel(), &mut argument).and_then(|()| answers::handle(argument.handle));
        Ok(Self::owning(room, device, made.map_err(refused(SyncobjCreate::NAME))?))
    }

    fn owning(room: ArcRoom<SyncobjState>, device: &Device, handle: u32) -> Self {
        Self(room.fill(SyncobjState { device: device.clone(), handle, ownership: HandleOwnership::Owned }))
    }

    pub(super) fn of_handle(device: &Device, handle: u32, ownership: HandleOwnership) -> Self {
        Self(Arc::new(SyncobjState { device: device.clone(), handle, ownership }))
    }

    /// Returns the number of handles of the sync object in this process.
    pub fn handle_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Returns the kernel's handle, which is valid in the device's open file.
    pub fn handle(&self) -> u32 {
        self.0.handle
    }

    /// Returns the device that the sync object belongs to.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Signals the sync object from the CPU: replaces its fence with a signalled one.
    ///
    /// Request: SYNCOBJ_SIGNAL.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn signal(&self) -> Result<()> {
        self.array(SYNCOBJ_SIGNAL, "SYNCOBJ_SIGNAL")
    }

    /// Resets the sync object: removes its fence.
    ///
    /// Request: SYNCOBJ_RESET.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn reset(&self) -> Result<()> {
        self.array(SyncobjArray::REQUEST, SyncobjArray::NAME)
    }

    fn array(&self, request: crate::uapi::Request, name: &'static str) -> Result<()> {
        let handles = [self.0.handle];
        let mut argument = SyncobjArray { handles: address(&handles), count_handles: 1, pad: 0 };
        // SAFETY: the only address is that of `handles`, which has `count_handles` elements; the kernel only reads them. They name sync
        // objects that the caller borrows.
        unsafe { send_raw(self.0.device.kernel(), request, &mut argument) }.map_err(refused(name))
    }

    /// Signals a point of the timeline from the CPU. The point counts as reached once all earlier points are.
    ///
    /// Request: SYNCOBJ_TIMELINE_SIGNAL.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn signal_point(&self, point: u64) -> Result<()> {
        let (handles, points) = ([self.0.handle], [point]);
        let mut argument =
            SyncobjTimelineArray { handles: address(&handles), points: address(&points), count_handles: 1, flags: 0 };
        // SAFETY: the addresses are those of one u32 and one u64, as `count_handles` says; the kernel only reads them. The sync object is
        // this one.
        unsafe { send_raw(self.0.device.kernel(), SYNCOBJ_TIMELINE_SIGNAL, &mut argument) }
            .map_err(refused("SYNCOBJ_TIMELINE_SIGNAL"))
    }

    /// Returns the highest point of the timeline that has been reached; 0 for a binary sync object.
    ///
    /// Request: SYNCOBJ_QUERY.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn query(&self) -> Result<u64> {
        self.query_with(0)
    }

    /// Returns the last point of the timeline for which work was submitted, whether reached or not; 0 for a binary sync
    /// object.
    ///
    /// Request: SYNCOBJ_QUERY with LAST_SUBMITTED.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn last_submitted(&self) -> Result<u64> {
        self.query_with(QUERY_LAST_SUBMITTED)
    }

    fn query_with(&self, flags: u32) -> Result<u64> {
        let (handles, mut points) = ([self.0.handle], [0_u64]);
        let mut argument = SyncobjTimelineArray {
            handles: address(&handles),
            points: wide(points.as_mut_ptr().expose_provenance()),
            count_handles: 1,
            flags,
        };
        // SAFETY: the addresses are those of one u32, which the kernel reads, and of one u64, exclusive, which it writes. The request is a
        // query.
        unsafe { send_raw(self.0.device.kernel(), SyncobjTimelineArray::REQUEST, &mut argument) }
            .map_err(refused(SyncobjTimelineArray::NAME))?;
        Ok(points[0])
    }

    /// Copies the fence at `from_point` of `source` to `to_point` of this sync object. Point 0 is the binary state.
    ///
    /// Request: SYNCOBJ_TRANSFER.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDevice`] if `source` belongs to another device; [`Error::Kernel`] if the kernel refuses the request:
    /// `EINVAL` if the source has no such point.
    pub fn transfer(&self, to_point: u64, source: &Self, from_point: u64) -> Result<()> {
        self.same_device(source)?;
        let mut argument = SyncobjTransfer {
            src_handle: source.0.handle,
            dst_handle: self.0.handle,
            src_point: from_point,
            dst_point: to_point,
            flags: 0,
            pad: 0,
        };
        send(self.0.device.kernel(), &mut argument).map_err(refused(SyncobjTransfer::NAME))
    }

    /// Waits until the sync object has a fence and the fence has signalled. Returns `false` if the deadline passes first.
    ///
    /// **A fence that ended with an error counts as signalled**: check with
    /// [`Context::check`](crate::winsys::Context::check).
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn wait(&self, deadline: Deadline) -> Result<bool> {
        Self::wait_many(&[self], WaitFor::All, deadline)
    }

    /// Waits for several binary sync objects. Returns `false` if the deadline passes first. An empty list counts as
    /// signalled.
    ///
    /// Request: SYNCOBJ_WAIT with WAIT_FOR_SUBMIT.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDevice`] if the sync objects belong to different devices; [`Error::Kernel`] if the kernel refuses the
    /// request.
    pub fn wait_many(syncobjs: &[&Self], condition: WaitFor, deadline: Deadline) -> Result<bool> {
        let Some((first, rest)) = syncobjs.split_first() else { return Ok(true) };
        for other in rest {
            first.same_device(other)?;
        }
        let handles = few(syncobjs.iter().map(|syncobj| syncobj.0.handle)).map_err(refused(SyncobjWait::NAME))?;
        let mut argument = SyncobjWait {
            handles: address(&handles),
            timeout_nsec: deadline.for_syncobj(),
            count_handles: count(handles.len()),
            flags: wait_flags(condition).bits(),
            ..SyncobjWait::ZEROED
        };
        // SAFETY: the only address is that of `count_handles` u32, which the kernel only reads. The request is a wait.
        let result = unsafe { send_raw(first.0.device.kernel(), SyncobjWait::REQUEST, &mut argument) };
        wait_result(result, SyncobjWait::NAME)
    }

    /// Waits until the point of the timeline has a fence and the fence has signalled. Returns `false` if the deadline
    /// passes first.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn wait_point(&self, point: u64, deadline: Deadline) -> Result<bool> {
        Self::wait_points(&[(self, point)], WaitFor::All, Until::Signalled, deadline).map(|met| met.is_some())
    }

    /// Waits for points of several sync objects; point 0 is the binary state. With [`WaitFor::All`] the result is
    /// `Some(0)`, with [`WaitFor::Any`] the index of a point that meets the condition; `None` if the deadline passes first.
    /// Points without a fence are waited for. An empty list always meets the condition, with `Some(0)`.
    ///
    /// **A fence that ended with an error counts as signalled**: check with
    /// [`Context::check`](crate::winsys::Context::check).
    ///
    /// Request: SYNCOBJ_TIMELINE_WAIT with WAIT_FOR_SUBMIT, and for [`Until::Submitted`] WAIT_AVAILABLE.
    ///
    /// # Errors
    ///
    /// * [`Error::ForeignDevice`] if the sync objects belong to different devices;
    /// * [`Error::Kernel`] if the kernel refuses the request;
    /// * [`Error::InvalidReply`] if the kernel's answer is out of range.
    pub fn wait_points(
        points: &[(&Self, u64)],
        condition: WaitFor,
        until: Until,
        deadline: Deadline,
    ) -> Result<Option<usize>> {
        let Some(((first, _), rest)) = points.split_first() else { return Ok(Some(0)) };
        for (other, _) in rest {
            first.same_device(other)?;
        }
        let no_memory = refused(SyncobjTimelineWait::NAME);
        let handles = few(points.iter().map(|(syncobj, _)| syncobj.0.handle)).map_err(&no_memory)?;
        let values = few(points.iter().map(|&(_, point)| point)).map_err(&no_memory)?;
        let mut flags = wait_flags(condition);
        flags.set(SyncobjWaitFlags::WAIT_AVAILABLE, until == Until::Submitted);
        let mut argument = SyncobjTimelineWait {
            handles: address(&handles),
            points: address(&values),
            timeout_nsec: deadline.for_syncobj(),
            count_handles: count(handles.len()),
            flags: flags.bits(),
            first_signaled: u32::MAX,
            ..SyncobjTimelineWait::ZEROED
        };
        // SAFETY: the addresses are those of `count_handles` u32 and u64, which the kernel only reads. The request is a wait.
        let result = unsafe { send_raw(first.0.device.kernel(), SyncobjTimelineWait::REQUEST, &mut argument) };
        let is_met = wait_result(result, SyncobjTimelineWait::NAME)?;
        let first = argument.first_signaled;
        match condition {
            _ if !is_met => Ok(None),
            WaitFor::All => Ok(Some(0)),
            WaitFor::Any if index(first) < points.len() => Ok(Some(index(first))),
            WaitFor::Any => Err(Error::InvalidReply(InvalidReply {
                field: "first_signaled",
                value: first.into(),
                reason: "not one of the points",
            })),
        }
    }

    /// Registers an eventfd, which is incremented once when the point meets the condition, or at once if it already does.
    /// The registration ends when the last handle of the sync object is destroyed.
    ///
    /// Request: SYNCOBJ_EVENTFD (Linux 6.6).
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request: `EINVAL` if the descriptor is not an eventfd, or the kernel
    /// is too old.
    pub fn notify(&self, point: u64, until: Until, eventfd: BorrowedFd<'_>) -> Result<()> {
        let fd = eventfd.as_raw_fd();
        let flags = match until {
            Until::Submitted => SyncobjWaitFlags::WAIT_AVAILABLE.bits(),
            Until::Signalled => 0,
        };
        let mut argument = SyncobjEventfd { handle: self.0.handle, flags, point, fd, pad: 0 };
        send(self.0.device.kernel(), &mut argument)
            .map_err(|errno| Error::Kernel(KernelError::of_descriptor(SyncobjEventfd::NAME, fd, errno)))
    }

    /// Creates a sync file of the current fence. The descriptor becomes readable when the fence signals, other drivers can
    /// import it, and it is closed on exec.
    ///
    /// Request: SYNCOBJ_HANDLE_TO_FD with EXPORT_SYNC_FILE.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request: `EINVAL` if there is no fence yet.
    pub fn export_sync_file(&self) -> Result<OwnedFd> {
        self.export_as(SYNC_FILE)
    }

    /// Replaces the fence with that of a sync file.
    ///
    /// Request: SYNCOBJ_FD_TO_HANDLE with IMPORT_SYNC_FILE.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the descriptor: `EINVAL` if it is not a sync file.
    pub fn import_sync_file(&self, fd: impl AsFd) -> Result<()> {
        let fd = fd.as_fd().as_raw_fd();
        let mut argument = SyncobjHandle { handle: self.0.handle, flags: SYNC_FILE, fd, pad: 0 };
        send_as(self.0.device.kernel(), SYNCOBJ_FD_TO_HANDLE, &mut argument)
            .map_err(|errno| Error::Kernel(KernelError::of_descriptor("SYNCOBJ_FD_TO_HANDLE", fd, errno)))
    }

    /// Exports the sync object as a descriptor that shares it. The descriptor is closed on exec.
    ///
    /// Request: SYNCOBJ_HANDLE_TO_FD.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request.
    pub fn export(&self) -> Result<OwnedFd> {
        self.export_as(0)
    }

    fn export_as(&self, flags: u32) -> Result<OwnedFd> {
        let mut argument = SyncobjHandle { handle: self.0.handle, flags, fd: -1, pad: 0 };
        send(self.0.device.kernel(), &mut argument).map_err(refused(SyncobjHandle::NAME))?;
        answers::descriptor(argument.fd).map_err(refused(SyncobjHandle::NAME))
    }

    /// Creates a sync file of a point with one request, as Linux 6.16 and later have it.
    ///
    /// # Errors
    ///
    /// A [`KernelError`](crate::winsys::KernelError) with `EINVAL` from older kernels, and if no work was submitted for the point.
    pub(super) fn export_point(&self, point: u64) -> Result<OwnedFd> {
        let flags = SYNC_FILE | SYNC_FILE_OF_POINT;
        let mut argument = SyncobjHandlePoint { handle: self.0.handle, flags, fd: -1, pad: 0, point };
        send(self.0.device.kernel(), &mut argument).map_err(refused(SyncobjHandlePoint::NAME))?;
        answers::descriptor(argument.fd).map_err(refused(SyncobjHandlePoint::NAME))
    }

    /// Imports the sync object of a descriptor.
    ///
    /// Request: SYNCOBJ_FD_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the descriptor: `EINVAL` if it is not a sync object;
    /// [`Error::HostMemory`] if host memory is exhausted.
    pub fn import(device: &Device, fd: impl AsFd) -> Result<Self> {
        let fd = fd.as_fd().as_raw_fd();
        let room = room()?;
        let mut argument = SyncobjHandle { handle: 0, flags: 0, fd, pad: 0 };
        let named = send_as(device.kernel(), SYNCOBJ_FD_TO_HANDLE, &mut argument)
            .and_then(|()| answers::handle(argument.handle))
            .map_err(|errno| Error::Kernel(KernelError::of_descriptor("SYNCOBJ_FD_TO_HANDLE", fd, errno)))?;
        Ok(Self::owning(room, device, named))
    }

    pub(super) fn same_device(&self, other: &Self) -> Result<()> {
        if self.0.device == other.0.device { Ok(()) } else { Err(Error::ForeignDevice { what: "sync object" }) }
    }
}

impl Drop for SyncobjState {
    fn drop(&mut self) {
        if self.ownership == HandleOwnership::Borrowed {
            return;
        }
        let destroy = || send_quietly(self.device.kernel(), &mut SyncobjDestroy { handle: self.handle, pad: 0 });
        release(destroy).report(SyncobjDestroy::NAME, self.handle);
    }
}

/// Collects the items of a request, on the stack if there are at most 16, so that a wait for a few objects allocates nothing.
///
/// # Errors
///
/// ENOMEM if host memory is exhausted.
fn few<T>(items: impl ExactSizeIterator<Item = T>) -> Result<SmallVec<[T; 16]>, Errno> {
    let mut few = SmallVec::new();
    few.try_reserve_exact(items.len()).map_err(|_| Errno::ENOMEM)?;
    few.extend(items);
    Ok(few)
}

fn address<T>(items: &[T]) -> u64 {
    wide(items.as_ptr().expose_provenance())
}

fn refused(request: &'static str) -> impl Fn(Errno) -> Error {
    move |errno| Error::Kernel(KernelError::new(request, errno))
}

fn wait_flags(condition: WaitFor) -> SyncobjWaitFlags {
    let mut flags = SyncobjWaitFlags::WAIT_FOR_SUBMIT;
    flags.set(SyncobjWaitFlags::WAIT_ALL, condition == WaitFor::All);
    flags
}

fn wait_result(result: Result<(), Errno>, request: &'static str) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(Errno::ETIME) => Ok(false),
        Err(errno) => Err(Error::Kernel(KernelError::new(request, errno))),
    }
}
