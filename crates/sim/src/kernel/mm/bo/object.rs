//! Buffer objects.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_uapi::{Errno, GemCreateFlags, GemDomain};
use parking_lot::{Mutex, MutexGuard};

use super::{
    backing::{Backing, lanes::LaneAddresses, memory_file::memory_file},
    offsets::Offsets,
    pools::Allocation,
    sharing::Sharing,
    user_pages::UserPages,
};
use crate::{gpu::UPDATES, kernel::sync::reservation::Reservation};

/// The attributes that GEM_CREATE sets, and GEM_OP reports or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// The size in bytes, in whole pages.
    pub(crate) size: u64,
    /// The alignment in bytes.
    pub(crate) alignment: u64,
    pub(crate) preferred: GemDomain,
    pub(crate) allowed: GemDomain,
    pub(crate) flags: GemCreateFlags,
}

/// The metadata that is stored with a BO.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    pub(crate) tiling: u64,
    pub(crate) flags: u64,
    pub(crate) size: u32,
    pub(crate) data: [u32; 64],
}

impl Default for Metadata {
    fn default() -> Self {
        Self { tiling: 0, flags: 0, size: 0, data: [0; 64] }
    }
}

/// The storage of a BO's bytes.
#[derive(Debug)]
enum Storage {
    /// The BO's own memory.
    Memory(Backing),
    /// The client's pages.
    User(UserPages),
    /// The memory of another device's BO, which is kept alive.
    Imported(Imported),
}

/// The attributes and mmap offset of a BO.
#[derive(Debug)]
pub(crate) struct Identity {
    attributes: Mutex<Attributes>,
    metadata: Mutex<Metadata>,
    mmap_offset: u64,
    size: u64,
}

/// A BO that is imported from another device.
#[derive(Debug)]
pub(crate) struct Imported {
    source: Arc<Bo>,
    /// An empty file: the importer's node permits mapping the BO, but accesses give a bus error.
    nothing: OnceLock<OwnedFd>,
}

impl Imported {
    pub(crate) const fn new(source: Arc<Bo>) -> Self {
        Self { source, nothing: OnceLock::new() }
    }

    /// Returns the exporter's BO.
    pub(crate) const fn source(&self) -> &Arc<Bo> {
        &self.source
    }

    /// Returns a file to map. Source: Linux 6.12 `ttm_bo_vm.c`, `ttm_bo_vm_reserve`: pages of other devices give VM_FAULT_SIGBUS.
    pub(super) fn file_to_map(&self) -> Result<BorrowedFd<'_>, Errno> {
        if self.nothing.get().is_none() {
            // The first thread sets it; another thread's descriptor is closed.
            let _ = self.nothing.set(memory_file(c"amdgpu-sim foreign BO", 0)?);
        }
        self.nothing.get().map(AsFd::as_fd).ok_or(Errno::ENOMEM)
    }
}

/// A GEM object.
#[derive(Debug)]
pub(crate) struct Bo {
    identity: Arc<Identity>,
    storage: Storage,
    offsets: Arc<Offsets<Self>>,
    /// The BO's share of the pools while it lives, and its domain.
    pub(crate) allocation: Allocation,
    pub(crate) reservation: Arc<Reservation>,
    pub(crate) sharing: Sharing,
    touched_by_cpu: AtomicBool,
}

/// The parameters of a new BO.
pub(crate) struct New {
    pub(crate) identity: Arc<Identity>,
    pub(crate) offsets: Arc<Offsets<Bo>>,
    pub(crate) allocation: Allocation,
    pub(crate) user_pages: Option<UserPages>,
    pub(crate) reservation: Arc<Reservation>,
}

impl Identity {
    /// Creates an identity with an mmap offset on the node.
    pub(crate) fn new(attributes: Attributes, offsets: &Offsets<Bo>) -> Arc<Self> {
        Arc::new(Self {
            attributes: Mutex::new(attributes),
            metadata: Mutex::default(),
            mmap_offset: offsets.reserve(attributes.size),
            size: attributes.size,
        })
    }

    pub(crate) fn attributes(&self) -> Attributes {
        *self.attributes.lock()
    }
}

impl Bo {
    /// Creates a BO and publishes its mmap offset.
    pub(crate) fn create(new: New) -> Arc<Self> {
        Self::new(new).publish()
    }

    /// Creates a BO for another device's BO, which is kept alive.
    pub(crate) fn import(new: New, source: Imported) -> Arc<Self> {
        Self::with_storage(new, Storage::Imported(source)).publish()
    }

    fn publish(self) -> Arc<Self> {
        let bo = Arc::new(self);
        bo.offsets.publish(bo.mmap_offset(), bo.user_pages().map(UserPages::range), &bo);
        bo
    }

    fn new(mut new: New) -> Self {
        let storage = match new.user_pages.take() {
            Some(pages) => Storage::User(pages),
            None => Storage::Memory(Backing::new(new.identity.size)),
        };
        Self::with_storage(new, storage)
    }

    fn with_storage(new: New, storage: Storage) -> Self {
        Self {
            identity: new.identity,
            storage,
            offsets: new.offsets,
            allocation: new.allocation,
            reservation: new.reservation,
            sharing: Sharing::default(),
            touched_by_cpu: AtomicBool::new(false),
        }
    }

    /// Returns the mmap offset on the node. It is unique on the device, so that it identifies the BO in tables.
    pub(crate) fn mmap_offset(&self) -> u64 {
        self.identity.mmap_offset
    }

    /// Returns `true` if the BO is imported from another device.
    pub(crate) fn is_imported(&self) -> bool {
        matches!(self.storage, Storage::Imported(_))
    }

    /// Returns `true` if the BO belongs to the device with these offsets.
    pub(crate) fn is_of(&self, offsets: &Arc<Offsets<Self>>) -> bool {
        Arc::ptr_eq(&self.offsets, offsets)
    }

    pub(crate) fn metadata(&self) -> MutexGuard<'_, Metadata> {
        self.identity.metadata.lock()
    }

    /// Returns the size in bytes, in whole pages.
    pub(crate) fn size(&self) -> u64 {
        self.identity.size
    }

    pub(crate) fn attributes(&self) -> Attributes {
        let mut attributes = self.identity.attributes();
        // Each CPU fault sets the hint again.
        attributes.flags.set(GemCreateFlags::CPU_ACCESS_REQUIRED, self.touched_by_cpu.load(Ordering::Relaxed));
        attributes
    }

    pub(crate) fn set_placement(&self, preferred: GemDomain, allowed: GemDomain) {
        let mut attributes = self.identity.attributes.lock();
        attributes.preferred = preferred;
        attributes.allowed = allowed;
        drop(attributes);
        self.allocation.set_domains(preferred, allowed);
    }

    /// Returns `true` if the GPU's page tables can map the BO. BOs in the CPU domain cannot be mapped.
    pub(crate) fn is_reachable(&self) -> bool {
        self.allocation.is_reachable()
    }

    /// Returns the client's pages, if the BO is created from them.
    pub(crate) fn user_pages(&self) -> Option<&UserPages> {
        match &self.storage {
            Storage::User(pages) => Some(pages),
            Storage::Memory(_) | Storage::Imported(_) => None,
        }
    }

    pub(crate) fn is_user_memory(&self) -> bool {
        self.user_pages().is_some()
    }

    /// Returns `true` if page table entries for the BO may permit writes.
    pub(crate) fn is_writable(&self) -> bool {
        self.user_pages().is_none_or(|pages| !pages.is_read_only())
    }

    /// Returns `true` if the CPU may map the BO.
    pub(crate) fn is_mappable(&self) -> bool {
        !self.is_user_memory() && !self.identity.attributes.lock().flags.contains(GemCreateFlags::NO_CPU_ACCESS)
    }

    /// Returns the BO's own memory; `None` for user memory.
    pub(super) fn backing(&self) -> Option<&Backing> {
        let backing = match &self.storage {
            Storage::Memory(backing) => backing,
            Storage::User(_) => return None,
            Storage::Imported(imported) => return imported.source().backing(),
        };
        if self.allocation.take_loss() {
            backing.discard();
        }
        Some(backing)
    }

    /// Returns the file to map, for a client that will access it. The access is assumed to happen immediately, because page faults
    /// of a mapping are not visible.
    pub(crate) fn file_to_map(&self) -> Result<BorrowedFd<'_>, Errno> {
        if let Storage::Imported(imported) = &self.storage {
            return imported.file_to_map();
        }
        let file = self.backing().ok_or(Errno::EPERM)?.file()?;
        self.touched_by_cpu.store(true, Ordering::Relaxed);
        self.allocation.fault_in();
        Ok(file)
    }

    /// Returns `true` if others may also have the BO.
    ///
    /// Source: Linux 6.12 `drm_gem.h`, `drm_gem_object_is_shared_for_memory_stats`.
    pub(crate) fn is_shared(&self) -> bool {
        self.sharing.is_shared()
    }

    /// Reads bytes for the GPU.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        match (&self.storage, self.backing()) {
            (Storage::User(pages), _) => pages.read(offset, out),
            (_, Some(backing)) => backing.read(offset, out),
            _ => out.fill(0),
        }
    }

    /// Writes bytes for the GPU.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        match (&self.storage, self.backing()) {
            (Storage::User(pages), _) => pages.write(offset, data),
            (_, Some(backing)) => backing.write(offset, data),
            _ => {}
        }
    }

    /// Loads the dwords of lanes, whose lowest address is that of the byte at `offset`. Returns `false`, having loaded nothing,
    /// if the bytes are not plain memory.
    pub(crate) fn read_lanes(&self, offset: u64, access: &LaneAddresses<'_>, out: &mut [u32; 64]) -> bool {
        self.backing().is_some_and(|backing| backing.read_lanes(offset, access, out))
    }

    /// Stores the dwords of lanes. Returns `false`, having stored nothing, if the bytes are not plain memory.
    pub(crate) fn write_lanes(&self, offset: u64, access: &LaneAddresses<'_>, data: &[u32; 64]) -> bool {
        self.backing().is_some_and(|backing| backing.write_lanes(offset, access, data))
    }

    /// Replaces 4 or 8 aligned bytes by what `change` makes of them, and returns the old value. Only in memory of a client's own,
    /// which is not part of this process, a write may come in between.
    pub(crate) fn update(&self, offset: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> u64 {
        if let Some(old) = self.backing().and_then(|backing| backing.update(offset, bytes, change)) {
            return old;
        }
        let _guard = UPDATES.lock();
        let mut word = [0; 8];
        let word_len = usize::from(bytes).min(8);
        self.read(offset, &mut word[..word_len]);
        let old = u64::from_le_bytes(word);
        self.write(offset, &change(old).to_le_bytes()[..word_len]);
        old
    }

    /// Copies from another BO for the GPU. Returns `false` if one of them is not plain memory, so that the caller must copy in
    /// parts.
    pub(crate) fn copy_from(&self, offset: u64, source: &Self, source_offset: u64, len: u64) -> bool {
        match (self.backing(), source.backing()) {
            (Some(to), Some(from)) => to.copy_from(offset, from, source_offset, len),
            _ => false,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.reservation.is_idle()
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        self.offsets.forget(self.mmap_offset(), self.user_pages().map(UserPages::range));
    }
}

/// A weak reference to a BO.
pub(crate) type WeakBo = Weak<Bo>;
