//! Requests that set properties.
//!
//! Source: Linux 6.12 `drm_atomic_uapi.c`, `drm_mode_atomic_ioctl`, `prepare_signaling` and `complete_signaling`;
//! `drm_mode_object.c`, `drm_mode_obj_set_property_ioctl` and `set_property_atomic`; `drm_connector.c`,
//! `drm_connector_property_set_ioctl`.

use std::{collections::BTreeMap, sync::Arc};

use amdgpu_uapi::{
    Errno, MODE_ATOMIC_ALLOW_MODESET, MODE_ATOMIC_NONBLOCK, MODE_ATOMIC_TEST_ONLY, MODE_OBJECT_CONNECTOR,
    MODE_PAGE_FLIP_ASYNC, MODE_PAGE_FLIP_EVENT, ModeAtomic, ModeConnectorSetProperty, ModeObjSetProperty,
};

use super::{assign::List, caps, finish, outlast, properties, screen};
use crate::kernel::{
    files::file::File,
    ioctl::args::argument,
    modes::{Change, Key, Object, Property, Signal},
    sync::{fence::Fence, sync_file::SyncFile},
    user,
};

const FLAGS: u32 = MODE_PAGE_FLIP_EVENT
    | MODE_PAGE_FLIP_ASYNC
    | MODE_ATOMIC_TEST_ONLY
    | MODE_ATOMIC_NONBLOCK
    | MODE_ATOMIC_ALLOW_MODESET;

/// Returns the property with an ID, if the object has it.
fn property_of(file: &File, object: Object, id: u32) -> Option<&'static Property> {
    Property::find(id).filter(|property| file.gpu.display.modes.has(object, property.key))
}

/// Performs MODE_ATOMIC.
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
    let list = read(file, &request);
    let may_set_modes = has(MODE_ATOMIC_ALLOW_MODESET);
    let mut prepared = Some(Prepared::new(file, 0, 0, 0, &BTreeMap::new())?);
    loop {
        let mut change = screen.change();
        list.make(file, &mut change)?;
        if has(MODE_ATOMIC_TEST_ONLY) {
            return change.check(may_set_modes, 0);
        }
        let events = if has(MODE_PAGE_FLIP_EVENT) { change.crtcs() } else { 0 };
        if has(MODE_PAGE_FLIP_EVENT) && events == 0 {
            return Err(Errno::EINVAL);
        }
        let fences = list.places_of_fences();
        let notified = fences.keys().fold(events, |notified, crtc| notified | 1 << crtc);
        change.check(may_set_modes, notified)?;
        let obstacles = change.obstacles();
        if has(MODE_ATOMIC_NONBLOCK) {
            if change.is_busy() {
                return Err(Errno::EBUSY);
            }
        } else if !obstacles.is_empty() {
            drop(change);
            outlast(file, &obstacles)?;
            continue;
        }
        // The client installs its descriptors without holding the display's lock.
        let Some(ready) = prepared.take_if(|prepared| prepared.notified == notified) else {
            drop(change);
            prepared = Some(Prepared::new(file, notified, events, request.user_data, &fences)?);
            continue;
        };
        let done = ready.commit(change, may_set_modes)?;
        if !has(MODE_ATOMIC_NONBLOCK) {
            finish(file, &done);
        }
        return Ok(());
    }
}

/// The events and fences that signal the scanout of a commit to its client. They are withdrawn on drop unless the commit is made.
#[derive(Debug)]
struct Prepared<'f> {
    file: &'f File,
    /// The mask of the CRTCs that signal.
    notified: u32,
    signals: Vec<Signal>,
    /// The addresses of the installed descriptors.
    places: Vec<u64>,
}

impl<'f> Prepared<'f> {
    /// Reserves room for events of some CRTCs, and installs descriptors of fences in the client.
    fn new(
        file: &'f File,
        notified: u32,
        events: u32,
        user_data: u64,
        places: &BTreeMap<u32, u64>,
    ) -> Result<Self, Errno> {
        let mut prepared = Self { file, notified, signals: Vec::new(), places: Vec::new() };
        for crtc in (0..u32::BITS).filter(|crtc| notified >> crtc & 1 != 0) {
            let mut signal = Signal { crtc, event: None, fence: None };
            if events >> crtc & 1 != 0 {
                file.outbox.reserve()?;
                signal.event = Some((Arc::clone(&file.outbox), user_data));
            }
            signal.fence = places
                .contains_key(&crtc)
                .then(|| Fence::of_crtc(&file.gpu.machine.events, file.gpu.display.modes.crtc(crtc)));
            let fence = signal.fence.clone();
            prepared.signals.push(signal);
            if let (Some(fence), Some(place)) = (fence, places.get(&crtc)) {
                let descriptor = file.gpu.machine.descriptors.add_sync_file(SyncFile::new(fence))?;
                user::write_slice(*place, &[user::install(descriptor)?])?;
                prepared.places.push(*place);
            }
        }
        Ok(prepared)
    }

    /// Commits a change with these events and fences.
    fn commit(mut self, change: Change<'_>, may_set_modes: bool) -> Result<Arc<Fence>, Errno> {
        // A rejected commit must not signal.
        change.check(may_set_modes, self.notified)?;
        self.places.clear();
        change.commit(may_set_modes, std::mem::take(&mut self.signals))
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        for signal in self.signals.drain(..) {
            if signal.event.is_some() {
                self.file.outbox.release();
            }
            if let Some(fence) = signal.fence {
                fence.signal(Err(Errno::ECANCELED));
            }
        }
        for place in &self.places {
            // The client may have unmapped it.
            let _ = user::write_slice(*place, &[-1_i32]);
        }
    }
}

/// Reads the objects and properties of a request.
fn read(file: &File, request: &ModeAtomic) -> List {
    let mut list = List::new();
    let end = read_into(file, request, &mut list);
    list.end(end);
    list
}

fn read_into(file: &File, request: &ModeAtomic, list: &mut List) -> Result<(), Errno> {
    let nth = |address: u64, index: u64, size: u64| address.wrapping_add(index.wrapping_mul(size));
    let mut property_at = 0;
    for index in 0..u64::from(request.count_objs) {
        let id: u32 = user::read(nth(request.objs_ptr, index, 4))?;
        let object = file.object(id).filter(|object| object.properties().is_some()).ok_or(Errno::ENOENT)?;
        let count: u32 = user::read(nth(request.count_props_ptr, index, 4))?;
        for _ in 0..count {
            let id: u32 = user::read(nth(request.props_ptr, property_at, 4))?;
            let property = property_of(file, object, id).ok_or(Errno::ENOENT)?;
            let value: u64 = user::read(nth(request.prop_values_ptr, property_at, 8))?;
            list.add(file, object, property, value)?;
            property_at += 1;
        }
    }
    Ok(())
}

/// Performs MODE_OBJ_SETPROPERTY. A kind of 0 matches any object.
pub(crate) fn set_property(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeObjSetProperty { value, prop_id, obj_id, obj_type, .. } = argument(bytes)?;
    set(file, (obj_id, obj_type), prop_id, value)
}

/// Performs MODE_SETPROPERTY.
pub(crate) fn set_connector_property(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeConnectorSetProperty { value, prop_id, connector_id } = argument(bytes)?;
    set(file, (connector_id, MODE_OBJECT_CONNECTOR), prop_id, value)
}

fn set(file: &File, (id, kind): (u32, u32), property: u32, value: u64) -> Result<(), Errno> {
    let screen = screen(file)?;
    let object = properties::find(file, id, kind)?;
    let property = property_of(file, object, property).ok_or(Errno::EINVAL)?;
    if property.key == Key::Dpms {
        property.takes(value).ok_or(Errno::EINVAL)?;
        let Object::Connector(index, _) = object else { return Err(Errno::EINVAL) };
        return super::commit(file, screen, |change| {
            if let Some(crtc) = change.new_configuration().feeds(index) {
                // All values but "On" disable the CRTC.
                change.crtc(crtc, |crtc| crtc.is_active = value == 0);
            }
            Ok(())
        });
    }
    let mut list = List::new();
    let end = list.add(file, object, property, value);
    list.end(end);
    super::commit(file, screen, |change| list.make(file, change))
}
