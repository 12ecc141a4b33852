//! The sync objects of a file, and their handles.

use std::sync::Arc;

use amdgpu_uapi::Errno;

use crate::kernel::process::ids::{Ids, MOST_HANDLES};
use crate::kernel::sync::syncobj::Syncobj;

/// The sync objects of a file.
///
/// Handles start at 1. Where the kernel keeps them in an xarray, whose entry 0 is reserved by a marker, destroying the handle 0 fails but
/// removes the marker, if the array has a node to hold it: the handle 0 is then free, and given out before all others.
///
/// Source: Linux 7.2 `drm_syncobj.c`, `drm_syncobj_destroy`; `lib/xarray.c`, `xas_create` and `__xa_erase`.
#[derive(Debug)]
pub(crate) struct Syncobjs {
    others: Ids<Arc<Syncobj>>,
    zero: Zero,
}

/// The state of the handle 0.
#[derive(Debug)]
enum Zero {
    /// It can never become free.
    Never,
    Reserved,
    Free,
    Used(Arc<Syncobj>),
}

impl Syncobjs {
    /// Creates a table, whose handle 0 can become free or not.
    pub(crate) const fn new(can_free_zero: bool) -> Self {
        Self { others: Ids::new(MOST_HANDLES), zero: if can_free_zero { Zero::Reserved } else { Zero::Never } }
    }

    /// Inserts a sync object at the lowest free handle.
    ///
    /// # Errors
    ///
    /// ENOSPC if there is none.
    pub(crate) fn insert(&mut self, syncobj: Arc<Syncobj>) -> Result<u32, Errno> {
        if matches!(self.zero, Zero::Free) {
            self.zero = Zero::Used(syncobj);
            return Ok(0);
        }
        self.others.insert(syncobj).map_err(|_| Errno::ENOSPC)
    }

    pub(crate) fn get(&self, handle: u32) -> Option<&Arc<Syncobj>> {
        match &self.zero {
            Zero::Used(syncobj) if handle == 0 => Some(syncobj),
            _ => self.others.get(handle),
        }
    }

    /// Removes a sync object; `None` if there is none with the handle.
    pub(crate) fn remove(&mut self, handle: u32) -> Option<Arc<Syncobj>> {
        if handle != 0 {
            return self.others.remove(handle);
        }
        match self.zero {
            Zero::Used(_) => match std::mem::replace(&mut self.zero, Zero::Free) {
                Zero::Used(syncobj) => Some(syncobj),
                _ => None,
            },
            Zero::Reserved if self.others.len() > 0 => {
                self.zero = Zero::Free;
                None
            }
            _ => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.others.len() + usize::from(matches!(self.zero, Zero::Used(_)))
    }

    /// Removes all sync objects.
    pub(crate) fn clear(&mut self) {
        self.others.clear();
        if matches!(self.zero, Zero::Used(_)) {
            self.zero = Zero::Free;
        }
    }
}
