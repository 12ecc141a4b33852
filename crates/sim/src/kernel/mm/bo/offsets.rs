//! mmap offsets of BOs on the node.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::backing::page::PAGE;

/// The first offset. Offsets are never reused (Linux 6.12 `drm_vma_manager.h`, `DRM_FILE_PAGE_OFFSET_START`).
const FIRST: u64 = 1 << 32;

/// The live BOs of a device by their mmap offset.
#[derive(Debug)]
pub(crate) struct Offsets<B> {
    next: AtomicU64,
    table: Mutex<HashMap<u64, Weak<B>>>,
    /// The BOs of user memory, by the end of their range and their offset.
    of_users: Mutex<BTreeMap<(u64, u64), OfUser<B>>>,
}

/// A BO of user memory.
#[derive(Debug)]
struct OfUser<B> {
    /// The first address.
    start: u64,
    bo: Weak<B>,
}

impl<B> Default for Offsets<B> {
    fn default() -> Self {
        Self { next: AtomicU64::new(FIRST), table: Mutex::default(), of_users: Mutex::default() }
    }
}

impl<B> Offsets<B> {
    /// Reserves an offset for a BO of this size.
    pub(crate) fn reserve(&self, size: u64) -> u64 {
        self.next.fetch_add(size.max(PAGE), Ordering::Relaxed)
    }

    /// Registers a BO by its offset, and if it is created from user memory also by its addresses.
    pub(super) fn publish(&self, offset: u64, user_memory: Option<Range<u64>>, bo: &Arc<B>) {
        self.table.lock().insert(offset, Arc::downgrade(bo));
        if let Some(range) = user_memory {
            self.of_users.lock().insert((range.end, offset), OfUser { start: range.start, bo: Arc::downgrade(bo) });
        }
    }

    /// Removes a BO that is dropped. Its offset may already belong to another BO that took over its memory.
    pub(super) fn forget(&self, offset: u64, user_memory: Option<Range<u64>>) {
        if let Some(range) = user_memory {
            self.of_users.lock().remove(&(range.end, offset));
        }
        let mut table = self.table.lock();
        if table.get(&offset).is_some_and(|bo| bo.strong_count() == 0) {
            table.remove(&offset);
        }
    }

    /// Returns the BO with exactly this offset.
    pub(crate) fn find(&self, offset: u64) -> Option<Arc<B>> {
        self.table.lock().get(&offset).and_then(Weak::upgrade)
    }

    /// Returns the BOs of user memory that overlap a range of addresses.
    pub(crate) fn of_user_memory(&self, range: &Range<u64>) -> Vec<Arc<B>> {
        let table = self.of_users.lock();
        let behind = table.range((range.start.saturating_add(1), 0)..);
        behind
            .map(|(_, of_user)| of_user)
            .filter(|one| one.start < range.end)
            .filter_map(|one| one.bo.upgrade())
            .collect()
    }

    /// Returns the number of live BOs.
    pub(crate) fn live(&self) -> usize {
        self.table.lock().values().filter(|bo| bo.strong_count() > 0).count()
    }
}
