//! DRM sync objects.
//!
//! Source: Linux 6.12 `include/uapi/drm/drm.h`; behaviour: `drivers/gpu/drm/drm_syncobj.c`. Timeouts and deadlines are absolute
//! nanoseconds of CLOCK_MONOTONIC; a timeout that has passed polls.

use super::{
    Request,
    macros::{requests, uapi},
};

uapi! {
    /// SYNCOBJ_CREATE: creates a sync object.
    struct SyncobjCreate = "drm_syncobj_create", 8 bytes {
        /// The new handle: the lowest free one.
        0 handle: u32,
        /// The initial state: [`CREATE_SIGNALED`] or 0.
        4 flags: u32,
    }

    /// SYNCOBJ_DESTROY: destroys a handle; EINVAL if it is unknown.
    struct SyncobjDestroy = "drm_syncobj_destroy", 8 bytes {
        /// Handle of the sync object.
        0 handle: u32,
        /// Must be 0.
        4 pad: u32,
    }

    /// SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE: export and import a sync object or its fence.
    struct SyncobjHandle = "drm_syncobj_handle", 16 bytes {
        /// Handle of the sync object.
        0 handle: u32,
        /// 0 to share the object itself, [`SYNC_FILE`] to export or import its fence as a sync file.
        4 flags: u32,
        /// The file descriptor of the sync object or sync file.
        8 fd: i32,
        /// Must be 0.
        12 pad: u32,
    }

    /// SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE of Linux 6.16 and later, which export and import points of a timeline.
    struct SyncobjHandlePoint = "", 24 bytes {
        /// Handle of the sync object.
        0 handle: u32,
        /// [`SYNC_FILE`] and [`SYNC_FILE_OF_POINT`], or 0 to share the object itself.
        4 flags: u32,
        /// The file descriptor of the sync object or sync file.
        8 fd: i32,
        /// Must be 0.
        12 pad: u32,
        /// The point, with [`SYNC_FILE_OF_POINT`].
        16 point: u64,
    }

    /// SYNCOBJ_TRANSFER: copies the fence of a point to another point.
    struct SyncobjTransfer = "drm_syncobj_transfer", 32 bytes {
        /// Handle of the source sync object.
        0 src_handle: u32,
        /// Handle of the destination sync object.
        4 dst_handle: u32,
        /// Point of the source; 0 for its newest state.
        8 src_point: u64,
        /// Point of the destination; 0 to replace its fence.
        16 dst_point: u64,
        /// Options of the transfer: [`SyncobjWaitFlags::WAIT_FOR_SUBMIT`] or 0.
        24 flags: u32,
        /// Must be 0.
        28 pad: u32,
    }

    /// SYNCOBJ_WAIT: waits for binary sync objects.
    struct SyncobjWait = "drm_syncobj_wait", 40 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Absolute timeout in ns; zero and negative values poll.
        8 timeout_nsec: i64,
        /// Number of handles.
        16 count_handles: u32,
        /// Options of the wait: [`SyncobjWaitFlags`] without `WAIT_AVAILABLE`.
        20 flags: u32,
        /// Index of a signalled sync object, unless the wait was for all.
        24 first_signaled: u32,
        /// Not checked by the kernel.
        28 pad: u32,
        /// Absolute deadline hint in ns, with `WAIT_DEADLINE`.
        32 deadline_nsec: u64,
    }

    /// SYNCOBJ_TIMELINE_WAIT: waits for points of timeline sync objects.
    struct SyncobjTimelineWait = "drm_syncobj_timeline_wait", 48 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Address of `count_handles` u64 points; 0 if all points are 0.
        8 points: u64,
        /// Absolute timeout in ns; zero and negative values poll.
        16 timeout_nsec: i64,
        /// Number of handles.
        24 count_handles: u32,
        /// Options of the wait: [`SyncobjWaitFlags`].
        28 flags: u32,
        /// Index of a signalled sync object, unless the wait was for all.
        32 first_signaled: u32,
        /// Not checked by the kernel.
        36 pad: u32,
        /// Absolute deadline hint in ns, with `WAIT_DEADLINE`.
        40 deadline_nsec: u64,
    }

    /// SYNCOBJ_RESET and SYNCOBJ_SIGNAL: remove the fences of sync objects, or signal them.
    struct SyncobjArray = "drm_syncobj_array", 16 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Number of handles; EINVAL if it is 0.
        8 count_handles: u32,
        /// Must be 0.
        12 pad: u32,
    }

    /// SYNCOBJ_QUERY and SYNCOBJ_TIMELINE_SIGNAL: query or signal points of timeline sync objects.
    struct SyncobjTimelineArray = "drm_syncobj_timeline_array", 24 bytes {
        /// Address of `count_handles` u32 handles.
        0 handles: u64,
        /// Address of `count_handles` u64 points.
        8 points: u64,
        /// Number of handles; EINVAL if it is 0.
        16 count_handles: u32,
        /// [`QUERY_LAST_SUBMITTED`] or 0 for a query, otherwise 0.
        20 flags: u32,
    }

    /// SYNCOBJ_EVENTFD: adds 1 to an eventfd once the point is signalled, or has a fence.
    struct SyncobjEventfd = "drm_syncobj_eventfd", 24 bytes {
        /// Handle of the sync object.
        0 handle: u32,
        /// The condition: [`SyncobjWaitFlags::WAIT_AVAILABLE`], or 0 for a signalled point.
        4 flags: u32,
        /// The timeline point to watch.
        8 point: u64,
        /// Descriptor of the eventfd.
        16 fd: i32,
        /// Must be 0.
        20 pad: u32,
    }
}

requests! {
    SyncobjCreate: "SYNCOBJ_CREATE" = read_write(0xbf), 0xc008_64bf, create;
    SyncobjDestroy: "SYNCOBJ_DESTROY" = read_write(0xc0), 0xc008_64c0, destroy;
    SyncobjHandle: "SYNCOBJ_HANDLE_TO_FD" = read_write(0xc1), 0xc010_64c1, share;
    SyncobjHandlePoint: "SYNCOBJ_HANDLE_TO_FD" = read_write(0xc1), 0xc018_64c1, share;
    SyncobjWait: "SYNCOBJ_WAIT" = read_write(0xc3), 0xc028_64c3, wait with addresses;
    SyncobjArray: "SYNCOBJ_RESET" = read_write(0xc4), 0xc010_64c4, change with addresses;
    SyncobjTimelineWait: "SYNCOBJ_TIMELINE_WAIT" = read_write(0xca), 0xc030_64ca, wait with addresses;
    SyncobjTimelineArray: "SYNCOBJ_QUERY" = read_write(0xcb), 0xc018_64cb, change with addresses;
    SyncobjTransfer: "SYNCOBJ_TRANSFER" = read_write(0xcc), 0xc020_64cc, change;
    SyncobjEventfd: "SYNCOBJ_EVENTFD" = read_write(0xcf), 0xc018_64cf, change;
}

/// The request SYNCOBJ_FD_TO_HANDLE, which carries a [`SyncobjHandle`].
pub const SYNCOBJ_FD_TO_HANDLE: Request = Request::read_write::<SyncobjHandle>(b'd', 0xc2);
/// The request SYNCOBJ_SIGNAL, which carries a [`SyncobjArray`].
pub const SYNCOBJ_SIGNAL: Request = Request::read_write::<SyncobjArray>(b'd', 0xc5);
/// The request SYNCOBJ_TIMELINE_SIGNAL, which carries a [`SyncobjTimelineArray`].
pub const SYNCOBJ_TIMELINE_SIGNAL: Request = Request::read_write::<SyncobjTimelineArray>(b'd', 0xcd);

/// The size in bytes of [`SyncobjWait`] in headers without `deadline_nsec`.
pub const SYNCOBJ_WAIT_SIZE_WITHOUT_DEADLINE: usize = 32;
/// The size in bytes of [`SyncobjTimelineWait`] in headers without `deadline_nsec`.
pub const SYNCOBJ_TIMELINE_WAIT_SIZE_WITHOUT_DEADLINE: usize = 40;

/// A flag of [`SyncobjCreate::flags`]: creates the object with a signalled fence.
pub const CREATE_SIGNALED: u32 = 1;
/// A flag of [`SyncobjHandle::flags`]: the descriptor is a sync file.
pub const SYNC_FILE: u32 = 1;
/// A flag of [`SyncobjHandlePoint::flags`]: with [`SYNC_FILE`], the sync file is of a point of the timeline.
pub const SYNC_FILE_OF_POINT: u32 = 2;
/// A flag of [`SyncobjTimelineArray::flags`]: queries the newest submitted point, even if it is not signalled.
pub const QUERY_LAST_SUBMITTED: u32 = 1;

bitflags::bitflags! {
    /// The flags of SYNCOBJ_WAIT and SYNCOBJ_TIMELINE_WAIT.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct SyncobjWaitFlags: u32 {
        /// Waits for all sync objects instead of any.
        const WAIT_ALL = 1 << 0;
        /// Waits for a fence to be submitted if there is none; without the flag the wait fails with EINVAL.
        const WAIT_FOR_SUBMIT = 1 << 1;
        /// Waits only until a point has a fence (timeline wait only).
        const WAIT_AVAILABLE = 1 << 2;
        /// The deadline field is valid.
        const WAIT_DEADLINE = 1 << 3;
    }
}
