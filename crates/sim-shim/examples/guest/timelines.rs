//! sw_sync: timelines that a program moves itself.

use std::{
    os::fd::{AsRawFd, FromRawFd as _, OwnedFd},
    path::Path,
};

use amdgpu_winsys::uapi::{
    Request, SW_SYNC_CREATE_FENCE, SW_SYNC_INC, SYNC_FILE, SYNC_FILE_INFO, SYNC_FILE_MERGE, SYNCOBJ_FD_TO_HANDLE,
    SwSyncCreateFence, SyncFileInfo, SyncMerge, SyncobjCreate, SyncobjHandle,
};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, FdFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    unistd::{AccessFlags, access},
};

use crate::node::{RENDER, in_child, ioctl, ioctl_as, open};

const PATHS: [&str; 2] = ["/dev/sw_sync", "/sys/kernel/debug/sync/sw_sync"];

#[expect(unsafe_code, reason = "descriptors by number")]
fn own(fd: i32) -> OwnedFd {
    // SAFETY: a request has just made it for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn fence(timeline: &OwnedFd, value: u32) -> OwnedFd {
    let mut request = SwSyncCreateFence { value, ..SwSyncCreateFence::ZEROED };
    ioctl_as(timeline, SW_SYNC_CREATE_FENCE, &mut request).expect("a fence");
    own(request.fence)
}

fn advance(timeline: &OwnedFd, mut by: u32) {
    ioctl_as(timeline, SW_SYNC_INC, &mut by).expect("INC");
}

/// Status of a sync file: 0 while it is pending, 1 or a negative errno afterwards.
pub(crate) fn status(sync_file: &OwnedFd) -> i32 {
    let mut info = SyncFileInfo::ZEROED;
    ioctl_as(sync_file, SYNC_FILE_INFO, &mut info).expect("FILE_INFO");
    info.status
}

fn is_readable(fd: &OwnedFd, timeout: impl Into<PollTimeout>) -> bool {
    use std::os::fd::AsFd as _;
    let mut fds = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, timeout).expect("poll") == 1
}

/// Fences of timelines: polled, merged, imported, signalled by another process, and ended with their timeline.
pub(crate) fn sw_sync() {
    for path in PATHS {
        access(Path::new(path), AccessFlags::R_OK | AccessFlags::W_OK).expect(path);
        let timeline = open(path);
        let flags = FdFlag::from_bits_retain(fcntl(&timeline, FcntlArg::F_GETFD).expect("F_GETFD"));
        assert!(flags.contains(FdFlag::FD_CLOEXEC));
        let other = open(path);
        let (first, second, far) = (fence(&timeline, 1), fence(&other, 1), fence(&timeline, 9));
        let mut merge = SyncMerge { fd2: second.as_raw_fd(), ..SyncMerge::ZEROED };
        ioctl_as(&first, SYNC_FILE_MERGE, &mut merge).expect("MERGE");
        let both = own(merge.fence);

        in_child(|| advance(&timeline, 1));
        assert!(is_readable(&first, PollTimeout::NONE));
        assert_eq!([&first, &second, &both].map(status), [1, 0, 0]);
        assert!(!is_readable(&both, PollTimeout::ZERO));
        advance(&other, 1);
        assert!(is_readable(&both, PollTimeout::NONE));

        let node = open(RENDER);
        let mut syncobj = SyncobjCreate { handle: 0, flags: 0 };
        ioctl(&node, &mut syncobj).expect("a sync object");
        let mut import = SyncobjHandle { handle: syncobj.handle, flags: SYNC_FILE, fd: far.as_raw_fd(), pad: 0 };
        ioctl_as(&node, SYNCOBJ_FD_TO_HANDLE, &mut import).expect("an import");
        let copy = timeline.try_clone().expect("dup");
        drop(timeline);
        assert_eq!(status(&far), 0, "a copy is left");
        drop(copy);
        assert_eq!(status(&far), -(Errno::ENOENT as i32));
        assert!(is_readable(&far, PollTimeout::NONE));

        assert_eq!(ioctl_as(&other, Request::bare(b'W', 9), &mut 0_u32), Err(Errno::ENOTTY));
        assert_eq!(ioctl_as(&open("/dev/null"), SW_SYNC_INC, &mut 1_u32), Err(Errno::ENOTTY));
    }
}
