//! Pinned memory, which is never evicted: what a display scans out, what firmware keeps, the pinned memory of others.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemDomain};

use super::{
    Place, Pools,
    state::{Keep, Want},
};

/// Pinned bytes; they are free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    pools: Arc<Pools>,
    place: Place,
    bytes: u64,
}

impl Pools {
    /// Pins bytes in a heap, and evicts for them who is in the way. They are in no queue, so nothing evicts them in turn.
    ///
    /// # Errors
    ///
    /// ENOMEM when there is no room even then; who had to go for it stays away.
    pub(crate) fn pin(self: &Arc<Self>, domain: GemDomain, for_cpu: bool, bytes: u64) -> Result<Pinned, Errno> {
        let want = Want { bytes, domains: domain, for_cpu, gtt_is_fallback: false };
        let mut state = self.state.lock();
        let place = state.find(want, true, &self.sizes, Keep::NOBODY).ok_or(Errno::ENOMEM)?;
        state.used.add(place, bytes);
        Ok(Pinned { pools: Arc::clone(self), place, bytes })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.pools.state.lock().used.subtract(self.place, self.bytes);
    }
}
