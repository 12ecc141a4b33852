//! References to the shared state of bindings, which reuse its host memory.

use std::{
    cell::Cell,
    fmt,
    ops::Deref,
    sync::{Arc, Weak},
};

use super::binding_state::BindingState;

/// A counted reference to the state of a binding. Dropping the last one releases the binding, and its BO unless that has other
/// handles.
///
/// The host memory of both is kept for the next binding that the thread creates. It holds no device and no kernel object. A
/// program that frees and allocates repeatedly therefore allocates and frees no host memory for them.
///
/// What a thread keeps is freed when it exits. Until then glibc does not unload a shared library with this code, such as the Vulkan
/// driver, on `dlclose`.
#[derive(Clone)]
pub(super) struct BindingRef(
    /// `Some` until `Drop` takes it.
    Option<Arc<BindingState>>,
);

/// Maximum number of released states that a thread keeps, about 250 bytes each.
const KEPT: usize = 8;

thread_local! {
    static RELEASED: Released = const { Released { states: [const { Cell::new(None) }; KEPT], count: Cell::new(0) } };
}

/// A stack of released states.
struct Released {
    states: [Cell<Option<Arc<BindingState>>>; KEPT],
    count: Cell<usize>,
}

impl BindingRef {
    /// Takes the state that the calling thread released last, if it keeps one.
    #[inline]
    pub(super) fn take_released() -> Option<Arc<BindingState>> {
        let pop = |released: &Released| {
            let top = released.count.get().checked_sub(1)?;
            released.count.set(top);
            released.states.get(top)?.take()
        };
        RELEASED.try_with(pop).ok().flatten()
    }

    /// Keeps a released state, unless the thread keeps the maximum or is about to exit.
    #[inline]
    fn keep(state: Arc<BindingState>) {
        let push = |released: &Released| {
            let top = released.count.get();
            if let Some(place) = released.states.get(top) {
                place.set(Some(state));
                released.count.set(top + 1);
            }
        };
        // If the thread exits, the state is dropped with the closure.
        let _ = RELEASED.try_with(push);
    }

    /// Returns the number of references.
    pub(super) fn count(&self) -> usize {
        self.0.as_ref().map_or(0, Arc::strong_count)
    }

    pub(super) fn downgrade(&self) -> Weak<BindingState> {
        self.0.as_ref().map_or_else(Weak::new, Arc::downgrade)
    }
}

impl From<Arc<BindingState>> for BindingRef {
    #[inline]
    fn from(state: Arc<BindingState>) -> Self {
        Self(Some(state))
    }
}

impl Deref for BindingRef {
    type Target = BindingState;

    #[inline]
    fn deref(&self) -> &BindingState {
        // PANIC: only `Drop` takes it.
        self.0.as_deref().expect("the reference was not dropped")
    }
}

impl fmt::Debug for BindingRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Drop for BindingRef {
    #[inline]
    fn drop(&mut self) {
        if let Some(mut state) = self.0.take()
            // A plain load first: `get_mut` takes a locked instruction to rule out weak references.
            && Arc::strong_count(&state) == 1
            && Arc::get_mut(&mut state).is_some_and(BindingState::release)
        {
            Self::keep(state);
        }
    }
}
