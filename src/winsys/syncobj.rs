//! Sync objects: fences with a name.

use std::{
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
    sync::Arc,
};

use nix::errno::Errno;

use super::{
    Deadline, Device, Error, RELEASE_ATTEMPTS, Result,
    kernel::{send, send_as, send_raw},
};
use crate::uapi::{
    Argument, CREATE_SIGNALED, SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_SIGNAL, SYNCOBJ_TIMELINE_SIGNAL, SyncobjArray,
    SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait, SyncobjTransfer,
    SyncobjWait, SyncobjWaitFlags,
};

/// A DRM sync object, binary or timeline as it is used. Destroyed on drop; waiters and descriptors keep the fence.
#[derive(Debug)]
pub struct Syncobj {
    device: Arc<Device>,
    handle: u32,
}

/// Whether a wait over several wants all of them or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// All.
    All,
    /// Any one.
    Any,
}

impl Syncobj {
    /// Creates a sync object without a fence, or with a signalled one.
    ///
    /// Request: SYNCOBJ_CREATE.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn new(device: &Arc<Device>, signalled: bool) -> Result<Self> {
        let mut argument = SyncobjCreate { handle: 0, flags: if signalled { CREATE_SIGNALED } else { 0 } };
        send(device.kernel(), &mut argument).map_err(refused(SyncobjCreate::NAME))?;
        Ok(Self { device: Arc::clone(device), handle: argument.handle })
    }

    /// The kernel's name for it within the device's file.
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Installs a signalled fence.
    ///
    /// Request: SYNCOBJ_SIGNAL.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn signal(&self) -> Result<()> {
        self.array(SYNCOBJ_SIGNAL, "SYNCOBJ_SIGNAL")
    }

    /// Takes the fence away.
    ///
    /// Request: SYNCOBJ_RESET.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn reset(&self) -> Result<()> {
        self.array(SyncobjArray::REQUEST, SyncobjArray::NAME)
    }

    fn array(&self, request: crate::uapi::Request, name: &'static str) -> Result<()> {
        let handles = [self.handle];
        let mut argument = SyncobjArray { handles: address(&handles), count_handles: 1, pad: 0 };
        // SAFETY: the one address is that of `handles`, one u32 as the count says, which the kernel only reads.
        unsafe { send_raw(self.device.kernel(), request, &mut argument) }.map_err(refused(name))
    }

    /// Signals a point of the timeline from the CPU; it counts as reached once all earlier ones are.
    ///
    /// Request: SYNCOBJ_TIMELINE_SIGNAL.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn signal_point(&self, point: u64) -> Result<()> {
        let (handles, points) = ([self.handle], [point]);
        let mut argument =
            SyncobjTimelineArray { handles: address(&handles), points: address(&points), count_handles: 1, flags: 0 };
        // SAFETY: the addresses are those of one u32 and one u64, as the count says, which the kernel only reads.
        unsafe { send_raw(self.device.kernel(), SYNCOBJ_TIMELINE_SIGNAL, &mut argument) }
            .map_err(refused("SYNCOBJ_TIMELINE_SIGNAL"))
    }

    /// The highest point of the timeline that has been reached; 0 for a binary use.
    ///
    /// Request: SYNCOBJ_QUERY.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn query(&self) -> Result<u64> {
        let (handles, mut points) = ([self.handle], [0_u64]);
        let mut argument = SyncobjTimelineArray {
            handles: address(&handles),
            points: points.as_mut_ptr().expose_provenance() as u64,
            count_handles: 1,
            flags: 0,
        };
        // SAFETY: the addresses are those of one u32 that the kernel reads and one u64, exclusive, that it writes.
        unsafe { send_raw(self.device.kernel(), SyncobjTimelineArray::REQUEST, &mut argument) }
            .map_err(refused(SyncobjTimelineArray::NAME))?;
        Ok(points[0])
    }

    /// Copies the fence at `from_point` of `source` to `to_point` of this one; 0 is the binary state.
    ///
    /// Request: SYNCOBJ_TRANSFER.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDevice`], or [`Error::Ioctl`] with `EINVAL` when the source has no such point.
    pub fn transfer(&self, to_point: u64, source: &Self, from_point: u64) -> Result<()> {
        self.same_device(source)?;
        let mut argument = SyncobjTransfer {
            src_handle: source.handle,
            dst_handle: self.handle,
            src_point: from_point,
            dst_point: to_point,
            flags: 0,
            pad: 0,
        };
        send(self.device.kernel(), &mut argument).map_err(refused(SyncobjTransfer::NAME))
    }

    /// Waits for the fence, or first for there to be one; false when the deadline came first.
    ///
    /// **A fence that ended with an error still counts as signalled**: ask the context for its state.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn wait(&self, deadline: Deadline) -> Result<bool> {
        Self::wait_many(&[self], WaitFor::All, deadline)
    }

    /// Waits for several binary sync objects; false when the deadline came first. None at all are always done.
    ///
    /// Request: SYNCOBJ_WAIT with WAIT_FOR_SUBMIT.
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDevice`], [`Error::Ioctl`].
    pub fn wait_many(syncobjs: &[&Self], condition: WaitFor, deadline: Deadline) -> Result<bool> {
        let Some((first, rest)) = syncobjs.split_first() else { return Ok(true) };
        for other in rest {
            first.same_device(other)?;
        }
        let handles: Vec<u32> = syncobjs.iter().map(|syncobj| syncobj.handle).collect();
        let mut argument = SyncobjWait {
            handles: address(&handles),
            timeout_nsec: deadline.for_syncobj(),
            count_handles: handles.len() as u32,
            flags: wait_flags(condition).bits(),
            ..SyncobjWait::ZEROED
        };
        // SAFETY: the one address is that of as many u32 as the count says, which the kernel only reads.
        let result = unsafe { send_raw(first.device.kernel(), SyncobjWait::REQUEST, &mut argument) };
        wait_result(result, SyncobjWait::NAME)
    }

    /// Waits for a point of the timeline, or first for there to be one; false when the deadline came first.
    ///
    /// Request: SYNCOBJ_TIMELINE_WAIT with WAIT_FOR_SUBMIT.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn wait_point(&self, point: u64, deadline: Deadline) -> Result<bool> {
        let (handles, points) = ([self.handle], [point]);
        let mut argument = SyncobjTimelineWait {
            handles: address(&handles),
            points: address(&points),
            timeout_nsec: deadline.for_syncobj(),
            count_handles: 1,
            flags: wait_flags(WaitFor::All).bits(),
            ..SyncobjTimelineWait::ZEROED
        };
        // SAFETY: the addresses are those of one u32 and one u64, as the count says, which the kernel only reads.
        let result = unsafe { send_raw(self.device.kernel(), SyncobjTimelineWait::REQUEST, &mut argument) };
        wait_result(result, SyncobjTimelineWait::NAME)
    }

    /// A descriptor that shares this object, closed on exec.
    ///
    /// Request: SYNCOBJ_HANDLE_TO_FD.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn export(&self) -> Result<OwnedFd> {
        let mut argument = SyncobjHandle { handle: self.handle, flags: 0, fd: -1, pad: 0 };
        send(self.device.kernel(), &mut argument).map_err(refused(SyncobjHandle::NAME))?;
        if argument.fd < 0 {
            return Err(Error::Ioctl { request: SyncobjHandle::NAME, errno: Errno::EBADF });
        }
        // SAFETY: the kernel just installed this descriptor for the caller, and nobody else knows its number.
        Ok(unsafe { OwnedFd::from_raw_fd(argument.fd) })
    }

    /// A new name for the object behind a descriptor.
    ///
    /// Request: SYNCOBJ_FD_TO_HANDLE.
    ///
    /// # Errors
    ///
    /// [`Error::Descriptor`] with `EINVAL` when it is no sync object.
    pub fn import(device: &Arc<Device>, fd: impl AsFd) -> Result<Self> {
        let fd = fd.as_fd().as_raw_fd();
        let mut argument = SyncobjHandle { handle: 0, flags: 0, fd, pad: 0 };
        send_as(device.kernel(), SYNCOBJ_FD_TO_HANDLE, &mut argument).map_err(|errno| Error::Descriptor {
            request: "SYNCOBJ_FD_TO_HANDLE",
            fd,
            errno,
        })?;
        if argument.handle == 0 {
            let errno = Errno::EBADF;
            return Err(Error::Descriptor { request: "SYNCOBJ_FD_TO_HANDLE", fd, errno });
        }
        Ok(Self { device: Arc::clone(device), handle: argument.handle })
    }

    fn same_device(&self, other: &Self) -> Result<()> {
        if Arc::ptr_eq(&self.device, &other.device) {
            Ok(())
        } else {
            Err(Error::ForeignDevice { what: "sync object" })
        }
    }
}

impl Drop for Syncobj {
    fn drop(&mut self) {
        for _ in 0..RELEASE_ATTEMPTS {
            match send(self.device.kernel(), &mut SyncobjDestroy { handle: self.handle, pad: 0 }) {
                Ok(()) | Err(Errno::ENODEV) => return,
                Err(errno) => tracing::warn!(handle = self.handle, %errno, "sync object not destroyed"),
            }
        }
    }
}

fn address<T>(items: &[T]) -> u64 {
    items.as_ptr().expose_provenance() as u64
}

fn refused(request: &'static str) -> impl FnOnce(Errno) -> Error {
    move |errno| Error::Ioctl { request, errno }
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
        Err(errno) => Err(Error::Ioctl { request, errno }),
    }
}
