//! References to the shared state of bindings. The last one keeps its host memory for reuse.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, Weak},
};

use super::binding_state::BindingState;

/// A counted reference to the state of a binding. Dropping the last one releases the binding, and its BO unless that has other
/// handles.
///
/// The host memory of both, about 250 bytes, is kept with the BO's reference to the device (`DeviceRef::spare`) for the next binding
/// that is created with it, unless the binding has weak handles, or the BO has other handles, a name, or was exported or imported. A
/// program that frees and allocates repeatedly therefore allocates and frees no host memory for them.
#[derive(Clone)]
pub(super) struct BindingRef(
    /// `Some` until `Drop` takes it.
    Option<Arc<BindingState>>,
);

impl BindingRef {
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
            && let Some(device) = Arc::get_mut(&mut state).and_then(BindingState::release)
        {
            device.spare().keep(state);
        }
    }
}
