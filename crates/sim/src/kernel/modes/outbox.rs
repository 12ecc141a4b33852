//! Events that a primary node's file reads.

use std::{collections::VecDeque, fmt, sync::OnceLock};

use amdgpu_uapi::{Errno, EventCrtcSequence, EventVblank};
use parking_lot::Mutex;
use zerocopy::IntoBytes as _;

/// Bytes of events that a file may have to come or unread.
///
/// Source: Linux 6.12 `drm_file.c`, `drm_file_alloc`, `event_space`.
const ROOM: usize = 4096;

/// Bytes of an event, of which all kinds have the same number.
pub(crate) const EVENT: u32 = size_of::<EventVblank>() as u32;
const _: () = assert!(size_of::<EventCrtcSequence>() == size_of::<EventVblank>());

/// A function that takes an event of a file for its client, and tells whether there was room.
pub(crate) type Sink = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// The events of a file.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    sink: OnceLock<Sink>,
}

#[derive(Debug, Default)]
struct State {
    to_come: usize,
    unread: VecDeque<EventVblank>,
}

impl Outbox {
    /// Leads events to a client from now on.
    pub(crate) fn lead_to(&self, sink: Sink) {
        // One that is there already stays.
        let _ = self.sink.set(sink);
    }

    /// Reserves room for an event that is to come.
    pub(crate) fn reserve(&self) -> Result<(), Errno> {
        let mut state = self.state.lock();
        if (state.to_come + state.unread.len() + 1) * size_of::<EventVblank>() > ROOM {
            return Err(Errno::ENOMEM);
        }
        state.to_come += 1;
        Ok(())
    }

    /// Gives room back for an event that will not come.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        state.to_come = state.to_come.saturating_sub(1);
    }

    /// The event has come.
    pub(crate) fn deliver(&self, event: EventVblank) {
        let mut state = self.state.lock();
        state.to_come = state.to_come.saturating_sub(1);
        state.unread.push_back(event);
        let Some(sink) = self.sink.get() else { return };
        while state.unread.front().is_some_and(|event| sink(event.as_bytes())) {
            state.unread.pop_front();
        }
    }

    /// Takes the oldest event that nothing led to a client.
    pub(crate) fn read(&self) -> Option<EventVblank> {
        self.state.lock().unread.pop_front()
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("state", &self.state).finish_non_exhaustive()
    }
}
