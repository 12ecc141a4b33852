//! A GEM handle, owned by exactly one value, and the table that keeps imports from closing it twice.

use std::{
    collections::HashMap,
    sync::{Arc, Weak, atomic::Ordering},
};

use nix::errno::Errno;

use crate::{
    sync::{AtomicU64, Mutex, OnceLock},
    uapi::GemClose,
    winsys::{Charge, Device, Event, kernel::send},
};

/// A GEM handle that is closed on drop.
#[derive(Debug)]
pub(super) struct OwnedHandle {
    device: Arc<Device>,
    raw: u32,
    /// The entry in the device's table once the BO was exported or imported; 0 before.
    generation: AtomicU64,
    /// What the BO is charged, once its size and placement are known. A BO has one handle, so it is charged once.
    charge: OnceLock<Option<Charge>>,
}

impl OwnedHandle {
    #[inline]
    pub(super) fn new(device: &Arc<Device>, raw: u32) -> Self {
        Self { device: Arc::clone(device), raw, generation: AtomicU64::new(0), charge: OnceLock::new() }
    }

    /// What the BO is charged; `make` is asked only once.
    pub(super) fn charge(&self, make: impl FnOnce() -> Option<Charge>) -> Option<&Charge> {
        self.charge.get_or_init(make).as_ref()
    }

    pub(super) fn raw(&self) -> u32 {
        self.raw
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl Drop for OwnedHandle {
    #[inline]
    fn drop(&mut self) {
        let generation = self.generation.load(Ordering::Acquire);
        if generation == 0 {
            close(&self.device, self.raw);
        } else {
            self.device.shared_handles().close(&self.device, self.raw, generation);
        }
    }
}

/// Handles that an import may return again.
///
/// The kernel keeps one handle for each BO and file: importing a dma-buf whose BO the file already has returns the
/// same number *without counting it*, so that one GEM_CLOSE ends it for everybody (Linux 6.12 `drm_prime.c`,
/// `drm_gem_prime_fd_to_handle`). Every handle that was exported or imported is therefore listed here, and imports and
/// closes of listed handles exclude each other.
#[derive(Default)]
pub(crate) struct SharedHandles {
    table: Mutex<HashMap<u32, Entry>>,
    generations: AtomicU64,
}

struct Entry {
    generation: u64,
    handle: Weak<OwnedHandle>,
}

impl SharedHandles {
    /// Lists a handle that is about to be exported.
    pub(super) fn list(&self, handle: &Arc<OwnedHandle>) {
        let mut table = self.table.lock();
        if handle.generation.load(Ordering::Acquire) == 0 {
            self.insert(&mut table, handle);
        }
    }

    /// Runs an import; what it returns becomes, or already is, an owned handle.
    pub(super) fn import(
        &self,
        device: &Arc<Device>,
        import: impl FnOnce() -> Result<u32, Errno>,
    ) -> Result<Arc<OwnedHandle>, Errno> {
        let mut table = self.table.lock();
        let raw = import()?;
        if let Some(known) = table.get(&raw).and_then(|entry| entry.handle.upgrade()) {
            return Ok(known);
        }
        // Either new, or its last owner is waiting for the lock to close it: the new generation tells that owner that
        // the number lives on.
        let handle = Arc::new(OwnedHandle::new(device, raw));
        self.insert(&mut table, &handle);
        Ok(handle)
    }

    fn insert(&self, table: &mut HashMap<u32, Entry>, handle: &Arc<OwnedHandle>) {
        let generation = self.generations.fetch_add(1, Ordering::Relaxed) + 1;
        handle.generation.store(generation, Ordering::Release);
        table.insert(handle.raw, Entry { generation, handle: Arc::downgrade(handle) });
    }

    fn close(&self, device: &Device, raw: u32, generation: u64) {
        let mut table = self.table.lock();
        if table.get(&raw).is_some_and(|entry| entry.generation == generation) {
            table.remove(&raw);
            close(device, raw);
        }
    }
}

/// Closes a handle. Nobody can be told of a failure here, so what may be transient is tried again; a handle that
/// cannot be closed lives until the device's file does.
fn close(device: &Device, raw: u32) {
    for _ in 0..super::super::RELEASE_ATTEMPTS {
        match send(device.kernel(), &mut GemClose { handle: raw, pad: 0 }) {
            Ok(()) => {
                tracing::trace!(handle = raw, "BO closed");
                device.tell(|| Event::BoClosed { handle: raw });
                return;
            }
            // Unplugged: the file's handles go with the file.
            Err(Errno::ENODEV) => return,
            Err(errno) => tracing::warn!(handle = raw, %errno, "GEM_CLOSE refused"),
        }
    }
}
