//! The identity of open files of the host.

use std::os::fd::AsFd;

use amdgpu_uapi::Errno;
use nix::sys::stat::fstat;

/// The identity of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the identity of an open descriptor's file.
    pub(crate) fn of(fd: impl AsFd) -> Result<Self, Errno> {
        let stat = fstat(fd)?;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino })
    }
}
