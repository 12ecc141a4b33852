//! Sync files.

use std::ffi::c_int;

use amdgpu_winsys::uapi::SYNC_FILE;

use super::objects::{create, destroy, of_fd, to_fd, transfer};
use crate::{
    border::{Answer, Handle, Out, entry},
    device::Device,
    kernel::Lent,
};

/// Runs a call with a binary sync object that is gone afterwards.
fn with_binary<T>(kernel: &Lent<'_>, call: impl FnOnce(u32) -> Answer<T>) -> Answer<T> {
    let binary = create(kernel, 0)?;
    let outcome = call(binary);
    let _ = destroy(kernel, binary);
    outcome
}

/// Exports the fence of a sync object as a sync file.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_export_sync_file(device: Handle<Device>, handle: u32, fd: Out<c_int>) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        fd.check()?;
        fd.put(to_fd(&kernel, handle, SYNC_FILE)?);
        Ok(())
    })
}

/// Puts the fence of a sync file into a sync object.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_import_sync_file(device: Handle<Device>, handle: u32, fd: c_int) -> c_int {
    entry(|| of_fd(&device.get()?.kernel()?, handle, SYNC_FILE, fd).map(drop))
}

/// Exports the fence of a point of a timeline as a sync file.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_export_sync_file2(
    device: Handle<Device>,
    handle: u32,
    point: u64,
    flags: u32,
    fd: Out<c_int>,
) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        fd.check()?;
        fd.put(match point {
            0 => to_fd(&kernel, handle, SYNC_FILE)?,
            point => with_binary(&kernel, |binary| {
                transfer(&kernel, (binary, 0), (handle, point), flags)?;
                to_fd(&kernel, binary, SYNC_FILE)
            })?,
        });
        Ok(())
    })
}

/// Puts the fence of a sync file at a point of a timeline.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_syncobj_import_sync_file2(device: Handle<Device>, handle: u32, point: u64, fd: c_int) -> c_int {
    entry(|| {
        let kernel = device.get()?.kernel()?;
        match point {
            0 => of_fd(&kernel, handle, SYNC_FILE, fd).map(drop),
            point => with_binary(&kernel, |binary| {
                of_fd(&kernel, binary, SYNC_FILE, fd)?;
                transfer(&kernel, (handle, point), (binary, 0), 0)
            }),
        }
    })
}
