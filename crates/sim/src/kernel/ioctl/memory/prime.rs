//! PRIME: export and import of BOs as dma-bufs.
//!
//! Source: Linux 6.12 `drm_prime.c`; `amdgpu_dma_buf.c`.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemCreateFlags, GemDomain, PRIME_CLOEXEC, PRIME_RDWR, PrimeHandle};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::kernel::{
    card::Gpu,
    files::{descriptors::SharedObject, file::File, file_id::FileId},
    ioctl::args::{argument, fill},
    mm::bo::{Attributes, Bo, Identity, Imported, New, PAGE, Request, dma_buf::DmaBuf},
    process::errno::errno_of,
    user,
};

/// Performs PRIME_HANDLE_TO_FD.
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
    // The lock prevents the last handle from being closed concurrently.
    let names = file.gpu.bos.names.lock();
    let mut handles = file.handles.lock();
    if !handles.holds(&bo) {
        return Err(Errno::ENOENT);
    }
    let fd = bo.dma_buf(request.flags & PRIME_RDWR != 0)?;
    let id = FileId::of(&fd)?;
    file.gpu.machine.descriptors.add_dma_buf(id, || DmaBuf::new(Arc::clone(&bo)));
    handles.remember_dma_buf(id, request.handle);
    drop((handles, names));
    if request.flags & PRIME_CLOEXEC == 0 {
        fcntl(&fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    request.fd = user::install(fd)?;
    fill(bytes, &request)
}

/// Performs PRIME_FD_TO_HANDLE. A dma-buf has one handle in a file, which repeated imports return without counting.
pub(crate) fn fd_to_handle(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: PrimeHandle = argument(bytes)?;
    let fd = user::descriptor(request.fd)?;
    let id = FileId::of(fd)?;
    let Some(SharedObject::DmaBuf(dma_buf)) = file.gpu.machine.descriptors.find(fd)? else { return Err(Errno::EINVAL) };
    // Imports are serialized, so that two imports of one dma-buf return one handle.
    let _names = file.gpu.bos.names.lock();
    let mut handles = file.handles.lock();
    request.handle = if let Some(known) = handles.of_dma_buf(id) {
        known
    } else {
        let bo = if dma_buf.bo().is_of(&file.gpu.bos.offsets) {
            Arc::clone(dma_buf.bo())
        } else {
            import_foreign(&file.gpu, dma_buf.bo())?
        };
        let link = fd.try_clone_to_owned().map_err(errno_of)?;
        let handle = handles.insert(&bo)?;
        bo.sharing.link(link);
        handles.remember_dma_buf(id, handle);
        handle
    };
    drop(handles);
    fill(bytes, &request)
}

/// Creates a BO for another device's BO: always in GTT, with a common reservation.
///
/// Source: `amdgpu_dma_buf_create_obj`. The kernel counts it in GTT only after the GPU has used it.
fn import_foreign(gpu: &Gpu, source: &Arc<Bo>) -> Result<Arc<Bo>, Errno> {
    let flags = source.attributes().flags & GemCreateFlags::CPU_GTT_USWC;
    let (preferred, allowed) = (GemDomain::GTT, GemDomain::GTT);
    let attributes = Attributes { size: source.size(), alignment: PAGE, preferred, allowed, flags };
    let reservation = Arc::clone(&source.reservation);
    let wanted = Request { bytes: source.size(), domains: allowed, flags, vm: None, reservation, payer: None };
    let (allocation, _) = gpu.pools.place(wanted)?;
    let new = New {
        allocation,
        identity: Identity::new(attributes, &gpu.bos.offsets),
        offsets: Arc::clone(&gpu.bos.offsets),
        user_pages: None,
        reservation: Arc::clone(&source.reservation),
    };
    Ok(Bo::import(new, Imported::new(Arc::clone(source))))
}
