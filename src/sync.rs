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

    pub(crate) use parking_lot::{Mutex, RwLock, RwLockReadGuard};
}

#[cfg(interleaved)]
#[path = "../crates/interleavings/src/sync.rs"]
mod scheduled;

#[cfg(interleaved)]
pub(crate) use self::scheduled::{AtomicBool, AtomicU64, Mutex, OnceLock, RwLock, RwLockReadGuard};
#[cfg(not(interleaved))]
pub(crate) use self::shipped::{AtomicBool, AtomicU64, Mutex, OnceLock, RwLock, RwLockReadGuard};
