//! Requests about properties.
//!
//! Source: Linux 6.12 `drm_property.c`, `drm_mode_getproperty_ioctl`; `drm_mode_object.c`,
//! `drm_mode_obj_get_properties_ioctl`; Linux 7.2 `drm_mode_object.c`, `drm_mode_object_get_properties`.

use amdgpu_uapi::{Errno, MODE_OBJECT_BLOB, MODE_OBJECT_FB, ModeGetProperty, ModeObjGetProperties, ModePropertyEnum};

use super::{caps, list, values};
use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    modes::{Key, Object, Property},
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
    // A client sees either how luma and chroma are encoded or the pipeline.
    let seen = seen.filter(|(_, property)| match property.key {
        Key::ColorEncoding | Key::ColorRange => !caps.color_pipelines,
        Key::ColorPipeline(_) => caps.color_pipelines,
        _ => true,
    });
    let with_value =
        |(id, property): (u32, &Property)| Some((id, values::value(file, &configuration, object, property.key)?));
    let (ids, values): (Vec<_>, Vec<_>) = seen.filter_map(with_value).unzip();
    list(lists.1, room, &values)?;
    list(lists.0, room, &ids)
}

/// Returns the object with an id and a type, where the type 0 means any.
///
/// # Errors
///
/// ENOENT if there is no such object, EINVAL for a framebuffer or a blob, which have no properties.
///
/// Source: Linux 6.12 `drm_mode_object.c`, `drm_mode_obj_get_properties_ioctl` and `drm_mode_obj_set_property_ioctl`.
pub(super) fn find(file: &File, id: u32, kind: u32) -> Result<Object, Errno> {
    let is_wanted = |found: u32| [0, found].contains(&kind);
    if let Some(object) = file.object(id) {
        return Some(object).filter(|object| is_wanted(object.kind())).ok_or(Errno::ENOENT);
    }
    // Without a display there are neither framebuffers nor blobs.
    let screen = file.gpu.display.screen.as_ref().ok_or(Errno::ENOENT)?;
    let is_framebuffer = is_wanted(MODE_OBJECT_FB) && screen.framebuffer(id).is_some();
    let is_blob = is_wanted(MODE_OBJECT_BLOB) && screen.blob(id).is_some();
    Err(if is_framebuffer || is_blob { Errno::EINVAL } else { Errno::ENOENT })
}

/// Performs MODE_OBJ_GETPROPERTIES. The type 0 means any type.
pub(crate) fn of_object(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut request: ModeObjGetProperties = argument(bytes)?;
    let object = find(file, request.obj_id, request.obj_type)?;
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
