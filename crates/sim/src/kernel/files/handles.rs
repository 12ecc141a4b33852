//! The GEM handles of one file.

use std::{collections::HashMap, sync::Arc};

use amdgpu_uapi::Errno;

use crate::kernel::{
    files::{
        file_id::FileId,
        ids::{Ids, MOST_HANDLES},
    },
    mm::bo::Bo,
};

/// The handles by number, the number of handles of each BO, and the handles of dma-bufs.
#[derive(Debug)]
pub(crate) struct Handles {
    bos: Ids<Arc<Bo>>,
    /// The number of handles of each BO, by its mmap offset.
    counts: HashMap<u64, u32>,
    /// The handle of each exported or imported dma-buf: importing the dma-buf again returns this handle.
    prime: HashMap<FileId, u32>,
    dma_bufs: HashMap<u32, FileId>,
}

impl Default for Handles {
    fn default() -> Self {
        Self { bos: Ids::new(MOST_HANDLES), counts: HashMap::new(), prime: HashMap::new(), dma_bufs: HashMap::new() }
    }
}

impl Handles {
    pub(crate) fn get(&self, handle: u32) -> Option<&Arc<Bo>> {
        self.bos.get(handle)
    }

    /// Returns `true` if the BO has a handle in this file.
    pub(crate) fn holds(&self, bo: &Bo) -> bool {
        self.counts.contains_key(&bo.mmap_offset())
    }

    /// Creates a handle.
    pub(crate) fn insert(&mut self, bo: &Arc<Bo>) -> Result<u32, Errno> {
        let handle = self.bos.insert(Arc::clone(bo)).map_err(|_| Errno::ENOSPC)?;
        *self.counts.entry(bo.mmap_offset()).or_default() += 1;
        bo.sharing.open();
        Ok(handle)
    }

    /// Removes a handle if it still belongs to the BO. The caller updates the BO (`Gpu::handle_closed`).
    pub(crate) fn remove(&mut self, handle: u32, bo: &Arc<Bo>) -> Result<(), Errno> {
        if !self.get(handle).is_some_and(|known| Arc::ptr_eq(known, bo)) {
            return Err(Errno::EINVAL);
        }
        if let Some(count) = self.counts.get_mut(&bo.mmap_offset()) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&bo.mmap_offset());
            }
        }
        if let Some(id) = self.dma_bufs.remove(&handle) {
            self.prime.remove(&id);
        }
        self.bos.remove(handle).map(drop).ok_or(Errno::EINVAL)
    }

    /// Returns the handle of a dma-buf.
    pub(crate) fn of_dma_buf(&self, id: FileId) -> Option<u32> {
        self.prime.get(&id).copied()
    }

    /// Associates a handle with a dma-buf, unless the dma-buf already has one.
    ///
    /// Source: Linux 6.12 `drm_prime.c`, `drm_prime_add_buf_handle`.
    pub(crate) fn remember_dma_buf(&mut self, id: FileId, handle: u32) {
        if !self.prime.contains_key(&id) && !self.dma_bufs.contains_key(&handle) {
            self.prime.insert(id, handle);
            self.dma_bufs.insert(handle, id);
        }
    }

    /// Removes all handles, and returns a BO for each handle.
    pub(crate) fn clear(&mut self) -> Vec<Arc<Bo>> {
        self.counts.clear();
        self.prime.clear();
        self.dma_bufs.clear();
        self.bos.clear()
    }

    pub(crate) fn len(&self) -> usize {
        self.bos.len()
    }

    /// Returns the size of all BOs in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bos.iter().map(|(_, bo)| bo.size()).sum()
    }
}
