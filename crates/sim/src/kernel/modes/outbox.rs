//! The events that the file of a primary node reads.

use std::{collections::VecDeque, fmt, sync::OnceLock};

use amdgpu_uapi::{Errno, EventCrtcSequence, EventVblank};
use parking_lot::Mutex;
use zerocopy::IntoBytes as _;

/// The most bytes of expected and unread events of a file.
///
/// Source: Linux 6.12 `drm_file.c`, `drm_file_alloc`, `event_space`.
const ROOM: usize = 4096;

/// The size of an event in bytes. All types of events have the same size.
pub(crate) const EVENT: u32 = size_of::<EventVblank>() as u32;
const _: () = assert!(size_of::<EventCrtcSequence>() == size_of::<EventVblank>());

/// A function that passes an event of a file to its client. Returns `true` if there was room for the event.
pub(crate) type Sink = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// The events of a file.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<PendingEvents>,
    sink: OnceLock<Sink>,
}

#[derive(Debug, Default)]
struct PendingEvents {
    to_come: usize,
    unread: VecDeque<EventVblank>,
}

impl Outbox {
    /// Passes all further events to a client.
    pub(crate) fn lead_to(&self, sink: Sink) {
        // An earlier sink stays.
        let _ = self.sink.set(sink);
    }

    /// Reserves room for an expected event.
    pub(crate) fn reserve(&self) -> Result<(), Errno> {
        let mut state = self.state.lock();
        if (state.to_come + state.unread.len() + 1) * size_of::<EventVblank>() > ROOM {
            return Err(Errno::ENOMEM);
        }
        state.to_come += 1;
        Ok(())
    }

    /// Releases the room of an event that will not come.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        state.to_come = state.to_come.saturating_sub(1);
    }

    /// Delivers an event for which room is reserved.
    pub(crate) fn deliver(&self, event: EventVblank) {
        let mut state = self.state.lock();
        state.to_come = state.to_come.saturating_sub(1);
        state.unread.push_back(event);
        let Some(sink) = self.sink.get() else { return };
        while state.unread.front().is_some_and(|event| sink(event.as_bytes())) {
            state.unread.pop_front();
        }
    }

    /// Removes and returns the oldest event that was not passed to a client.
    pub(crate) fn read(&self) -> Option<EventVblank> {
        self.state.lock().unread.pop_front()
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("state", &self.state).finish_non_exhaustive()
    }
}
