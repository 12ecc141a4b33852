//! Descriptors and addresses that a program passes.

use std::{
    ffi::{c_int, c_void},
    os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd},
    ptr::NonNull,
    slice,
};

use amdgpu_winsys::{
    heaps::{DeviceMemory, ImportInfo, MemoryManager},
    winsys::UserMemory,
};
use ash::vk;

use super::Failure;

/// The result for an invalid descriptor or address.
const INVALID: Failure = Failure(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);

/// Imports a descriptor. If the import succeeds, the driver owns the descriptor; otherwise the program still owns it.
///
/// # Errors
///
/// The errors of `import`; `VK_ERROR_INVALID_EXTERNAL_HANDLE` if the descriptor is negative.
pub(crate) fn import<T>(fd: c_int, import: impl FnOnce(&OwnedFd) -> Result<T, Failure>) -> Result<T, Failure> {
    if fd < 0 {
        return Err(INVALID);
    }
    // SAFETY: valid usage: an import gives the driver the descriptor; it is given back below where that fails.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    let imported = import(&owned);
    if imported.is_err() {
        let _the_programs = owned.into_raw_fd();
    }
    imported
}

/// Queries a descriptor, which the program still owns.
///
/// # Errors
///
/// The errors of `ask`; `VK_ERROR_INVALID_EXTERNAL_HANDLE` if the descriptor is negative.
pub(crate) fn borrow<T>(fd: c_int, ask: impl FnOnce(BorrowedFd<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    if fd < 0 {
        return Err(INVALID);
    }
    // SAFETY: valid usage: the descriptor is open for the length of the call.
    ask(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Imports pages of the process as device memory.
///
/// # Errors
///
/// `VK_ERROR_INVALID_EXTERNAL_HANDLE` for a null pointer; the errors of the import.
pub(crate) fn import_host(
    manager: &MemoryManager,
    address: *mut c_void,
    len: u64,
    info: &ImportInfo,
) -> Result<DeviceMemory, Failure> {
    let address = NonNull::new(address.cast::<u8>()).ok_or(INVALID)?;
    // SAFETY: valid usage of `VkImportMemoryHostPointerInfoEXT`: the pages are the program's, and stay until the memory is freed.
    Ok(unsafe { manager.import_host_pointer(UserMemory::new(address, len), info) }?)
}

/// Returns bytes of the program's memory, starting at `offset`; `None` for a null pointer.
pub(crate) fn host_bytes<'a>(memory: *const c_void, offset: u64, len: u64) -> Option<&'a [u8]> {
    let (offset, len) = (usize::try_from(offset).ok()?, usize::try_from(len).ok()?);
    let first = NonNull::new(memory.cast_mut().cast::<u8>())?;
    // SAFETY: valid usage of `VkMemoryToImageCopyEXT`: the memory holds the region in rows, of which these bytes are a part, and
    // nothing writes to it for the length of the call.
    Some(unsafe { slice::from_raw_parts(first.as_ptr().wrapping_add(offset), len) })
}

/// Returns bytes of the program's memory for writing, starting at `offset`; `None` for a null pointer.
pub(crate) fn host_bytes_mut<'a>(memory: *mut c_void, offset: u64, len: u64) -> Option<&'a mut [u8]> {
    let (offset, len) = (usize::try_from(offset).ok()?, usize::try_from(len).ok()?);
    let first = NonNull::new(memory.cast::<u8>())?;
    // SAFETY: valid usage of `VkImageToMemoryCopyEXT`: the memory has room for the region in rows, of which these bytes are a
    // part, and this command alone has it; the runs of a copy, each of which is used before the next is asked for, do not overlap.
    Some(unsafe { slice::from_raw_parts_mut(first.as_ptr().wrapping_add(offset), len) })
}

/// Maps memory at an address that the program chooses.
///
/// # Errors
///
/// `VK_ERROR_MEMORY_MAP_FAILED` for a null pointer; the errors of the mapping.
pub(crate) fn map_placed(memory: &DeviceMemory, address: *mut c_void) -> Result<*mut u8, Failure> {
    let address = NonNull::new(address.cast::<u8>()).ok_or(vk::Result::ERROR_MEMORY_MAP_FAILED)?;
    // SAFETY: valid usage of `VkMemoryMapPlacedInfoEXT`: the program owns the addresses while the memory is mapped.
    Ok(unsafe { memory.map_placed(address) }?.as_ptr().as_ptr())
}
