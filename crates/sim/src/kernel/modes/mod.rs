//! The display engine: its objects by their ids, and the display if one is plugged in.
//!
//! No capture contains the numbers of objects; those here are the numbers of a usual card.

mod change;
mod check;
mod commit;
mod compose;
mod compression;
mod configuration;
mod effect;
mod format;
mod formats;
mod framebuffer;
mod outbox;
mod pending;
mod pipelines;
mod plane_modifiers;
mod properties;
mod screen;
mod table;
mod vblank;

use std::{fmt, ops::Range};

use amdgpu_uapi::{
    MODE_CONNECTOR_DISPLAY_PORT, MODE_CONNECTOR_HDMI_A, MODE_OBJECT_COLOROP, MODE_OBJECT_CONNECTOR, MODE_OBJECT_CRTC,
    MODE_OBJECT_ENCODER, MODE_OBJECT_PLANE, MODE_OBJECT_PROPERTY,
};

pub(crate) use self::{
    change::Change,
    check::{GAMMA, GAMMA_LARGE, timing},
    configuration::{Configuration, CrtcState, Mode, PlaneColours, PlaneState, Rectangle, SourceRectangle},
    format::{CURSOR, Format, primary},
    framebuffer::{Framebuffer, PlanePlace},
    outbox::Outbox,
    pending::Signal,
    pipelines::{Colours, STEPS, Step},
    properties::{Key, Property, Takes},
    screen::Screen,
    vblank::{Awaited, has_passed},
};

/// The first id after those of properties.
const FIRST: u32 = 64;
/// The first id of operations of colour pipelines, after all others of the display engine.
const FIRST_OPERATION: u32 = 128;

/// A connector: its type, and its number among those of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connector {
    pub(crate) kind: u32,
    pub(crate) number: u32,
}

impl fmt::Display for Connector {
    /// Writes the name, such as `DP-1` (Linux 6.12 `drm_connector.c`, `drm_connector_enum_list`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", if self.kind == MODE_CONNECTOR_HDMI_A { "HDMI-A" } else { "DP" }, self.number)
    }
}

const fn display_port(number: u32) -> Connector {
    Connector { kind: MODE_CONNECTOR_DISPLAY_PORT, number }
}

const HDMI: Connector = Connector { kind: MODE_CONNECTOR_HDMI_A, number: 1 };
const OF_APU: &[Connector] = &[HDMI, display_port(1)];
const OF_CARD: &[Connector] = &[display_port(1), display_port(2), display_port(3), HDMI];

/// The display engine of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    pipes: u32,
    sockets: &'static [Connector],
    colours: Colours,
}

/// An object with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Property(&'static Property),
    /// A plane; like all variants after it, by its index.
    Plane(u32),
    Crtc(u32),
    /// An encoder. Its connector has the same index.
    Encoder(u32),
    Connector(u32, Connector),
    /// An operation of the colour pipeline of a primary plane: the index of the plane, and the place in the pipeline.
    Operation(u32, u32),
}

impl Object {
    /// Returns the type's number in the uAPI.
    pub(crate) const fn kind(self) -> u32 {
        match self {
            Self::Property(_) => MODE_OBJECT_PROPERTY,
            Self::Plane(_) => MODE_OBJECT_PLANE,
            Self::Crtc(_) => MODE_OBJECT_CRTC,
            Self::Encoder(_) => MODE_OBJECT_ENCODER,
            Self::Connector(..) => MODE_OBJECT_CONNECTOR,
            Self::Operation(..) => MODE_OBJECT_COLOROP,
        }
    }

    /// Returns `true` for the types of objects that can be leased.
    ///
    /// Source: Linux 6.12 `drm_mode_object.c`, `drm_mode_object_lease_required`.
    pub(crate) const fn is_leasable(self) -> bool {
        matches!(self, Self::Plane(_) | Self::Crtc(_) | Self::Connector(..))
    }

    /// Returns the meanings of the object's properties; `None` for an object that cannot have properties. Whether a plane knows colours
    /// depends on the plane and the chip.
    pub(crate) fn properties(self) -> Option<&'static [Key]> {
        match self {
            Self::Plane(_) => Some(properties::PLANE),
            Self::Crtc(_) => Some(properties::CRTC),
            Self::Connector(..) => Some(properties::CONNECTOR),
            Self::Operation(_, at) => STEPS.get(at as usize).map(|step| step.properties),
            Self::Property(_) | Self::Encoder(_) => None,
        }
    }
}

impl Modes {
    /// Returns the display engine of an APU or of a card.
    pub(crate) const fn new(is_apu: bool, colours: Colours) -> Self {
        if is_apu { Self { pipes: 4, sockets: OF_APU, colours } } else { Self { pipes: 6, sockets: OF_CARD, colours } }
    }

    /// Returns the connector with an index.
    pub(crate) fn socket(self, index: u32) -> Option<Connector> {
        self.sockets.get(usize::try_from(index).ok()?).copied()
    }

    fn socket_count(self) -> u32 {
        u32::try_from(self.sockets.len()).unwrap_or(0)
    }

    /// Returns the ids of the planes: the primary planes, then the cursors.
    pub(crate) const fn planes(self) -> Range<u32> {
        FIRST..FIRST + 2 * self.pipes
    }

    /// Returns the ids of the CRTCs.
    pub(crate) const fn crtcs(self) -> Range<u32> {
        let first = self.planes().end;
        first..first + self.pipes
    }

    /// Returns the ids of the encoders.
    pub(crate) fn encoders(self) -> Range<u32> {
        let first = self.crtcs().end;
        first..first + self.socket_count()
    }

    /// Returns the ids of the connectors.
    pub(crate) fn connectors(self) -> Range<u32> {
        let first = self.encoders().end;
        first..first + self.socket_count()
    }

    /// Returns the ids of the operations of colour pipelines: those of the first primary plane, then those of the next one.
    pub(crate) fn operations(self) -> Range<u32> {
        let planes = if self.has_pipelines() { self.pipes } else { 0 };
        FIRST_OPERATION..FIRST_OPERATION + planes * STEPS.len() as u32
    }

    /// Returns the id of an operation of a plane's pipeline. That of the first one is the id of the pipeline.
    pub(crate) fn operation(self, plane: u32, at: u32) -> u32 {
        self.operations().start + plane * STEPS.len() as u32 + at
    }

    /// Returns `true` if planes have colour pipelines.
    pub(crate) fn has_pipelines(self) -> bool {
        self.colours == Colours::Pipelines
    }

    /// Returns `true` if a plane knows how luma and chroma are encoded.
    pub(crate) fn has_encodings(self, plane: u32) -> bool {
        self.colours >= Colours::Encodings && !self.plane_use(plane).1
    }

    /// Returns `true` if an object has a property that is among those of its type.
    pub(crate) fn has(self, object: Object, key: Key) -> bool {
        match (object, key) {
            (Object::Plane(index), Key::ColorEncoding | Key::ColorRange) => self.has_encodings(index),
            (Object::Plane(index), Key::ColorPipeline(plane)) => self.has_pipelines() && index == plane,
            _ => object.properties().is_some_and(|all| all.contains(&key)),
        }
    }

    /// Returns the mask of all CRTCs, by index.
    pub(crate) const fn crtc_mask(self) -> u32 {
        (1 << self.pipes) - 1
    }

    /// Returns the configuration in which nothing is shown.
    pub(crate) fn all_off(self) -> Configuration {
        Configuration {
            planes: vec![PlaneState::default(); self.planes().len()],
            crtcs: vec![CrtcState::default(); self.crtcs().len()],
            connectors: vec![None; self.connectors().len()],
            colours: vec![PlaneColours::initial(self.colours); self.crtcs().len()],
        }
    }

    /// Returns the index of the CRTC that can show a plane, and whether the plane is a cursor.
    pub(crate) const fn plane_use(self, index: u32) -> (u32, bool) {
        (index % self.pipes, index >= self.pipes)
    }

    /// Returns the index of a CRTC's cursor. The primary plane has the CRTC's own index.
    pub(crate) const fn cursor_of(self, crtc: u32) -> u32 {
        self.pipes + crtc
    }

    /// Returns the id of the CRTC with an index.
    pub(crate) const fn crtc(self, index: u32) -> u32 {
        self.crtcs().start + index
    }

    /// Returns the id of the encoder with an index.
    pub(crate) fn encoder(self, index: u32) -> u32 {
        self.encoders().start + index
    }

    /// Returns the ids of all objects, including properties.
    pub(crate) fn ids(self) -> impl Iterator<Item = u32> {
        (0..self.connectors().end).filter(move |id| self.find(*id).is_some()).chain(self.operations())
    }

    /// Returns the object with an id.
    pub(crate) fn find(self, id: u32) -> Option<Object> {
        let index = |ids: Range<u32>| ids.contains(&id).then(|| id - ids.start);
        if let Some(property) = Property::find(id) {
            return Some(Object::Property(property));
        }
        if let Some(at) = index(self.planes()) {
            return Some(Object::Plane(at));
        }
        if let Some(at) = index(self.crtcs()) {
            return Some(Object::Crtc(at));
        }
        if let Some(at) = index(self.encoders()) {
            return Some(Object::Encoder(at));
        }
        if let Some(at) = index(self.operations()) {
            let steps = STEPS.len() as u32;
            return Some(Object::Operation(at / steps, at % steps));
        }
        let at = index(self.connectors())?;
        self.sockets.get(usize::try_from(at).ok()?).map(|connector| Object::Connector(at, *connector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_of_one_object() {
        for modes in [false, true].map(|is_apu| Modes::new(is_apu, Colours::Pipelines)) {
            let last = modes.connectors().end;
            let kinds = |ids: Range<u32>| ids.map(|id| modes.find(id).map(Object::kind)).collect::<Vec<_>>();
            assert!(kinds(modes.planes()).iter().all(|kind| *kind == Some(MODE_OBJECT_PLANE)));
            assert!(kinds(modes.crtcs()).iter().all(|kind| *kind == Some(MODE_OBJECT_CRTC)));
            assert!(kinds(modes.encoders()).iter().all(|kind| *kind == Some(MODE_OBJECT_ENCODER)));
            assert!(kinds(modes.connectors()).iter().all(|kind| *kind == Some(MODE_OBJECT_CONNECTOR)));
            assert_eq!((modes.find(0), modes.find(last), modes.find(FIRST - 1)), (None, None, None));
            assert!(last <= FIRST_OPERATION && modes.operations().end < 0x1000);
            assert!(kinds(modes.operations()).iter().all(|kind| *kind == Some(MODE_OBJECT_COLOROP)));
            let ids: Vec<_> = modes.ids().collect();
            assert!(ids.is_sorted() && ids.contains(&modes.operation(modes.pipes - 1, 7)));
            for plane in 0..modes.pipes {
                let (_, property) = Property::of(Key::ColorPipeline(plane)).unwrap();
                let first = modes.operation(plane, 0);
                assert_eq!(property.values, [0, first.into()]);
                assert_eq!(property.names, ["Bypass".to_owned(), format!("Color Pipeline {first}")]);
            }
        }
    }
}
