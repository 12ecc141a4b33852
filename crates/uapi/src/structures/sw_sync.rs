//! Requests on sw_sync descriptors: timelines for tests, which user space advances.
//!
//! Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`, which declares the structures itself; they are in no header.

use super::{Request, macros::uapi};

uapi! {
    /// SW_SYNC_IOC_CREATE_FENCE: creates a sync file for a point of the timeline.
    struct SwSyncCreateFence = "sw_sync_create_fence_data", 40 bytes {
        /// The point. It is signalled when the timeline's counter reaches it.
        0 value: u32,
        /// A name, which the kernel ignores.
        4 name: [u8; 32],
        /// Descriptor of the new sync file.
        36 fence: i32,
    }

    /// SW_SYNC_GET_DEADLINE: queries the earliest deadline hint that waiters set for a point.
    struct SwSyncGetDeadline = "sw_sync_get_deadline", 16 bytes {
        /// 0; on return the deadline in ns of CLOCK_MONOTONIC.
        0 deadline_ns: u64,
        /// Must be 0.
        8 pad: u32,
        /// Descriptor of a sync file of one point.
        12 fence_fd: i32,
    }
}

/// The request SW_SYNC_IOC_CREATE_FENCE, which carries a [`SwSyncCreateFence`].
pub const SW_SYNC_CREATE_FENCE: Request = Request::read_write::<SwSyncCreateFence>(b'W', 0);
/// The request SW_SYNC_IOC_INC, which carries the increment of the counter.
pub const SW_SYNC_INC: Request = Request::write::<u32>(b'W', 1);
/// The request SW_SYNC_GET_DEADLINE, which carries a [`SwSyncGetDeadline`].
pub const SW_SYNC_GET_DEADLINE: Request = Request::read_write::<SwSyncGetDeadline>(b'W', 2);
