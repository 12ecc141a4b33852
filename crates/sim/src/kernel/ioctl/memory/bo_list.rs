//! BO_LIST, and the lists inside CS.
//!
//! Source: Linux 6.12 `amdgpu_bo_list.c`, `amdgpu_bo_list_ioctl`, `amdgpu_bo_create_list_entry_array`.

use std::sync::Arc;

use amdgpu_uapi::{BO_LIST_MAX_ENTRIES, BoList, BoListAnswer, BoListEntry, Errno, bo_list_op};
use zerocopy::FromBytes;

use crate::kernel::{
    files::file::{self, File},
    ioctl::args::{answer, argument},
    user,
};

/// Performs BO_LIST. The entries are read before the operation is checked.
pub(crate) fn bo_list(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: BoList = argument(bytes)?;
    let entries = read_entries(&request)?;
    let list_handle = match request.operation {
        bo_list_op::CREATE => {
            let list = resolve(file, &entries)?;
            file.bo_lists.lock().insert(list).map_err(|_| Errno::ENOMEM)?
        }
        bo_list_op::DESTROY => {
            file.bo_lists.lock().remove(request.list_handle);
            0
        }
        bo_list_op::UPDATE => {
            let list = resolve(file, &entries)?;
            file.bo_lists.lock().replace(request.list_handle, list).map_err(|_| Errno::ENOENT)?;
            request.list_handle
        }
        _ => return Err(Errno::EINVAL),
    };
    answer::<BoList>(bytes, &BoListAnswer { list_handle, pad: 0 })
}

/// Reads the entries with the caller's stride.
pub(crate) fn read_entries(request: &BoList) -> Result<Vec<BoListEntry>, Errno> {
    if request.bo_number > BO_LIST_MAX_ENTRIES {
        return Err(Errno::EINVAL);
    }
    let (count, stride) = (request.bo_number as usize, request.bo_info_size as usize);
    if stride == size_of::<BoListEntry>() {
        return user::read_slice(request.bo_info_ptr, count);
    }
    let mut entries = Vec::with_capacity(count);
    for index in 0..count as u64 {
        let mut entry = [0; size_of::<BoListEntry>()];
        let part = stride.min(entry.len());
        let address = request.bo_info_ptr.checked_add(index * stride as u64).ok_or(Errno::EFAULT)?;
        user::read_bytes(address, &mut entry[..part])?;
        entries.push(BoListEntry::read_from_bytes(&entry).map_err(|_| Errno::EFAULT)?);
    }
    Ok(entries)
}

/// Returns the BOs of a list in order, including duplicates.
pub(crate) fn resolve(file: &File, entries: &[BoListEntry]) -> Result<file::BoList, Errno> {
    let handles = file.handles.lock();
    entries
        .iter()
        .map(|entry| handles.get(entry.bo_handle).cloned().ok_or(Errno::ENOENT))
        .collect::<Result<Vec<_>, _>>()
        .map(Arc::new)
}
