//! BOs of the client's pages.

use std::ops::Range;

use amdgpu_uapi::{Errno, UserptrFlags};

use crate::kernel::client;

/// A range of memory of this or a client's process that was passed to GEM_USERPTR.
///
/// It is accessed with `process_vm_readv` and `process_vm_writev`, even in this process: they return EFAULT where loads and stores
/// would crash, because a client may unmap the range at any time.
#[derive(Debug)]
pub(crate) struct UserPages {
    pid: libc::pid_t,
    address: u64,
    len: u64,
    flags: UserptrFlags,
}

impl UserPages {
    /// Creates a range of the client's pages. The caller has checked that the range does not wrap.
    pub(crate) fn new(address: u64, len: u64, flags: UserptrFlags) -> Self {
        Self { pid: client::pid(), address, len, flags }
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
        let anonymous_only = self.flags.contains(UserptrFlags::ANONONLY);
        validate(self.pid, self.address, self.len, anonymous_only, self.is_read_only())
    }

    /// Reads bytes. Pages that are no longer mapped read as zero.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let Some(remote) = self.remote(offset, out.len()) else { return };
        let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
        // SAFETY: `local` is `out`, which is exclusive and has this length; the kernel checks every byte of `remote`.
        let copied = unsafe { libc::process_vm_readv(self.pid, &raw const local, 1, &raw const remote, 1, 0) };
        let copied = usize::try_from(copied).unwrap_or(0);
        if let Some(rest) = out.get_mut(copied..) {
            rest.fill(0);
        }
    }

    /// Writes bytes. Writes to pages that are no longer mapped are lost.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let Some(remote) = self.remote(offset, data.len()) else { return };
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

/// Checks the range in the process's list of memory areas.
fn validate(pid: libc::pid_t, address: u64, len: u64, anonymous_only: bool, read_only: bool) -> Result<(), Errno> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).map_err(|_| Errno::EFAULT)?;
    let end = address.checked_add(len).ok_or(Errno::EOVERFLOW)?;
    let area = maps.lines().filter_map(Area::parse).find(|area| area.start <= address && address < area.end);
    let Some(area) = area else { return Err(Errno::EFAULT) };
    if anonymous_only && (area.is_file || area.end < end) {
        return Err(Errno::EPERM);
    }
    if !area.readable {
        return Err(Errno::EFAULT);
    }
    if area.writable || read_only { Ok(()) } else { Err(Errno::EPERM) }
}

/// A line of `/proc/PID/maps`.
struct Area {
    start: u64,
    end: u64,
    readable: bool,
    writable: bool,
    is_file: bool,
}

impl Area {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?.as_bytes();
        let inode = words.nth(2)?;
        Some(Self {
            start: u64::from_str_radix(start, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            readable: rights.first() == Some(&b'r'),
            writable: rights.get(1) == Some(&b'w'),
            is_file: inode != "0",
        })
    }
}
