//! Requests about properties.
//!
//! Source: Linux 6.12 `drm_property.c`, `drm_mode_getproperty_ioctl`; `drm_mode_object.c`,
//! `drm_mode_obj_get_properties_ioctl`.

use amdgpu_uapi::{Errno, ModeGetProperty, ModeObjGetProperties, ModePropertyEnum};

use super::{caps, list, values};
use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    modes::{Object, Property},
};

/// Returns a name padded with zeros.
fn text(name: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.iter_mut().take(31).zip(name.bytes()).for_each(|(to, from)| *to = from);
    bytes
}

/// Writes the properties of an object that a client sees, as many as fit, and returns their number. EINVAL for objects without
/// properties.
pub(super) fn write(file: &File, object: Object, lists: (u64, u64), room: u32) -> Result<u32, Errno> {
    let keys = object.properties().ok_or(Errno::EINVAL)?;
    let (caps, configuration) = (caps::of(file)?, values::configuration(file));
    let known = keys.iter().filter_map(|key| Property::of(*key));
    let seen = known.filter(|(_, property)| caps.atomic || !property.is_atomic());
    let with_value =
        |(id, property): (u32, &Property)| Some((id, values::value(file, &configuration, object, property.key)?));
    let (ids, values): (Vec<_>, Vec<_>) = seen.filter_map(with_value).unzip();
    list(lists.1, room, &values)?;
    list(lists.0, room, &ids)
}

/// Performs MODE_OBJ_GETPROPERTIES. The type 0 means any type.
pub(crate) fn of_object(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: ModeObjGetProperties = argument(bytes)?;
    let found = file.object(request.obj_id);
    let object = found.filter(|object| [0, object.kind()].contains(&request.obj_type)).ok_or(Errno::ENOENT)?;
    let lists = (request.props_ptr, request.prop_values_ptr);
    request.count_props = write(file, object, lists, request.count_props)?;
    fill(bytes, &request)
}

/// Performs MODE_GETPROPERTY.
pub(crate) fn describe(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: ModeGetProperty = argument(bytes)?;
    let found = file.object(request.prop_id);
    let Some(Object::Property(property)) = found else { return Err(Errno::ENOENT) };
    (request.name, request.flags) = (text(property.name), property.flags);
    request.count_values = list(request.values_ptr, request.count_values, property.values)?;
    let named = property.values.iter().zip(property.names);
    let enums: Vec<_> = named.map(|(&value, name)| ModePropertyEnum { value, name: text(name) }).collect();
    let room = if property.is_enum() { request.count_enum_blobs } else { 0 };
    request.count_enum_blobs = list(request.enum_blob_ptr, room, &enums)?;
    fill(bytes, &request)
}
