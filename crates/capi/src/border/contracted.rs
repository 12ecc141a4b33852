//! Values that the rules of the C API protect instead of a lock.

use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::checked::IS_CHECKED;

/// A value that one call at a time may change while no other call reads it. The C API requires this of its callers, because a
/// lock would cost each call two locked instructions. A checked build has a lock, and detects callers that violate the rule.
pub(crate) struct Contracted<T> {
    value: UnsafeCell<T>,
    /// Locked in checked builds only.
    turns: RwLock<()>,
}

/// Shared access to a value.
pub(crate) struct Look<'a, T> {
    value: &'a T,
    turn: Turn<'a>,
}

/// The read lock of a checked build: while it is kept, nothing changes the value.
pub(crate) type Turn<'a> = Option<RwLockReadGuard<'a, ()>>;

/// Exclusive access to a value.
pub(crate) struct Change<'a, T> {
    value: &'a mut T,
    _turn: Option<RwLockWriteGuard<'a, ()>>,
}

impl<T> Contracted<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), turns: RwLock::new(()) }
    }

    /// Accesses the value for reading. Returns `None` in a checked build if another call changes it.
    ///
    /// # Safety
    ///
    /// Nothing changes the value while the result, or a reference obtained through it, is used.
    #[inline]
    pub(crate) unsafe fn look(&self) -> Option<Look<'_, T>> {
        let turn = if IS_CHECKED { Some(self.turns.try_read()?) } else { None };
        // SAFETY: the caller promises that all other uses are shared.
        Some(Look { value: unsafe { &*self.value.get() }, turn })
    }

    /// Accesses the value for changing it. Returns `None` in a checked build if another call uses it.
    ///
    /// # Safety
    ///
    /// Nothing else uses the value while the result is used.
    #[inline]
    pub(crate) unsafe fn change(&self) -> Option<Change<'_, T>> {
        let turn = if IS_CHECKED { Some(self.turns.try_write()?) } else { None };
        // SAFETY: the caller promises that there is no other use.
        Some(Change { value: unsafe { &mut *self.value.get() }, _turn: turn })
    }
}

impl<'a, T> Look<'a, T> {
    /// Returns a part of the value, if the value has it, and the lock that protects it.
    #[inline]
    pub(crate) fn part<U>(self, part: impl FnOnce(&'a T) -> Option<&'a U>) -> Result<(&'a U, Turn<'a>), Self> {
        match part(self.value) {
            Some(part) => Ok((part, self.turn)),
            None => Err(self),
        }
    }
}

impl<T> Deref for Look<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Deref for Change<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for Change<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}
