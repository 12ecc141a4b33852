//! dma-bufs: BOs that are exported by descriptor.
//!
//! The descriptor is an open file of the BO's memory, so that it can be mapped and its size queried with lseek. This module
//! implements the operations that the file cannot perform itself (dma-buf ioctls, poll, and the errors of mmap and lseek), for
//! layers between a client and its system calls.
//!
//! Source: Linux 6.12 `dma-buf.c`; `amdgpu_dma_buf.c`.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemCreateFlags};
use nix::poll::PollFlags;
use parking_lot::Mutex;

use crate::kernel::mm::bo::{Bo, PAGE};

/// The maximum length of a name in bytes, including the NUL (`DMA_BUF_NAME_LEN`).
pub(crate) const NAME: usize = 32;

/// An exported BO.
#[derive(Debug)]
pub(crate) struct DmaBuf {
    bo: Arc<Bo>,
    /// The name set by SET_NAME, without NUL.
    name: Mutex<Vec<u8>>,
}

impl DmaBuf {
    pub(crate) const fn new(bo: Arc<Bo>) -> Self {
        Self { bo, name: Mutex::new(Vec::new()) }
    }

    /// Returns the exporter's BO.
    pub(crate) const fn bo(&self) -> &Arc<Bo> {
        &self.bo
    }

    /// Returns `true` if the BO still has handles, descriptors or mappings.
    pub(crate) fn is_open(&self) -> bool {
        self.bo.sharing.has_handles() || self.bo.is_dma_buf_open()
    }

    pub(crate) fn set_name(&self, name: Vec<u8>) {
        *self.name.lock() = name;
    }

    pub(crate) fn name(&self) -> Vec<u8> {
        self.name.lock().clone()
    }

    /// Returns POLLIN if there are no writers, and POLLOUT if there are no users.
    ///
    /// Source: `dma_buf_poll`.
    pub(crate) fn ready(&self) -> PollFlags {
        let uses = self.bo.reservation.uses();
        let mut ready = PollFlags::empty();
        ready.set(PollFlags::POLLIN, !uses.iter().any(|earlier| earlier.writes));
        ready.set(PollFlags::POLLOUT, uses.is_empty());
        ready
    }

    /// Checks that `len` bytes from `offset` may be mapped.
    ///
    /// Source: `dma_buf_mmap`; `amdgpu_gem_prime_mmap` and `drm_gem_prime_mmap`.
    pub(crate) fn check_map(&self, offset: u64, len: u64) -> Result<(), Errno> {
        let end = len.checked_next_multiple_of(PAGE).and_then(|len| offset.checked_add(len)).ok_or(Errno::EOVERFLOW)?;
        if end > self.bo.size() || !offset.is_multiple_of(PAGE) || len == 0 {
            return Err(Errno::EINVAL);
        }
        let private = self.bo.attributes().flags.contains(GemCreateFlags::NO_CPU_ACCESS);
        if private { Err(Errno::EPERM) } else { Ok(()) }
    }

    /// Returns the new position of lseek, which is the start or the end.
    ///
    /// Source: `dma_buf_llseek`.
    pub(crate) fn seek(&self, offset: i64, whence: i32) -> Result<u64, Errno> {
        match (offset, whence) {
            (0, libc::SEEK_SET) => Ok(0),
            (0, libc::SEEK_END) => Ok(self.bo.size()),
            _ => Err(Errno::EINVAL),
        }
    }
}
