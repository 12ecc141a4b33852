//! Where mmap of the node finds BOs.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
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
    /// BOs of user memory, by the end of their range and their offset.
    of_users: Mutex<BTreeMap<(u64, u64), WeakBo>>,
}

impl Default for Offsets {
    fn default() -> Self {
        Self { next: AtomicU64::new(FIRST), table: Mutex::default(), of_users: Mutex::default() }
    }
}

impl Offsets {
    /// A place for a BO of this size.
    pub(crate) fn reserve(&self, size: u64) -> u64 {
        self.next.fetch_add(size.max(PAGE), Ordering::Relaxed)
    }

    pub(super) fn publish(&self, bo: &Arc<Bo>) {
        self.table.lock().insert(bo.mmap_offset(), Arc::downgrade(bo));
        if let Some(pages) = bo.user_pages() {
            self.of_users.lock().insert((pages.range().end, bo.mmap_offset()), Arc::downgrade(bo));
        }
    }

    /// Called by a BO that goes. Its offset may be another's already, which took over its memory.
    pub(super) fn forget(&self, bo: &Bo) {
        let offset = bo.mmap_offset();
        if let Some(pages) = bo.user_pages() {
            self.of_users.lock().remove(&(pages.range().end, offset));
        }
        let mut table = self.table.lock();
        if table.get(&offset).is_some_and(|bo| bo.strong_count() == 0) {
            table.remove(&offset);
        }
    }

    /// The BO that starts exactly there.
    pub(crate) fn find(&self, offset: u64) -> Option<Arc<Bo>> {
        self.table.lock().get(&offset).and_then(WeakBo::upgrade)
    }

    /// The BOs of user memory that a range of addresses meets.
    pub(crate) fn of_user_memory(&self, range: &Range<u64>) -> Vec<Arc<Bo>> {
        let table = self.of_users.lock();
        let meets = |bo: &Arc<Bo>| bo.user_pages().is_some_and(|pages| pages.range().start < range.end);
        let behind = table.range((range.start.saturating_add(1), 0)..);
        behind.filter_map(|(_, bo)| bo.upgrade()).filter(meets).collect()
    }

    /// BOs that live.
    pub(crate) fn live(&self) -> usize {
        self.table.lock().values().filter(|bo| bo.strong_count() > 0).count()
    }
}
