//! Where mmap of the node finds BOs.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::{Bo, PAGE, WeakBo};

/// Offsets start here and never repeat (Linux 6.12 `drm_vma_manager.h`, `DRM_FILE_PAGE_OFFSET_START`).
const FIRST: u64 = 1 << 32;

/// The BOs of a device by their offset in its node. A BO is in it while it lives.
#[derive(Debug)]
pub(crate) struct Offsets {
    next: AtomicU64,
    table: Mutex<HashMap<u64, WeakBo>>,
}

impl Default for Offsets {
    fn default() -> Self {
        Self { next: AtomicU64::new(FIRST), table: Mutex::default() }
    }
}

impl Offsets {
    /// A place for a BO of this size.
    pub(crate) fn reserve(&self, size: u64) -> u64 {
        self.next.fetch_add(size.max(PAGE), Ordering::Relaxed)
    }

    pub(super) fn publish(&self, bo: &Arc<Bo>) {
        self.table.lock().insert(bo.mmap_offset(), Arc::downgrade(bo));
    }

    /// Called by a BO that goes. Its offset may be another's already, which took over its memory.
    pub(super) fn forget(&self, offset: u64) {
        let mut table = self.table.lock();
        if table.get(&offset).is_some_and(|bo| bo.strong_count() == 0) {
            table.remove(&offset);
        }
    }

    /// The BO that starts exactly there.
    pub(crate) fn find(&self, offset: u64) -> Option<Arc<Bo>> {
        self.table.lock().get(&offset).and_then(WeakBo::upgrade)
    }

    /// BOs that live.
    pub(crate) fn live(&self) -> usize {
        self.table.lock().values().filter(|bo| bo.strong_count() > 0).count()
    }
}
