//! State whose accesses the program synchronizes.

use std::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};

/// The state of an object whose accesses the program must synchronize ("host access to ... must be externally synchronized").
///
/// A command that accesses the state while a command changes it is refused. A release build finds this for certain only if both are
/// on one thread, which is how a change would reach its own state: the flag is then read and written like any variable, so that
/// recording a command takes no locked instruction. That two threads do not meet it trusts the program for, as for handles. A debug
/// build finds these too.
#[derive(Debug)]
pub(crate) struct Exclusive<T> {
    value: UnsafeCell<T>,
    is_changing: AtomicBool,
}

// SAFETY: threads get `&T` of it, for which `T` is `Sync`, and `&mut T`, for which it is `Send`. By valid usage a command that
// changes the state runs while no other uses it.
unsafe impl<T: Send + Sync> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// Creates a cell with this state.
    pub(crate) const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), is_changing: AtomicBool::new(false) }
    }

    /// Changes the state, in a command of an object for which Vulkan demands external synchronization. Returns `None` if another
    /// command is changing the state: one that called this one, or in a debug build one of another thread.
    #[inline]
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let _changing = Changing::begin(self)?;
        // SAFETY: by valid usage no other thread uses the object while this command runs. If `change` reaches this state on this
        // thread, it finds the flag that is set until `_changing` is dropped, and gets no reference. A reference that `get` gave
        // before is not used any more, because no command of this crate changes an object whose state it still looks at.
        Some(change(unsafe { &mut *self.value.get() }))
    }

    /// Returns the state, in a command that only reads the object. Several commands may read at once. Returns `None` if another
    /// command is changing the state, as [`Exclusive::change`] does. The caller changes no state while it uses the reference, unless
    /// it is that of another object.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_changing.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: no change is in progress on this thread, as the flag says, and by valid usage none on another one while this
        // command runs, which is how long the reference is used.
        Some(unsafe { &*self.value.get() })
    }
}

/// A change in progress, which ends on drop, even after a panic.
struct Changing<'a> {
    flag: &'a AtomicBool,
}

impl<'a> Changing<'a> {
    /// Begins a change; `None` if another one is in progress.
    fn begin<T>(state: &'a Exclusive<T>) -> Option<Self> {
        let flag = &state.is_changing;
        let is_changing = if cfg!(debug_assertions) {
            flag.swap(true, Ordering::Acquire)
        } else {
            let is_changing = flag.load(Ordering::Relaxed);
            flag.store(true, Ordering::Relaxed);
            is_changing
        };
        (!is_changing).then_some(Self { flag })
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.flag.store(false, Ordering::Release);
    }
}

#[cfg(test)]
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
