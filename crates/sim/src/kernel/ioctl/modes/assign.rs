//! Setting of objects' properties as a part of a commit.
//!
//! Source: Linux 6.12 `drm_atomic_uapi.c`, `drm_atomic_set_property` with `drm_atomic_plane_set_property` and the others of the
//! kind; Linux 7.2 `drm_atomic_uapi.c`, `drm_atomic_colorop_set_property`.

use std::{collections::BTreeMap, sync::Arc};

use amdgpu_uapi::{ColorLut, Errno, MODE_OBJECT_FB, ModeInfo};
use zerocopy::FromBytes as _;

use crate::kernel::{
    files::{descriptors::SharedObject, file::File},
    modes::{Change, Key, Mode, Object, PlaneColours, PlaneState, Property, STEPS, Screen, Step, Takes},
    sync::fence::Fence,
    user,
};

/// A property to set.
#[derive(Clone, Debug)]
struct Wanted {
    object: Object,
    property: &'static Property,
    value: u64,
    /// The fence for a value that is a descriptor.
    fence: Option<Arc<Fence>>,
}

/// The properties that a request sets, in order. All data of the client's memory and descriptors is read in advance, so that a
/// commit, for which others wait, does not wait for the client.
#[derive(Clone, Debug)]
pub(super) struct List {
    wanted: Vec<Wanted>,
    /// The reason why there are no further properties.
    end: Result<(), Errno>,
}

/// The maximum number of properties of a request: far more than all objects have.
const MOST: usize = 1 << 16;

impl List {
    /// Returns a list without properties.
    pub(super) const fn new() -> Self {
        Self { wanted: Vec::new(), end: Ok(()) }
    }

    /// Ends the list with the result of reading it.
    pub(super) fn end(&mut self, end: Result<(), Errno>) {
        self.end = end;
    }

    /// Adds a property of an object that has it.
    ///
    /// # Errors
    ///
    /// ENOMEM if there are too many properties, EFAULT if the address for a fence cannot be written.
    pub(super) fn add(
        &mut self,
        file: &File,
        object: Object,
        property: &'static Property,
        value: u64,
    ) -> Result<(), Errno> {
        if self.wanted.len() == MOST {
            return Err(Errno::ENOMEM);
        }
        let takes_part = matches!(object, Object::Plane(_) | Object::Crtc(_)) && property.takes(value).is_some();
        let fence = match property.key {
            Key::InFenceFd if takes_part && value.cast_signed() >= 0 => fence(file, value as i32),
            Key::OutFencePtr if takes_part && value != 0 => {
                user::write_slice(value, &[-1_i32])?;
                None
            }
            _ => None,
        };
        self.wanted.push(Wanted { object, property, value, fence });
        Ok(())
    }

    /// Returns the addresses for descriptors of fences, by the index of the CRTC that signals them.
    pub(super) fn places_of_fences(&self) -> BTreeMap<u32, u64> {
        let places = self.wanted.iter().filter(|wanted| wanted.property.key == Key::OutFencePtr && wanted.value != 0);
        places
            .filter_map(|wanted| match wanted.object {
                Object::Crtc(index) => Some((index, wanted.value)),
                _ => None,
            })
            .collect()
    }

    /// Applies the properties to a change.
    ///
    /// # Errors
    ///
    /// EINVAL if a value is not valid for its property or refers to an object that does not exist; the error that ended the list.
    pub(super) fn make(&self, file: &File, change: &mut Change<'_>) -> Result<(), Errno> {
        let screen = file.gpu.display.screen.as_ref().ok_or(Errno::EINVAL)?;
        let mut assignment = Assignment { file, screen, change };
        self.wanted.iter().try_for_each(|wanted| assignment.set(wanted))?;
        self.end
    }
}

/// A commit of properties that is being prepared.
#[derive(Debug)]
struct Assignment<'a, 's> {
    file: &'a File,
    screen: &'a Screen,
    change: &'a mut Change<'s>,
}

impl Assignment<'_, '_> {
    fn set(&mut self, wanted: &Wanted) -> Result<(), Errno> {
        let &Wanted { object, property, value, ref fence } = wanted;
        let takes = property.takes(value).ok_or(Errno::EINVAL)?;
        // The object in the value of a property must exist, regardless of the property.
        match takes {
            Takes::Blob(id) => drop(self.screen.blob(id).ok_or(Errno::EINVAL)?),
            Takes::Object(MODE_OBJECT_FB, id) => drop(self.screen.framebuffer(id).ok_or(Errno::EINVAL)?),
            Takes::Object(_, id) => {
                crtc(self.file, id)?;
            }
            Takes::Number => {}
        }
        match object {
            Object::Plane(index) => self.set_of_plane(index, (property.key, value), fence.as_ref()),
            Object::Crtc(index) => self.set_of_crtc(index, (property.key, value)),
            Object::Connector(index, _) => self.set_of_connector(index, (property.key, value)),
            Object::Operation(plane, at) => self.set_of_operation((plane, at), (property.key, value)),
            Object::Property(_) | Object::Encoder(_) => Err(Errno::EINVAL),
        }
    }

    fn set_of_plane(&mut self, index: u32, (key, value): (Key, u64), fence: Option<&Arc<Fence>>) -> Result<(), Errno> {
        // The ranges of the properties have at most 32 bits.
        let (wide, signed) = (value as u32, value as i32);
        let change: Box<dyn FnOnce(&mut PlaneState)> = match key {
            Key::FbId => {
                let framebuffer = if value == 0 { None } else { self.screen.framebuffer(wide) };
                Box::new(move |plane| plane.framebuffer = framebuffer)
            }
            Key::CrtcId => {
                let crtc = crtc(self.file, wide)?;
                Box::new(move |plane| plane.crtc = crtc)
            }
            Key::InFenceFd => {
                // The plane takes part even if there is no fence to wait for.
                self.change.plane(index, |_| ()).ok_or(Errno::EINVAL)?;
                return match signed {
                    -1 => Ok(()),
                    _ => self.change.wait_for(index, Arc::clone(fence.ok_or(Errno::EINVAL)?)),
                };
            }
            Key::CrtcX => Box::new(move |plane| plane.place.x = signed),
            Key::CrtcY => Box::new(move |plane| plane.place.y = signed),
            Key::CrtcW => Box::new(move |plane| plane.place.width = wide),
            Key::CrtcH => Box::new(move |plane| plane.place.height = wide),
            Key::SrcX => Box::new(move |plane| plane.source.x = wide),
            Key::SrcY => Box::new(move |plane| plane.source.y = wide),
            Key::SrcW => Box::new(move |plane| plane.source.width = wide),
            Key::SrcH => Box::new(move |plane| plane.source.height = wide),
            Key::ColorEncoding => return self.set_colours(index, |colours| colours.encoding = value),
            Key::ColorRange => return self.set_colours(index, |colours| colours.range = value),
            Key::ColorPipeline(_) => return self.set_colours(index, |colours| colours.uses_pipeline = value != 0),
            _ => return Err(Errno::EINVAL),
        };
        self.change.plane(index, change).ok_or(Errno::EINVAL)
    }

    fn set_colours(&mut self, plane: u32, change: impl FnOnce(&mut PlaneColours)) -> Result<(), Errno> {
        self.change.colours(plane, change).ok_or(Errno::EINVAL)
    }

    fn set_of_operation(&mut self, (plane, at): (u32, u32), (key, value): (Key, u64)) -> Result<(), Errno> {
        let step: &Step = STEPS.get(at as usize).ok_or(Errno::EINVAL)?;
        let data = if key == Key::Data && value != 0 { self.screen.blob(value as u32) } else { None };
        if data.as_ref().is_some_and(|data| data.data.len() != step.bytes) {
            return Err(Errno::EINVAL);
        }
        self.set_colours(plane, |colours| {
            let Some(operation) = colours.operations.get_mut(at as usize) else { return };
            match key {
                Key::Bypass => operation.is_bypassed = value != 0,
                Key::Curve | Key::InverseCurve => operation.curve = value,
                Key::Multiplier => operation.multiplier = value,
                Key::Data => operation.data = data,
                // There is one way to interpolate.
                _ => {}
            }
        })
    }

    fn set_of_crtc(&mut self, index: u32, (key, value): (Key, u64)) -> Result<(), Errno> {
        let blob = || if value == 0 { None } else { self.screen.blob(value as u32) };
        match key {
            Key::Active => self.change.crtc(index, |crtc| crtc.is_active = value != 0),
            Key::ModeId => {
                let mode = match blob() {
                    None => None,
                    Some(blob) => {
                        let info = ModeInfo::read_from_bytes(&blob.data).map_err(|_| Errno::EINVAL)?;
                        Some(Mode { blob, info })
                    }
                };
                self.change.crtc(index, |crtc| crtc.mode = mode)
            }
            Key::GammaLut => {
                let table = blob();
                if table.as_ref().is_some_and(|table| !table.data.len().is_multiple_of(size_of::<ColorLut>())) {
                    return Err(Errno::EINVAL);
                }
                self.change.crtc(index, |crtc| crtc.gamma = table)
            }
            Key::OutFencePtr => self.change.crtc(index, |_| ()),
            _ => None,
        }
        .ok_or(Errno::EINVAL)
    }

    fn set_of_connector(&mut self, index: u32, (key, value): (Key, u64)) -> Result<(), Errno> {
        match key {
            Key::CrtcId => {
                let crtc = crtc(self.file, value as u32)?;
                self.change.connect(index, crtc);
                Ok(())
            }
            // The link is good; only the driver could report otherwise.
            Key::LinkStatus => Ok(()),
            // DPMS is not part of an atomic commit.
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Returns the index of a CRTC; `None` for the ID 0.
///
/// # Errors
///
/// EINVAL for another object, EACCES for a CRTC that the file's master may not use.
fn crtc(file: &File, id: u32) -> Result<Option<u32>, Errno> {
    match file.gpu.display.modes.find(id) {
        None if id == 0 => Ok(None),
        Some(Object::Crtc(_)) if !file.node.holds(id) => Err(Errno::EACCES),
        Some(Object::Crtc(index)) => Ok(Some(index)),
        _ => Err(Errno::EINVAL),
    }
}

/// Returns the fence of a client's sync file; `None` for all other descriptors.
fn fence(file: &File, fd: i32) -> Option<Arc<Fence>> {
    let fd = user::descriptor(fd).ok()?;
    match file.gpu.machine.descriptors.find(fd).ok()? {
        Some(SharedObject::SyncFile(sync_file)) => Some(Arc::clone(sync_file.fence())),
        _ => None,
    }
}
