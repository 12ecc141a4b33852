//! Setting a property of an object, as a part of a commit.
//!
//! Source: Linux 6.12 `drm_atomic_uapi.c`, `drm_atomic_set_property` with `drm_atomic_plane_set_property` and the others of the
//! kind.

use std::{collections::BTreeMap, sync::Arc};

use amdgpu_uapi::{ColorLut, Errno, MODE_OBJECT_FB, ModeInfo};
use zerocopy::FromBytes as _;

use crate::kernel::{
    files::{descriptors::Shared, file::File},
    modes::{Change, Key, Mode, Object, PlaneState, Property, Screen, Takes},
    sync::fence::Fence,
    user,
};

/// A commit of properties in the making.
#[derive(Debug)]
pub(super) struct Assignment<'s> {
    pub(super) change: Change<'s>,
    /// Addresses that take descriptors of fences, by the index of the CRTC that signals them.
    pub(super) out_fences: BTreeMap<u32, u64>,
}

impl<'s> Assignment<'s> {
    /// Begins a commit.
    pub(super) fn new(screen: &'s Arc<Screen>) -> Self {
        Self { change: screen.change(), out_fences: BTreeMap::new() }
    }

    /// Sets a property of an object that has it.
    ///
    /// # Errors
    ///
    /// EINVAL for a value that the property does not take or an object that it names and that does not exist, EFAULT for an
    /// address that cannot be written.
    pub(super) fn set(&mut self, file: &File, object: Object, property: &Property, value: u64) -> Result<(), Errno> {
        let screen = file.gpu.screen.as_ref().ok_or(Errno::EINVAL)?;
        let takes = property.takes(value).ok_or(Errno::EINVAL)?;
        // What a property names exists, whatever it is set for.
        match takes {
            Takes::Blob(id) => drop(screen.blob(id).ok_or(Errno::EINVAL)?),
            Takes::Object(MODE_OBJECT_FB, id) => drop(screen.framebuffer(id).ok_or(Errno::EINVAL)?),
            Takes::Object(_, id) => {
                crtc(file, id)?;
            }
            Takes::Number => {}
        }
        match object {
            Object::Plane(index) => self.set_of_plane(file, screen, index, (property.key, value)),
            Object::Crtc(index) => self.set_of_crtc(screen, index, (property.key, value)),
            Object::Connector(index, _) => self.set_of_connector(file, index, (property.key, value)),
            Object::Property(_) | Object::Encoder(_) => Err(Errno::EINVAL),
        }
    }

    fn set_of_plane(
        &mut self,
        file: &File,
        screen: &Screen,
        index: u32,
        (key, value): (Key, u64),
    ) -> Result<(), Errno> {
        // The ranges of the properties keep to 32 bits.
        let (wide, signed) = (value as u32, value as i32);
        let change: Box<dyn FnOnce(&mut PlaneState)> = match key {
            Key::FbId => {
                let framebuffer = if value == 0 { None } else { screen.framebuffer(wide) };
                Box::new(move |plane| plane.framebuffer = framebuffer)
            }
            Key::CrtcId => {
                let crtc = crtc(file, wide)?;
                Box::new(move |plane| plane.crtc = crtc)
            }
            Key::InFenceFd => {
                // The plane takes part even where there is nothing to wait for.
                self.change.plane(index, |_| ()).ok_or(Errno::EINVAL)?;
                return match signed {
                    -1 => Ok(()),
                    fd => self.change.wait_for(index, fence(file, fd)?),
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
            _ => return Err(Errno::EINVAL),
        };
        self.change.plane(index, change).ok_or(Errno::EINVAL)
    }

    fn set_of_crtc(&mut self, screen: &Screen, index: u32, (key, value): (Key, u64)) -> Result<(), Errno> {
        let blob = || if value == 0 { None } else { screen.blob(value as u32) };
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
            Key::OutFencePtr => {
                if value != 0 {
                    user::write_slice(value, &[-1_i32])?;
                    self.out_fences.insert(index, value);
                }
                self.change.crtc(index, |_| ())
            }
            _ => None,
        }
        .ok_or(Errno::EINVAL)
    }

    fn set_of_connector(&mut self, file: &File, index: u32, (key, value): (Key, u64)) -> Result<(), Errno> {
        match key {
            Key::CrtcId => {
                let crtc = crtc(file, value as u32)?;
                self.change.connect(index, crtc);
                Ok(())
            }
            // The link is good, and only the driver says otherwise.
            Key::LinkStatus => Ok(()),
            // DPMS is no part of an atomic commit.
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Returns the index of a CRTC, or none for the id 0.
fn crtc(file: &File, id: u32) -> Result<Option<u32>, Errno> {
    match file.gpu.modes.find(id) {
        None if id == 0 => Ok(None),
        Some(Object::Crtc(index)) => Ok(Some(index)),
        _ => Err(Errno::EINVAL),
    }
}

/// Returns the fence of a client's sync file.
fn fence(file: &File, fd: i32) -> Result<Arc<Fence>, Errno> {
    let found = user::descriptor(fd).and_then(|fd| file.gpu.machine.descriptors.find(fd)).map_err(|_| Errno::EINVAL)?;
    match found {
        Some(Shared::SyncFile(sync_file)) => Ok(Arc::clone(sync_file.fence())),
        _ => Err(Errno::EINVAL),
    }
}
