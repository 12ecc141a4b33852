//! Pinned memory, which is never evicted: for scanout, firmware, and other processes' pinned memory.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemDomain};

use super::{
    Placement, Pools,
    state::{Keep, Want},
};

/// Pinned bytes, which are freed on drop.
#[derive(Debug)]
pub(crate) struct Pinned {
    pools: Arc<Pools>,
    place: Placement,
    bytes: u64,
}

impl Pools {
    /// Pins bytes in a heap, and evicts BOs to make room. Pinned bytes are in no queue, so they are never evicted, and they are charged to
    /// no cgroup.
    ///
    /// # Errors
    ///
    /// ENOMEM if evictions do not make enough room; evicted BOs stay evicted.
    pub(crate) fn pin(self: &Arc<Self>, domain: GemDomain, for_cpu: bool, bytes: u64) -> Result<Pinned, Errno> {
        let want = Want { bytes, domains: domain, for_cpu, gtt_is_fallback: false };
        let mut state = self.state.lock();
        state.set_payer(None);
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
