//! Requests that set properties.
//!
//! Source: Linux 6.12 `drm_atomic_uapi.c`, `drm_mode_atomic_ioctl`, `prepare_signaling` and `complete_signaling`;
//! `drm_mode_object.c`, `drm_mode_obj_set_property_ioctl` and `set_property_atomic`; `drm_connector.c`,
//! `drm_connector_property_set_ioctl`.

use std::sync::Arc;

use amdgpu_uapi::{
    Errno, MODE_ATOMIC_ALLOW_MODESET, MODE_ATOMIC_NONBLOCK, MODE_ATOMIC_TEST_ONLY, MODE_OBJECT_CONNECTOR,
    MODE_PAGE_FLIP_ASYNC, MODE_PAGE_FLIP_EVENT, ModeAtomic, ModeConnectorSetProperty, ModeObjSetProperty,
};

use super::{assign::Assignment, caps, finish, screen};
use crate::kernel::{
    files::file::File,
    ioctl::args::argument,
    modes::{Key, Object, Permissions, Property, Signal},
    sync::{fence::Fence, sync_file::SyncFile},
    user,
};

const FLAGS: u32 = MODE_PAGE_FLIP_EVENT
    | MODE_PAGE_FLIP_ASYNC
    | MODE_ATOMIC_TEST_ONLY
    | MODE_ATOMIC_NONBLOCK
    | MODE_ATOMIC_ALLOW_MODESET;

/// Returns the property with an id, if the object has it.
fn property_of(object: Object, id: u32) -> Option<&'static Property> {
    Property::find(id).filter(|property| object.properties().is_some_and(|all| all.contains(&property.key)))
}

/// MODE_ATOMIC.
pub(crate) fn commit(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let request: ModeAtomic = argument(bytes)?;
    let has = |flag: u32| request.flags & flag != 0;
    if !caps::of(file)?.atomic || request.flags & !FLAGS != 0 || request.reserved != 0 {
        return Err(Errno::EINVAL);
    }
    if has(MODE_ATOMIC_TEST_ONLY) && has(MODE_PAGE_FLIP_EVENT) {
        return Err(Errno::EINVAL);
    }
    let mut assignment = Assignment::new(screen);
    read(file, &request, &mut assignment)?;
    let Assignment { change, out_fences } = assignment;
    let may_set_modes = has(MODE_ATOMIC_ALLOW_MODESET);
    if has(MODE_ATOMIC_TEST_ONLY) {
        return change.check(may_set_modes, 0);
    }
    let wants_event = has(MODE_PAGE_FLIP_EVENT);
    let told = if wants_event { change.crtcs() } else { 0 };
    if wants_event && told == 0 {
        return Err(Errno::EINVAL);
    }
    let told = out_fences.keys().fold(told, |told, crtc| told | 1 << crtc);
    // Nothing is refused behind this, so that no descriptor is given out in vain.
    change.check(may_set_modes, told)?;
    if has(MODE_ATOMIC_NONBLOCK) && change.is_busy() {
        return Err(Errno::EBUSY);
    }
    let indices = (0..u32::BITS).filter(|crtc| told >> crtc & 1 != 0);
    let mut signals: Vec<Signal> = indices.map(|crtc| Signal { crtc, event: None, fence: None }).collect();
    let prepared = signals.iter_mut().try_for_each(|signal| {
        if wants_event {
            file.outbox.reserve()?;
            signal.event = Some((Arc::clone(&file.outbox), request.user_data));
        }
        if let Some(address) = out_fences.get(&signal.crtc) {
            let fence = Fence::of_crtc(&file.gpu.events, file.gpu.modes.crtc(signal.crtc));
            let descriptor = file.gpu.machine.descriptors.add_sync_file(SyncFile::new(Arc::clone(&fence)))?;
            user::write_slice(*address, &[user::install(descriptor)?])?;
            signal.fence = Some(fence);
        }
        Ok(())
    });
    if let Err(errno) = prepared {
        signals.iter().filter(|signal| signal.event.is_some()).for_each(|_| file.outbox.release());
        return Err(errno);
    }
    let permissions = Permissions { may_set_modes, may_wait: !has(MODE_ATOMIC_NONBLOCK) };
    let done = change.commit(permissions, signals)?;
    if !has(MODE_ATOMIC_NONBLOCK) {
        finish(file, &done);
    }
    Ok(())
}

/// Reads the objects and properties of a request into a commit.
fn read(file: &File, request: &ModeAtomic, assignment: &mut Assignment<'_>) -> Result<(), Errno> {
    let nth = |address: u64, index: u64, size: u64| address.wrapping_add(index.wrapping_mul(size));
    let mut property_at = 0;
    for index in 0..u64::from(request.count_objs) {
        let id: u32 = user::read(nth(request.objs_ptr, index, 4))?;
        let object = file.gpu.modes.find(id).filter(|object| object.properties().is_some()).ok_or(Errno::ENOENT)?;
        let count: u32 = user::read(nth(request.count_props_ptr, index, 4))?;
        for _ in 0..count {
            let id: u32 = user::read(nth(request.props_ptr, property_at, 4))?;
            let property = property_of(object, id).ok_or(Errno::ENOENT)?;
            let value: u64 = user::read(nth(request.prop_values_ptr, property_at, 8))?;
            assignment.set(file, object, property, value)?;
            property_at += 1;
        }
    }
    Ok(())
}

/// MODE_OBJ_SETPROPERTY. A kind of 0 is any.
pub(crate) fn set_property(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeObjSetProperty { value, prop_id, obj_id, obj_type, .. } = argument(bytes)?;
    set(file, (obj_id, obj_type), prop_id, value)
}

/// MODE_SETPROPERTY.
pub(crate) fn set_connector_property(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeConnectorSetProperty { value, prop_id, connector_id } = argument(bytes)?;
    set(file, (connector_id, MODE_OBJECT_CONNECTOR), prop_id, value)
}

fn set(file: &File, (id, kind): (u32, u32), property: u32, value: u64) -> Result<(), Errno> {
    let screen = screen(file)?;
    let found = file.gpu.modes.find(id);
    let object = found.filter(|object| [0, object.kind()].contains(&kind)).ok_or(Errno::ENOENT)?;
    let property = property_of(object, property).ok_or(Errno::EINVAL)?;
    let mut assignment = Assignment::new(screen);
    if property.key == Key::Dpms {
        property.takes(value).ok_or(Errno::EINVAL)?;
        let Object::Connector(index, _) = object else { return Err(Errno::EINVAL) };
        let Some(crtc) = assignment.change.new_configuration().feeds(index) else { return Ok(()) };
        // Every value but "On" is off.
        assignment.change.crtc(crtc, |crtc| crtc.is_active = value == 0);
    } else {
        assignment.set(file, object, property, value)?;
    }
    let done = assignment.change.commit(Permissions::ALL, Vec::new())?;
    finish(file, &done);
    Ok(())
}
