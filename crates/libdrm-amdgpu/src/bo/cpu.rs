//! The exported functions of CPU mappings.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use amdgpu_winsys::winsys::Errno;

use super::Bo;
use crate::{
    border::{Failure, Handle, Out, entry},
    device::Device,
};

/// Maps a BO for the CPU.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_cpu_map(bo: Handle<Bo>, address: Out<*mut c_void>) -> c_int {
    entry(|| {
        let bo = bo.get()?;
        address.check()?;
        let base = bo.mapping().begin(&bo.device().kernel()?, bo.handle(), bo.size())?;
        address.put(base.as_ptr().cast());
        Ok(())
    })
}

/// Takes one mapping back; the last one unmaps.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_cpu_unmap(bo: Handle<Bo>) -> c_int {
    entry(|| {
        let mut mapping = bo.get()?.mapping();
        if mapping.count() == 0 {
            return Err(Failure::INVALID);
        }
        mapping.take_back();
        Ok(())
    })
}

/// Finds the BO whose mapping contains an address, and counts it up. That all bytes are inside is not checked, as in libdrm.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_find_bo_by_cpu_mapping(
    device: Handle<Device>,
    address: *const c_void,
    size: u64,
    place: Out<*mut Bo>,
    offset: Out<u64>,
) -> c_int {
    entry(|| {
        let device = device.get()?;
        place.check()?;
        offset.check()?;
        if address.is_null() || size == 0 {
            return Err(Failure::INVALID);
        }
        let entries = device.table.lock();
        let found = entries.records().find_map(|record| {
            let bo = record.cast::<Bo>().get().ok()?;
            let offset = bo.mapping().offset_of(address.addr()).filter(|_| size <= bo.size())?;
            Some((record, bo, offset))
        });
        let Some((record, bo, at)) = found else {
            place.put(ptr::null_mut());
            offset.put(0);
            return Err(Errno::ENXIO.into());
        };
        bo.reference();
        place.put(record.cast().pointer());
        offset.put(at);
        Ok(())
    })
}
