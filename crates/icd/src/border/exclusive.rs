//! State whose accesses the program synchronizes.

use std::cell::UnsafeCell;
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicBool, Ordering};

/// The state of an object whose accesses the program must synchronize ("host access to ... must be externally synchronized").
///
/// A release build trusts the program, as for handles, so that recording a command takes no lock. A debug build refuses a command
/// that accesses the state while another command changes it.
#[derive(Debug)]
pub(crate) struct Exclusive<T> {
    value: UnsafeCell<T>,
    #[cfg(debug_assertions)]
    is_changing: AtomicBool,
}

// SAFETY: threads get `&T` of it, for which `T` is `Sync`, and `&mut T`, for which it is `Send`. By valid usage a command that
// changes the state runs while no other uses it.
unsafe impl<T: Send + Sync> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// Creates a cell with this state.
    pub(crate) const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            #[cfg(debug_assertions)]
            is_changing: AtomicBool::new(false),
        }
    }

    /// Changes the state, in a command of an object for which Vulkan demands external synchronization. In a debug build, returns
    /// `None` if another command is changing the state. `change` must not access the same state in another way.
    #[inline]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let _changing = Changing::begin(self)?;
        // SAFETY: by valid usage no other command uses the object while this one runs, and `change` does not reach this state
        // in another way.
        Some(change(unsafe { &mut *self.value.get() }))
    }

    /// Returns the state, in a command that only reads the object. Several commands may read at once. In a debug build, returns
    /// `None` if another command is changing the state.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        #[cfg(debug_assertions)]
        if self.is_changing.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: by valid usage no command changes the object while this one runs, which is how long the reference is used.
        Some(unsafe { &*self.value.get() })
    }
}

/// A change in progress, which ends on drop, even after a panic.
struct Changing<'a> {
    #[cfg(debug_assertions)]
    flag: &'a AtomicBool,
    #[cfg(not(debug_assertions))]
    _state: std::marker::PhantomData<&'a ()>,
}

impl<'a> Changing<'a> {
    /// Begins a change; `None` if another one is in progress.
    #[cfg(debug_assertions)]
    fn begin<T>(state: &'a Exclusive<T>) -> Option<Self> {
        let flag = &state.is_changing;
        (!flag.swap(true, Ordering::Acquire)).then_some(Self { flag })
    }

    #[cfg(not(debug_assertions))]
    #[expect(clippy::unnecessary_wraps, reason = "a debug build looks")]
    fn begin<T>(_state: &'a Exclusive<T>) -> Option<Self> {
        Some(Self { _state: std::marker::PhantomData })
    }
}

#[cfg(debug_assertions)]
impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.flag.store(false, Ordering::Release);
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_meets_a_change_is_refused_and_the_next_one_is_not() {
        let state = Exclusive::new(1);
        let met = state.change(|value| {
            *value = 2;
            (state.get().is_none(), state.change(|_| ()).is_none())
        });
        assert_eq!(met, Some((true, true)));
        assert_eq!(state.get(), Some(&2));
        assert_eq!(state.change(|value| *value), Some(2));
    }

    #[test]
    fn a_change_that_panics_is_over() {
        let state = Exclusive::new(());
        let change = std::panic::AssertUnwindSafe(|| state.change(|()| panic!("a command")));
        assert!(std::panic::catch_unwind(change).is_err());
        assert!(state.get().is_some());
    }
}
