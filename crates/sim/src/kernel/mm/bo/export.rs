//! The dma-buf of a BO, which is another open file of its memory.

use std::os::fd::{AsRawFd, OwnedFd};

use amdgpu_uapi::Errno;
use nix::fcntl::{FcntlArg, fcntl};

use super::{backing::Backing, object::Bo};
use crate::kernel::process::errno::errno_of;

impl Bo {
    /// Returns a descriptor of the dma-buf with close-on-exec. All exports share one open file, whose access mode is set by the
    /// first.
    ///
    /// Source: Linux 6.12 `drm_prime.c`, `drm_gem_prime_handle_to_fd`.
    pub(crate) fn dma_buf(&self, writable: bool) -> Result<OwnedFd, Errno> {
        self.sharing.dma_buf(|| self.open_again(writable))
    }

    /// Opens the BO's memory again, with a lock that lasts as long as any process has this open file.
    fn open_again(&self, writable: bool) -> Result<OwnedFd, Errno> {
        let memory = self.backing().ok_or(Errno::EPERM)?.file()?;
        let path = format!("/proc/thread-self/fd/{}", memory.as_raw_fd());
        let file = std::fs::OpenOptions::new().read(true).write(writable).open(path).map_err(errno_of)?;
        fcntl(&file, FcntlArg::F_OFD_SETLK(&lock(libc::F_RDLCK)))?;
        Ok(file.into())
    }

    /// Returns `true` if the dma-buf is open in any process: by the BO's own link to it, by a descriptor, or by a mapping created
    /// through one.
    pub(crate) fn is_dma_buf_open(&self) -> bool {
        let Some(Ok(memory)) = self.backing().map(Backing::file) else { return false };
        let mut found = lock(libc::F_WRLCK);
        match fcntl(memory, FcntlArg::F_OFD_GETLK(&mut found)) {
            Ok(_) => i32::from(found.l_type) != libc::F_UNLCK,
            // A file with unknown state is kept.
            Err(_) => true,
        }
    }
}

/// Returns a lock of the first byte. The following bytes are for the locks of mappings by servers of clients, one for each of their
/// files.
fn lock(kind: i32) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    }
}
