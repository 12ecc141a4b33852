//! References to the shared state of bindings. The last one keeps its host memory for reuse.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, Weak},
};

use super::binding_state::BindingState;
use crate::winsys::Device;

/// A counted reference to the state of a binding. Dropping the last one releases the binding, and its BO unless that has other
/// handles.
///
/// The host memory of both, about 250 bytes, is kept with the freed addresses (`VaManager::free_with_spare`) for the next binding
/// of the device, unless the binding has weak handles, or the BO has other handles, a name, or was exported or imported. A program
/// that frees and allocates repeatedly therefore allocates and frees no host memory for them.
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

impl BindingRef {
    /// Drops the reference like `Drop`. If it was the last one and the binding is of `device`, the reference to the device is kept
    /// together with the host memory, which saves the next binding two locked instructions. The caller removes it before it drops
    /// its last reference to the device ([`VaManager::drop_spare`](crate::vamgr::VaManager::drop_spare)).
    #[inline]
    pub(super) fn release_to(mut self, device: &Device) {
        if self.device_address == device.address()
            && let Some(mut state) = self.0.take_if(|state| Arc::strong_count(state) == 1)
            && let Some(own) = Arc::get_mut(&mut state)
            && let Some(reference) = own.release()
        {
            own.keep(reference);
            let lease = own.take_unbound();
            device.addresses().free_with_spare(lease, state);
        }
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
            && let Some(own) = Arc::get_mut(&mut state)
            && let Some(device) = own.release()
        {
            let lease = own.take_unbound();
            device.addresses().free_with_spare(lease, state);
        }
    }
}
