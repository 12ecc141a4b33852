//! GEM_VA: mappings of GPU addresses.
//!
//! Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`; `amdgpu_vm.c`.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemVa, GemVaTimeline, VaFlags, VaOperation};

use crate::{
    features::Features,
    kernel::{
        files::file::File,
        ioctl::{args::argument, sync::syncobj::find_fence},
        mm::bo::Bo,
        sync::{events::Until, fence::Fence},
        user,
        userq::UserQueue,
    },
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
    let checked = check(file, &request, false)?;
    change(file, &request, checked)
}

/// A request whose fields are valid by themselves.
struct Checked {
    operation: VaOperation,
    flags: VaFlags,
    /// The BO; `None` for CLEAR and for partially resident mappings.
    bo: Option<Arc<Bo>>,
}

/// Makes the checks that come before any wait.
fn check(file: &File, request: &GemVa, has_output: bool) -> Result<Checked, Errno> {
    let is_strict = file.gpu.facts.has(Features::STRICT_VA);
    file.vm.lock().check_address(request.va_address, request.map_size, is_strict)?;
    let flags = VaFlags::from_bits_retain(request.flags);
    if !ORDINARY.contains(flags) && !PARTIAL.contains(flags) {
        return Err(Errno::EINVAL);
    }
    let operation = operation(request.operation)?;
    if is_strict && has_output && flags.contains(VaFlags::DELAY_UPDATE) {
        return Err(Errno::EINVAL);
    }
    let has_none = flags.contains(VaFlags::PRT) || operation == VaOperation::Clear;
    let bo = if has_none { None } else { Some(file.bo(request.handle).ok_or(Errno::ENOENT)?) };
    Ok(Checked { operation, flags, bo })
}

/// Changes the address space. The handle may have been closed since the checks.
fn change(file: &File, request: &GemVa, checked: Checked) -> Result<(), Errno> {
    let paused = pause_queues(file, request, &checked);
    let result = change_bindings(file, request, checked);
    for queue in paused {
        queue.resume();
    }
    result
}

/// Makes all user queues of a file pause if a BO is unmapped that one of them needs. Returns those that pause.
///
/// Source: Linux 7.2 `amdgpu_userq.c`, `amdgpu_userq_gem_va_unmap_validate`; `amdgpu_eviction_fence.c`.
fn pause_queues(file: &File, request: &GemVa, Checked { operation, bo, .. }: &Checked) -> Vec<Arc<UserQueue>> {
    let Some(bo) = bo.as_ref().filter(|_| *operation == VaOperation::Unmap) else { return Vec::new() };
    if !file.gpu.facts.has(Features::QUEUE_UNMAPS) || !file.vm.lock().starts_at(request.va_address, Some(bo)) {
        return Vec::new();
    }
    let queues: Vec<_> = file.user_queues.lock().iter().map(|(_, queue)| Arc::clone(queue)).collect();
    if !queues.iter().any(|queue| queue.needs(bo)) {
        return Vec::new();
    }
    for queue in &queues {
        queue.pause();
    }
    queues
}

fn change_bindings(file: &File, request: &GemVa, checked: Checked) -> Result<(), Errno> {
    let Checked { operation, flags, bo } = checked;
    let mut vm = file.vm.lock();
    if bo.as_ref().is_some_and(|bo| !file.handles.lock().holds(bo)) {
        return Err(Errno::ENOENT);
    }
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

/// Performs GEM_VA with [`Features::VA_SYNCOBJS`]: waits for sync objects first, one after the other, and stores a fence for the new
/// page tables in another sync object. Page tables change immediately here, so the fence has signalled.
///
/// Source: Linux 7.2 `amdgpu_gem.c`, `amdgpu_gem_va_ioctl`, `amdgpu_gem_add_input_fence` and `amdgpu_gem_update_timeline_node`.
pub(crate) fn gem_va_on_a_timeline(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: GemVaTimeline = argument(bytes)?;
    let plain: GemVa = argument(bytes)?;
    let checked = check(file, &plain, request.vm_timeline_syncobj_out != 0)?;
    let is_delayed = checked.flags.contains(VaFlags::DELAY_UPDATE);
    if request.num_syncobj_handles != 0 {
        wait_for_inputs(file, &request)?;
    }
    let out = match request.vm_timeline_syncobj_out {
        0 => None,
        handle => Some(file.syncobj(handle).ok_or(Errno::ENOENT)?),
    };
    change(file, &plain, checked)?;
    if let Some(syncobj) = out.filter(|_| !is_delayed) {
        syncobj.add_point(request.vm_timeline_point, Fence::signalled());
        file.gpu.machine.events.wake_all();
    }
    Ok(())
}

fn wait_for_inputs(file: &File, request: &GemVaTimeline) -> Result<(), Errno> {
    let handles: Vec<u32> =
        user::read_slice(request.input_fence_syncobj_handles, request.num_syncobj_handles as usize)?;
    for handle in handles {
        if handle == 0 {
            return Err(Errno::EINVAL);
        }
        let fence = find_fence(file, handle, 0, 0)?;
        file.gpu.machine.events.wait(Until::Never, || fence.is_signalled().then_some(()));
    }
    Ok(())
}

fn operation(raw: u32) -> Result<VaOperation, Errno> {
    [VaOperation::Map, VaOperation::Unmap, VaOperation::Clear, VaOperation::Replace]
        .into_iter()
        .find(|&operation| operation as u32 == raw)
        .ok_or(Errno::EINVAL)
}
