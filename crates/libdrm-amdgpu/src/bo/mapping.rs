//! CPU mappings.

use std::{
    ffi::{c_int, c_void},
    ptr::{self, NonNull},
};

use amdgpu_winsys::{
    uapi::{Answered as _, GemMmap},
    winsys::Errno,
};

use super::Bo;
use crate::{
    border::{Answer, Failure, Handle, Out, entry},
    device::Device,
};

/// The mapping of a BO, made at the first call and counted.
#[derive(Default)]
pub(super) struct CpuMapping {
    base: Option<NonNull<u8>>,
    len: usize,
    count: usize,
}

// SAFETY: the address is the client's to use, from any thread.
unsafe impl Send for CpuMapping {}

impl CpuMapping {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Counts up, and maps if it is the first time.
    fn begin(&mut self, bo: &Bo) -> Answer<NonNull<u8>> {
        if let Some(base) = self.base {
            self.count += 1;
            return Ok(base);
        }
        let kernel = bo.device().kernel()?;
        let mut argument = GemMmap { handle: bo.handle(), pad: 0 };
        kernel.plain(&mut argument)?;
        let len = usize::try_from(bo.size()).map_err(|_| Errno::EINVAL)?;
        let base = kernel.map(len, argument.answer().addr_ptr)?;
        *self = Self { base: Some(base), len, count: 1 };
        Ok(base)
    }

    /// Unmaps, whatever the count is.
    pub(super) fn end(&mut self) {
        let Self { base, len, .. } = std::mem::take(self);
        if let Some(base) = base {
            // SAFETY: mapped by `begin` with this length, and forgotten; the client has said that it uses the mapping no more.
            unsafe { libc::munmap(base.as_ptr().cast(), len) };
        }
    }

    /// Returns the offset of an address if the mapping contains it.
    fn offset_of(&self, address: usize) -> Option<u64> {
        let offset = address.checked_sub(self.base?.addr().get())?;
        (offset < self.len).then_some(offset as u64)
    }
}

/// Maps a BO for the CPU.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_cpu_map(bo: Handle<Bo>, address: Out<*mut c_void>) -> c_int {
    entry(|| {
        let bo = bo.get()?;
        address.check()?;
        let base = bo.mapping().begin(bo)?;
        address.put(base.as_ptr().cast());
        Ok(())
    })
}

/// Takes one mapping back; the last one unmaps.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_cpu_unmap(bo: Handle<Bo>) -> c_int {
    entry(|| {
        let mut mapping = bo.get()?.mapping();
        match mapping.count {
            0 => return Err(Failure::INVALID),
            1 => mapping.end(),
            _ => mapping.count -= 1,
        }
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
            let bo = record.get().ok()?;
            let offset = bo.mapping().offset_of(address.addr()).filter(|_| size <= bo.size())?;
            Some((record, bo, offset))
        });
        let Some((record, bo, at)) = found else {
            place.put(ptr::null_mut());
            offset.put(0);
            return Err(Errno::ENXIO.into());
        };
        bo.reference();
        place.put(record.pointer());
        offset.put(at);
        Ok(())
    })
}
