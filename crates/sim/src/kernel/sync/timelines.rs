//! The open sw_sync files of a machine, and their ends.
//!
//! The client's descriptor is one end of a socket pair, which is duplicated and sent to other processes as it likes; the
//! other end reports a hang-up once the last copy of the first is closed. A thread waits for that, and every request looks,
//! so that what a client closed before it is closed when it is served.

use std::{
    collections::HashMap,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use amdgpu_uapi::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use parking_lot::Mutex;

use crate::kernel::{
    mm::bo::errno_of,
    sync::{events::Events, timeline::Timeline},
};

/// Open files at most, each of which takes a descriptor.
const MOST: usize = 1024;
/// epoll's data for the end of the machine; timelines count from 1.
const MACHINE: u64 = 0;

/// All open timelines. The thread that waits for their ends starts with the first.
#[derive(Debug)]
pub(crate) struct Timelines {
    /// Open timelines at most.
    most: usize,
    /// The number of the next timeline.
    next: AtomicU64,
    /// `true` if there ever was a timeline.
    is_used: AtomicBool,
    watched: Mutex<Option<Watched>>,
}

/// The descriptors that are watched, and the stream whose end tells the thread that the machine is gone.
#[derive(Debug)]
struct Watched {
    open: Arc<Open>,
    _machine: UnixStream,
}

#[derive(Debug)]
struct Open {
    epoll: Epoll,
    by_number: Mutex<HashMap<u64, (UnixStream, Arc<Timeline>)>>,
    /// Held while timelines are closed, so that the next caller sees them closed.
    closing: Mutex<()>,
}

impl Default for Timelines {
    fn default() -> Self {
        Self::of_at_most(MOST)
    }
}

impl Timelines {
    fn of_at_most(most: usize) -> Self {
        Self { most, next: AtomicU64::new(1), is_used: AtomicBool::new(false), watched: Mutex::default() }
    }

    /// A new timeline, and a descriptor of it for a client, which closes on exec.
    ///
    /// # Errors
    ///
    /// ENFILE when too many are open; EMFILE and EAGAIN when the host has no descriptor or thread left.
    pub(crate) fn open(&self, process: &str, events: &Arc<Events>) -> Result<(OwnedFd, Arc<Timeline>), Errno> {
        let open = {
            let mut watched = self.watched.lock();
            match &*watched {
                Some(watched) => Arc::clone(&watched.open),
                None => Arc::clone(&watched.insert(Watched::start()?).open),
            }
        };
        open.close_what_is_over();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (theirs, ours) = UnixStream::pair().map_err(errno_of)?;
        let timeline = Arc::new(Timeline::new(process, number, events));
        let mut by_number = open.by_number.lock();
        if by_number.len() >= self.most {
            return Err(Errno::ENFILE);
        }
        open.epoll.add(&ours, EpollEvent::new(EpollFlags::empty(), number))?;
        by_number.insert(number, (ours, Arc::clone(&timeline)));
        drop(by_number);
        self.is_used.store(true, Ordering::Release);
        Ok((theirs.into(), timeline))
    }

    /// Closes those whose last descriptor was closed before the call.
    pub(crate) fn close_what_is_over(&self) {
        if !self.is_used.load(Ordering::Acquire) {
            return;
        }
        let open = self.watched.lock().as_ref().map(|watched| Arc::clone(&watched.open));
        if let Some(open) = open {
            open.close_what_is_over();
        }
    }
}

impl Watched {
    fn start() -> Result<Self, Errno> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let (machine, end) = UnixStream::pair().map_err(errno_of)?;
        epoll.add(end.as_fd(), EpollEvent::new(EpollFlags::empty(), MACHINE))?;
        let open = Arc::new(Open { epoll, by_number: Mutex::default(), closing: Mutex::default() });
        let watcher = Arc::clone(&open);
        let spawned = thread::Builder::new().name("amdgpu-sim sw_sync".to_owned()).spawn(move || {
            while watcher.close_what_is_over() {
                watcher.sleep();
            }
            drop(end);
        });
        spawned.map_err(errno_of)?;
        Ok(Self { open, _machine: machine })
    }
}

impl Open {
    /// Waits until something is over.
    fn sleep(&self) {
        // A signal is the only reason to fail, and a look follows.
        let _ = self.epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::NONE);
    }

    /// Returns `false` once the machine is gone.
    fn close_what_is_over(&self) -> bool {
        let mut events = [EpollEvent::empty(); 32];
        let mut goes_on = true;
        let _closing = self.closing.lock();
        loop {
            let count = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
            for event in events.iter().take(count) {
                goes_on &= event.data() != MACHINE;
                let gone = self.by_number.lock().remove(&event.data());
                if let Some((end, timeline)) = gone {
                    // It goes with the descriptor anyway.
                    let _ = self.epoll.delete(&end);
                    timeline.close();
                }
            }
            if count < events.len() {
                return goes_on;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_at_most_and_a_closed_one_makes_room() {
        let (timelines, events) = (Timelines::of_at_most(2), Arc::default());
        let (first, closed) = timelines.open("test", &events).unwrap();
        let _second = timelines.open("test", &events).unwrap();
        assert_eq!(timelines.open("test", &events).unwrap_err(), Errno::ENFILE);
        drop(first);
        timelines.open("test", &events).unwrap();
        assert!(closed.is_closed());
    }
}
