//! Sharing of a BO: its handles, its name and its dma-buf.

use std::{
    os::fd::OwnedFd,
    sync::atomic::{AtomicU32, Ordering},
};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::process::errno::errno_of;

/// The references to a BO. Changes are ordered by the device's lock for names and exports (`Gpu::names`).
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// The number of handles in all files.
    handles: AtomicU32,
    /// The name that FLINK assigned; 0 for none.
    pub(crate) name: AtomicU32,
    /// The dma-buf, as long as there are handles.
    dma_buf: Mutex<Option<OwnedFd>>,
}

impl Sharing {
    /// Counts a new handle.
    pub(crate) fn open(&self) {
        self.handles.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a closed handle. Returns `true` if it was the last one of all files.
    pub(crate) fn close(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn has_handles(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }

    /// Returns `true` if others may also have the BO.
    pub(super) fn is_shared(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 1 || self.dma_buf.lock().is_some()
    }

    /// Links a BO that has handles again to its dma-buf. An existing link is kept.
    pub(crate) fn link(&self, dma_buf: OwnedFd) {
        self.dma_buf.lock().get_or_insert(dma_buf);
    }

    /// Removes the link to the dma-buf after the last handle was closed.
    pub(crate) fn unlink(&self) -> Option<OwnedFd> {
        self.dma_buf.lock().take()
    }

    /// Returns a copy of the link to the dma-buf, which is opened if there is none.
    pub(super) fn dma_buf(&self, open: impl FnOnce() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
        let mut link = self.dma_buf.lock();
        let known = match link.take() {
            Some(known) => known,
            None => open()?,
        };
        link.insert(known).try_clone().map_err(errno_of)
    }
}
