//! The deeds of hostile clients.

use amdgpu_sim::SimDevice;
use amdgpu_winsys::uapi::{
    CRTC_SEQUENCE_RELATIVE, ColorLut, CrtcGetSequence, CrtcQueueSequence, GemClose, MODE_ATOMIC_ALLOW_MODESET,
    MODE_ATOMIC_NONBLOCK, MODE_ATOMIC_TEST_ONLY, MODE_GETFB, MODE_GETFB2, MODE_PAGE_FLIP_EVENT, MODE_RMFB,
    MODE_SETCRTC, MODE_SETGAMMA, ModeAtomic, ModeCloseFb, ModeConnectorSetProperty, ModeCreateBlob, ModeCreateDumb,
    ModeCrtc, ModeCrtcLut, ModeCursor, ModeDestroyBlob, ModeFbCmd, ModeFbCmd2, ModeFbDirty, ModeGetBlob,
    ModeGetConnector, ModeGetEncoder, ModeGetLease, ModeGetPlane, ModeGetProperty, ModeListLessees,
    ModeObjGetProperties, ModeObjSetProperty, ModePageFlip, ModeRevokeLease, ModeSetPlane, SW_SYNC_CREATE_FENCE,
    SW_SYNC_INC, SwSyncCreateFence, VBLANK_EVENT, VBLANK_RELATIVE, WaitVblank,
};
use zerocopy::IntoBytes as _;

use crate::client::{Hostile, SIZE, address, address_mut};

/// A deed: the file, the kind, and numbers that it uses.
pub(crate) type Deed = (u8, u8, [u32; 4], Vec<(u8, u8, u32)>);

/// Numbers of chance that become ids.
struct Draw<'d> {
    client: &'d Hostile,
    words: [u32; 4],
}

impl Draw<'_> {
    /// One of a list that is known, seldom any other number.
    fn of(&self, known: &[u32], at: usize) -> u32 {
        let word = self.words[at % 4];
        match known.len() {
            0 => word,
            _ if word % 16 == 15 => word >> 8,
            len => known[(word >> 4) as usize % len],
        }
    }

    fn crtc(&self, at: usize) -> u32 {
        let crtcs = self.client.known.lock().crtcs.clone();
        // Most of the time one that shows something.
        if self.words[at % 4].is_multiple_of(4) { self.of(&crtcs, at) } else { crtcs.first().copied().unwrap_or(1) }
    }

    fn plane(&self, at: usize) -> u32 {
        self.of(&self.client.known.lock().planes, at)
    }

    fn connector(&self, at: usize) -> u32 {
        self.of(&self.client.known.lock().connectors, at)
    }

    fn framebuffer(&self, at: usize) -> u32 {
        self.of(&self.client.known.lock().framebuffers, at)
    }

    fn blob(&self, at: usize) -> u32 {
        self.of(&self.client.known.lock().blobs, at)
    }

    fn handle(&self, at: usize) -> u32 {
        self.of(&self.client.known.lock().handles, at)
    }

    /// An object of any kind that has properties.
    fn object(&self, at: usize) -> u32 {
        match self.words[at % 4] % 8 {
            0..4 => self.plane(at),
            4..6 => self.crtc(at),
            _ => self.connector(at),
        }
    }

    /// A position or a length on the display or in a picture.
    fn length(&self, at: usize) -> u32 {
        let word = self.words[at % 4];
        match word % 8 {
            0..5 => [SIZE.0, SIZE.1, 64, 0, 1, 256, 128][word as usize / 8 % 7],
            5 => (word >> 3) % 1024,
            6 => (word >> 3) % 20_000,
            _ => word,
        }
    }

    /// The value of a property.
    fn value(&self, (kind, _, raw): (u8, u8, u32)) -> u64 {
        let own = Draw { client: self.client, words: [raw; 4] };
        match kind % 16 {
            0 | 1 => own.framebuffer(0).into(),
            2 | 3 => own.crtc(0).into(),
            4 => u64::from(own.length(0)) << 16,
            5 => own.length(0).into(),
            6 => own.blob(0).into(),
            7 | 8 => 0,
            9 => 1,
            10 => (raw % self.client.descriptors().max(1)).into(),
            11 => u64::MAX,
            12 => i64::from(own.length(0).cast_signed()).wrapping_neg().cast_unsigned(),
            13 => raw.into(),
            _ => u64::from(raw) << 32 | u64::from(raw),
        }
    }
}

/// Does a deed. Returns `true` if the kernel granted it.
pub(crate) fn act(gpu: &SimDevice, files: &[Hostile; 3], (who, kind, words, list): &Deed) -> bool {
    let client = &files[usize::from(*who) % 8 % 3];
    let draw = Draw { client, words: *words };
    match kind % 40 {
        0..8 => atomic(&draw, list),
        8 | 9 => set_property(&draw, list),
        10..13 => set_crtc(&draw),
        13..16 => flip(&draw),
        16 | 17 => cursor(&draw),
        18 => set_plane(&draw),
        19..22 => add_framebuffer(&draw),
        22 => remove_framebuffer(&draw),
        23..25 => dumb(&draw),
        25 | 26 => blob(&draw, list),
        27..30 => wait(&draw),
        30 => gamma(&draw),
        31 => mastery(&draw),
        32..34 => timeline(gpu, &draw),
        34 => {
            while client.kernel.read_event().is_some() {}
            true
        }
        35 => anything(&draw, list),
        36 | 37 => lease(&draw, list),
        _ => look(&draw),
    }
}

fn atomic(draw: &Draw<'_>, list: &[(u8, u8, u32)]) -> bool {
    const FLAGS: [u32; 4] =
        [MODE_ATOMIC_ALLOW_MODESET, MODE_ATOMIC_NONBLOCK, MODE_PAGE_FLIP_EVENT, MODE_ATOMIC_TEST_ONLY];
    let set = (draw.words[0] & 7) | (draw.words[0] >> 4 & 8 & (draw.words[0] >> 20));
    let flags = (0_u32..).zip(FLAGS).filter(|(bit, _)| set >> bit & 1 != 0).fold(0, |flags, (_, flag)| flags | flag);
    let mut place_of_fences = [0_i32; 2];
    let (mut objects, mut ids, mut values) = (vec![], vec![], vec![]);
    for (at, &pair) in list.iter().take(12).enumerate() {
        // Neighbours are often of one object; most properties have ids below 32.
        let own = Draw { client: draw.client, words: [draw.words[at / 4 % 4]; 4] };
        objects.push(own.object(at));
        ids.push(u32::from(pair.1) % 32);
        let is_pointer = pair.1 % 32 == 14 && pair.0 % 4 != 0;
        values.push(if is_pointer { address_mut(&mut place_of_fences) } else { draw.value(pair) });
    }
    let counts = vec![1_u32; objects.len()];
    let mut request = ModeAtomic {
        flags,
        count_objs: objects.len() as u32,
        objs_ptr: address(&objects),
        count_props_ptr: address(&counts),
        props_ptr: address(&ids),
        prop_values_ptr: address(&values),
        reserved: 0,
        user_data: 7,
    };
    match draw.words[3] % 64 {
        0 => request.count_objs = draw.words[2] % 64,
        1 => request.props_ptr = draw.words[2].into(),
        2 => request.prop_values_ptr = 1 << 63,
        3 => request.flags = draw.words[2],
        4 => request.reserved = 1,
        _ => {}
    }
    draw.client.send(&mut request).is_ok()
}

/// Leases objects, or does something with a lease or as a lessee.
fn lease(draw: &Draw<'_>, list: &[(u8, u8, u32)]) -> bool {
    let (client, [first, second, ..]) = (draw.client, draw.words);
    let mut ids = [0; 4];
    let list_at = if first.is_multiple_of(16) { first.into() } else { address_mut(&mut ids) };
    match (second % 16, client.lessee(first)) {
        (0..6, _) | (_, None) => {
            let named = list.iter().take(4).map(|(_, _, raw)| *raw);
            let own = named.map(|raw| Draw { client, words: [raw; 4] }.object(0));
            let usual = [draw.crtc(0), draw.connector(1), draw.plane(2)];
            let objects: Vec<u32> = usual.into_iter().chain(own).take(first as usize % 8).collect();
            let flags = if (second >> 8).is_multiple_of(16) { first } else { 0 };
            client.lease(&objects, flags)
        }
        (6, _) => client.told(ModeListLessees { count_lessees: second >> 8 & 7, pad: 0, lessees_ptr: list_at }).is_ok(),
        (7, Some(lessee)) => {
            let from = if second >> 8 & 1 == 0 { client } else { &lessee };
            from.told(ModeGetLease { count_objects: second >> 9 & 3, pad: 0, objects_ptr: list_at }).is_ok()
        }
        (8, _) => client.told(ModeRevokeLease { lessee_id: second >> 8 & 3 }).is_ok(),
        (9, _) => client.close_lessee(first),
        (kind, Some(lessee)) => {
            let draw = Draw { client: &lessee, words: draw.words };
            match kind {
                10 | 11 => atomic(&draw, list),
                12 => set_crtc(&draw),
                13 => flip(&draw),
                14 => add_framebuffer(&draw) | set_plane(&draw),
                _ => look(&draw) | cursor(&draw) | mastery(&draw),
            }
        }
    }
}

fn set_property(draw: &Draw<'_>, list: &[(u8, u8, u32)]) -> bool {
    let Some(&pair) = list.first() else { return false };
    let (value, prop_id) = (draw.value(pair), u32::from(pair.1) % 32);
    if draw.words[3].is_multiple_of(2) {
        return draw.client.told(ModeConnectorSetProperty { value, prop_id, connector_id: draw.connector(1) }).is_ok();
    }
    let (obj_id, obj_type) = (draw.object(1), if draw.words[2].is_multiple_of(16) { draw.words[2] } else { 0 });
    draw.client.told(ModeObjSetProperty { value, prop_id, obj_id, obj_type, ..ModeObjSetProperty::ZEROED }).is_ok()
}

fn set_crtc(draw: &Draw<'_>) -> bool {
    let mut mode = [0; 68];
    mode.copy_from_slice(draw.client.mode.as_bytes());
    let [first, second, third, _] = draw.words;
    if second.is_multiple_of(16) {
        mode[third as usize % 68] ^= second as u8;
    }
    let connectors = [draw.connector(2), draw.connector(3)];
    let mut request = ModeCrtc {
        set_connectors_ptr: if first.is_multiple_of(32) { third.into() } else { address(&connectors) },
        count_connectors: [1, 1, 1, 0, 2, third][first as usize % 6],
        crtc_id: draw.crtc(0),
        fb_id: if third.is_multiple_of(8) { u32::MAX } else { draw.framebuffer(1) },
        x: if third.is_multiple_of(4) { draw.length(3) } else { 0 },
        y: 0,
        gamma_size: 0,
        mode_valid: u32::from(second % 8 != 0),
        mode,
    };
    draw.client.raw(MODE_SETCRTC, std::ptr::from_mut(&mut request).expose_provenance() as u64).is_ok()
}

fn flip(draw: &Draw<'_>) -> bool {
    let flags = if draw.words[2].is_multiple_of(16) { draw.words[2] >> 4 } else { MODE_PAGE_FLIP_EVENT };
    let (crtc_id, fb_id, user_data) = (draw.crtc(0), draw.framebuffer(1), draw.words[2].into());
    draw.client.told(ModePageFlip { crtc_id, fb_id, flags, reserved: 0, user_data }).is_ok()
}

fn cursor(draw: &Draw<'_>) -> bool {
    let [first, second, third, fourth] = draw.words;
    let size = [64, 64, 128, 256, draw.length(2)][third as usize % 5];
    let (x, y) = (draw.length(1).cast_signed(), draw.length(3).cast_signed());
    let handle = if fourth.is_multiple_of(8) { 0 } else { draw.handle(3) };
    let flags = if second.is_multiple_of(16) { second >> 4 } else { first % 4 };
    draw.client.told(ModeCursor { flags, crtc_id: draw.crtc(0), x, y, width: size, height: size, handle }).is_ok()
}

fn set_plane(draw: &Draw<'_>) -> bool {
    let request = ModeSetPlane {
        plane_id: draw.plane(0),
        crtc_id: draw.crtc(1),
        fb_id: if draw.words[2].is_multiple_of(8) { 0 } else { draw.framebuffer(2) },
        flags: 0,
        crtc_x: draw.length(0).cast_signed(),
        crtc_y: draw.length(1).cast_signed(),
        crtc_w: draw.length(2),
        crtc_h: draw.length(3),
        src_x: draw.length(1) << 16,
        src_y: draw.length(0) << 16,
        src_w: draw.length(2) << 16,
        src_h: draw.length(3) << 16,
    };
    draw.client.told(request).is_ok()
}

fn add_framebuffer(draw: &Draw<'_>) -> bool {
    const FORMATS: [[u8; 4]; 5] = [*b"XR24", *b"AR24", *b"RG16", *b"XB30", *b"NV12"];
    let [first, second, third, fourth] = draw.words;
    let (width, height) = (draw.length(0), draw.length(1));
    if fourth.is_multiple_of(4) {
        let (handle, pitch) = (draw.handle(2), width.saturating_mul(4));
        let (bpp, depth) = [(32, 24), (32, 32), (16, 16), (third, fourth)][fourth as usize / 4 % 4];
        let made = draw.client.told(ModeFbCmd { width, height, pitch, bpp, depth, handle, fb_id: 0 });
        draw.client.known.lock().framebuffers.extend(made.as_ref().ok().map(|made| made.fb_id));
        return made.is_ok();
    }
    let pitch = if first.is_multiple_of(8) { third } else { width.saturating_mul(4) & !255 };
    let modifier = match second % 4 {
        0 | 1 => 0,
        // A layout of AMD's, of whatever tiles.
        2 => 0x0200_0000_0000_0000 | u64::from(third),
        _ => u64::from(third) << 32 | u64::from(fourth),
    };
    let command = ModeFbCmd2 {
        width,
        height,
        pixel_format: u32::from_le_bytes(FORMATS[first as usize / 8 % FORMATS.len()]),
        flags: if second.is_multiple_of(32) { second >> 5 } else { 2 * (first & 1) },
        handles: [draw.handle(2), 0, 0, u32::from(fourth % 64 == 1)],
        pitches: [pitch, 0, 0, 0],
        offsets: [if fourth % 8 == 1 { third } else { 0 }, 0, 0, 0],
        modifier: [modifier, 0, 0, 0],
        ..ModeFbCmd2::ZEROED
    };
    let made = draw.client.told(command);
    draw.client.known.lock().framebuffers.extend(made.as_ref().ok().map(|made| made.fb_id));
    made.is_ok()
}

fn remove_framebuffer(draw: &Draw<'_>) -> bool {
    let mut fb_id = draw.framebuffer(0);
    if draw.words[1].is_multiple_of(2) {
        return draw.client.told(ModeCloseFb { fb_id, pad: 0 }).is_ok();
    }
    draw.client.raw(MODE_RMFB, std::ptr::from_mut(&mut fb_id).expose_provenance() as u64).is_ok()
}

fn dumb(draw: &Draw<'_>) -> bool {
    let [first, second, third, _] = draw.words;
    if first.is_multiple_of(8) {
        let closed = GemClose { handle: draw.handle(1), pad: 0 };
        return draw.client.told(closed).is_ok();
    }
    let bpp = if second.is_multiple_of(8) { third } else { 32 };
    // Memory that is never touched costs nothing, but not all of it at once.
    let (width, height) = (draw.length(1) % 40_000, draw.length(2) % 40_000);
    let made = draw.client.told(ModeCreateDumb { width, height, bpp, ..ModeCreateDumb::ZEROED });
    draw.client.known.lock().handles.extend(made.as_ref().ok().map(|made| made.handle));
    made.is_ok()
}

fn blob(draw: &Draw<'_>, list: &[(u8, u8, u32)]) -> bool {
    let [first, second, third, _] = draw.words;
    match first % 8 {
        0 => return draw.client.told(ModeDestroyBlob { blob_id: draw.blob(1) }).is_ok(),
        1 => {
            let mut room = [0_u8; 4096];
            let (blob_id, length) = (draw.blob(1), second % 4096);
            return draw.client.told(ModeGetBlob { blob_id, length, data: address_mut(&mut room) }).is_ok();
        }
        _ => {}
    }
    let mode = draw.client.mode;
    let table: Vec<ColorLut> = vec![
        ColorLut { red: third as u16, green: 1, blue: 2, reserved: 0 };
        [256, 4096, third as usize % 300][second as usize % 3]
    ];
    let other: Vec<u32> = list.iter().map(|entry| entry.2).collect();
    let (data, length) = match first % 4 {
        0 | 1 => (address(mode.as_bytes()), 68),
        2 => (address(&table), table.as_bytes().len() as u32),
        _ => (address(&other), if third.is_multiple_of(16) { third } else { other.len() as u32 * 4 }),
    };
    if length as usize > 16 * other.len() + table.as_bytes().len() + 68 && length < 1 << 26 {
        return false;
    }
    let made = draw.client.told(ModeCreateBlob { data, length, blob_id: 0 });
    draw.client.known.lock().blobs.extend(made.as_ref().ok().map(|made| made.blob_id));
    made.is_ok()
}

fn wait(draw: &Draw<'_>) -> bool {
    let [first, second, third, _] = draw.words;
    let crtc_id = draw.crtc(0);
    match first % 4 {
        0 => {
            let kind = if second.is_multiple_of(4) { second } else { VBLANK_EVENT | VBLANK_RELATIVE };
            let sequence = if third.is_multiple_of(4) { third } else { third % 3 };
            draw.client.told(WaitVblank { kind, sequence, signal: 5, microseconds: 0 }).is_ok()
        }
        1 => draw.client.told(CrtcGetSequence { crtc_id, ..CrtcGetSequence::ZEROED }).is_ok(),
        _ => {
            let flags = if second.is_multiple_of(4) { second % 8 } else { CRTC_SEQUENCE_RELATIVE };
            let sequence = if third.is_multiple_of(4) { u64::from(third) << 31 } else { u64::from(third % 3) };
            draw.client.told(CrtcQueueSequence { crtc_id, flags, sequence, user_data: 6 }).is_ok()
        }
    }
}

fn gamma(draw: &Draw<'_>) -> bool {
    let column = [draw.words[1] as u16; 256];
    let (crtc_id, gamma_size) = (draw.crtc(0), if draw.words[2].is_multiple_of(8) { draw.words[2] } else { 256 });
    let blue = if draw.words[3].is_multiple_of(8) { draw.words[3].into() } else { address(&column) };
    let mut request = ModeCrtcLut { crtc_id, gamma_size, red: address(&column), green: address(&column), blue };
    draw.client.raw(MODE_SETGAMMA, std::ptr::from_mut(&mut request).expose_provenance() as u64).is_ok()
}

fn mastery(draw: &Draw<'_>) -> bool {
    if draw.words[0].is_multiple_of(2) {
        draw.client.drop_master();
        return true;
    }
    draw.client.raw(amdgpu_winsys::uapi::SET_MASTER, 0).is_ok()
}

fn timeline(gpu: &SimDevice, draw: &Draw<'_>) -> bool {
    let [first, second, third, _] = draw.words;
    match first % 4 {
        0 if draw.client.descriptors() < 16 => {
            draw.client.open_timeline(gpu);
            true
        }
        1 => {
            let mut by = second % 3;
            let at = std::ptr::from_mut(&mut by).expose_provenance() as u64;
            draw.client.on_descriptor(gpu, third % 4, SW_SYNC_INC.bits(), at)
        }
        _ if draw.client.descriptors() < 64 => {
            let mut fence = SwSyncCreateFence { value: second % 4, ..SwSyncCreateFence::ZEROED };
            let at = std::ptr::from_mut(&mut fence).expose_provenance() as u64;
            draw.client.on_descriptor(gpu, third % 4, SW_SYNC_CREATE_FENCE.bits(), at)
        }
        _ => false,
    }
}

/// Any request about the display, with an argument of numbers.
fn anything(draw: &Draw<'_>, list: &[(u8, u8, u32)]) -> bool {
    let mut argument = [0_u64; 16];
    for (place, &entry) in argument.iter_mut().zip(list) {
        *place = draw.value(entry);
    }
    let request = 0xc040_6400 | (0xa0 + draw.words[0] % 0x31);
    draw.client.raw(amdgpu_winsys::uapi::Request::from_bits(request), address_mut(&mut argument)).is_ok()
}

/// Requests that only look.
fn look(draw: &Draw<'_>) -> bool {
    let mut room = [0_u64; 512];
    let (list, length) = (address_mut(&mut room), draw.words[1] % 64);
    let (client, object) = (draw.client, draw.object(0));
    match draw.words[2] % 8 {
        0 => {
            let question = ModeObjGetProperties {
                props_ptr: list,
                prop_values_ptr: list,
                count_props: length,
                obj_id: object,
                ..ModeObjGetProperties::ZEROED
            };
            client.told(question).is_ok()
        }
        1 => client
            .told(ModeGetProperty {
                prop_id: length,
                values_ptr: list,
                count_values: length,
                ..ModeGetProperty::ZEROED
            })
            .is_ok(),
        2 => client.told(ModeGetPlane { plane_id: draw.plane(0), ..ModeGetPlane::ZEROED }).is_ok(),
        3 => client.told(ModeGetEncoder { encoder_id: object, ..ModeGetEncoder::ZEROED }).is_ok(),
        4 => client.told(ModeGetConnector { connector_id: draw.connector(0), ..ModeGetConnector::ZEROED }).is_ok(),
        5 => client
            .told(ModeFbDirty { fb_id: draw.framebuffer(0), num_clips: length, clips_ptr: list, ..ModeFbDirty::ZEROED })
            .is_ok(),
        6 => {
            let mut command = ModeFbCmd { fb_id: draw.framebuffer(0), ..ModeFbCmd::ZEROED };
            let found = client.raw(MODE_GETFB, std::ptr::from_mut(&mut command).expose_provenance() as u64).is_ok();
            client.known.lock().handles.extend((found && command.handle != 0).then_some(command.handle));
            found
        }
        _ => {
            let mut command = ModeFbCmd2 { fb_id: draw.framebuffer(0), ..ModeFbCmd2::ZEROED };
            let found = client.raw(MODE_GETFB2, std::ptr::from_mut(&mut command).expose_provenance() as u64).is_ok();
            client.known.lock().handles.extend((found && command.handles[0] != 0).then_some(command.handles[0]));
            found
        }
    }
}
