//! Residency sets, which submissions share.

use std::sync::Arc;

use amdgpu_winsys::winsys::ResidencySet;

use super::{
    bo::{agw_bo, body},
    device::{DeviceState, agw_device, device},
};
use crate::border::{Answer, Handle, Out, create, entry, get, reference, release, within};

/// A residency set: BOs that submissions list together, such as the memory that bindless shaders can access.
pub struct agw_residents {
    _private: [u8; 0],
}

impl Handle for agw_residents {
    type Head = ();
    type Body = ResidentsBody;
    const NAME: &'static str = "agw_residents";
}

pub(crate) struct ResidentsBody {
    pub(crate) set: ResidencySet,
    state: Arc<DeviceState>,
}

/// Returns the body behind a handle, and records that the current call works on its device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(crate) unsafe fn residents<'a>(handle: *const agw_residents) -> Answer<&'a ResidentsBody> {
    // SAFETY: the caller's promise.
    unsafe { set_of(handle, "sets") }
}

/// Returns the body behind a handle that is the argument `argument`, like [`residents`].
///
/// # Safety
///
/// The requirements of `shell`.
unsafe fn set_of<'a>(handle: *const agw_residents, argument: &str) -> Answer<&'a ResidentsBody> {
    // SAFETY: the caller's promise.
    let body = unsafe { get(handle, argument) }?;
    body.state.touch()?;
    Ok(body)
}

/// Creates an empty set.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `set` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_residents_create(device: *const agw_device, set: *mut *mut agw_residents) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let set = unsafe { Out::new(set, "set") }?;
        let made = create((), ResidentsBody { set: ResidencySet::new(), state: Arc::clone(state) })?;
        set.put(made);
        Ok(())
    })
}

/// Adds a BO, which the set keeps alive. A BO that is added several times stays until it is removed as many times.
///
/// # Safety
///
/// `set` and `bo` are null or were not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_residents_add(set: *const agw_residents, bo: *const agw_bo) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let set = unsafe { set_of(set, "set") }?;
        // SAFETY: the caller's promise.
        set.set.add(&unsafe { body(bo) }?.binding);
        Ok(())
    })
}

/// Undoes one `agw_residents_add` of a BO. Does nothing if the BO is not in the set.
///
/// # Safety
///
/// `set` and `bo` are null or were not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_residents_remove(set: *const agw_residents, bo: *const agw_bo) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let set = unsafe { set_of(set, "set") }?;
        // SAFETY: the caller's promise.
        set.set.remove(&unsafe { body(bo) }?.binding);
        Ok(())
    })
}

/// Adds a reference to a set, and returns it.
///
/// # Safety
///
/// `set` is null or a set that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_residents_ref(set: *mut agw_residents) -> *mut agw_residents {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(set, "set")) }
}

/// Removes a reference to a set.
///
/// # Safety
///
/// `set` is null or a set that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_residents_unref(set: *mut agw_residents) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(set, "set")) };
}
