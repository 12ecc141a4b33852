//! PRIME: BOs as dma-bufs.
//!
//! A dma-buf is the memfd behind the BO, so it can be mapped, measured with lseek and passed to another process. It is
//! recognised by its inode, within this process and device.
//!
//! Source: Linux 6.12 `drm_prime.c`; `amdgpu_dma_buf.c`.

use std::{
    os::fd::{BorrowedFd, OwnedFd},
    sync::Arc,
};

use amdgpu_winsys::uapi::{GemCreateFlags, PRIME_CLOEXEC, PRIME_RDWR, PrimeHandle};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, FdFlag, fcntl},
    sys::stat::fstat,
};

use crate::{
    bo::{Attributes, Bo, Identity, New, Request, errno_of},
    dispatch::{argument, fill},
    file::File,
    user,
};

/// PRIME_HANDLE_TO_FD.
pub(crate) fn handle_to_fd(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: PrimeHandle = argument(bytes)?;
    if request.flags & !(PRIME_CLOEXEC | PRIME_RDWR) != 0 {
        return Err(Errno::EINVAL);
    }
    let bo = file.bo(request.handle).ok_or(Errno::ENOENT)?;
    let private = bo.attributes().flags.contains(GemCreateFlags::VM_ALWAYS_VALID);
    if bo.is_user_memory() || private {
        return Err(Errno::EPERM);
    }
    let shared = bo.dma_buf(request.flags & PRIME_RDWR != 0)?;
    let inode = inode(shared)?;
    file.gpu.remember_export(inode, &bo);
    let fd = duplicate(shared, request.flags & PRIME_CLOEXEC != 0)?;
    request.fd = user::install(fd)?;
    fill(bytes, &request)
}

/// PRIME_FD_TO_HANDLE. A BO has one handle in a file, and getting it again is not counted.
pub(crate) fn fd_to_handle(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: PrimeHandle = argument(bytes)?;
    let fd = user::descriptor(request.fd)?;
    let bo = file.gpu.bo_of_export(inode(fd)?, |identity| revive(file, fd, identity))?;
    request.handle = file.handles.lock().get_or_insert(bo)?;
    fill(bytes, &request)
}

/// Makes a BO anew over the memory of one whose last handle went. While nothing but the descriptor held it, the pools
/// did not count it, which a real kernel would have.
fn revive(file: &File, fd: BorrowedFd<'_>, identity: &Arc<Identity>) -> Result<Arc<Bo>, Errno> {
    let Attributes { size, preferred, allowed, flags, .. } = identity.attributes();
    let reservation = Arc::default();
    let wanted = Request { bytes: size, domains: allowed, flags, vm: None, reservation: Arc::clone(&reservation) };
    let (taken, _) = file.gpu.pools.place(wanted)?;
    taken.set_domains(preferred, allowed);
    let new = New {
        identity: Arc::clone(identity),
        offsets: Arc::clone(&file.gpu.offsets),
        taken,
        user_pages: None,
        reservation,
    };
    Bo::revive(new, fd)
}

/// What tells one dma-buf from another.
pub(crate) fn inode(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    fstat(fd).map(|stat| stat.st_ino)
}

/// Another descriptor of the same open file.
pub(crate) fn duplicate(fd: BorrowedFd<'_>, close_on_exec: bool) -> Result<OwnedFd, Errno> {
    let copy = fd.try_clone_to_owned().map_err(errno_of)?;
    if !close_on_exec {
        fcntl(&copy, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(copy)
}
