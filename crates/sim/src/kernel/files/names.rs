//! GEM names: global numbers of BOs for all files of a device.
//!
//! Source: Linux 6.12 `drm_gem.c`, `drm_gem_flink_ioctl`, `drm_gem_open_ioctl`, `drm_gem_object_handle_put_unlocked`.

use std::{
    os::fd::OwnedFd,
    sync::{Arc, atomic::Ordering},
};

use amdgpu_uapi::Errno;

use crate::kernel::{
    mm::bo::{Bo, WeakBo},
    process::ids::{Ids, MOST_HANDLES},
};

/// The names of a device. The lock also orders the opening and closing of handles of shared BOs (`object_name_lock`).
#[derive(Debug)]
pub(crate) struct Names(Ids<WeakBo>);

impl Default for Names {
    fn default() -> Self {
        Self(Ids::new(MOST_HANDLES))
    }
}

impl Names {
    /// Returns the name of a BO; creates one if it has none.
    ///
    /// # Errors
    ///
    /// ENOENT if the last handle of the BO was closed concurrently.
    pub(crate) fn name(&mut self, bo: &Arc<Bo>) -> Result<u32, Errno> {
        if !bo.sharing.has_handles() {
            return Err(Errno::ENOENT);
        }
        let known = bo.sharing.name.load(Ordering::Relaxed);
        if known != 0 {
            return Ok(known);
        }
        let name = self.0.insert(Arc::downgrade(bo)).map_err(|_| Errno::ENOSPC)?;
        bo.sharing.name.store(name, Ordering::Relaxed);
        Ok(name)
    }

    /// Returns the BO with a name.
    pub(crate) fn find(&self, name: u32) -> Option<Arc<Bo>> {
        self.0.get(name).and_then(WeakBo::upgrade)
    }

    /// Handles the closing of a handle of a BO. After the last handle, removes its name and its link to the dma-buf, which is
    /// returned.
    pub(crate) fn handle_closed(&mut self, bo: &Bo) -> Option<OwnedFd> {
        if !bo.sharing.close() {
            return None;
        }
        let name = bo.sharing.name.swap(0, Ordering::Relaxed);
        self.0.remove(name);
        bo.sharing.unlink()
    }
}
