//! The exported functions of addresses.

use std::{
    ffi::{c_int, c_uint},
    ptr::{self, NonNull},
    sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire},
};

use super::{
    manager::{Bounds, Manager, Range},
    window::Wanted,
};
use crate::{
    border::{Answer, Failure, Handle, Out, entry, value},
    device::Device,
};

/// A manager without a device. The client frees it with `free` after `amdgpu_va_manager_deinit`, so its memory is malloc's, and zero
/// before `amdgpu_va_manager_init`.
#[repr(C)]
struct ManagerObject {
    manager: AtomicPtr<Manager>,
    /// The rest of libdrm's structure.
    unused: [u64; 39],
}

impl ManagerObject {
    fn get(&self) -> Answer<&Manager> {
        // SAFETY: null, or a manager that `replace` put there; the client does not deinitialise it during other calls.
        unsafe { self.manager.load(Acquire).as_ref() }.ok_or(Failure::INVALID)
    }

    fn replace(&self, manager: *mut Manager) {
        if let Some(old) = NonNull::new(self.manager.swap(manager, AcqRel)) {
            // SAFETY: made by `Box::into_raw`, and in no other place any more.
            drop(unsafe { Box::from_raw(old.as_ptr()) });
        }
    }
}

/// Takes addresses of a device's manager.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_range_alloc(
    device: Handle<Device>,
    _kind: c_uint,
    size: u64,
    alignment: u64,
    required: u64,
    address: Out<u64>,
    range: Out<*mut Range>,
    flags: u64,
) -> c_int {
    entry(|| {
        take(&device.get()?.addresses, Wanted { size, alignment, required, from_top: false }, flags, address, range)
    })
}

/// Takes addresses of a manager.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_range_alloc2(
    manager: Handle<ManagerObject>,
    _kind: c_uint,
    size: u64,
    alignment: u64,
    required: u64,
    address: Out<u64>,
    range: Out<*mut Range>,
    flags: u64,
) -> c_int {
    entry(|| take(manager.get()?.get()?, Wanted { size, alignment, required, from_top: false }, flags, address, range))
}

fn take(manager: &Manager, wanted: Wanted, flags: u64, address: Out<u64>, place: Out<*mut Range>) -> Answer {
    address.check()?;
    place.check()?;
    let range = manager.take(wanted, flags)?;
    address.put(range.start);
    place.put(Box::into_raw(Box::new(range)));
    Ok(())
}

/// Gives addresses back to their window, whether they are mapped or not.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_range_free(range: Handle<Range>) -> c_int {
    entry(|| {
        if !range.is_null() {
            // SAFETY: made by `Box::into_raw` in `take`, and freed once, as the contract is.
            unsafe { Box::from_raw(range.pointer()) }.give();
        }
        Ok(())
    })
}

/// Returns the first address of a range; 0 for null.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_get_start_addr(range: Handle<Range>) -> u64 {
    value(0, || range.get().map_or(0, |range| range.start))
}

/// Returns the bounds of the low addresses, of which the half for sparse memory is a part.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_range_query(device: Handle<Device>, kind: c_uint, start: Out<u64>, end: Out<u64>) -> c_int {
    entry(|| {
        let dev = &device.get()?.dev_info.known;
        if kind != 0 {
            return Err(Failure::INVALID);
        }
        start.check()?;
        end.check()?;
        start.put(dev.virtual_address_offset);
        end.put(dev.virtual_address_max);
        Ok(())
    })
}

/// Makes a manager, which is to be initialised; null if there is no memory.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_manager_alloc() -> *mut ManagerObject {
    // SAFETY: a size that is not zero. The memory is aligned for any type.
    value(ptr::null_mut(), || unsafe { libc::calloc(1, size_of::<ManagerObject>()) }.cast())
}

/// Initialises a manager without a half for sparse memory.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_manager_init(
    manager: Handle<ManagerObject>,
    low_offset: u64,
    low_max: u64,
    high_offset: u64,
    high_max: u64,
    alignment: u32,
) {
    let bounds = Bounds { low_offset, low_max, high_offset, high_max, alignment, has_split: false };
    value((), || initialize(manager, &bounds));
}

/// Initialises a manager. Bit 0 of the flags keeps half of the topmost half for sparse memory.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_manager_init2(
    manager: Handle<ManagerObject>,
    low_offset: u64,
    low_max: u64,
    high_offset: u64,
    high_max: u64,
    alignment: u32,
    flags: u32,
) {
    let bounds = Bounds { low_offset, low_max, high_offset, high_max, alignment, has_split: flags & 1 != 0 };
    value((), || initialize(manager, &bounds));
}

fn initialize(manager: Handle<ManagerObject>, bounds: &Bounds) {
    if let Ok(object) = manager.get() {
        object.replace(Box::into_raw(Box::new(Manager::new(bounds))));
    }
}

/// Forgets all addresses of a manager. Ranges that are out may still be freed.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_manager_deinit(manager: Handle<ManagerObject>) {
    value((), || {
        if let Ok(object) = manager.get() {
            object.replace(ptr::null_mut());
        }
    });
}

/// Returns a fact about a manager: the bit by which the halves for sparse memory differ.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_va_manager_query_sw_info(manager: Handle<ManagerObject>, what: c_uint, place: Out<u32>) -> c_int {
    entry(|| {
        let manager = manager.get()?.get()?;
        place.check()?;
        if what != 0 {
            return Err(Failure::INVALID);
        }
        place.put(manager.control_bit());
        Ok(())
    })
}
