//! Requests on dma-buf and sync-file descriptors.
//!
//! Source: Linux 6.12 `include/uapi/linux/dma-buf.h` and `sync_file.h`; behaviour: `drivers/dma-buf/dma-buf.c` and
//! `sync_file.c`.

use super::{Request, macros::uapi};

uapi! {
    /// DMA_BUF_IOCTL_SYNC: begins or ends CPU access to a dma-buf.
    struct DmaBufSync = "dma_buf_sync", 8 bytes {
        /// [`SYNC_READ`], [`SYNC_WRITE`] or both, with [`SYNC_END`] at the end of the access.
        0 flags: u64,
    }

    /// DMA_BUF_IOCTL_EXPORT_SYNC_FILE and DMA_BUF_IOCTL_IMPORT_SYNC_FILE: exchange fences between a dma-buf and a sync file.
    struct DmaBufSyncFile = "dma_buf_export_sync_file", 8 bytes {
        /// [`SYNC_READ`], [`SYNC_WRITE`] or both.
        0 flags: u32,
        /// Descriptor of the sync file.
        4 fd: i32,
    }

    /// SYNC_IOC_MERGE: creates a sync file that signals after two others have signalled.
    struct SyncMerge = "sync_merge_data", 48 bytes {
        /// Name of the new sync file, NUL-terminated.
        0 name: [u8; 32],
        /// Descriptor of the second sync file.
        32 fd2: i32,
        /// Descriptor of the new sync file.
        36 fence: i32,
        /// Must be 0.
        40 flags: u32,
        /// Must be 0.
        44 pad: u32,
    }

    /// SYNC_IOC_SET_DEADLINE: sets the time by which a waiter needs the fence to signal.
    struct SyncSetDeadline = "sync_set_deadline", 16 bytes {
        /// Deadline in ns of CLOCK_MONOTONIC.
        0 deadline_ns: u64,
        /// Must be 0.
        8 pad: u64,
    }

    /// SYNC_IOC_FILE_INFO: queries the state of a sync file and its fences.
    struct SyncFileInfo = "sync_file_info", 56 bytes {
        /// Name of the sync file, NUL-terminated.
        0 name: [u8; 32],
        /// 0 if active, 1 if signalled, a negative errno if it ended with an error.
        32 status: i32,
        /// Must be 0.
        36 flags: u32,
        /// Capacity of the array in fences; on return the number of fences.
        40 num_fences: u32,
        /// Must be 0.
        44 pad: u32,
        /// Address of an array of [`SyncFenceInfo`].
        48 sync_fence_info: u64,
    }

    /// A fence of a sync file.
    struct SyncFenceInfo = "sync_fence_info", 80 bytes {
        /// Name of the timeline, NUL-terminated.
        0 obj_name: [u8; 32],
        /// Name of the driver, NUL-terminated.
        32 driver_name: [u8; 32],
        /// 0 if active, 1 if signalled, a negative errno if it ended with an error.
        64 status: i32,
        /// Always 0.
        68 flags: u32,
        /// Time of the signal in ns of CLOCK_MONOTONIC.
        72 timestamp_ns: u64,
    }
}

/// The request DMA_BUF_IOCTL_SYNC, which carries a [`DmaBufSync`].
pub const DMA_BUF_SYNC: Request = Request::write::<DmaBufSync>(b'b', 0);
/// The request DMA_BUF_SET_NAME in its 64-bit form. The argument is the address of the name.
pub const DMA_BUF_SET_NAME: Request = Request::write::<u64>(b'b', 1);
/// The request DMA_BUF_SET_NAME in its 32-bit form. The argument is the address of the name.
pub const DMA_BUF_SET_NAME_32: Request = Request::write::<u32>(b'b', 1);
/// The request DMA_BUF_IOCTL_EXPORT_SYNC_FILE, which carries a [`DmaBufSyncFile`].
pub const DMA_BUF_EXPORT_SYNC_FILE: Request = Request::read_write::<DmaBufSyncFile>(b'b', 2);
/// The request DMA_BUF_IOCTL_IMPORT_SYNC_FILE, which carries a [`DmaBufSyncFile`].
pub const DMA_BUF_IMPORT_SYNC_FILE: Request = Request::write::<DmaBufSyncFile>(b'b', 3);
/// The request SYNC_IOC_MERGE, which carries a [`SyncMerge`].
pub const SYNC_FILE_MERGE: Request = Request::read_write::<SyncMerge>(b'>', 3);
/// The request SYNC_IOC_FILE_INFO, which carries a [`SyncFileInfo`].
pub const SYNC_FILE_INFO: Request = Request::read_write::<SyncFileInfo>(b'>', 4);
/// The request SYNC_IOC_SET_DEADLINE, which carries a [`SyncSetDeadline`].
pub const SYNC_FILE_SET_DEADLINE: Request = Request::write::<SyncSetDeadline>(b'>', 5);

/// A flag of [`DmaBufSync`] and [`DmaBufSyncFile`]: the access reads.
pub const SYNC_READ: u32 = 1;
/// A flag of [`DmaBufSync`] and [`DmaBufSyncFile`]: the access writes.
pub const SYNC_WRITE: u32 = 2;
/// A flag of [`DmaBufSync`]: the access ends.
pub const SYNC_END: u32 = 4;
