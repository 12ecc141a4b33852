//! The open sw_sync files of a machine, and their closing.
//!
//! The client's descriptor is one end of a socket pair, which can be duplicated and sent to other processes. The other end reports
//! a hang-up after the last copy of the first is closed. A thread waits for that, and every request checks it, so that files that a
//! client closed before a request are closed when the request is performed.

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
    process::errno::errno_of,
    sync::{events::Events, timeline::Timeline},
};

/// The maximum number of open files. Each needs a descriptor.
const MOST: usize = 1024;
/// The data of epoll for the end of the machine. Timelines are numbered from 1.
const MACHINE: u64 = 0;

/// All open timelines. The thread that waits for their closing starts with the first timeline.
#[derive(Debug)]
pub(crate) struct Timelines {
    /// The maximum number of open timelines.
    most: usize,
    /// The number of the next timeline.
    next: AtomicU64,
    /// `true` if any timeline was ever opened.
    is_used: AtomicBool,
    watched: Mutex<Option<Watched>>,
}

/// The watched descriptors, and the stream whose closing ends the thread.
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

    /// Opens a timeline, and returns it with a descriptor for a client, with close-on-exec.
    ///
    /// # Errors
    ///
    /// ENFILE if too many are open; EMFILE or EAGAIN if the host has no free descriptor or thread.
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

    /// Closes the timelines whose last descriptor was closed before the call.
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
    /// Waits until a descriptor is closed.
    fn sleep(&self) {
        // Only a signal can interrupt it, and the descriptors are checked afterwards.
        let _ = self.epoll.wait(&mut [EpollEvent::empty()], EpollTimeout::NONE);
    }

    /// Closes timelines whose descriptors were closed. Returns `false` after the end of the machine.
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
                    // It is removed with the descriptor anyway.
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
