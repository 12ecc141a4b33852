//! The display engine: what it has, and what a virtual display shows.

mod atomic;
mod colours;
mod hostile;
mod leases;
mod modifiers;
mod planes;
mod resources;
mod scanout;
mod vblank;

use std::time::{Duration, Instant};

use amdgpu_sim::{Picture, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    Argument, EVENT_FLIP_COMPLETE, EventVblank, MODE_CONNECTED, MODE_FB_MODIFIERS, MODE_PAGE_FLIP_EVENT, MODE_RMFB,
    MODE_SETCRTC, ModeCardRes, ModeCreateDumb, ModeCrtc, ModeFbCmd2, ModeGetConnector, ModeGetPlaneRes,
    ModeGetProperty, ModeInfo, ModeMapDumb, ModeObjGetProperties, ModePageFlip, ModePropertyEnum, SetClientCap,
};
use zerocopy::IntoBytes;

use crate::support::{File, address_mut, reference};

/// Ids in an array.
type Ids = Vec<u32>;

impl File {
    fn may(&self, capability: u64, value: u64) -> Result<(), Errno> {
        self.send(&mut SetClientCap { capability, value })
    }

    /// Sends a request with changes by a closure.
    fn told<A: Argument>(&self, mut request: A) -> Result<A, Errno> {
        self.send(&mut request).map(|()| request)
    }

    /// CRTCs, encoders and connectors.
    fn resources(&self) -> [Ids; 3] {
        let count = self.told(ModeCardRes::ZEROED).unwrap();
        let mut ids =
            [count.count_crtcs, count.count_encoders, count.count_connectors].map(|count| vec![0; count as usize]);
        let [crtcs, encoders, connectors] = &mut ids;
        let filled = ModeCardRes {
            crtc_id_ptr: address_mut(crtcs),
            encoder_id_ptr: address_mut(encoders),
            connector_id_ptr: address_mut(connectors),
            ..count
        };
        assert_eq!(self.told(filled).unwrap(), filled);
        ids
    }

    fn planes(&self) -> Ids {
        let count = self.told(ModeGetPlaneRes::ZEROED).unwrap().count_planes;
        let mut ids = vec![0; count as usize];
        let request = ModeGetPlaneRes { plane_id_ptr: address_mut(&mut ids), count_planes: count, padding: 0 };
        assert_eq!(self.told(request).unwrap().count_planes, count);
        ids
    }

    /// The properties of an object, by name, with their values.
    fn properties(&self, obj_id: u32, obj_type: u32) -> Result<Vec<(String, u64)>, Errno> {
        let question = ModeObjGetProperties { obj_id, obj_type, ..ModeObjGetProperties::ZEROED };
        let count_props = self.told(question)?.count_props;
        let (mut ids, mut values) = (vec![0; count_props as usize], vec![0; count_props as usize]);
        let lists = (address_mut(&mut ids), address_mut(&mut values));
        self.told(ModeObjGetProperties { props_ptr: lists.0, prop_values_ptr: lists.1, count_props, ..question })?;
        Ok(ids.into_iter().map(|id| self.property(id).0).zip(values).collect())
    }

    /// The id and the value of a property of an object.
    fn value(&self, obj_id: u32, wanted: &str) -> (u32, u64) {
        let (mut ids, mut values) = ([0_u32; 32], [0_u64; 32]);
        let (props_ptr, prop_values_ptr) = (address_mut(&mut ids), address_mut(&mut values));
        let question = ModeObjGetProperties {
            props_ptr,
            prop_values_ptr,
            count_props: 32,
            obj_id,
            ..ModeObjGetProperties::ZEROED
        };
        let count = self.told(question).unwrap().count_props as usize;
        let all = ids.into_iter().zip(values).take(count);
        all.into_iter().find(|(id, _)| self.property(*id).0 == wanted).expect(wanted)
    }

    /// A property's name, and the names of its values.
    fn property(&self, prop_id: u32) -> (String, Vec<String>) {
        let text = |bytes: [u8; 32]| String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
        let count = self.told(ModeGetProperty { prop_id, ..ModeGetProperty::ZEROED }).unwrap();
        let mut values = vec![0_u64; count.count_values as usize];
        let mut enums = vec![ModePropertyEnum::ZEROED; count.count_enum_blobs as usize];
        let lists = (address_mut(&mut values), address_mut(&mut enums));
        self.told(ModeGetProperty { values_ptr: lists.0, enum_blob_ptr: lists.1, ..count }).unwrap();
        if !enums.is_empty() {
            assert!(values.iter().eq(enums.iter().map(|one| &one.value)));
        }
        (text(count.name), enums.into_iter().map(|one| text(one.name)).collect())
    }
}

pub(super) const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;
/// Bytes of a row: 640 pixels are a multiple of 64.
const PITCH: u32 = WIDTH * 4;

fn lit(chip: &str) -> SimDevice {
    lit_with(chip, "640x480")
}

fn lit_with(chip: &str, display: &str) -> SimDevice {
    let display = Some(display.parse().unwrap());
    SimDevice::new(profile(chip).unwrap(), SimOptions { display, ..reference() })
}

/// A client that sets modes.
#[derive(Debug)]
struct Client {
    file: File,
    crtc: u32,
    connector: u32,
    mode: ModeInfo,
}

impl Client {
    fn new(device: &SimDevice) -> Self {
        let file = File(device.open_primary(false));
        let (mut crtcs, mut connectors) = ([0; 8], [0; 8]);
        let mut resources = ModeCardRes {
            crtc_id_ptr: address_mut(&mut crtcs),
            count_crtcs: 8,
            connector_id_ptr: address_mut(&mut connectors),
            count_connectors: 8,
            ..ModeCardRes::ZEROED
        };
        file.send(&mut resources).unwrap();
        let mode = Self::mode_of(&file, connectors[0]);
        Self { file, crtc: crtcs[1], connector: connectors[0], mode }
    }

    /// The mode of the display behind a connector.
    fn mode_of(file: &File, connector_id: u32) -> ModeInfo {
        let mut modes = [ModeInfo::ZEROED];
        let modes_ptr = address_mut(&mut modes);
        let mut connector = ModeGetConnector { connector_id, modes_ptr, count_modes: 1, ..ModeGetConnector::ZEROED };
        file.send(&mut connector).unwrap();
        assert_eq!((connector.connection, connector.count_modes), (MODE_CONNECTED, 1));
        modes[0]
    }

    /// A dumb buffer of a colour.
    fn buffer(&self, pixel: u32) -> u32 {
        self.buffer_of((WIDTH, HEIGHT), pixel)
    }

    /// A dumb buffer of a size, whose width is a multiple of 64.
    fn buffer_of(&self, (width, height): (u32, u32), pixel: u32) -> u32 {
        let dumb = self.file.told(ModeCreateDumb { width, height, bpp: 32, ..ModeCreateDumb::ZEROED }).unwrap();
        assert_eq!(dumb.pitch, width * 4);
        let map = self.file.told(ModeMapDumb { handle: dumb.handle, ..ModeMapDumb::ZEROED }).unwrap();
        let view = self.file.map_at_offset(map.offset, dumb.size).unwrap();
        (0..width * height).for_each(|at| view.store(at as usize * 4, pixel));
        dumb.handle
    }

    fn command(handle: u32) -> ModeFbCmd2 {
        ModeFbCmd2 {
            width: WIDTH,
            height: HEIGHT,
            pixel_format: u32::from_le_bytes(*b"XR24"),
            flags: MODE_FB_MODIFIERS,
            handles: [handle, 0, 0, 0],
            pitches: [PITCH, 0, 0, 0],
            ..ModeFbCmd2::ZEROED
        }
    }

    fn add(&self, mut command: ModeFbCmd2) -> Result<u32, Errno> {
        self.file.send(&mut command).map(|()| command.fb_id)
    }

    fn framebuffer(&self, pixel: u32) -> u32 {
        self.add(Self::command(self.buffer(pixel))).unwrap()
    }

    fn show(&self, change: impl FnOnce(&mut ModeCrtc)) -> Result<(), Errno> {
        let mut connectors = [self.connector; 9];
        let mut mode = [0; 68];
        mode.copy_from_slice(self.mode.as_bytes());
        let mut request = ModeCrtc {
            set_connectors_ptr: address_mut(&mut connectors),
            count_connectors: 1,
            crtc_id: self.crtc,
            mode_valid: 1,
            mode,
            ..ModeCrtc::ZEROED
        };
        change(&mut request);
        self.file.raw(MODE_SETCRTC, request.as_mut_bytes())
    }

    fn flip(&self, fb_id: u32, user_data: u64) -> Result<(), Errno> {
        let flags = MODE_PAGE_FLIP_EVENT;
        self.file.send(&mut ModePageFlip { crtc_id: self.crtc, fb_id, flags, user_data, ..ModePageFlip::ZEROED })
    }

    fn remove(&self, id: u32) -> Result<(), Errno> {
        self.file.raw(MODE_RMFB, id.to_le_bytes().as_mut_slice())
    }

    /// Shows a framebuffer of a colour.
    fn light(&self, pixel: u32) -> u32 {
        let id = self.framebuffer(pixel);
        self.show(|request| request.fb_id = id).unwrap();
        id
    }

    /// The numbers of the next flips' events.
    fn flipped<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|_| {
            let event = self.event();
            assert_eq!((event.kind, event.length, event.crtc_id), (EVENT_FLIP_COMPLETE, 32, self.crtc));
            event.user_data
        })
    }

    /// The next event.
    fn event(&self) -> EventVblank {
        let start = Instant::now();
        loop {
            if let Some(event) = self.file.0.read_event() {
                return event;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "no event");
            std::thread::yield_now();
        }
    }

    fn crtc(&self) -> ModeCrtc {
        let mut crtc = ModeCrtc { crtc_id: self.crtc, ..ModeCrtc::ZEROED };
        self.file.send(&mut crtc).unwrap();
        crtc
    }
}

fn first_pixel(picture: Option<Picture>) -> Option<[u8; 4]> {
    let picture = picture?;
    assert_eq!((picture.width, picture.height), (WIDTH, HEIGHT));
    assert_eq!(picture.rgba.len(), 4 * (WIDTH * HEIGHT) as usize);
    picture.rgba.first_chunk().copied()
}
