//! The executor of a device's shaders, and the counts of its work.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::RwLock;

use crate::gpu::{NoShaders, Scene, Shaders, Tally, Unfinished, Work};

/// A slot for an executor of shaders, with counts of its work.
pub(crate) struct ShaderSlot {
    plugged: RwLock<Arc<dyn Shaders + Send + Sync>>,
    draws: AtomicU64,
    dispatches: AtomicU64,
}

impl ShaderSlot {
    /// Creates a slot with an executor.
    pub(crate) fn new(shaders: Arc<dyn Shaders + Send + Sync>) -> Self {
        let slot = Self::default();
        slot.plug(shaders);
        slot
    }

    /// Replaces the executor.
    pub(crate) fn plug(&self, shaders: Arc<dyn Shaders + Send + Sync>) {
        *self.plugged.write() = shaders;
    }

    /// Returns the counts of the work.
    pub(crate) fn tally(&self) -> Tally {
        let (draws, dispatches) = (self.draws.load(Ordering::Relaxed), self.dispatches.load(Ordering::Relaxed));
        Tally { draws, dispatches }
    }
}

impl Default for ShaderSlot {
    fn default() -> Self {
        Self { plugged: RwLock::new(Arc::new(NoShaders)), draws: AtomicU64::new(0), dispatches: AtomicU64::new(0) }
    }
}

impl Shaders for ShaderSlot {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        let counter = match work {
            Work::Draw(_) | Work::Mesh(_) => &self.draws,
            Work::Dispatch(_) => &self.dispatches,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        // Called without the lock, because shaders may run long and replace the executor.
        let plugged = Arc::clone(&self.plugged.read());
        plugged.run(work, scene)
    }
}

impl fmt::Debug for ShaderSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShaderSlot").field("tally", &self.tally()).finish_non_exhaustive()
    }
}
