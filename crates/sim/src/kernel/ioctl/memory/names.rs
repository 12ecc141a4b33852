//! FLINK and OPEN: GEM names.
//!
//! Source: Linux 6.12 `drm_gem.c`, `drm_gem_flink_ioctl` and `drm_gem_open_ioctl`.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemCreateFlags, GemFlink, GemOpen};

use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    mm::bo::Bo,
};

/// Performs GEM_FLINK: returns the name of a BO, which is the same for every call.
pub(crate) fn flink(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: GemFlink = argument(bytes)?;
    let bo = file.bo(request.handle).ok_or(Errno::ENOENT)?;
    request.name = file.gpu.bos.names.lock().name(&bo)?;
    fill(bytes, &request)
}

/// Performs GEM_OPEN: returns a new handle for every call, even if the file already has one.
pub(crate) fn open(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: GemOpen = argument(bytes)?;
    let names = file.gpu.bos.names.lock();
    let bo = names.find(request.name).ok_or(Errno::ENOENT)?;
    if is_private(file, &bo) {
        return Err(Errno::EPERM);
    }
    request.size = bo.size();
    request.handle = file.handles.lock().insert(&bo)?;
    drop(names);
    fill(bytes, &request)
}

/// Returns `true` if the BO belongs to another file's address space, or is created from another process's memory.
///
/// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_object_open`.
fn is_private(file: &File, bo: &Bo) -> bool {
    let foreign_pages = bo.user_pages().is_some_and(|pages| !pages.are_the_callers());
    let always_valid = bo.attributes().flags.contains(GemCreateFlags::VM_ALWAYS_VALID);
    foreign_pages || always_valid && !Arc::ptr_eq(&bo.reservation, &file.root)
}
