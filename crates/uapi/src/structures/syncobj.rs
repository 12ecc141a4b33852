//! DRM sync objects.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h`; behaviour: `drivers/gpu/drm/drm_syncobj.c`. Timeouts and deadlines are
//! absolute nanoseconds of CLOCK_MONOTONIC; a timeout that is not after now polls.

use super::{
    Request,
    macros::{requests, uapi},
};

uapi! {
    /// SYNCOBJ_CREATE.
    struct SyncobjCreate = "drm_syncobj_create", 8 bytes {
        /// The new handle, lowest free first.
        0 handle: u32,
        /// [`CREATE_SIGNALED`] or 0.
        4 flags: u32,
    }

    /// SYNCOBJ_DESTROY. An unknown handle is EINVAL.
    struct SyncobjDestroy = "drm_syncobj_destroy", 8 bytes {
        /// The handle.
        0 handle: u32,
        /// Must be 0.
        4 pad: u32,
    }

    /// SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE.
    struct SyncobjHandle = "drm_syncobj_handle", 16 bytes {
        /// The sync object.
        0 handle: u32,
        /// 0 shares the object itself, [`SYNC_FILE`] exports or imports its fence as a sync file.
        4 flags: u32,
        /// The descriptor.
        8 fd: i32,
        /// Must be 0.
        12 pad: u32,
    }

    /// SYNCOBJ_TRANSFER: the fence of one point to another.
    struct SyncobjTransfer = "drm_syncobj_transfer", 32 bytes {
        /// Handle of the sync object that the fence comes from.
        0 src_handle: u32,
        /// Handle of the sync object that the fence goes to.
        4 dst_handle: u32,
        /// Point of the source; 0 is its newest state.
        8 src_point: u64,
        /// Point of the destination; 0 replaces its fence.
        16 dst_point: u64,
        /// [`SyncobjWaitFlags::WAIT_FOR_SUBMIT`] or 0.
        24 flags: u32,
        /// Must be 0.
        28 pad: u32,
    }

    /// SYNCOBJ_WAIT for binary sync objects.
    struct SyncobjWait = "drm_syncobj_wait", 40 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Absolute timeout in ns; zero and negative values poll.
        8 timeout_nsec: i64,
        /// Number of handles.
        16 count_handles: u32,
        /// [`SyncobjWaitFlags`] without `WAIT_AVAILABLE`.
        20 flags: u32,
        /// Index of a signalled one, unless all were waited for.
        24 first_signaled: u32,
        /// Not checked.
        28 pad: u32,
        /// Absolute hint in ns, with `WAIT_DEADLINE`.
        32 deadline_nsec: u64,
    }

    /// SYNCOBJ_TIMELINE_WAIT.
    struct SyncobjTimelineWait = "drm_syncobj_timeline_wait", 48 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Address of `count_handles` u64 points; 0 means all points are 0.
        8 points: u64,
        /// Absolute timeout in ns; zero and negative values poll.
        16 timeout_nsec: i64,
        /// Number of handles.
        24 count_handles: u32,
        /// [`SyncobjWaitFlags`].
        28 flags: u32,
        /// Index of a signalled one, unless all were waited for.
        32 first_signaled: u32,
        /// Not checked.
        36 pad: u32,
        /// Absolute hint in ns, with `WAIT_DEADLINE`.
        40 deadline_nsec: u64,
    }

    /// SYNCOBJ_RESET and SYNCOBJ_SIGNAL.
    struct SyncobjArray = "drm_syncobj_array", 16 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Number of handles; 0 is EINVAL.
        8 count_handles: u32,
        /// Must be 0.
        12 pad: u32,
    }

    /// SYNCOBJ_QUERY and SYNCOBJ_TIMELINE_SIGNAL.
    struct SyncobjTimelineArray = "drm_syncobj_timeline_array", 24 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Address of `count_handles` u64 points.
        8 points: u64,
        /// Number of handles; 0 is EINVAL.
        16 count_handles: u32,
        /// [`QUERY_LAST_SUBMITTED`] for a query, else 0.
        20 flags: u32,
    }

    /// SYNCOBJ_EVENTFD: adds 1 to an eventfd once the point is signalled (or available).
    struct SyncobjEventfd = "drm_syncobj_eventfd", 24 bytes {
        /// The sync object.
        0 handle: u32,
        /// [`SyncobjWaitFlags::WAIT_AVAILABLE`] or 0.
        4 flags: u32,
        /// The point.
        8 point: u64,
        /// The eventfd.
        16 fd: i32,
        /// Must be 0.
        20 pad: u32,
    }
}

requests! {
    SyncobjCreate: "SYNCOBJ_CREATE" = read_write(0xbf), 0xc008_64bf;
    SyncobjDestroy: "SYNCOBJ_DESTROY" = read_write(0xc0), 0xc008_64c0;
    SyncobjHandle: "SYNCOBJ_HANDLE_TO_FD" = read_write(0xc1), 0xc010_64c1;
    SyncobjWait: "SYNCOBJ_WAIT" = read_write(0xc3), 0xc028_64c3;
    SyncobjArray: "SYNCOBJ_RESET" = read_write(0xc4), 0xc010_64c4;
    SyncobjTimelineWait: "SYNCOBJ_TIMELINE_WAIT" = read_write(0xca), 0xc030_64ca;
    SyncobjTimelineArray: "SYNCOBJ_QUERY" = read_write(0xcb), 0xc018_64cb;
    SyncobjTransfer: "SYNCOBJ_TRANSFER" = read_write(0xcc), 0xc020_64cc;
    SyncobjEventfd: "SYNCOBJ_EVENTFD" = read_write(0xcf), 0xc018_64cf;
}

/// SYNCOBJ_FD_TO_HANDLE, with a [`SyncobjHandle`].
pub const SYNCOBJ_FD_TO_HANDLE: Request = Request::read_write::<SyncobjHandle>(b'd', 0xc2);
/// SYNCOBJ_SIGNAL, with a [`SyncobjArray`].
pub const SYNCOBJ_SIGNAL: Request = Request::read_write::<SyncobjArray>(b'd', 0xc5);
/// SYNCOBJ_TIMELINE_SIGNAL, with a [`SyncobjTimelineArray`].
pub const SYNCOBJ_TIMELINE_SIGNAL: Request = Request::read_write::<SyncobjTimelineArray>(b'd', 0xcd);

/// Size in bytes of [`SyncobjWait`] before it had a deadline.
pub const SYNCOBJ_WAIT_SIZE_WITHOUT_DEADLINE: usize = 32;
/// Size in bytes of [`SyncobjTimelineWait`] before it had a deadline.
pub const SYNCOBJ_TIMELINE_WAIT_SIZE_WITHOUT_DEADLINE: usize = 40;

/// [`SyncobjCreate::flags`]: the object starts with a signalled fence.
pub const CREATE_SIGNALED: u32 = 1;
/// [`SyncobjHandle::flags`]: the descriptor is a sync file.
pub const SYNC_FILE: u32 = 1;
/// [`SyncobjTimelineArray::flags`]: report the newest point, signalled or not.
pub const QUERY_LAST_SUBMITTED: u32 = 1;

bitflags::bitflags! {
    /// Flags of the two waits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct SyncobjWaitFlags: u32 {
        /// Wait for all, not for any.
        const WAIT_ALL = 1 << 0;
        /// Wait for a fence to appear where there is none yet, instead of EINVAL.
        const WAIT_FOR_SUBMIT = 1 << 1;
        /// A point counts as reached once it has a fence (timeline wait only).
        const WAIT_AVAILABLE = 1 << 2;
        /// The deadline field is meant.
        const WAIT_DEADLINE = 1 << 3;
    }
}
