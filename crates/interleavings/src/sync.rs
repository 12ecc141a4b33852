//! The library's module `sync` under the scheduler: each operation is a moment in which another thread may go on.

use std::sync::{PoisonError, TryLockError};

use shuttle::sync::RwLockWriteGuard;

pub(crate) use shuttle::sync::{
    MutexGuard, RwLockReadGuard,
    atomic::{AtomicBool, AtomicU64},
};

/// parking_lot's mutex, as far as the library uses it.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// parking_lot's lock for many readers, as far as the library uses it.
#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(shuttle::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(shuttle::sync::RwLock::new(value))
    }

    /// Locks for reading. The scheduler's lock cannot be taken twice by one thread.
    pub(crate) fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        match self.0.try_write() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// The standard library's cell that is filled once, as far as the library uses it.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    cell: std::sync::OnceLock<T>,
    /// Lock on which a thread that fills waits, so that the scheduler sees it.
    filling: Mutex<()>,
}

impl<T> OnceLock<T> {
    pub(crate) const fn new() -> Self {
        Self { cell: std::sync::OnceLock::new(), filling: Mutex::new(()) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        shuttle::thread::yield_now();
        self.cell.get()
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let _filling = self.filling.lock();
        // No other thread fills it: none waits in a lock that the scheduler does not know.
        self.cell.get_or_init(make)
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self { cell: value.into(), filling: Mutex::new(()) }
    }
}
