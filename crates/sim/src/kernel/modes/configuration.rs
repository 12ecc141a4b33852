//! The state of the display engine, which commits change.
//!
//! Source: Linux 6.12 `drm_plane.h`, `drm_crtc.h` and `drm_connector.h`: `struct drm_plane_state` and the others of the kind.

use std::sync::Arc;

use amdgpu_uapi::ModeInfo;

use super::{
    framebuffer::Framebuffer,
    pipelines::{Colours, STEPS, Step},
};

/// Bytes that a property can name, from a client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) id: u32,
    pub(crate) data: Vec<u8>,
}

/// A rectangle in a framebuffer, in units of 1/65536 of a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceRectangle {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// A rectangle on a display, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// A plane.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlaneState {
    /// The index of the CRTC that shows the plane.
    pub(crate) crtc: Option<u32>,
    pub(crate) framebuffer: Option<Arc<Framebuffer>>,
    pub(crate) source: SourceRectangle,
    pub(crate) place: Rectangle,
}

impl PlaneState {
    fn shows(&self, framebuffer: &Arc<Framebuffer>) -> bool {
        self.framebuffer.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, framebuffer))
    }

    /// Removes the plane from its CRTC. The rectangles stay.
    pub(crate) fn turn_off(&mut self) {
        (self.crtc, self.framebuffer) = (None, None);
    }
}

/// The colours of a plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaneColours {
    /// The values of COLOR_ENCODING and COLOR_RANGE.
    pub(crate) encoding: u64,
    pub(crate) range: u64,
    /// `true` if the pipeline is used.
    pub(crate) uses_pipeline: bool,
    /// The operations of the pipeline; none if there is none.
    pub(crate) operations: Vec<Operation>,
}

/// The state of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) is_bypassed: bool,
    pub(crate) curve: u64,
    pub(crate) multiplier: u64,
    pub(crate) data: Option<Arc<Blob>>,
}

impl PlaneColours {
    /// Returns the colours of a plane that nobody has changed: those of HDTV, with no operation.
    pub(super) fn initial(colours: Colours) -> Self {
        let operation = |step: &Step| Operation { is_bypassed: true, curve: step.curve, multiplier: 0, data: None };
        let steps = STEPS.iter().filter(|_| colours == Colours::Pipelines);
        Self { encoding: 1, range: 0, uses_pipeline: false, operations: steps.map(operation).collect() }
    }
}

/// A mode, and the blob that names it.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) blob: Arc<Blob>,
    pub(crate) info: ModeInfo,
}

/// A CRTC.
#[derive(Clone, Debug, Default)]
pub(crate) struct CrtcState {
    pub(crate) is_active: bool,
    pub(crate) mode: Option<Mode>,
    pub(crate) gamma: Option<Arc<Blob>>,
}

impl CrtcState {
    /// Removes the mode.
    pub(crate) fn turn_off(&mut self) {
        (self.is_active, self.mode) = (false, None);
    }
}

/// The states of all planes, CRTCs and connectors, by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) planes: Vec<PlaneState>,
    pub(crate) crtcs: Vec<CrtcState>,
    /// The index of the CRTC of each connector, by the connector's index.
    pub(crate) connectors: Vec<Option<u32>>,
    /// The colours of the primary planes.
    pub(crate) colours: Vec<PlaneColours>,
}

impl Configuration {
    /// Returns the state of a plane; that of a plane that is off if there is no such plane.
    pub(crate) fn plane(&self, index: u32) -> PlaneState {
        self.planes.get(index as usize).cloned().unwrap_or_default()
    }

    /// Returns the state of a CRTC; that of a CRTC that is off if there is no such CRTC.
    pub(crate) fn crtc(&self, index: u32) -> CrtcState {
        self.crtcs.get(index as usize).cloned().unwrap_or_default()
    }

    /// Returns the CRTC of a connector.
    pub(crate) fn feeds(&self, connector: u32) -> Option<u32> {
        self.connectors.get(connector as usize).copied().flatten()
    }

    /// Returns `true` if a CRTC scans out.
    pub(crate) fn is_active(&self, crtc: u32) -> bool {
        self.crtcs.get(crtc as usize).is_some_and(|crtc| crtc.is_active)
    }

    /// Removes the mode of a CRTC and disconnects its connectors.
    pub(crate) fn turn_off(&mut self, crtc: u32) {
        if let Some(state) = self.crtcs.get_mut(crtc as usize) {
            state.turn_off();
        }
        self.connectors.iter_mut().for_each(|from| *from = from.filter(|from| *from != crtc));
    }

    /// Returns `true` if a plane shows a framebuffer.
    pub(super) fn shows(&self, framebuffer: &Arc<Framebuffer>) -> bool {
        self.planes.iter().any(|plane| plane.shows(framebuffer))
    }

    /// Removes a framebuffer from all planes. A CRTC whose primary plane loses its framebuffer is turned off; the primary plane has
    /// the CRTC's index.
    pub(super) fn remove(&mut self, framebuffer: &Arc<Framebuffer>) {
        for index in 0..self.planes.len() as u32 {
            let Some(plane) = self.planes.get_mut(index as usize).filter(|plane| plane.shows(framebuffer)) else {
                continue;
            };
            plane.turn_off();
            if (index as usize) < self.crtcs.len() {
                self.turn_off(index);
            }
        }
    }

    /// Returns `true` if a CRTC has a connector.
    pub(crate) fn has_connectors(&self, crtc: u32) -> bool {
        self.connectors.contains(&Some(crtc))
    }
}
