//! BOs of the client's pages.

use std::{ops::Range, sync::Arc};

use amdgpu_uapi::{Errno, UserptrFlags};

use crate::kernel::{
    client,
    process_memory::{Area, ProcessMemory},
};

/// A range of memory of this or a client's process that was passed to GEM_USERPTR.
///
/// Memory of this process is accessed with `process_vm_readv` and `process_vm_writev`: they return EFAULT where loads and stores would
/// crash, because it may be unmapped at any time. That of another process is accessed through descriptors which that process has
/// opened: when it executes another program, the pages are gone, as they are from a real GPU.
#[derive(Debug)]
pub(crate) struct UserPages {
    pid: libc::pid_t,
    /// The memory of another process; `None` for this one.
    memory: Option<Arc<ProcessMemory>>,
    address: u64,
    len: u64,
    flags: UserptrFlags,
}

impl UserPages {
    /// Creates a range of the client's pages. The caller has checked that the range does not wrap.
    ///
    /// # Errors
    ///
    /// The errors of [`Client::memory`](crate::Client::memory).
    pub(crate) fn new(address: u64, len: u64, flags: UserptrFlags) -> Result<Self, Errno> {
        let memory = client::memory().transpose()?.flatten();
        Ok(Self { pid: client::pid(), memory, address, len, flags })
    }

    /// Returns the range of addresses.
    pub(crate) const fn range(&self) -> Range<u64> {
        self.address..self.address + self.len
    }

    /// Returns `true` if the pages belong to the current client.
    pub(crate) fn are_the_callers(&self) -> bool {
        client::pid() == self.pid
    }

    /// Returns `true` if the GPU may only read the pages.
    pub(crate) const fn is_read_only(&self) -> bool {
        self.flags.contains(UserptrFlags::READONLY)
    }

    /// Checks that the range is still valid. Called for GEM_USERPTR with VALIDATE, and for each CS that lists the BO.
    ///
    /// Source: Linux 6.12 `amdgpu_ttm.c`, `amdgpu_ttm_tt_get_user_pages`; `mm/hmm.c`, `hmm_vma_walk_test`, `hmm_vma_fault`.
    ///
    /// # Errors
    ///
    /// EFAULT if a part is not mapped or not readable, EPERM for file pages or read-only pages if they are not permitted, and for
    /// pages of another process than the current client (`amdgpu_cs.c`, `amdgpu_cs_parser_bos`).
    pub(crate) fn validate(&self) -> Result<(), Errno> {
        if client::pid() != self.pid {
            return Err(Errno::EPERM);
        }
        let end = self.address.checked_add(self.len).ok_or(Errno::EOVERFLOW)?;
        let area = match &self.memory {
            Some(memory) => memory.area(self.address),
            None => own_area(self.address),
        };
        let area = area.ok_or(Errno::EFAULT)?;
        if self.flags.contains(UserptrFlags::ANONONLY) && (area.is_file || area.range.end < end) {
            return Err(Errno::EPERM);
        }
        if !area.readable {
            return Err(Errno::EFAULT);
        }
        if area.writable || self.is_read_only() { Ok(()) } else { Err(Errno::EPERM) }
    }

    /// Reads bytes. Pages that are no longer mapped read as zero.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let Some(remote) = self.remote(offset, out.len()) else { return };
        let copied = if let Some(memory) = &self.memory {
            memory.read_some(self.address + offset, out)
        } else {
            let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
            // SAFETY: `local` is `out`, which is exclusive and has this length; the kernel checks every byte of `remote`.
            let copied = unsafe { libc::process_vm_readv(self.pid, &raw const local, 1, &raw const remote, 1, 0) };
            usize::try_from(copied).unwrap_or(0)
        };
        if let Some(rest) = out.get_mut(copied..) {
            rest.fill(0);
        }
    }

    /// Writes bytes. Writes to pages that are no longer mapped are lost.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let Some(remote) = self.remote(offset, data.len()) else { return };
        if let Some(memory) = &self.memory {
            if let Err(errno) = memory.write(self.address + offset, data) {
                tracing::warn!(%errno, "a GPU write to user memory was lost");
            }
            return;
        }
        let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
        // SAFETY: `local` is `data`, which the kernel only reads; it checks every byte of `remote`, where the client permitted
        // writes by the GPU when it created the BO.
        let copied = unsafe { libc::process_vm_writev(self.pid, &raw const local, 1, &raw const remote, 1, 0) };
        if copied < 0 {
            tracing::warn!(errno = %Errno::last(), "a GPU write to user memory was lost");
        }
    }

    fn remote(&self, offset: u64, len: usize) -> Option<libc::iovec> {
        offset.checked_add(len as u64).filter(|&end| end <= self.len)?;
        let address = usize::try_from(self.address.checked_add(offset)?).ok()?;
        Some(libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(address), iov_len: len })
    }
}

/// Returns the area of this process at an address.
fn own_area(address: u64) -> Option<Area> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().filter_map(Area::parse).find(|area| area.range.contains(&address))
}
