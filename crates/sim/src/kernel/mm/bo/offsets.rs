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

use super::page::PAGE;

/// Offsets start here and never repeat (Linux 6.12 `drm_vma_manager.h`, `DRM_FILE_PAGE_OFFSET_START`).
const FIRST: u64 = 1 << 32;

/// The BOs of a device by their offset in its node. A BO is in it while it lives.
#[derive(Debug)]
pub(crate) struct Offsets<B> {
    next: AtomicU64,
    table: Mutex<HashMap<u64, Weak<B>>>,
    /// BOs of user memory, by the end of their range and their offset.
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
    /// A place for a BO of this size.
    pub(crate) fn reserve(&self, size: u64) -> u64 {
        self.next.fetch_add(size.max(PAGE), Ordering::Relaxed)
    }

    /// A BO can be found from now on: at its offset, and if it is made of user memory by its addresses.
    pub(super) fn publish(&self, offset: u64, user_memory: Option<Range<u64>>, bo: &Arc<B>) {
        self.table.lock().insert(offset, Arc::downgrade(bo));
        if let Some(range) = user_memory {
            self.of_users.lock().insert((range.end, offset), OfUser { start: range.start, bo: Arc::downgrade(bo) });
        }
    }

    /// Called by a BO that goes. Its offset may be another's already, which took over its memory.
    pub(super) fn forget(&self, offset: u64, user_memory: Option<Range<u64>>) {
        if let Some(range) = user_memory {
            self.of_users.lock().remove(&(range.end, offset));
        }
        let mut table = self.table.lock();
        if table.get(&offset).is_some_and(|bo| bo.strong_count() == 0) {
            table.remove(&offset);
        }
    }

    /// The BO that starts exactly there.
    pub(crate) fn find(&self, offset: u64) -> Option<Arc<B>> {
        self.table.lock().get(&offset).and_then(Weak::upgrade)
    }

    /// The BOs of user memory that a range of addresses meets.
    pub(crate) fn of_user_memory(&self, range: &Range<u64>) -> Vec<Arc<B>> {
        let table = self.of_users.lock();
        let behind = table.range((range.start.saturating_add(1), 0)..);
        behind
            .map(|(_, of_user)| of_user)
            .filter(|one| one.start < range.end)
            .filter_map(|one| one.bo.upgrade())
            .collect()
    }

    /// BOs that live.
    pub(crate) fn live(&self) -> usize {
        self.table.lock().values().filter(|bo| bo.strong_count() > 0).count()
    }
}
