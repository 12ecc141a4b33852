//! Descriptors: sync files, dma-bufs and eventfds.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use amdgpu_sim::SimMachine;
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    PRIME_FD_TO_HANDLE, PrimeHandle, Request, SYNC_FILE, SYNC_FILE_INFO, SYNCOBJ_FD_TO_HANDLE, SyncFenceInfo,
    SyncFileInfo, SyncobjEventfd, SyncobjHandle, SyncobjTransfer,
};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::eventfd::{EfdFlags, EventFd},
};
use zerocopy::{FromBytes, IntoBytes};

use super::{File, address_mut};

/// Takes a descriptor that an ioctl made.
pub(crate) fn owned(fd: i32) -> OwnedFd {
    assert!(fd >= 0);
    // SAFETY: the simulated kernel just made the descriptor and gave it away.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// An ioctl on a descriptor that is no node.
pub(crate) fn ioctl_on<T: IntoBytes + FromBytes>(
    machine: &SimMachine,
    fd: &impl AsFd,
    request: Request,
    argument: &mut T,
) -> Result<(), Errno> {
    // SAFETY: the argument is exclusive and at least as large as its requests take; addresses in it are of live buffers.
    unsafe { machine.ioctl(fd.as_fd(), request, argument.as_mut_bytes().as_mut_ptr().cast()) }.map(drop)
}

/// SYNC_IOC_FILE_INFO with room for the given number of fences.
pub(crate) fn sync_file_info(
    machine: &SimMachine,
    fd: &impl AsFd,
    room: usize,
) -> Result<(SyncFileInfo, Vec<SyncFenceInfo>), Errno> {
    let mut fences = vec![SyncFenceInfo::ZEROED; room];
    let sync_fence_info = address_mut(fences.as_mut_slice());
    let mut info = SyncFileInfo { num_fences: room as u32, sync_fence_info, ..SyncFileInfo::ZEROED };
    ioctl_on(machine, fd, SYNC_FILE_INFO, &mut info)?;
    fences.truncate(info.num_fences as usize);
    Ok((info, fences))
}

/// Returns `true` if a descriptor is readable, now or within a time in ms.
pub(crate) fn is_readable(fd: &impl AsFd, within: u16) -> bool {
    let mut fds = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::from(within)).unwrap();
    let events = fds[0].revents().unwrap();
    assert!((events - PollFlags::POLLIN).is_empty(), "{events:?}");
    events.contains(PollFlags::POLLIN)
}

/// An eventfd that is never waited for.
pub(crate) fn eventfd() -> EventFd {
    EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC).unwrap()
}

impl File {
    /// The machine of its device is the caller's business; this is PRIME_HANDLE_TO_FD.
    pub(crate) fn dma_buf(&self, handle: u32, flags: u32) -> Result<OwnedFd, Errno> {
        let mut request = PrimeHandle { handle, flags, fd: -1 };
        self.send(&mut request).map(|()| owned(request.fd))
    }

    /// PRIME_FD_TO_HANDLE.
    pub(crate) fn open_dma_buf(&self, fd: &OwnedFd) -> Result<u32, Errno> {
        let mut request = PrimeHandle { handle: 0, flags: 0, fd: fd.as_raw_fd() };
        self.send_as(PRIME_FD_TO_HANDLE, &mut request).map(|()| request.handle)
    }

    /// SYNCOBJ_HANDLE_TO_FD, sharing the object or exporting a sync file.
    pub(crate) fn syncobj_fd(&self, handle: u32, flags: u32) -> Result<OwnedFd, Errno> {
        let mut request = SyncobjHandle { handle, flags, fd: -1, pad: 0 };
        self.send(&mut request).map(|()| owned(request.fd))
    }

    /// The fence of a sync object as a sync file.
    pub(crate) fn sync_file(&self, handle: u32) -> Result<OwnedFd, Errno> {
        self.syncobj_fd(handle, SYNC_FILE)
    }

    /// The fence of a sync file for a sync object.
    pub(crate) fn import_sync_file(&self, handle: u32, fd: &OwnedFd) -> Result<(), Errno> {
        let mut request = SyncobjHandle { handle, flags: SYNC_FILE, fd: fd.as_raw_fd(), pad: 0 };
        self.send_as(SYNCOBJ_FD_TO_HANDLE, &mut request)
    }

    /// A new handle of a shared sync object.
    pub(crate) fn open_syncobj(&self, fd: &OwnedFd) -> Result<u32, Errno> {
        let mut request = SyncobjHandle { handle: 0, flags: 0, fd: fd.as_raw_fd(), pad: 0 };
        self.send_as(SYNCOBJ_FD_TO_HANDLE, &mut request).map(|()| request.handle)
    }

    /// SYNCOBJ_EVENTFD.
    pub(crate) fn tell(&self, handle: u32, point: u64, fd: i32, flags: u32) -> Result<(), Errno> {
        self.send(&mut SyncobjEventfd { handle, flags, point, fd, pad: 0 })
    }

    /// SYNCOBJ_TRANSFER without waiting.
    pub(crate) fn move_point(&self, src: (u32, u64), dst: (u32, u64)) -> Result<(), Errno> {
        let ((src_handle, src_point), (dst_handle, dst_point)) = (src, dst);
        self.send(&mut SyncobjTransfer { src_handle, dst_handle, src_point, dst_point, flags: 0, pad: 0 })
    }
}
