//! The fences of a BO's users.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::kernel::sync::fence::Fence;

/// A use of a BO that ends when a fence signals.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The file of the job; 0 for fences that are not from a job.
    pub(crate) file: u64,
    pub(crate) fence: Arc<Fence>,
    /// `true` if the user writes the BO.
    pub(crate) writes: bool,
}

/// The fences of one BO, or of all BOs that a file created with VM_ALWAYS_VALID: these share a reservation with the file's page
/// tables, so that they take part in every submission of the file at no cost.
#[derive(Debug, Default)]
pub(crate) struct Reservation(Mutex<Vec<Use>>);

impl Reservation {
    /// Adds a job as a writer: submissions do not specify BOs that are only read.
    pub(crate) fn add(&self, file: u64, fence: &Arc<Fence>) {
        self.push([Use { file, fence: Arc::clone(fence), writes: true }]);
    }

    /// Adds a fence as a reader or writer.
    ///
    /// Source: Linux 6.12 `dma-buf.c`, `dma_buf_import_sync_file`.
    pub(crate) fn import(&self, fence: &Arc<Fence>, writes: bool) {
        self.push(fence.leaves().into_iter().map(|fence| Use { file: fence.owner().unwrap_or(0), fence, writes }));
    }

    /// Adds users and removes those that have ended.
    fn push(&self, more: impl IntoIterator<Item = Use>) {
        let mut uses = self.0.lock();
        uses.retain(|earlier| !earlier.fence.is_signalled());
        uses.extend(more);
    }

    /// Returns the current users.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut uses = self.0.lock();
        uses.retain(|earlier| !earlier.fence.is_signalled());
        uses.clone()
    }

    /// Returns the fence to wait for: before a read that of the writers, before a write that of all users.
    pub(crate) fn fence(&self, for_writing: bool) -> Arc<Fence> {
        Fence::merge(
            self.uses().into_iter().filter(|earlier| for_writing || earlier.writes).map(|earlier| earlier.fence),
        )
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.lock().iter().all(|earlier| earlier.fence.is_signalled())
    }
}
