//! The devices of the process.
//!
//! The list is a chain of pointers, each change of which is one store, so a child that is forked at any time finds a whole list. The
//! lock carries the process that took it: if another thread of the parent held it during the fork, nobody in the child will release
//! it, and the child takes it over. There is no handler for forks, which would keep the library from being unloaded.

use std::{
    ptr,
    sync::{
        Arc,
        atomic::{
            AtomicPtr, AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use super::{Device, node::NodeName};

static FIRST: AtomicPtr<Device> = AtomicPtr::new(ptr::null_mut());
/// The process that holds the lock; 0 if none does.
static HOLDER: AtomicU32 = AtomicU32::new(0);

/// The list, locked. Initialisation holds it from the search to the entry, so that two threads that initialise one node get one device.
pub(super) struct List {
    first: &'static AtomicPtr<Device>,
}

impl List {
    pub(super) fn lock() -> Self {
        let own = std::process::id();
        loop {
            match HOLDER.compare_exchange_weak(0, own, Acquire, Relaxed) {
                Ok(_) => return Self { first: &FIRST },
                Err(0) => {}
                Err(holder) if holder == own => std::thread::sleep(Duration::from_micros(50)),
                Err(stale) => {
                    if HOLDER.compare_exchange(stale, own, Acquire, Relaxed).is_ok() {
                        return Self { first: &FIRST };
                    }
                }
            }
        }
    }

    /// Returns the device of the list that a node is of.
    pub(super) fn find(&self, node: &NodeName) -> Option<&Device> {
        let mut next = self.first.load(Acquire);
        loop {
            // SAFETY: a device in the list lives: it is taken out under this lock before its last reference goes.
            let device = unsafe { next.as_ref() }?;
            if device.node.is_same_gpu(node) {
                return Some(device);
            }
            next = device.next.load(Acquire);
        }
    }

    /// Enters a device.
    pub(super) fn enter(&self, device: &Arc<Device>) {
        device.next.store(self.first.load(Acquire), Relaxed);
        self.first.store(Arc::as_ptr(device).cast_mut(), Release);
    }

    /// Takes a device out, if it is in the list.
    pub(super) fn remove(&self, device: &Device) {
        let mut link = self.first;
        loop {
            let next = link.load(Acquire);
            if ptr::eq(next, device) {
                link.store(device.next.load(Acquire), Release);
                return;
            }
            // SAFETY: as in `find`.
            match unsafe { next.as_ref() } {
                Some(other) => link = &other.next,
                None => return,
            }
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        HOLDER.store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_another_process_is_taken_over_and_one_of_this_process_is_awaited() {
        // A process that held it when this one was forked.
        HOLDER.store(1, Release);
        drop(List::lock());
        assert_eq!(HOLDER.load(Acquire), 0);
        let held = List::lock();
        let waiter = std::thread::spawn(|| drop(List::lock()));
        std::thread::sleep(Duration::from_millis(5));
        assert!(!waiter.is_finished());
        drop(held);
        waiter.join().unwrap();
    }
}
