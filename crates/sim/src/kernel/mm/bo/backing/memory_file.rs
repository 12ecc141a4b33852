//! Memory files whose descriptors are given to clients.

use std::{ffi::CStr, os::fd::OwnedFd};

use amdgpu_uapi::Errno;
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
    unistd::ftruncate,
};

/// Creates a file of `len` zero bytes whose size never changes.
///
/// Any holder of a descriptor of a plain memory file may truncate it, after which every process that has mapped it gets SIGBUS for
/// valid loads. A real BO or dma-buf cannot be truncated. The seals apply to every descriptor of the file, and cannot be changed.
///
/// # Errors
///
/// EMFILE, ENFILE or ENOMEM if the host has no free descriptor or memory.
pub(crate) fn memory_file(name: &CStr, len: u64) -> Result<OwnedFd, Errno> {
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    ftruncate(&file, i64::try_from(len).map_err(|_| Errno::ENOMEM)?)?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_memory_file_is_final() {
        let file = memory_file(c"test", 8192).unwrap();
        for len in [0, 4096, 16384] {
            assert_eq!(ftruncate(&file, len), Err(nix::errno::Errno::EPERM), "{len}");
        }
        assert_eq!(fcntl(&file, FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_WRITE)), Err(nix::errno::Errno::EPERM));
        assert_eq!(ftruncate(&file, 8192), Ok(()), "the size that it has");
    }
}
