//! Sync objects: each has at most one fence, which may be a timeline.
//!
//! Source: Linux 6.12 `drm_syncobj.c`.

use std::sync::{Arc, OnceLock, Weak};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::sync::{
    chain,
    eventfd::EventFd,
    fence::{Fence, Link},
};

/// A sync object. Every operation may turn it from a binary sync object to a timeline and back.
#[derive(Debug, Default)]
pub(crate) struct Syncobj(Mutex<SyncobjState>);

#[derive(Debug, Default)]
struct SyncobjState {
    /// `None` if nothing was submitted; otherwise a plain fence, or the newest point of a timeline.
    fence: Option<Arc<Fence>>,
    /// The waiters for the submission of a point.
    watchers: Vec<Watcher>,
}

/// A waiter for the submission of a point.
#[derive(Debug)]
struct Watcher {
    point: u64,
    then: Then,
}

#[derive(Debug)]
enum Then {
    /// Passes the fence to a waiting thread, which keeps it even if the sync object changes.
    Fill(Weak<Expected>),
    /// Signals an eventfd immediately.
    SignalEventfd(EventFd),
    /// Signals an eventfd when the fence signals.
    SignalEventfdWhenSignalled(EventFd),
}

/// The fence of a point, once it is submitted.
pub(crate) type Expected = OnceLock<Arc<Fence>>;

impl Then {
    fn is_wanted(&self) -> bool {
        !matches!(self, Self::Fill(slot) if slot.strong_count() == 0)
    }

    fn run(self, fence: Arc<Fence>) {
        match self {
            Self::Fill(slot) => {
                if let Some(slot) = slot.upgrade() {
                    // It is only set once, because the watcher is then removed.
                    let _ = slot.set(fence);
                }
            }
            Self::SignalEventfd(eventfd) => eventfd.signal(),
            Self::SignalEventfdWhenSignalled(eventfd) => fence.when_signalled(move || eventfd.signal()),
        }
    }
}

impl SyncobjState {
    /// Sets the fence, and returns the waiters that it satisfies with their fences.
    fn attach(&mut self, fence: Arc<Fence>) -> Vec<(Then, Arc<Fence>)> {
        let mut ready = Vec::new();
        for watcher in std::mem::take(&mut self.watchers) {
            match chain::find(&fence, watcher.point) {
                Some(found) => ready.push((watcher.then, found)),
                None if watcher.then.is_wanted() => self.watchers.push(watcher),
                None => {}
            }
        }
        self.fence = Some(fence);
        ready
    }
}

/// Called without the lock, because observers may use the sync object.
fn run(ready: Vec<(Then, Arc<Fence>)>) {
    for (then, fence) in ready {
        then.run(fence);
    }
}

impl Syncobj {
    pub(crate) fn new(fence: Option<Arc<Fence>>) -> Self {
        Self(Mutex::new(SyncobjState { fence, watchers: Vec::new() }))
    }

    /// Performs RESET: removes the fence.
    pub(crate) fn reset(&self) {
        let gone = self.0.lock().fence.take();
        drop(gone);
    }

    /// Replaces the fence.
    pub(crate) fn replace(&self, fence: Arc<Fence>) {
        let ready = self.0.lock().attach(fence);
        run(ready);
    }

    /// Adds a point; 0 replaces the fence instead, as TRANSFER, CS and GEM_VA do.
    pub(crate) fn add_point(&self, point: u64, fence: Arc<Fence>) {
        if point == 0 { self.replace(fence) } else { self.append(point, fence) }
    }

    /// Appends a fence to the timeline at a point. A point that is not above the newest, 0 among them, takes the newest's number.
    ///
    /// Source: `drm_syncobj_add_point`, which TIMELINE_SIGNAL calls with any point.
    pub(crate) fn append(&self, point: u64, fence: Arc<Fence>) {
        let ready = {
            let mut state = self.0.lock();
            let link = Link::append(state.fence.clone(), point, fence);
            state.attach(link)
        };
        run(ready);
    }

    /// Returns the fence of a point; 0 means the newest state as a whole. Returns `None` if the point is not yet submitted.
    pub(crate) fn find(&self, point: u64) -> Option<Arc<Fence>> {
        let newest = self.0.lock().fence.clone()?;
        chain::find(&newest, point)
    }

    /// Returns a slot for the fence of a point, which is set as soon as the point is submitted. Dropping the slot ends the wait.
    pub(crate) fn expect(&self, point: u64) -> Arc<Expected> {
        let slot = Arc::new(Expected::new());
        self.watch(point, Then::Fill(Arc::downgrade(&slot)));
        slot
    }

    /// Performs EVENTFD: signals the eventfd once when the point is submitted, or when it is signalled. A registration that still
    /// waits for the submission ends with the sync object.
    ///
    /// Source: `drm_syncobj_add_eventfd`, `syncobj_eventfd_entry_func`.
    pub(crate) fn add_eventfd(&self, point: u64, eventfd: EventFd, when_available: bool) {
        self.watch(
            point,
            if when_available { Then::SignalEventfd(eventfd) } else { Then::SignalEventfdWhenSignalled(eventfd) },
        );
    }

    fn watch(&self, point: u64, then: Then) {
        let mut state = self.0.lock();
        let found = state.fence.as_ref().and_then(|fence| chain::find(fence, point));
        if let Some(fence) = found {
            drop(state);
            then.run(fence);
        } else {
            state.watchers.retain(|watcher| watcher.then.is_wanted());
            state.watchers.push(Watcher { point, then });
        }
    }

    /// Returns the highest signalled point, or the newest submitted point; 0 if there is no timeline.
    pub(crate) fn query(&self, last_submitted: bool) -> u64 {
        let Some(fence) = self.0.lock().fence.clone() else { return 0 };
        if last_submitted { chain::newest_point(&fence) } else { chain::reached_point(&fence) }
    }

    /// Returns the fence of a point for TRANSFER and CS; EINVAL if there is none.
    pub(crate) fn fence(&self, point: u64) -> Result<Arc<Fence>, Errno> {
        self.find(point).ok_or(Errno::EINVAL)
    }
}

#[cfg(test)]
mod tests;
