//! An observer that keeps what it hears.

use amdgpu_winsys::winsys::{Event, Observer};
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(crate) struct Listener(Mutex<Vec<Event>>);

impl Listener {
    /// Returns the events since the last call.
    pub(crate) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Observer for Listener {
    fn observe(&self, event: &Event) {
        self.0.lock().push(*event);
    }
}
