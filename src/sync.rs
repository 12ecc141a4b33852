//! Synchronization primitives of the modules that use few or no locks.
//!
//! In a normal build they are those of the standard library and parking_lot. There is one kind of lock: a waiting thread sleeps, so that
//! the holder can run even if the waiting thread has a real-time priority and both are on one processor.
//! The package `amdgpu-interleavings` builds the
//! library a second time with `cfg(interleaved)`. Each primitive then is a point at which a scheduler may switch to another
//! thread, so that tests can try orders that rarely occur by chance.

#[cfg(not(interleaved))]
mod shipped {
    pub(crate) use std::sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64},
    };

    use parking_lot::MutexGuard;
    pub(crate) use parking_lot::{Mutex, RwLock, RwLockReadGuard};

    /// A condition variable whose wait takes and returns the guard, as the scheduler's does.
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(crate) fn wait<'m, T>(&self, mut guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
            self.0.wait(&mut guard);
            guard
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

#[cfg(interleaved)]
#[path = "../crates/interleavings/src/sync.rs"]
mod scheduled;

#[cfg(interleaved)]
pub(crate) use self::scheduled::{AtomicBool, AtomicU64, Condvar, Mutex, OnceLock, RwLock, RwLockReadGuard};
#[cfg(not(interleaved))]
pub(crate) use self::shipped::{AtomicBool, AtomicU64, Condvar, Mutex, OnceLock, RwLock, RwLockReadGuard};
