//! R155 and R160: what is told of framebuffers, and cursors, planes and gamma tables without properties.

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    MODE_CURSOR_BO, MODE_CURSOR_MOVE, MODE_FB_MODIFIERS, MODE_GETFB, MODE_GETFB2, MODE_SETGAMMA, ModeCloseFb,
    ModeCrtcLut, ModeCursor, ModeCursor2, ModeFbCmd, ModeFbCmd2, ModeFbDirty, ModeSetPlane, client_cap,
};

use super::{Client, HEIGHT, PITCH, WIDTH, first_pixel, lit};
use crate::support::address_mut;

impl Client {
    fn cursor(&self, request: ModeCursor) -> Result<(), Errno> {
        self.file.send(&mut ModeCursor { crtc_id: self.crtc, ..request })
    }

    fn get(&self, fb_id: u32) -> Result<ModeFbCmd, Errno> {
        let mut request = ModeFbCmd { fb_id, ..ModeFbCmd::ZEROED };
        self.file.send_as(MODE_GETFB, &mut request).map(|()| request)
    }
}

// Checks R155.
#[test]
fn a_framebuffer_is_told_and_its_bo_to_the_master_alone() {
    for (chip, flags) in [("navi21", MODE_FB_MODIFIERS), ("polaris10", 0)] {
        let device = lit(chip);
        let (client, other) = (Client::new(&device), Client::new(&device));
        let id = client.add(ModeFbCmd2 { flags, ..Client::command(client.buffer(0x77)) }).unwrap();
        let told = client.get(id).unwrap();
        let shape = (told.width, told.height, told.pitch, told.bpp, told.depth);
        assert_eq!(shape, (WIDTH, HEIGHT, PITCH, 32, 24));
        assert_eq!(client.file.view(told.handle, 4096).load(0), 0x77, "a handle of the same BO");
        let mut whole = ModeFbCmd2 { fb_id: id, ..ModeFbCmd2::ZEROED };
        client.file.send_as(MODE_GETFB2, &mut whole).unwrap();
        assert_eq!((whole.pixel_format, whole.flags, whole.pitches[0]), (u32::from_le_bytes(*b"XR24"), flags, PITCH));
        assert!(whole.handles[0] != 0 && whole.handles[1] == 0);
        assert_eq!(other.get(id).unwrap().handle, 0, "not the master");
        other.file.send_as(MODE_GETFB2, &mut whole).unwrap();
        assert_eq!(whole.handles, [0; 4]);
        assert_eq!(client.get(id + 1), Err(Errno::ENOENT));
    }
}

// Checks R155.
#[test]
fn a_closed_framebuffer_stays_while_it_is_shown() {
    let device = lit("navi21");
    let client = Client::new(&device);
    let id = client.light(0xff);
    let close = |fb_id, pad| client.file.send(&mut ModeCloseFb { fb_id, pad });
    assert_eq!(close(id, 1), Err(Errno::EINVAL));
    assert_eq!((close(id, 0), close(id, 0)), (Ok(()), Err(Errno::ENOENT)));
    assert_eq!((client.crtc().fb_id, client.remove(id)), (id, Err(Errno::ENOENT)));
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0, 0xff, 0xff]));
    client.light(0xff00);
    assert_eq!(client.get(id), Err(Errno::ENOENT), "nothing has it any more");
}

// Checks R155.
#[test]
fn what_a_dirty_framebuffer_may_say() {
    let client = Client::new(&lit("navi21"));
    let fb_id = client.framebuffer(0);
    let mut clips = [0_u64; 4];
    let clips_ptr = address_mut(&mut clips);
    let dirty = |request: ModeFbDirty| client.file.send(&mut { request });
    let all = ModeFbDirty { fb_id, ..ModeFbDirty::ZEROED };
    assert_eq!(dirty(all), Ok(()));
    assert_eq!(dirty(ModeFbDirty { num_clips: 4, clips_ptr, ..all }), Ok(()));
    for (request, expected) in [
        (ModeFbDirty { fb_id: 1, ..all }, Errno::ENOENT),
        (ModeFbDirty { num_clips: 1, ..all }, Errno::EINVAL),
        (ModeFbDirty { clips_ptr, ..all }, Errno::EINVAL),
        (ModeFbDirty { flags: 4, ..all }, Errno::EINVAL),
        (ModeFbDirty { flags: 1, num_clips: 3, clips_ptr, ..all }, Errno::EINVAL),
        (ModeFbDirty { num_clips: 257, clips_ptr, ..all }, Errno::EINVAL),
    ] {
        assert_eq!(dirty(request), Err(expected), "{request:?}");
    }
}

// Checks R160.
#[test]
fn a_cursor_lies_over_the_picture() {
    let device = lit("navi21");
    let client = Client::new(&device);
    client.light(0xff_ff_ff);
    let pixel = |x: usize, y: usize| {
        let picture = device.scanned_out().unwrap();
        let at = (y * WIDTH as usize + x) * 4;
        [picture.rgba[at], picture.rgba[at + 1], picture.rgba[at + 2]]
    };
    // Half of it shows what is behind.
    let handle = client.buffer_of((64, 64), 0x80_40_00_00);
    let none = ModeCursor::ZEROED;
    let show = ModeCursor { flags: MODE_CURSOR_BO, width: 64, height: 64, handle, ..none };
    client.cursor(show).unwrap();
    assert_eq!((pixel(63, 63), pixel(64, 64)), ([0xbf, 0x7f, 0x7f], [0xff; 3]));
    client.cursor(ModeCursor { flags: MODE_CURSOR_MOVE, x: -60, y: 10, ..none }).unwrap();
    assert_eq!((pixel(3, 10), pixel(4, 10), pixel(3, 9)), ([0xbf, 0x7f, 0x7f], [0xff; 3], [0xff; 3]));
    client.cursor(ModeCursor { flags: MODE_CURSOR_BO, ..none }).unwrap();
    assert_eq!(pixel(3, 10), [0xff; 3], "hidden");
    client.cursor(show).unwrap();
    assert_eq!((pixel(3, 10), pixel(4, 10)), ([0xbf, 0x7f, 0x7f], [0xff; 3]), "where it was");
    let both = ModeCursor2 {
        flags: MODE_CURSOR_BO | MODE_CURSOR_MOVE,
        crtc_id: client.crtc,
        x: 100,
        width: 64,
        height: 64,
        handle,
        ..ModeCursor2::ZEROED
    };
    client.file.send(&mut { both }).unwrap();
    assert_eq!((pixel(3, 10), pixel(100, 0)), ([0xff; 3], [0xbf, 0x7f, 0x7f]));
    let narrow = client.buffer_of((64, 64), 0);
    for (request, expected) in [
        (none, Errno::EINVAL),
        (ModeCursor { flags: 4, ..none }, Errno::EINVAL),
        (ModeCursor { handle: 99, ..show }, Errno::ENOENT),
        (ModeCursor { width: 32, height: 32, handle: narrow, ..show }, Errno::EINVAL),
        (ModeCursor { width: 0, ..show }, Errno::EINVAL),
    ] {
        assert_eq!(client.cursor(request), Err(expected), "{request:?}");
    }
    let large = client.buffer_of((320, 320), 0);
    let request = ModeCursor { width: 320, height: 320, handle: large, ..show };
    assert_eq!(client.cursor(request), Err(Errno::EINVAL), "larger than the chip's cursors");
    let unknown = ModeCursor { crtc_id: client.connector, ..show };
    assert_eq!(client.file.send(&mut { unknown }), Err(Errno::ENOENT));
}

// Checks R160.
#[test]
fn a_plane_is_set_without_properties() {
    let device = lit("navi21");
    let client = Client::new(&device);
    client.file.may(client_cap::UNIVERSAL_PLANES, 1).unwrap();
    let plane_id = client.file.planes()[1];
    client.light(0xff);
    let next = client.framebuffer(0xff00);
    let (src_w, src_h) = (WIDTH << 16, HEIGHT << 16);
    let half = ModeSetPlane {
        plane_id,
        crtc_id: client.crtc,
        fb_id: next,
        crtc_x: 1,
        crtc_w: WIDTH / 2,
        crtc_h: HEIGHT,
        src_w,
        src_h,
        ..ModeSetPlane::ZEROED
    };
    client.file.send(&mut { half }).unwrap();
    let picture = device.scanned_out().unwrap();
    let pixel = |x: usize| [picture.rgba[x * 4], picture.rgba[x * 4 + 1], picture.rgba[x * 4 + 2]];
    assert_eq!(
        (pixel(0), pixel(1), pixel(320), pixel(321)),
        ([0; 3], [0, 0xff, 0], [0, 0xff, 0], [0; 3]),
        "half of it"
    );
    for (request, expected) in [
        (ModeSetPlane { plane_id: client.crtc, ..half }, Errno::ENOENT),
        (ModeSetPlane { fb_id: 1, ..half }, Errno::ENOENT),
        (ModeSetPlane { crtc_id: plane_id, ..half }, Errno::ENOENT),
        (ModeSetPlane { crtc_id: client.crtc + 1, ..half }, Errno::EINVAL),
        (ModeSetPlane { src_x: 1, ..half }, Errno::ENOSPC),
        (ModeSetPlane { crtc_w: u32::MAX, ..half }, Errno::ERANGE),
        (ModeSetPlane { fb_id: 0, ..half }, Errno::EINVAL),
    ] {
        assert_eq!(client.file.send(&mut { request }), Err(expected), "{request:?}");
    }
}

// Checks R160.
#[test]
fn a_gamma_table_changes_the_picture() {
    let device = lit("navi21");
    let client = Client::new(&device);
    client.light(0x01_02_03);
    let mut table = [[0_u16; 256]; 3];
    let addresses = |table: &mut [[u16; 256]; 3]| {
        let [red, green, blue] = table.each_mut().map(|column| address_mut(column));
        ModeCrtcLut { crtc_id: client.crtc, gamma_size: 256, red, green, blue }
    };
    (table[0][1], table[1][2], table[2][3]) = (0x1100, 0x2200, 0x3300);
    let request = addresses(&mut table);
    client.file.send_as(MODE_SETGAMMA, &mut { request }).unwrap();
    assert_eq!(first_pixel(device.scanned_out()), Some([0x11, 0x22, 0x33, 0xff]));
    let mut back = [[9_u16; 256]; 3];
    client.file.send(&mut addresses(&mut back)).unwrap();
    assert_eq!(back, table);
    let small = ModeCrtcLut { gamma_size: 255, ..request };
    assert_eq!(client.file.send(&mut { small }), Err(Errno::EINVAL));
    assert_eq!(client.file.send_as(MODE_SETGAMMA, &mut { small }), Err(Errno::EINVAL));
    let unknown = ModeCrtcLut { crtc_id: client.connector, ..request };
    assert_eq!(client.file.send(&mut { unknown }), Err(Errno::ENOENT));
}
