//! GEM names: BOs by a number that every file of the device knows.
//!
//! Source: Linux 6.12 `drm_gem.c`, `drm_gem_flink_ioctl`, `drm_gem_open_ioctl`, `drm_gem_object_handle_put_unlocked`.

use std::{
    os::fd::OwnedFd,
    sync::{Arc, atomic::Ordering},
};

use amdgpu_uapi::Errno;

use crate::kernel::{
    files::ids::{Ids, MOST_HANDLES},
    mm::bo::{Bo, WeakBo},
};

/// The names of a device. Their lock also orders what opens and closes handles of shared BOs (`object_name_lock`).
#[derive(Debug)]
pub(crate) struct Names(Ids<WeakBo>);

impl Default for Names {
    fn default() -> Self {
        Self(Ids::new(MOST_HANDLES))
    }
}

impl Names {
    /// The name of a BO, a new one if it has none.
    ///
    /// # Errors
    ///
    /// ENOENT when its last handle went meanwhile.
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

    /// The BO of a name.
    pub(crate) fn find(&self, name: u32) -> Option<Arc<Bo>> {
        self.0.get(name).and_then(WeakBo::upgrade)
    }

    /// A handle of the BO went. With the last one its name goes, and its link to the dma-buf, which is given back.
    pub(crate) fn handle_closed(&mut self, bo: &Bo) -> Option<OwnedFd> {
        if !bo.sharing.close() {
            return None;
        }
        let name = bo.sharing.name.swap(0, Ordering::Relaxed);
        self.0.remove(name);
        bo.sharing.unlink()
    }
}
