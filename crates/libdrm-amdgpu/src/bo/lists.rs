//! Lists of BOs.

use std::{
    ffi::c_int,
    ptr,
    sync::atomic::Ordering::{AcqRel, Relaxed},
};

use amdgpu_winsys::uapi::{Answered as _, BoList, BoListEntry, bo_list_op};

use super::Bo;
use crate::{
    border::{Answer, Array, Failure, Handle, Out, entry},
    device::{Count, Device},
};

/// A list of BOs.
#[repr(C)]
pub(crate) struct List {
    device: Count,
    handle: u32,
}

impl List {
    pub(crate) fn handle(&self) -> u32 {
        self.handle
    }
}

/// Makes a request about a list, and returns the handle of the answer.
fn request(device: &Device, operation: u32, list_handle: u32, len: u32, address: u64) -> Answer<u32> {
    let size = if address == 0 && len == 0 { 0 } else { size_of::<BoListEntry>() as u32 };
    let mut argument = BoList { operation, list_handle, bo_number: len, bo_info_size: size, bo_info_ptr: address };
    // SAFETY: the address is that of as many entries as the length says, of the caller's or of this library.
    unsafe { device.kernel()?.follow(&mut argument) }?;
    Ok(argument.answer().list_handle)
}

/// Pairs BOs with their priorities; without an array all are 0.
fn entries(len: u32, bos: Array<Handle<Bo>>, priorities: Array<u8>) -> Answer<Vec<BoListEntry>> {
    if len == 0 || len > u32::MAX / size_of::<BoListEntry>() as u32 {
        return Err(Failure::INVALID);
    }
    let len = len as usize;
    let bos = bos.of(len)?;
    let mut entries = Vec::new();
    entries.try_reserve_exact(len).map_err(|_| Failure::NO_MEMORY)?;
    for bo in bos.iter() {
        entries.push(BoListEntry { bo_handle: bo.get()?.handle(), bo_priority: 0 });
    }
    if !priorities.is_null() {
        for (entry, priority) in entries.iter_mut().zip(priorities.of(len)?.iter()) {
            entry.bo_priority = priority.into();
        }
    }
    Ok(entries)
}

fn address(entries: &[BoListEntry]) -> u64 {
    entries.as_ptr().expose_provenance() as u64
}

/// Creates a list from the kernel's structures.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_list_create_raw(
    device: Handle<Device>,
    len: u32,
    entries: Array<BoListEntry>,
    handle: Out<u32>,
) -> c_int {
    entry(|| {
        let device = device.get()?;
        handle.check()?;
        let size = size_of::<BoListEntry>() as u32;
        let mut argument = BoList {
            operation: bo_list_op::CREATE,
            list_handle: 0,
            bo_number: len,
            bo_info_size: size,
            bo_info_ptr: entries.address(),
        };
        // SAFETY: the address is that of the caller's array, with its length.
        unsafe { device.kernel()?.follow(&mut argument) }?;
        handle.put(argument.answer().list_handle);
        Ok(())
    })
}

/// Destroys a list by its handle.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_list_destroy_raw(device: Handle<Device>, handle: u32) -> c_int {
    entry(|| request(device.get()?, bo_list_op::DESTROY, handle, 0, 0).map(drop))
}

/// Creates a list.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_list_create(
    handle: Handle<Device>,
    len: u32,
    bos: Array<Handle<Bo>>,
    priorities: Array<u8>,
    place: Out<*mut List>,
) -> c_int {
    entry(|| {
        let device = handle.get()?;
        place.check()?;
        let entries = entries(len, bos, priorities)?;
        // libdrm leaves the pointer to a freed list here if the request fails.
        place.put(ptr::null_mut());
        let list = request(device, bo_list_op::CREATE, 0, len, address(&entries))?;
        device.lists.fetch_add(1, Relaxed);
        place.put(Box::into_raw(Box::new(List { device: Count::of(handle)?, handle: list })));
        Ok(())
    })
}

/// Destroys a list; it stays usable if the kernel refuses.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_list_destroy(list: Handle<List>) -> c_int {
    entry(|| {
        let known = list.get()?;
        if known.device.kernel().is_ok() {
            request(&known.device, bo_list_op::DESTROY, known.handle, 0, 0)?;
        }
        known.device.lists.fetch_sub(1, AcqRel);
        // SAFETY: made by `Box::into_raw`, and destroyed once, as the contract is.
        drop(unsafe { Box::from_raw(list.pointer()) });
        Ok(())
    })
}

/// Replaces the BOs of a list.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_list_update(
    list: Handle<List>,
    len: u32,
    bos: Array<Handle<Bo>>,
    priorities: Array<u8>,
) -> c_int {
    entry(|| {
        let list = list.get()?;
        let entries = entries(len, bos, priorities)?;
        request(&list.device, bo_list_op::UPDATE, list.handle, len, address(&entries)).map(drop)
    })
}
