//! Requests on sw_sync descriptors: timelines that user space moves, for tests.
//!
//! Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`, which declares them itself: no header has them.

use super::{Request, macros::uapi};

uapi! {
    /// SW_SYNC_IOC_CREATE_FENCE: a sync file of a point of the timeline.
    struct SwSyncCreateFence = "sw_sync_create_fence_data", 40 bytes {
        /// The point: it signals when the timeline's counter reaches it.
        0 value: u32,
        /// A name, which the kernel does not use.
        4 name: [u8; 32],
        /// The new sync file.
        36 fence: i32,
    }

    /// SW_SYNC_GET_DEADLINE: the earliest deadline that waiters gave a point.
    struct SwSyncGetDeadline = "sw_sync_get_deadline", 16 bytes {
        /// 0; afterwards the deadline in ns of CLOCK_MONOTONIC.
        0 deadline_ns: u64,
        /// Must be 0.
        8 pad: u32,
        /// A sync file of one point.
        12 fence_fd: i32,
    }
}

/// SW_SYNC_IOC_CREATE_FENCE, with a [`SwSyncCreateFence`].
pub const SW_SYNC_CREATE_FENCE: Request = Request::read_write::<SwSyncCreateFence>(b'W', 0);
/// SW_SYNC_IOC_INC, with the number by which the counter goes up.
pub const SW_SYNC_INC: Request = Request::write::<u32>(b'W', 1);
/// SW_SYNC_GET_DEADLINE, with a [`SwSyncGetDeadline`].
pub const SW_SYNC_GET_DEADLINE: Request = Request::read_write::<SwSyncGetDeadline>(b'W', 2);
