//! Which jobs use a BO.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::fence::Fence;

/// A job that uses a BO.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The file that submitted it.
    pub(crate) file: u64,
    pub(crate) fence: Arc<Fence>,
}

/// The fences of one BO, or of all BOs that a file created VM_ALWAYS_VALID: those share one with the file's page tables,
/// and so take part in every submission of the file at no cost.
#[derive(Debug, Default)]
pub(crate) struct Reservation(Mutex<Vec<Use>>);

impl Reservation {
    /// A job uses it from now on. Uses that are over are forgotten.
    pub(crate) fn add(&self, file: u64, fence: &Arc<Fence>) {
        let mut uses = self.0.lock();
        uses.retain(|earlier| !earlier.fence.is_signalled());
        uses.push(Use { file, fence: Arc::clone(fence) });
    }

    /// The jobs that use it now.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut uses = self.0.lock();
        uses.retain(|earlier| !earlier.fence.is_signalled());
        uses.clone()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.lock().iter().all(|earlier| earlier.fence.is_signalled())
    }
}
