//! The exported functions of devices.

use std::{
    ffi::{c_char, c_int},
    ptr,
    sync::Arc,
};

use super::{Device, initialize::initialize, leaks::report, list::List};
use crate::border::{Answer, Handle, Out, entry, value};

/// Initialises the GPU of a descriptor, or returns the device that this process already has of it.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_device_initialize(
    fd: c_int,
    major: Out<u32>,
    minor: Out<u32>,
    device: Out<*const Device>,
) -> c_int {
    entry(|| hand_out(fd, true, [major, minor], device))
}

/// Like `amdgpu_device_initialize`. Without sharing, the device is a new one that nobody else gets.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_device_initialize2(
    fd: c_int,
    shares: u8,
    major: Out<u32>,
    minor: Out<u32>,
    device: Out<*const Device>,
) -> c_int {
    entry(|| hand_out(fd, shares != 0, [major, minor], device))
}

fn hand_out(fd: c_int, shares: bool, [major, minor]: [Out<u32>; 2], place: Out<*const Device>) -> Answer {
    place.check()?;
    place.put(ptr::null());
    major.check()?;
    minor.check()?;
    let device = initialize(fd, shares)?;
    let versions = Handle::new(device.cast_mut()).get()?.version();
    major.put(versions.0);
    minor.put(versions.1);
    place.put(device);
    Ok(())
}

/// Takes back one initialisation. The last one closes the descriptors; BOs, contexts and ranges that were not freed can still be.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_device_deinitialize(handle: Handle<Device>) -> c_int {
    entry(|| {
        let device = handle.get()?;
        let list = List::lock();
        if !device.unreference() {
            return Ok(());
        }
        list.remove(device);
        drop(list);
        report(device);
        device.close();
        // SAFETY: the count of `Arc::into_raw` at initialisation, which the references that clients hold stood for together; the
        // last of them is gone, and `device` is not used any more.
        drop(unsafe { Arc::from_raw(handle.pointer().cast_const()) });
        Ok(())
    })
}

/// Returns the device's own descriptor, which stays its own; -1 for null.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_device_get_fd(device: Handle<Device>) -> c_int {
    value(-1, || device.get().map_or(-1, Device::fd))
}

/// Returns the name for users, which lives as long as the device. It is never null, unless the device is.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_get_marketing_name(device: Handle<Device>) -> *const c_char {
    value(ptr::null(), || device.get().map_or(ptr::null(), |device| device.title().as_ptr()))
}
