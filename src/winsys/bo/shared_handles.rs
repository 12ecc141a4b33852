//! The handles of a device that imports may return again.

use std::{any::Any, collections::HashMap, sync::Weak};

use crate::sync::{AtomicU64, Mutex};

/// Handles that an import may return again.
///
/// The kernel keeps one handle for each BO and file: importing a dma-buf whose BO the file already has returns the
/// same number *without counting it*, so that one GEM_CLOSE ends it for all owners (Linux 6.12 `drm_prime.c`,
/// `drm_gem_prime_fd_to_handle`). Every handle that was exported or imported is therefore listed here, and imports and
/// closes of listed handles exclude each other.
#[derive(Default)]
pub(crate) struct SharedHandles {
    pub(super) table: Mutex<HashMap<u32, Entry>>,
    pub(super) generations: AtomicU64,
}

/// A handle that is listed.
pub(super) struct Entry {
    /// Tells it from earlier handles of the same number.
    pub(super) generation: u64,
    /// The `SharedHandle`, which holds the device: a type that the device's own table does not name.
    pub(super) handle: Weak<dyn Any + Send + Sync>,
}
