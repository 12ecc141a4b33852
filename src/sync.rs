//! Synchronization primitives of the parts that need few locks or none.
//!
//! As shipped these are the standard library's and parking_lot's own, and nothing stands between. The package
//! `amdgpu-interleavings` builds the library a second time with `cfg(interleaved)`; there each of them is a moment in which a
//! scheduler may let another thread go on, so that tests try the orders that chance hardly ever brings about.

#[cfg(not(interleaved))]
mod shipped {
    pub(crate) use std::sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64},
    };

    pub(crate) use crate::brief_lock::BriefLock;
    pub(crate) use once_cell::sync::OnceCell;
    pub(crate) use parking_lot::{Mutex, RwLock, RwLockReadGuard};
}

#[cfg(interleaved)]
#[path = "../crates/interleavings/src/sync.rs"]
mod scheduled;

#[cfg(interleaved)]
pub(crate) use self::scheduled::{
    AtomicBool, AtomicU64, BriefLock, Mutex, OnceCell, OnceLock, RwLock, RwLockReadGuard,
};
#[cfg(not(interleaved))]
pub(crate) use self::shipped::{AtomicBool, AtomicU64, BriefLock, Mutex, OnceCell, OnceLock, RwLock, RwLockReadGuard};
