//! Identities of memory in reports.

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Marks the number of a dma-buf's inode. Other numbers are below: process IDs of Linux have at most 22 bits.
const DMA_BUF: u64 = 1 << 63;
/// The bits of the serial number of memory that is not shared.
const SERIAL_BITS: u32 = 41;

/// The identity of memory: `VkDeviceMemoryReportCallbackDataEXT::memoryObjectId`.
///
/// Memory that can be shared is identified by the inode of its dma-buf, which is the same in every process. The descriptor is kept,
/// because a dma-buf that is closed everywhere and exported again has another inode. Other memory is identified by the process and a
/// serial number.
///
/// Source: Vulkan 1.3 specification, `VkDeviceMemoryReportCallbackDataEXT`: unique in the whole system for memory that can be
/// exported or was imported.
#[derive(Debug)]
pub(crate) struct MemoryId {
    /// The number that the program sees.
    pub(crate) number: u64,
    /// `true` if the memory was imported, so that the end of it is an `UNIMPORT`.
    pub(crate) is_imported: bool,
    _dma_buf: Option<File>,
}

impl MemoryId {
    /// Returns a new identity of memory of this process.
    pub(crate) fn of_process(is_imported: bool) -> Self {
        Self { number: serial(), is_imported, _dma_buf: None }
    }

    /// Returns the identity of the memory of a dma-buf, or a new one if the kernel does not tell the inode.
    pub(crate) fn of_dma_buf(descriptor: OwnedFd, is_imported: bool) -> Self {
        let file = File::from(descriptor);
        match file.metadata() {
            Ok(data) => Self { number: DMA_BUF | data.ino(), is_imported, _dma_buf: Some(file) },
            Err(_) => Self::of_process(is_imported),
        }
    }
}

/// Returns a number that no other memory has that is not shared.
pub(super) fn serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed) & ((1 << SERIAL_BITS) - 1);
    u64::from(process::id()) << SERIAL_BITS | serial
}
