//! How a BO is shared: its handles, its name and its dma-buf.

use std::{
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, fcntl},
};
use parking_lot::Mutex;

use super::{Backing, Bo, errno_of, memory_file};

/// Who knows a BO. Changes of it are ordered by the device's lock for names and exports (`device.rs`).
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// Handles in all files.
    handles: AtomicU32,
    /// The name that FLINK gave; 0 for none.
    pub(crate) name: AtomicU32,
    /// The dma-buf, while there are handles.
    dma_buf: Mutex<Option<OwnedFd>>,
}

impl Sharing {
    /// A file has one more handle.
    pub(crate) fn open(&self) {
        self.handles.fetch_add(1, Ordering::AcqRel);
    }

    /// A file has one less; whether it was the last one anywhere.
    pub(crate) fn close(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn has_handles(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 0
    }

    /// Whether others may have it too.
    pub(super) fn is_shared(&self) -> bool {
        self.handles.load(Ordering::Acquire) > 1 || self.dma_buf.lock().is_some()
    }

    /// Links a BO that has handles again to its dma-buf; a link that is there stays.
    pub(crate) fn link(&self, dma_buf: OwnedFd) {
        self.dma_buf.lock().get_or_insert(dma_buf);
    }

    /// The last handle went: the dma-buf lives on its own, or not at all.
    pub(crate) fn unlink(&self) -> Option<OwnedFd> {
        self.dma_buf.lock().take()
    }
}

impl Bo {
    /// A descriptor of the dma-buf, which closes on exec: one open file for all exports, whose access mode the first one
    /// fixes.
    ///
    /// Source: Linux 6.12 `drm_prime.c`, `drm_gem_prime_handle_to_fd`.
    pub(crate) fn dma_buf(&self, writable: bool) -> Result<OwnedFd, Errno> {
        let mut link = self.sharing.dma_buf.lock();
        let open = match link.take() {
            Some(open) => open,
            None => self.open_again(writable)?,
        };
        link.insert(open).try_clone().map_err(errno_of)
    }

    /// Opens the BO's memory once more, with a lock that tells for how long somebody has this open file.
    fn open_again(&self, writable: bool) -> Result<OwnedFd, Errno> {
        let memory = self.backing().ok_or(Errno::EPERM)?.file()?;
        let path = format!("/proc/thread-self/fd/{}", memory.as_raw_fd());
        let file = std::fs::OpenOptions::new().read(true).write(writable).open(path).map_err(errno_of)?;
        fcntl(&file, FcntlArg::F_OFD_SETLK(&lock(libc::F_RDLCK)))?;
        Ok(file.into())
    }

    /// Whether the dma-buf is open: by the BO's own link to it, by a descriptor or by a mapping made through one, in any
    /// process.
    pub(crate) fn is_dma_buf_open(&self) -> bool {
        let Some(Ok(memory)) = self.backing().map(Backing::file) else { return false };
        let mut found = lock(libc::F_WRLCK);
        match fcntl(memory, FcntlArg::F_OFD_GETLK(&mut found)) {
            Ok(_) => i32::from(found.l_type) != libc::F_UNLCK,
            // What cannot be told is kept.
            Err(_) => true,
        }
    }
}

/// A lock of a whole file.
fn lock(kind: i32) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// The BO of another device, as this one has it.
#[derive(Debug)]
pub(crate) struct Imported {
    source: Arc<Bo>,
    /// An empty file: the importer's node lets the BO be mapped, and touching the mapping is a bus error.
    nothing: OnceLock<OwnedFd>,
}

impl Imported {
    pub(crate) const fn new(source: Arc<Bo>) -> Self {
        Self { source, nothing: OnceLock::new() }
    }

    /// The exporter's BO.
    pub(crate) const fn source(&self) -> &Arc<Bo> {
        &self.source
    }

    /// Source: Linux 6.12 `ttm_bo_vm.c`, `ttm_bo_vm_reserve`: pages of others are VM_FAULT_SIGBUS.
    pub(super) fn file_to_map(&self) -> Result<BorrowedFd<'_>, Errno> {
        if self.nothing.get().is_none() {
            // Whoever is first sets it; the other's is closed.
            let _ = self.nothing.set(memory_file(c"amdgpu-sim foreign BO", 0)?);
        }
        self.nothing.get().map(AsFd::as_fd).ok_or(Errno::ENOMEM)
    }
}
