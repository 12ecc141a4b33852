//! Buffer objects.

#[expect(unsafe_code, reason = "memory that clients map too")]
mod backing;
mod pools;
#[expect(unsafe_code, reason = "memory of the client's own")]
mod user_pages;

use std::{
    os::fd::{BorrowedFd, OwnedFd},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_winsys::uapi::{GemCreateFlags, GemDomain};
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::fence::Fence;

pub(crate) use self::{
    backing::Backing,
    pools::{Place, Pools, Taken},
    user_pages::{UserPages, validate},
};

/// Page size of the CPU and the GPU, bytes.
pub(crate) const PAGE: u64 = 4096;

/// What GEM_CREATE fixed, and GEM_OP tells or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// Bytes, whole pages.
    pub(crate) size: u64,
    /// Bytes.
    pub(crate) alignment: u64,
    pub(crate) preferred: GemDomain,
    pub(crate) allowed: GemDomain,
    pub(crate) flags: GemCreateFlags,
}

/// The opaque words that travel with a BO.
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

/// Where the bytes are.
#[derive(Debug)]
enum Storage {
    /// In a memfd, made when first touched.
    Memory(OnceLock<Backing>),
    /// In the client's own pages.
    User(UserPages),
}

/// A GEM object.
#[derive(Debug)]
pub(crate) struct Bo {
    attributes: Mutex<Attributes>,
    size: u64,
    storage: Storage,
    making: Mutex<()>,
    pub(crate) metadata: Mutex<Metadata>,
    /// Where mmap of the node finds it, unique on the device.
    pub(crate) mmap_offset: u64,
    /// What it takes from the pools while it lives.
    _taken: Taken,
    fences: Mutex<Vec<Use>>,
    /// The first export's descriptor, which later exports share.
    exported: OnceLock<OwnedFd>,
    touched_by_cpu: AtomicBool,
}

/// A job that uses a BO.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The file that submitted it.
    pub(crate) file: u64,
    pub(crate) fence: Arc<Fence>,
}

/// What a new BO needs besides its attributes.
pub(crate) struct New {
    pub(crate) attributes: Attributes,
    pub(crate) mmap_offset: u64,
    pub(crate) taken: Taken,
    pub(crate) user_pages: Option<UserPages>,
}

impl Bo {
    pub(crate) fn new(new: New) -> Self {
        let storage = match new.user_pages {
            Some(pages) => Storage::User(pages),
            None => Storage::Memory(OnceLock::new()),
        };
        Self {
            attributes: Mutex::new(new.attributes),
            size: new.attributes.size,
            storage,
            making: Mutex::new(()),
            metadata: Mutex::default(),
            mmap_offset: new.mmap_offset,
            _taken: new.taken,
            fences: Mutex::default(),
            exported: OnceLock::new(),
            touched_by_cpu: AtomicBool::new(false),
        }
    }

    /// Bytes, whole pages.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn attributes(&self) -> Attributes {
        let mut attributes = *self.attributes.lock();
        // Every CPU fault sets the hint again.
        attributes.flags.set(GemCreateFlags::CPU_ACCESS_REQUIRED, self.touched_by_cpu.load(Ordering::Relaxed));
        attributes
    }

    pub(crate) fn set_placement(&self, preferred: GemDomain, allowed: GemDomain) {
        let mut attributes = self.attributes.lock();
        attributes.preferred = preferred;
        attributes.allowed = allowed;
    }

    /// Whether the GPU's page tables can point at it: BOs of domain CPU or none stay out of its reach.
    pub(crate) fn is_reachable(&self) -> bool {
        self.attributes.lock().preferred.intersects(GemDomain::VRAM | GemDomain::GTT)
    }

    pub(crate) fn is_user_memory(&self) -> bool {
        matches!(self.storage, Storage::User(_))
    }

    /// Whether the CPU may map it.
    pub(crate) fn is_mappable(&self) -> bool {
        !self.is_user_memory() && !self.attributes.lock().flags.contains(GemCreateFlags::NO_CPU_ACCESS)
    }

    /// The memory, made now if nobody touched it before; `None` for user memory.
    fn backing(&self) -> Result<Option<&Backing>, Errno> {
        let Storage::Memory(cell) = &self.storage else { return Ok(None) };
        if let Some(backing) = cell.get() {
            return Ok(Some(backing));
        }
        let _making = self.making.lock();
        if cell.get().is_none() {
            let backing = Backing::new(self.size)?;
            // Nobody else sets it while the lock is held.
            let _ = cell.set(backing);
        }
        Ok(cell.get())
    }

    /// The file to map, for a client that touches it.
    pub(crate) fn file_to_map(&self) -> Result<BorrowedFd<'_>, Errno> {
        let backing = self.backing()?.ok_or(Errno::EPERM)?;
        self.touched_by_cpu.store(true, Ordering::Relaxed);
        Ok(backing.file())
    }

    /// The dma-buf: one open file for all exports, whose access mode the first one fixes.
    ///
    /// Source: Linux 6.12 `drm_prime.c`, `drm_gem_prime_handle_to_fd`.
    pub(crate) fn dma_buf(&self, writable: bool) -> Result<BorrowedFd<'_>, Errno> {
        use std::os::fd::{AsFd, AsRawFd};
        let file = self.backing()?.ok_or(Errno::EPERM)?.file();
        let _making = self.making.lock();
        if self.exported.get().is_none() {
            let fd = if writable {
                file.try_clone_to_owned().map_err(errno_of)?
            } else {
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                std::fs::File::open(path).map(OwnedFd::from).map_err(errno_of)?
            };
            let _ = self.exported.set(fd);
        }
        self.exported.get().map(AsFd::as_fd).ok_or(Errno::ENOMEM)
    }

    /// Copies bytes out, for the GPU.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        match (&self.storage, self.backing()) {
            (Storage::User(pages), _) => pages.read(offset, out),
            (_, Ok(Some(backing))) => backing.read(offset, out),
            _ => out.fill(0),
        }
    }

    /// Copies bytes in, for the GPU.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        match (&self.storage, self.backing()) {
            (Storage::User(pages), _) => pages.write(offset, data),
            (_, Ok(Some(backing))) => backing.write(offset, data),
            _ => tracing::error!("no host memory for a BO of {} bytes: a GPU write is lost", self.size),
        }
    }

    /// Copies from another BO, for the GPU; false where one of them is not plain memory and the caller must do it piece
    /// by piece.
    pub(crate) fn copy_from(&self, offset: u64, source: &Self, source_offset: u64, len: u64) -> bool {
        match (self.backing(), source.backing()) {
            (Ok(Some(to)), Ok(Some(from))) => {
                to.copy_from(offset, from, source_offset, len);
                true
            }
            _ => false,
        }
    }

    /// A job uses it from now on. Uses that are over are forgotten.
    pub(crate) fn add_use(&self, file: u64, fence: &Arc<Fence>) {
        let mut fences = self.fences.lock();
        fences.retain(|earlier| !earlier.fence.is_signalled());
        fences.push(Use { file, fence: Arc::clone(fence) });
    }

    /// The jobs that use it now.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut fences = self.fences.lock();
        fences.retain(|earlier| !earlier.fence.is_signalled());
        fences.clone()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.fences.lock().iter().all(|earlier| earlier.fence.is_signalled())
    }

    /// A BO over the memory of one that is gone but for its dma-buf.
    pub(crate) fn revive(new: New, file: OwnedFd) -> Result<Self, Errno> {
        let backing = Backing::of_file(file, new.attributes.size)?;
        let bo = Self::new(new);
        if let Storage::Memory(cell) = &bo.storage {
            let _ = cell.set(backing);
        }
        Ok(bo)
    }
}

/// The errno of an I/O error.
pub(crate) fn errno_of(error: std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}

/// A reference that does not keep the BO alive.
pub(crate) type WeakBo = Weak<Bo>;
