//! The GEM handles of one file.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use amdgpu_uapi::Errno;

use crate::kernel::{
    machine::file_id::FileId,
    mm::bo::Bo,
    process::ids::{Ids, MOST_HANDLES},
};

/// The handles by number, the number of handles of each BO, and the handles of dma-bufs.
#[derive(Debug)]
pub(crate) struct Handles {
    bos: Ids<Arc<Bo>>,
    /// The number of handles of each BO, by its mmap offset.
    counts: HashMap<u64, u32>,
    prime: Prime,
}

/// The pairs of a dma-buf and a handle: one for each handle that was exported, or that an import created. Importing the dma-buf
/// again returns the handle of one of its pairs.
///
/// Source: Linux 6.12 `drm_prime.c`, `drm_prime_add_buf_handle`, `drm_prime_lookup_buf_handle` and
/// `drm_prime_remove_buf_handle`. If a dma-buf has several handles, which of them the kernel finds depends on addresses in its
/// memory; here it is the one that was recorded first.
#[derive(Debug, Default)]
struct Prime {
    /// The handles of each dma-buf, each after the number of its record.
    handles: HashMap<FileId, BTreeSet<(u64, u32)>>,
    /// The dma-buf of each handle, with the number of the record.
    dma_bufs: HashMap<u32, (FileId, u64)>,
    /// The number of records ever made.
    recorded: u64,
}

impl Prime {
    fn handle(&self, id: FileId) -> Option<u32> {
        self.handles.get(&id)?.first().map(|(_, handle)| *handle)
    }

    fn record(&mut self, id: FileId, handle: u32) {
        if !self.dma_bufs.contains_key(&handle) {
            self.dma_bufs.insert(handle, (id, self.recorded));
            self.handles.entry(id).or_default().insert((self.recorded, handle));
            self.recorded += 1;
        }
    }

    fn forget(&mut self, handle: u32) {
        let Some((id, number)) = self.dma_bufs.remove(&handle) else { return };
        if let Some(handles) = self.handles.get_mut(&id) {
            handles.remove(&(number, handle));
            if handles.is_empty() {
                self.handles.remove(&id);
            }
        }
    }
}

impl Default for Handles {
    fn default() -> Self {
        Self { bos: Ids::new(MOST_HANDLES), counts: HashMap::new(), prime: Prime::default() }
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
        self.prime.forget(handle);
        self.bos.remove(handle).map(drop).ok_or(Errno::EINVAL)
    }

    /// Returns a handle that is recorded for a dma-buf.
    pub(crate) fn of_dma_buf(&self, id: FileId) -> Option<u32> {
        self.prime.handle(id)
    }

    /// Records a handle for a dma-buf, unless the handle is already recorded for one.
    pub(crate) fn remember_dma_buf(&mut self, id: FileId, handle: u32) {
        self.prime.record(id, handle);
    }

    /// Removes all handles, and returns a BO for each handle.
    pub(crate) fn clear(&mut self) -> Vec<Arc<Bo>> {
        self.counts.clear();
        self.prime = Prime::default();
        self.bos.clear()
    }

    /// Returns the handles with their BOs, in rising order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Arc<Bo>)> {
        self.bos.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.bos.len()
    }

    /// Returns the size of all BOs in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bos.iter().map(|(_, bo)| bo.size()).sum()
    }
}
