//! The table of a device's shared GEM handles.

use std::{any::Any, collections::HashMap, sync::Weak};

use crate::sync::{AtomicU64, Mutex};

/// The shared GEM handles of a device, which an import may return again.
///
/// The kernel keeps one handle for each BO and file: importing a dma-buf whose BO the file already has returns the same
/// handle *without counting it*, so that one GEM_CLOSE closes it for all owners (Linux 6.12 `drm_prime.c`,
/// `drm_gem_prime_fd_to_handle`). Every handle that was exported or imported is therefore listed here, and the table's lock
/// keeps imports and closes of listed handles apart.
#[derive(Default)]
pub(crate) struct SharedHandles {
    pub(super) table: Mutex<HashMap<u32, Entry>>,
    pub(super) generations: AtomicU64,
}

/// An entry of the table.
pub(super) struct Entry {
    /// Distinguishes the entry from earlier ones with the same handle.
    pub(super) generation: u64,
    /// The `SharedHandle`. It is type-erased because it holds the device, which owns this table.
    pub(super) handle: Weak<dyn Any + Send + Sync>,
}
