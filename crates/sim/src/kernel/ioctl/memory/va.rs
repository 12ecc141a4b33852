//! GEM_VA: mappings of GPU addresses.
//!
//! Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`; `amdgpu_vm.c`.

use amdgpu_uapi::{Errno, GemVa, GemVaTimeline, VaFlags, VaOperation};

use crate::kernel::{
    files::file::File,
    ioctl::{args::argument, sync::syncobj::find_fence},
    sync::{events::Until, fence::Fence},
    user,
};

/// The flags of an ordinary mapping.
const ORDINARY: VaFlags = VaFlags::DELAY_UPDATE
    .union(VaFlags::READABLE)
    .union(VaFlags::WRITEABLE)
    .union(VaFlags::EXECUTABLE)
    .union(VaFlags::MTYPE_MASK)
    .union(VaFlags::NOALLOC);

/// The flags of a partially resident mapping.
const PARTIAL: VaFlags = VaFlags::DELAY_UPDATE.union(VaFlags::PRT);

/// Performs GEM_VA.
pub(crate) fn gem_va(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: GemVa = argument(bytes)?;
    let mut vm = file.vm.lock();
    vm.check_address(request.va_address, request.map_size)?;
    let flags = VaFlags::from_bits_retain(request.flags);
    if !ORDINARY.contains(flags) && !PARTIAL.contains(flags) {
        return Err(Errno::EINVAL);
    }
    let operation = operation(request.operation)?;
    let is_partial = flags.contains(VaFlags::PRT);
    let bo = if is_partial || operation == VaOperation::Clear {
        None
    } else {
        Some(file.bo(request.handle).ok_or(Errno::ENOENT)?)
    };
    let bo_size = bo.as_ref().map(|bo| bo.size());
    let (va, size) = (request.va_address, request.map_size);
    let offset = if operation == VaOperation::Clear { 0 } else { request.offset_in_bo };
    match operation {
        VaOperation::Map => {
            let pages = vm.pages(va, size, offset, bo_size)?;
            vm.map(pages, bo, offset, flags)
        }
        VaOperation::Unmap => vm.unmap(va, bo.as_ref()),
        VaOperation::Clear => {
            let pages = vm.pages(va, size, offset, None)?;
            vm.clear(pages);
            Ok(())
        }
        VaOperation::Replace => {
            let pages = vm.pages(va, size, offset, bo_size)?;
            vm.clear(pages);
            vm.map(pages, bo, offset, flags)
        }
    }
}

/// Performs GEM_VA of Linux 6.17: waits for sync objects first, and stores a fence for the new page tables in another sync object.
/// Page tables change immediately here, so the fence has signalled.
///
/// Source: Linux 6.17 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`, `amdgpu_gem_add_input_fence` and
/// `amdgpu_gem_update_timeline_node`.
pub(crate) fn gem_va_on_a_timeline(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: GemVaTimeline = argument(bytes)?;
    let handles: Vec<u32> =
        user::read_slice(request.input_fence_syncobj_handles, request.num_syncobj_handles as usize)?;
    for handle in handles {
        let fence = find_fence(file, handle, 0, 0)?;
        file.gpu.events.wait(Until::Never, || fence.is_signalled().then_some(()));
    }
    let out = match request.vm_timeline_syncobj_out {
        0 => None,
        handle => Some(file.syncobj(handle).ok_or(Errno::ENOENT)?),
    };
    gem_va(file, bytes)?;
    let is_delayed = VaFlags::from_bits_retain(request.flags).contains(VaFlags::DELAY_UPDATE);
    if let Some(syncobj) = out.filter(|_| !is_delayed) {
        syncobj.add_point(request.vm_timeline_point, Fence::signalled());
        file.gpu.events.ring();
    }
    Ok(())
}

fn operation(raw: u32) -> Result<VaOperation, Errno> {
    [VaOperation::Map, VaOperation::Unmap, VaOperation::Clear, VaOperation::Replace]
        .into_iter()
        .find(|&operation| operation as u32 == raw)
        .ok_or(Errno::EINVAL)
}
