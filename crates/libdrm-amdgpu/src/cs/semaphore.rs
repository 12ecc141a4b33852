//! Semaphores of software: a signal remembers the last submission of a ring, and a wait makes the next submission of another ring
//! depend on it.

use parking_lot::{Mutex, MutexGuard};

use amdgpu_winsys::uapi::CsChunkDep;

/// A semaphore.
#[derive(Default)]
pub(super) struct Semaphore(Mutex<State>);

/// The state of a semaphore.
#[derive(Default)]
pub(super) struct State {
    /// The submission that the signal stood for. It names the context by its number, so that the context may be freed.
    pub(super) signal: Option<CsChunkDep>,
    /// `true` while a ring waits for it.
    pub(super) is_queued: bool,
}

impl Semaphore {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }

    /// Resets the semaphore, which a submission or the end of a context does, and returns what the signal stood for.
    pub(super) fn reset(&self) -> Option<CsChunkDep> {
        std::mem::take(&mut *self.state()).signal
    }
}
