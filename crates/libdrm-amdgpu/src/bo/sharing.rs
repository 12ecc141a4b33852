//! Sharing: dma-bufs, global names and handles.

use std::{
    ffi::{c_int, c_uint},
    os::fd::{FromRawFd as _, OwnedFd},
};

use amdgpu_winsys::{
    uapi::{GemClose, GemFlink, GemOpen, PRIME_CLOEXEC, PRIME_FD_TO_HANDLE, PRIME_RDWR, PrimeHandle},
    winsys::Errno,
};

use super::{Bo, functions::record};
use crate::{
    border::{Answer, CValue, Failure, Handle, Out, Plainly as _, entry},
    device::Device,
    kernel::Lent,
};

/// The values of `amdgpu_bo_handle_type`.
mod kind {
    use std::ffi::c_uint;

    pub(super) const NAME: c_uint = 0;
    pub(super) const KMS: c_uint = 1;
    pub(super) const DMA_BUF: c_uint = 2;
    pub(super) const KMS_WITHOUT_IMPORT: c_uint = 3;
}

/// The structure `amdgpu_bo_import_result` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct Imported {
    bo: Handle<Bo>,
    size: u64,
}

// SAFETY: a handle and an integer.
unsafe impl CValue for Imported {}

/// Imports a dma-buf; -1 with errno if the kernel refuses.
fn handle_of(kernel: &Lent<'_>, fd: c_int) -> Answer<u32> {
    let mut argument = PrimeHandle { handle: 0, flags: 0, fd };
    kernel.plain_as("PRIME_FD_TO_HANDLE", PRIME_FD_TO_HANDLE, &mut argument).plainly()?;
    Ok(argument.handle)
}

/// Exports a BO as a dma-buf; -1 with errno if the kernel refuses.
fn dma_buf_of(kernel: &Lent<'_>, handle: u32, flags: u32) -> Answer<c_int> {
    let mut argument = PrimeHandle { handle, flags, fd: -1 };
    kernel.plain(&mut argument).plainly()?;
    Ok(argument.fd)
}

fn close(kernel: &Lent<'_>, handle: u32) {
    let _ = kernel.plain(&mut GemClose { handle, pad: 0 });
}

/// Shares a BO of one file with another one of the same GPU, and returns the handle there.
fn carry(from: &Lent<'_>, handle: u32, to: &Lent<'_>) -> Answer<u32> {
    let fd = dma_buf_of(from, handle, PRIME_CLOEXEC)?;
    // SAFETY: the kernel made it just now for this call.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    let handle = handle_of(to, fd);
    drop(owned);
    handle
}

/// Returns the size of a dma-buf, and leaves its position at the start.
fn size_of_dma_buf(fd: c_int) -> Result<u64, Errno> {
    // SAFETY: numbers alone. If the descriptor is none, the C library says so.
    let size = Errno::result(unsafe { libc::lseek(fd, 0, libc::SEEK_END) });
    // SAFETY: as above.
    unsafe { libc::lseek(fd, 0, libc::SEEK_SET) };
    Ok(size?.cast_unsigned())
}

/// Imports a BO.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_import(handle: Handle<Device>, kind: c_uint, shared: u32, place: Out<Imported>) -> c_int {
    entry(|| {
        let device = handle.get()?;
        place.check()?;
        let mut entries = device.table.lock();
        let (bo, name) = match kind {
            kind::DMA_BUF => {
                let (kernel, fd) = (device.kernel()?, shared.cast_signed());
                let gem = handle_of(&kernel, fd)?;
                let size = size_of_dma_buf(fd);
                match entries.by_handle(gem) {
                    Some(bo) => (Known(bo.cast()), 0),
                    None => (New { gem, size: size.inspect_err(|_| close(&kernel, gem))? }, 0),
                }
            }
            kind::NAME => {
                if let Some(bo) = entries.by_name(shared) {
                    (Known(bo.cast()), 0)
                } else {
                    let (gem, size) = open(device, shared)?;
                    (entries.by_handle(gem).map_or(New { gem, size }, |bo| Known(bo.cast())), shared)
                }
            }
            kind::KMS | kind::KMS_WITHOUT_IMPORT => return Err(Errno::EPERM.into()),
            _ => return Err(Failure::INVALID),
        };
        let record = match bo {
            Known(bo) => {
                bo.get()?.reference();
                bo
            }
            New { gem, size } => record(handle, &mut entries, size, gem)?,
        };
        let bo = record.get()?;
        if name != 0 {
            bo.set_name(name);
            entries.enter_name(name, record.cast());
        }
        place.put(Imported { bo: record, size: bo.size() });
        Ok(())
    })
}

/// The result of an import.
enum Found {
    /// A BO with a record.
    Known(Handle<Bo>),
    /// A handle without one.
    New { gem: u32, size: u64 },
}

use Found::{Known, New};

/// Opens a global name, and returns the handle in the device's own file and the size.
fn open(device: &Device, name: u32) -> Answer<(u32, u64)> {
    let names = device.names()?;
    let mut argument = GemOpen { name, handle: 0, size: 0 };
    names.plain(&mut argument).plainly()?;
    let GemOpen { handle, size, .. } = argument;
    if !device.names_are_elsewhere() {
        return Ok((handle, size));
    }
    let carried = carry(&names, handle, &device.kernel()?);
    close(&names, handle);
    Ok((carried?, size))
}

/// Exports a BO. The descriptor of a dma-buf is the caller's.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_export(record: Handle<Bo>, kind: c_uint, shared: Out<u32>) -> c_int {
    entry(|| {
        let bo = record.get()?;
        shared.check()?;
        shared.put(match kind {
            kind::NAME => name_of(record, bo)?,
            kind::KMS | kind::KMS_WITHOUT_IMPORT => bo.handle(),
            kind::DMA_BUF => {
                dma_buf_of(&bo.device().kernel()?, bo.handle(), PRIME_CLOEXEC | PRIME_RDWR)?.cast_unsigned()
            }
            _ => return Err(Failure::INVALID),
        });
        Ok(())
    })
}

/// Returns the global name of a BO, which is made once.
fn name_of(record: Handle<Bo>, bo: &Bo) -> Answer<u32> {
    if bo.name() != 0 {
        return Ok(bo.name());
    }
    let device = bo.device();
    let names = device.names()?;
    let is_elsewhere = device.names_are_elsewhere();
    let handle = if is_elsewhere { carry(&device.kernel()?, bo.handle(), &names)? } else { bo.handle() };
    let mut argument = GemFlink { handle, name: 0 };
    let named = names.plain(&mut argument).plainly();
    if is_elsewhere {
        close(&names, handle);
    }
    named?;
    bo.set_name(argument.name);
    device.table.lock().enter_name(argument.name, record.cast());
    Ok(argument.name)
}
