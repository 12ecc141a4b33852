//! Requests that list the handles of a file, and the bindings of a BO.
//!
//! Source: Linux 7.2 `amdgpu_gem.c`, `amdgpu_gem_list_handles_ioctl` and `amdgpu_gem_op_ioctl`.

use std::sync::Arc;

use amdgpu_uapi::{Errno, GemListHandles, GemListHandlesEntry, GemOpWithEntries, GemVmEntry, LIST_HANDLES_IS_IMPORT};

use super::create_flags::SETTABLE;
use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    mm::bo::{Attributes, Bo},
    user,
};

/// The most bindings that a caller can have room for: as many as take 2 GiB.
const MOST_BINDINGS: u32 = i32::MAX.unsigned_abs() / size_of::<GemVmEntry>() as u32;

/// Performs GEM_LIST_HANDLES: one entry for each handle in rising order, if there is room for all. The answer is the number of
/// handles in any case.
pub(crate) fn handles(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: GemListHandles = argument(bytes)?;
    let entries: Vec<_> = file.handles.lock().iter().map(|(handle, bo)| entry(handle, bo)).collect();
    let room = request.num_entries as usize;
    request.num_entries = u32::try_from(entries.len()).map_err(|_| Errno::ENOMEM)?;
    fill(bytes, &request)?;
    if room < entries.len() { Ok(()) } else { user::write_slice(request.entries, &entries) }
}

fn entry(handle: u32, bo: &Bo) -> GemListHandlesEntry {
    let Attributes { size, alignment, preferred, flags, .. } = bo.attributes();
    GemListHandlesEntry {
        gem_handle: handle,
        flags: if bo.is_imported() { LIST_HANDLES_IS_IMPORT } else { 0 },
        size,
        preferred_domains: preferred.bits(),
        alloc_flags: (flags & SETTABLE).bits(),
        alignment,
    }
}

/// Performs GET_MAPPING_INFO of GEM_OP: the bindings of a BO in the file's address space, if there is room for all. The answer is the
/// number of bindings in any case. The newest comes first, as in the kernel's lists while no BO moves.
pub(super) fn mappings(file: &File, bo: &Arc<Bo>, request: &mut GemOpWithEntries) -> Result<(), Errno> {
    if request.num_entries > MOST_BINDINGS {
        return Err(Errno::EINVAL);
    }
    let entries: Vec<_> = {
        let vm = file.vm.lock();
        if !file.handles.lock().holds(bo) {
            return Err(Errno::ENOENT);
        }
        vm.bindings_of(bo)
    };
    let room = request.num_entries as usize;
    request.num_entries = u32::try_from(entries.len()).map_err(|_| Errno::ENOMEM)?;
    if room < entries.len() { Ok(()) } else { user::write_slice(request.value, &entries) }
}
