//! The values of properties.
//!
//! Source: Linux 6.12 `drm_atomic_uapi.c`, `drm_atomic_plane_get_property` and the others of the kind.

use crate::kernel::{
    files::file::File,
    modes::{Configuration, GAMMA_LARGE, Key, Object, STEPS},
};

/// The values of DPMS of a connector that is on, and of one that is off.
const ON: u64 = 0;
const OFF: u64 = 3;

/// Returns the configuration of the display engine. It is empty if no display is plugged in.
pub(super) fn configuration(file: &File) -> Configuration {
    file.gpu.display.screen.as_ref().map(|screen| screen.configuration()).unwrap_or_default()
}

/// Returns the id of the EDID of the display, or 0.
fn edid(file: &File) -> u64 {
    file.gpu.display.screen.as_ref().and_then(|screen| screen.edid()).map_or(0, |blob| blob.id.into())
}

/// Returns the value of a property of an object; `None` if the object does not have the property.
pub(super) fn value(file: &File, all: &Configuration, object: Object, key: Key) -> Option<u64> {
    let modes = file.gpu.display.modes;
    if !modes.has(object, key) {
        return None;
    }
    let crtc_id = |index: Option<u32>| index.map_or(0, |index| u64::from(modes.crtc(index)));
    let signed = |value: i32| i64::from(value).cast_unsigned();
    Some(match object {
        Object::Plane(index) => {
            let (state, (_, is_cursor)) = (all.plane(index), modes.plane_use(index));
            let colours = all.colours.get(index as usize);
            match key {
                Key::PlaneType => 1 + u64::from(is_cursor),
                Key::FbId => state.framebuffer.map_or(0, |framebuffer| framebuffer.id.into()),
                Key::CrtcId => crtc_id(state.crtc),
                Key::CrtcX => signed(state.place.x),
                Key::CrtcY => signed(state.place.y),
                Key::CrtcW => state.place.width.into(),
                Key::CrtcH => state.place.height.into(),
                Key::SrcX => state.source.x.into(),
                Key::SrcY => state.source.y.into(),
                Key::SrcW => state.source.width.into(),
                Key::SrcH => state.source.height.into(),
                Key::InFenceFd => u64::MAX,
                Key::InFormats => file.gpu.display.screen.as_ref()?.in_formats(is_cursor)?.into(),
                // Without a display nothing can be set.
                Key::ColorEncoding => colours.map_or(1, |colours| colours.encoding),
                Key::ColorRange => colours.map_or(0, |colours| colours.range),
                Key::ColorPipeline(_) => match colours {
                    Some(colours) if colours.uses_pipeline => modes.operation(index, 0).into(),
                    _ => 0,
                },
                _ => return None,
            }
        }
        Object::Operation(plane, at) => {
            let (step, state) = (STEPS.get(at as usize)?, all.colours.get(plane as usize));
            let state = state.and_then(|colours| colours.operations.get(at as usize));
            match key {
                Key::OpType => step.kind,
                Key::Bypass => state.is_none_or(|state| state.is_bypassed).into(),
                Key::Next if at as usize + 1 == STEPS.len() => 0,
                Key::Next => modes.operation(plane, at + 1).into(),
                Key::Curve | Key::InverseCurve => state.map_or(step.curve, |state| state.curve),
                Key::Size => step.size,
                Key::Lut1dInterpolation | Key::Lut3dInterpolation => 0,
                Key::Data => state.and_then(|state| state.data.as_ref()).map_or(0, |blob| blob.id.into()),
                Key::Multiplier => state.map_or(0, |state| state.multiplier),
                _ => return None,
            }
        }
        Object::Crtc(index) => {
            let state = all.crtc(index);
            match key {
                Key::Active => state.is_active.into(),
                Key::ModeId => state.mode.map_or(0, |mode| mode.blob.id.into()),
                Key::GammaLut => state.gamma.map_or(0, |table| table.id.into()),
                Key::GammaLutSize => GAMMA_LARGE as u64,
                Key::OutFencePtr => 0,
                _ => return None,
            }
        }
        Object::Connector(index, _) => {
            let from = all.feeds(index);
            match key {
                Key::CrtcId => crtc_id(from),
                Key::Dpms if from.is_some_and(|crtc| all.is_active(crtc)) => ON,
                Key::Dpms => OFF,
                Key::Edid if index == 0 => edid(file),
                Key::Edid | Key::Tile | Key::LinkStatus | Key::NonDesktop => 0,
                _ => return None,
            }
        }
        Object::Property(_) | Object::Encoder(_) => return None,
    })
}
