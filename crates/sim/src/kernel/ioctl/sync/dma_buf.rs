//! The ioctls of dma-bufs.
//!
//! Source: Linux 6.12 `dma-buf.c`, `dma_buf_ioctl`.

use std::sync::Arc;

use amdgpu_uapi::{
    DMA_BUF_EXPORT_SYNC_FILE, DMA_BUF_IMPORT_SYNC_FILE, DMA_BUF_SET_NAME, DMA_BUF_SET_NAME_32, DMA_BUF_SYNC,
    DmaBufSync, DmaBufSyncFile, Errno, Request, SYNC_END, SYNC_READ, SYNC_WRITE,
};

use crate::kernel::{
    files::descriptors::SharedObject,
    machine::Machine,
    mm::bo::dma_buf::{DmaBuf, NAME},
    sync::{events::Until, sync_file::SyncFile},
    user,
};

/// Performs an ioctl on a dma-buf. The number of a request includes its size and direction.
pub(crate) fn serve(machine: &Machine, dma_buf: &DmaBuf, request: Request, address: u64) -> Result<(), Errno> {
    match request {
        DMA_BUF_SYNC => sync(machine, dma_buf, address),
        DMA_BUF_SET_NAME | DMA_BUF_SET_NAME_32 => {
            dma_buf.set_name(read_name(address)?);
            Ok(())
        }
        DMA_BUF_EXPORT_SYNC_FILE => export(machine, dma_buf, address),
        DMA_BUF_IMPORT_SYNC_FILE => import(machine, dma_buf, address),
        _ => Err(Errno::ENOTTY),
    }
}

/// Performs DMA_BUF_IOCTL_SYNC. The start of an access waits, with no time limit, for the jobs that must not overlap it.
///
/// Source: `dma_buf_begin_cpu_access`.
fn sync(machine: &Machine, dma_buf: &DmaBuf, address: u64) -> Result<(), Errno> {
    let DmaBufSync { flags } = user::read(address)?;
    let (access, end) = (u64::from(SYNC_READ | SYNC_WRITE), u64::from(SYNC_END));
    if flags & !(access | end) != 0 || flags & access == 0 {
        return Err(Errno::EINVAL);
    }
    if flags & end == 0 {
        let fence = dma_buf.bo().reservation.fence(flags & u64::from(SYNC_WRITE) != 0);
        machine.events.wait(Until::Never, || fence.is_signalled().then_some(()));
    }
    Ok(())
}

/// Returns whether the access writes, by the flags of either sync-file request.
fn writes(flags: u32) -> Result<bool, Errno> {
    if flags & !(SYNC_READ | SYNC_WRITE) != 0 || flags == 0 {
        return Err(Errno::EINVAL);
    }
    Ok(flags & SYNC_WRITE != 0)
}

/// Performs DMA_BUF_IOCTL_EXPORT_SYNC_FILE: returns the fences that an access with the flags would wait for.
fn export(machine: &Machine, dma_buf: &DmaBuf, address: u64) -> Result<(), Errno> {
    let mut request: DmaBufSyncFile = user::read(address)?;
    let fence = dma_buf.bo().reservation.fence(writes(request.flags)?);
    request.fd = user::install(machine.descriptors.add_sync_file(SyncFile::new(fence))?)?;
    user::write_slice(address, &[request])
}

/// Performs DMA_BUF_IOCTL_IMPORT_SYNC_FILE: adds the sync file's fence to the BO, as a reader or a writer.
fn import(machine: &Machine, dma_buf: &DmaBuf, address: u64) -> Result<(), Errno> {
    let request: DmaBufSyncFile = user::read(address)?;
    let writes = writes(request.flags)?;
    let sync_file = sync_file(machine, request.fd)?;
    dma_buf.bo().reservation.import(sync_file.fence(), writes);
    Ok(())
}

/// Returns the sync file of a client's descriptor; EINVAL for any other file.
pub(crate) fn sync_file(machine: &Machine, fd: i32) -> Result<Arc<SyncFile>, Errno> {
    match user::descriptor(fd).and_then(|fd| machine.descriptors.find(fd)) {
        Ok(Some(SharedObject::SyncFile(sync_file))) => Ok(sync_file),
        _ => Err(Errno::EINVAL),
    }
}

/// Reads a name up to its NUL; EINVAL if the name is too long.
fn read_name(address: u64) -> Result<Vec<u8>, Errno> {
    let mut name = Vec::new();
    for at in 0..NAME as u64 {
        match user::read(address.checked_add(at).ok_or(Errno::EFAULT)?)? {
            0_u8 => return Ok(name),
            byte => name.push(byte),
        }
    }
    Err(Errno::EINVAL)
}
