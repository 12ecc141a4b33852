//! A GEM handle, closed by exactly one owner, and the table that keeps imports from closing it twice.

use std::{
    any::Any,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::shared_handles::{Entry, SharedHandles};
use crate::{
    host_memory::{ArcRoom, BoxRoom, NoHostMemory},
    sync::{Mutex, OnceLock},
    uapi::{Argument, GemClose},
    winsys::{
        Device, Event, HandleOwnership, ImportError, KernelError, UsageEntry,
        own::send_quietly,
        release::{Release, release},
    },
};

/// A BO's share of its GEM handle. Dropping the last share closes the handle, and then removes the BO from the usage
/// tracker.
///
/// A BO that was neither exported nor imported is the only owner of its handle. The first export or import moves the handle
/// to a [`SharedHandle`], which later imports of the same BO find.
#[derive(Debug)]
pub(super) struct Handle {
    device: Device,
    raw: u32,
    /// `false` before the handle exists, and after it was closed.
    is_open: bool,
    /// `true` if this share was imported or adopted.
    is_imported: bool,
    /// The BO's charge, unless the handle is shared.
    entry: Option<UsageEntry>,
    /// Allocated on demand, because most BOs are never shared or named.
    rare: OnceLock<Box<Rare>>,
}

/// State that few BOs have.
#[derive(Debug, Default)]
struct Rare {
    /// Set once, with the device's table locked.
    shared: OnceLock<Arc<SharedHandle>>,
    name: Mutex<Option<Arc<str>>>,
}

impl Handle {
    /// Creates a share without a handle.
    #[inline]
    pub(super) fn blank(device: Device) -> Self {
        Self { device, raw: 0, is_open: false, is_imported: false, entry: None, rare: OnceLock::new() }
    }

    /// Stores a handle that GEM_CREATE or GEM_USERPTR returned, and that has no other owner, in a blank share.
    #[inline]
    pub(super) fn open(&mut self, raw: u32, entry: Option<UsageEntry>) {
        (self.raw, self.entry, self.is_open) = (raw, entry, true);
    }

    /// Closes the handle early if it was neither shared nor named, and returns the outcome, which the caller
    /// [reports](Self::report_closed); `None` if it was.
    #[inline]
    pub(super) fn close_unshared(&mut self) -> Option<Release> {
        (self.is_open && self.rare.get().is_none()).then(|| self.close())
    }

    /// Closes a handle with no other owner. Listeners are not told: see [`report_closed`](Self::report_closed).
    #[inline]
    fn close(&mut self) -> Release {
        self.is_open = false;
        let closed = close(&self.device, self.raw);
        if let Some(entry) = self.entry {
            self.device.usage_tracker().remove(entry);
        }
        closed
    }

    /// Reports that the handle was closed.
    #[inline]
    pub(super) fn report_closed(&self, closed: Release) {
        report_closed(&self.device, self.raw, closed);
    }

    fn imported(shared: Arc<SharedHandle>, room: BoxRoom<Rare>) -> Self {
        let (device, raw) = (shared.device.clone(), shared.raw);
        room.give_back();
        let rare = Box::new(Rare { shared: shared.into(), name: Mutex::default() });
        Self { device, raw, is_open: true, is_imported: true, entry: None, rare: rare.into() }
    }

    pub(super) const fn is_imported(&self) -> bool {
        self.is_imported
    }

    #[inline]
    fn shared(&self) -> Option<&Arc<SharedHandle>> {
        self.rare.get()?.shared.get()
    }

    fn rare(&self) -> &Rare {
        self.rare.get_or_init(Box::default)
    }

    pub(super) fn set_name(&self, name: &str) {
        *self.rare().name.lock() = Some(name.into());
    }

    pub(super) fn name(&self) -> Option<Arc<str>> {
        self.rare.get()?.name.lock().clone()
    }

    /// Charges an imported BO, once its size and placement are known. A handle is charged once: `make` is called only if it
    /// has no charge yet.
    pub(super) fn charge_imported(&self, make: impl FnOnce() -> Option<UsageEntry>) {
        if let Some(shared) = self.shared() {
            shared.entry.get_or_init(make);
        }
    }

    /// Returns the BO's charge on the usage tracker.
    pub(super) fn entry(&self) -> Option<UsageEntry> {
        self.shared().map_or(self.entry, |shared| shared.entry.get().copied().flatten())
    }

    #[inline]
    pub(super) const fn raw(&self) -> u32 {
        self.raw
    }

    #[inline]
    pub(super) fn device(&self) -> &Device {
        &self.device
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        if self.is_open && self.shared().is_none() {
            let closed = self.close();
            self.report_closed(closed);
        }
    }
}

/// A GEM handle that several BOs of this process may share.
#[derive(Debug)]
pub(super) struct SharedHandle {
    device: Device,
    raw: u32,
    /// The generation of its entry in the device's table.
    generation: u64,
    /// `true` if the caller closes the handle: see [`HandleOwnership::Borrowed`].
    is_borrowed: AtomicBool,
    /// The BO's charge, once its size and placement are known.
    entry: OnceLock<Option<UsageEntry>>,
}

impl Drop for SharedHandle {
    fn drop(&mut self) {
        let is_borrowed = *self.is_borrowed.get_mut();
        let closed = self.device.shared_handles().close(&self.device, self.raw, self.generation, is_borrowed);
        if let Some(entry) = self.entry.get().copied().flatten() {
            self.device.usage_tracker().remove(entry);
        }
        if let Some(closed) = closed {
            report_closed(&self.device, self.raw, closed);
        }
    }
}

/// The host memory of a shared handle, allocated before the handle exists.
pub(super) struct SharedRoom {
    handle: ArcRoom<SharedHandle>,
    rare: BoxRoom<Rare>,
    device: Device,
}

impl SharedRoom {
    pub(super) fn new(device: &Device) -> Result<Self, NoHostMemory> {
        Ok(Self { handle: ArcRoom::new()?, rare: BoxRoom::new()?, device: device.clone() })
    }
}

impl SharedHandles {
    /// Adds a handle to the table before its export.
    pub(super) fn list(&self, handle: &Handle) -> Result<(), NoHostMemory> {
        if handle.shared().is_some() {
            return Ok(());
        }
        let (room, rare) = (ArcRoom::new()?, BoxRoom::<Rare>::new()?);
        let mut table = self.table.lock();
        table.try_reserve(1).map_err(|_| NoHostMemory)?;
        rare.give_back();
        let make = || self.insert(&mut table, room, handle.device().clone(), handle.raw, handle.entry.into());
        handle.rare().shared.get_or_init(make);
        Ok(())
    }

    /// Runs an import, and makes the handle that it returns a shared handle unless it already is one.
    pub(super) fn import(
        &self,
        room: SharedRoom,
        import: impl FnOnce() -> Result<u32, KernelError>,
    ) -> Result<Handle, ImportError> {
        let SharedRoom { handle, rare, device } = room;
        let mut table = self.table.lock();
        table.try_reserve(1).map_err(|_| NoHostMemory.of("a BO"))?;
        let raw = import()?;
        if let Some(known) = table.get(&raw).and_then(|entry| entry.handle.upgrade()?.downcast().ok()) {
            return Ok(Handle::imported(known, rare));
        }
        // The handle is new, or its last owner waits for the lock to close it. The new generation tells that owner not to
        // close the handle.
        Ok(Handle::imported(self.insert(&mut table, handle, device, raw, OnceLock::new()), rare))
    }

    /// Adds a handle that the caller made to the table.
    pub(super) fn adopt(&self, room: SharedRoom, raw: u32, ownership: HandleOwnership) -> Result<Handle, NoHostMemory> {
        let SharedRoom { handle, rare, device } = room;
        let mut table = self.table.lock();
        table.try_reserve(1).map_err(|_| NoHostMemory)?;
        let known = table.get(&raw).and_then(|entry| entry.handle.upgrade()?.downcast::<SharedHandle>().ok());
        let handle = known.unwrap_or_else(|| self.insert(&mut table, handle, device, raw, OnceLock::new()));
        if ownership == HandleOwnership::Borrowed {
            handle.is_borrowed.store(true, Relaxed);
        }
        Ok(Handle::imported(handle, rare))
    }

    /// Inserts a handle into a table with reserved room.
    fn insert(
        &self,
        table: &mut HashMap<u32, Entry>,
        room: ArcRoom<SharedHandle>,
        device: Device,
        raw: u32,
        entry: OnceLock<Option<UsageEntry>>,
    ) -> Arc<SharedHandle> {
        let generation = self.generations.fetch_add(1, Relaxed) + 1;
        let handle = room.fill(SharedHandle { device, raw, generation, is_borrowed: AtomicBool::new(false), entry });
        let listed: Arc<dyn Any + Send + Sync> = Arc::<SharedHandle>::clone(&handle);
        table.insert(raw, Entry { generation, handle: Arc::downgrade(&listed) });
        handle
    }

    /// Removes a handle from the table and closes it, unless it is borrowed or a later import has taken over the entry. The
    /// table stays locked until the kernel has closed the handle.
    fn close(&self, device: &Device, raw: u32, generation: u64, is_borrowed: bool) -> Option<Release> {
        let mut table = self.table.lock();
        if table.get(&raw).is_some_and(|entry| entry.generation == generation) {
            table.remove(&raw);
            return (!is_borrowed).then(|| close(device, raw));
        }
        None
    }
}

/// Closes a handle. The caller cannot report a failure, so a transient one is retried; a handle that cannot be closed
/// remains until the device's file is closed.
#[inline]
fn close(device: &Device, raw: u32) -> Release {
    let kernel = device.kernel();
    release(move || send_quietly(kernel, &mut GemClose { handle: raw, pad: 0 }))
}

/// Reports that a handle was closed, after it has left the table and the usage tracker.
#[inline]
fn report_closed(device: &Device, raw: u32, closed: Release) {
    if closed.is_done() && device.has_listeners() {
        announce_closed(device, raw);
    }
    closed.report(GemClose::NAME, raw);
}

#[cold]
fn announce_closed(device: &Device, raw: u32) {
    tracing::trace!(handle = raw, "BO closed");
    device.notify(|| Event::BoClosed { handle: raw });
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimKernel, profile};

    use super::*;
    use crate::{
        uapi::{GemCreateFlags, GemDomain},
        winsys::{Bo, BoRequest},
    };

    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn a_handle_is_listed_from_its_first_export_or_import_to_its_end() {
        let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
        let listed = || {
            let mut listed: Vec<u32> = device.shared_handles().table.lock().keys().copied().collect();
            listed.sort_unstable();
            listed
        };
        let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
        let bos = [(); 2].map(|()| Bo::create(&device, request).unwrap());
        assert!(listed().is_empty());
        let dma_bufs = [0, 1, 1].map(|at: usize| bos[at].export().unwrap());
        let handles = [bos[0].handle(), bos[1].handle()];
        assert_eq!(listed(), handles);
        let imported = Bo::import(&device, &dma_bufs[0]).unwrap();
        assert_eq!(imported.handle(), handles[0]);
        drop(bos);
        assert_eq!(listed(), [handles[0]], "the import is an owner too");
        drop(imported);
        assert!(listed().is_empty());
        drop(Bo::import(&device, &dma_bufs[1]).unwrap());
        assert!(listed().is_empty());
    }

    /// The generation counter uses all of its 64 bits.
    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn a_handle_is_told_from_one_of_the_same_number_however_long_ago() {
        let device = Device::new(SimKernel::open(profile("navi21").unwrap())).unwrap();
        let handles = device.shared_handles();
        let insert = || {
            let SharedRoom { handle, device, .. } = SharedRoom::new(&device).unwrap();
            handles.insert(&mut handles.table.lock(), handle, device, 9, OnceLock::new())
        };
        let former = insert();
        assert_eq!(former.generation, 1);
        handles.generations.store(1 << 32, Relaxed);
        let now = insert();
        assert_eq!(now.generation, (1 << 32) + 1);
        for former in [former.generation, (1 << 32) + 2, 0] {
            assert!(handles.close(&device, 9, former, true).is_none());
            assert_eq!(handles.table.lock().len(), 1, "the number belongs to a later one");
        }
        // The handle belongs to the caller, so it leaves the table but is not closed.
        assert!(handles.close(&device, 9, now.generation, true).is_none());
        assert_eq!(handles.table.lock().len(), 0);
    }
}
