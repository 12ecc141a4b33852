//! Requests on dma-buf and sync-file descriptors.
//!
//! Source: Linux 6.12 `include/uapi/linux/dma-buf.h` and `sync_file.h`; behaviour: `drivers/dma-buf/dma-buf.c` and
//! `sync_file.c`.

use super::{Request, macros::uapi};

uapi! {
    /// DMA_BUF_IOCTL_SYNC: brackets CPU access.
    struct DmaBufSync = "dma_buf_sync", 8 bytes {
        /// [`SYNC_READ`], [`SYNC_WRITE`] or both, with [`SYNC_END`] at the end of the access.
        0 flags: u64,
    }

    /// DMA_BUF_IOCTL_EXPORT_SYNC_FILE and DMA_BUF_IOCTL_IMPORT_SYNC_FILE.
    struct DmaBufSyncFile = "dma_buf_export_sync_file", 8 bytes {
        /// [`SYNC_READ`], [`SYNC_WRITE`] or both.
        0 flags: u32,
        /// The sync file.
        4 fd: i32,
    }

    /// SYNC_IOC_MERGE: a sync file that signals when two others have.
    struct SyncMerge = "sync_merge_data", 48 bytes {
        /// Name of the new sync file, NUL-terminated.
        0 name: [u8; 32],
        /// The second sync file.
        32 fd2: i32,
        /// The new one.
        36 fence: i32,
        /// Must be 0.
        40 flags: u32,
        /// Must be 0.
        44 pad: u32,
    }

    /// SYNC_IOC_SET_DEADLINE: the time by which a waiter wants the fence to signal.
    struct SyncSetDeadline = "sync_set_deadline", 16 bytes {
        /// ns of CLOCK_MONOTONIC.
        0 deadline_ns: u64,
        /// Must be 0.
        8 pad: u64,
    }

    /// SYNC_IOC_FILE_INFO.
    struct SyncFileInfo = "sync_file_info", 56 bytes {
        /// Name, NUL-terminated.
        0 name: [u8; 32],
        /// 0 active, 1 signalled, negative errno when it ended with an error.
        32 status: i32,
        /// Must be 0.
        36 flags: u32,
        /// Capacity in fences of the array, afterwards the number of fences.
        40 num_fences: u32,
        /// Must be 0.
        44 pad: u32,
        /// Address of an array of [`SyncFenceInfo`].
        48 sync_fence_info: u64,
    }

    /// One fence of a sync file.
    struct SyncFenceInfo = "sync_fence_info", 80 bytes {
        /// Name of the timeline, NUL-terminated.
        0 obj_name: [u8; 32],
        /// Name of the driver, NUL-terminated.
        32 driver_name: [u8; 32],
        /// 0 active, 1 signalled, negative errno when it ended with an error.
        64 status: i32,
        /// Always 0.
        68 flags: u32,
        /// When it signalled, ns of CLOCK_MONOTONIC.
        72 timestamp_ns: u64,
    }
}

/// DMA_BUF_IOCTL_SYNC, with a [`DmaBufSync`].
pub const DMA_BUF_SYNC: Request = Request::write::<DmaBufSync>(b'b', 0);
/// DMA_BUF_SET_NAME in its 64-bit form; the argument is the address of the name.
pub const DMA_BUF_SET_NAME: Request = Request::write::<u64>(b'b', 1);
/// DMA_BUF_SET_NAME in its 32-bit form, whose argument is the address too.
pub const DMA_BUF_SET_NAME_32: Request = Request::write::<u32>(b'b', 1);
/// DMA_BUF_IOCTL_EXPORT_SYNC_FILE, with a [`DmaBufSyncFile`].
pub const DMA_BUF_EXPORT_SYNC_FILE: Request = Request::read_write::<DmaBufSyncFile>(b'b', 2);
/// DMA_BUF_IOCTL_IMPORT_SYNC_FILE, with a [`DmaBufSyncFile`].
pub const DMA_BUF_IMPORT_SYNC_FILE: Request = Request::write::<DmaBufSyncFile>(b'b', 3);
/// SYNC_IOC_MERGE, with a [`SyncMerge`].
pub const SYNC_FILE_MERGE: Request = Request::read_write::<SyncMerge>(b'>', 3);
/// SYNC_IOC_FILE_INFO, with a [`SyncFileInfo`].
pub const SYNC_FILE_INFO: Request = Request::read_write::<SyncFileInfo>(b'>', 4);
/// SYNC_IOC_SET_DEADLINE, with a [`SyncSetDeadline`].
pub const SYNC_FILE_SET_DEADLINE: Request = Request::write::<SyncSetDeadline>(b'>', 5);

/// The access reads.
pub const SYNC_READ: u32 = 1;
/// The access writes.
pub const SYNC_WRITE: u32 = 2;
/// The access ends here.
pub const SYNC_END: u32 = 4;
