//! Values that the rules of C protect, and no lock.

use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::checked::IS_CHECKED;

/// A value that is changed by one call at a time, and looked at by none meanwhile: so the contract of C has it, and a lock
/// would cost each call two locked instructions. A checked build has the lock, and finds out who breaks the contract.
pub(crate) struct Contracted<T> {
    value: UnsafeCell<T>,
    /// Taken in checked builds only.
    turns: RwLock<()>,
}

/// A look at a value.
pub(crate) struct Look<'a, T> {
    value: &'a T,
    turn: Turn<'a>,
}

/// The turn of a look in a checked build: nothing changes the value as long as it is kept.
pub(crate) type Turn<'a> = Option<RwLockReadGuard<'a, ()>>;

/// A value that is being changed.
pub(crate) struct Change<'a, T> {
    value: &'a mut T,
    _turn: Option<RwLockWriteGuard<'a, ()>>,
}

impl<T> Contracted<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), turns: RwLock::new(()) }
    }

    /// Looks at the value. `None` in a checked build if another call changes it.
    ///
    /// # Safety
    ///
    /// Nothing changes the value as long as the result, or what was borrowed through it, is used.
    #[inline]
    pub(crate) unsafe fn look(&self) -> Option<Look<'_, T>> {
        let turn = if IS_CHECKED { Some(self.turns.try_read()?) } else { None };
        // SAFETY: the caller promises that there is no other but shared use.
        Some(Look { value: unsafe { &*self.value.get() }, turn })
    }

    /// Changes the value. `None` in a checked build if another call uses it.
    ///
    /// # Safety
    ///
    /// Nothing else uses the value as long as the result is used.
    #[inline]
    pub(crate) unsafe fn change(&self) -> Option<Change<'_, T>> {
        let turn = if IS_CHECKED { Some(self.turns.try_write()?) } else { None };
        // SAFETY: the caller promises that there is no other use.
        Some(Change { value: unsafe { &mut *self.value.get() }, _turn: turn })
    }
}

impl<'a, T> Look<'a, T> {
    /// Returns a part of the value, if it has the part, and the turn that keeps it.
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
