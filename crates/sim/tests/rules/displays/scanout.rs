//! Framebuffers, modes and page flips on a virtual display.

use amdgpu_sim::{SimDevice, profile};
use amdgpu_surface::{
    Chip, ChipRegisters,
    addr2::meta::MetaAddresser,
    modifier::Modifier,
    surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage},
    tiler::{Region, Rows},
};
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    ModeCardRes, ModeCrtc, ModeFbCmd, ModeFbCmd2, ModeGetConnector, ModeGetEncoder, ModeInfo, ModePageFlip,
};
use zerocopy::FromBytes;

use super::{Client, HEIGHT, PITCH, WIDTH, first_pixel, lit, lit_with, modifiers::in_formats};
use crate::support::{File, reference};

#[test]
fn a_mode_shows_a_framebuffer_until_it_is_turned_off() {
    for chip in ["navi21", "renoir", "polaris10"] {
        let device = lit(chip);
        let client = Client::new(&device);
        let mut old = ModeFbCmd {
            width: WIDTH,
            height: HEIGHT,
            pitch: PITCH,
            bpp: 32,
            depth: 24,
            handle: client.buffer(0x11_22_33),
            ..ModeFbCmd::ZEROED
        };
        client.file.send(&mut old).unwrap();
        assert_eq!(device.scanned_out(), None);
        client.show(|request| request.fb_id = old.fb_id).unwrap();
        assert_eq!(first_pixel(device.scanned_out()), Some([0x11, 0x22, 0x33, 0xff]), "{chip}");
        let crtc = client.crtc();
        assert_eq!((crtc.fb_id, crtc.mode_valid), (old.fb_id, 1));
        assert_eq!(ModeInfo::read_from_bytes(&crtc.mode), Ok(client.mode));
        let mut connector = ModeGetConnector { connector_id: client.connector, ..ModeGetConnector::ZEROED };
        client.file.send(&mut connector).unwrap();
        let mut encoder = ModeGetEncoder { encoder_id: connector.encoder_id, ..ModeGetEncoder::ZEROED };
        client.file.send(&mut encoder).unwrap();
        assert_eq!(encoder.crtc_id, client.crtc);
        client.show(|request| (request.mode_valid, request.count_connectors) = (0, 0)).unwrap();
        assert_eq!(client.crtc().mode_valid, 0);
        assert_eq!(first_pixel(device.scanned_out()), Some([0x11, 0x22, 0x33, 0xff]), "what was shown last");
    }
}

#[test]
fn a_page_flip_shows_the_next_framebuffer_and_tells_of_it() {
    let device = lit("navi21");
    let client = Client::new(&device);
    let pictures = [0xff_0000, 0x00_ff00].map(|pixel| client.framebuffer(pixel));
    assert_eq!(client.flip(pictures[0], 1), Err(Errno::EBUSY), "it is off");
    client.show(|request| request.fb_id = pictures[0]).unwrap();
    for number in 1..4 {
        let next = pictures[number as usize % 2];
        client.flip(next, number).unwrap();
        // One at a time: another is taken only if this thread was so slow that the event of the first is there.
        match client.flip(next, 9) {
            Ok(()) => {
                assert_eq!(client.file.0.read_event().map(|event| event.user_data), Some(number));
                assert_eq!(client.flipped(), [9]);
            }
            Err(errno) => {
                assert_eq!(errno, Errno::EBUSY);
                assert_eq!(client.flipped(), [number]);
            }
        }
        assert_eq!(client.crtc().fb_id, next);
    }
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0xff, 0, 0xff]));
    assert_eq!(client.file.0.read_event(), None);
}

#[test]
fn events_that_nothing_reads_are_refused_in_the_end() {
    let device = lit("navi21");
    let client = Client::new(&device);
    let shown = client.framebuffer(0);
    client.show(|request| request.fb_id = shown).unwrap();
    let mut sent = 0;
    let refused = loop {
        match client.flip(shown, 0) {
            Ok(()) => sent += 1,
            Err(Errno::EBUSY) => std::thread::yield_now(),
            Err(errno) => break errno,
        }
    };
    assert_eq!((sent, refused), (4096 / 32, Errno::ENOMEM));
}

#[test]
fn a_framebuffer_goes_with_its_file_and_takes_the_picture_along() {
    let device = lit("navi21");
    let (client, other) = (Client::new(&device), Client::new(&device));
    let id = client.framebuffer(0xff);
    client.show(|request| request.fb_id = id).unwrap();
    assert_eq!(other.remove(id), Err(Errno::ENOENT), "it is another's");
    let mut none = ModeCardRes::ZEROED;
    other.file.send(&mut none).unwrap();
    assert_eq!(none.count_fbs, 0);
    assert_eq!(other.show(|request| request.fb_id = id), Err(Errno::EACCES), "not the master");
    assert_eq!(other.flip(id, 0), Err(Errno::EACCES));
    drop(client);
    assert_eq!(other.crtc().mode_valid, 0);
    assert_eq!(device.census().bos, 0);
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0, 0xff, 0xff]));
}

#[test]
fn framebuffers_are_checked_as_the_driver_checks_them() {
    // 64 KiB in tiles of GFX9, which GFX10.3 does not scan out.
    const TILED: u64 = 0x0200_0000_0000_0901;
    let client = Client::new(&lit("navi21"));
    let handle = client.buffer(0);
    let with = |change: fn(&mut ModeFbCmd2)| {
        let mut command = Client::command(handle);
        change(&mut command);
        client.add(command)
    };
    for (change, expected) in [
        ((|command| command.flags = 4) as fn(&mut ModeFbCmd2), Errno::EINVAL),
        (|command| command.width = 0, Errno::EINVAL),
        (|command| command.height = 16385, Errno::EINVAL),
        (|command| command.pixel_format = u32::from_le_bytes(*b"YUYV"), Errno::EINVAL),
        (|command| command.handles[0] = 0, Errno::EINVAL),
        (|command| command.handles[0] = 99, Errno::ENOENT),
        (|command| command.handles[1] = 1, Errno::EINVAL),
        (|command| command.pitches[0] = PITCH - 4, Errno::EINVAL),
        (|command| (command.pitches[0], command.height) = (PITCH + 4, 16), Errno::EINVAL),
        (|command| (command.offsets[0], command.height) = (128, 16), Errno::EINVAL),
        (|command| command.pitches[0] = u32::MAX, Errno::ERANGE),
        (
            |command| {
                command.offsets[0] = u32::MAX;
                command.pitches[0] -= 4;
            },
            Errno::ERANGE,
        ),
        (|command| (command.flags, command.modifier[1]) = (0, 1), Errno::EINVAL),
        (|command| command.offsets[0] = 256, Errno::EINVAL),
        (|command| command.modifier[0] = u64::MAX, Errno::EINVAL),
        (|command| command.modifier[0] = TILED | 1 << 13, Errno::EINVAL),
        (|command| command.modifier[1] = 1, Errno::EINVAL),
        (|command| (command.flags, command.modifier[0]) = (0, 1), Errno::EINVAL),
    ] {
        assert_eq!(with(change), Err(expected), "{expected}");
    }
    assert!(with(|_| ()).is_ok());
    assert!(with(|command| command.height -= 1).is_ok());
    let old = Client::new(&lit("polaris10"));
    assert_eq!(old.add(Client::command(old.buffer(0))), Err(Errno::EINVAL), "GFX8 has no modifiers");
    let depth =
        ModeFbCmd { width: WIDTH, height: HEIGHT, pitch: PITCH, bpp: 32, depth: 8, handle, ..ModeFbCmd::ZEROED };
    assert_eq!(client.file.send(&mut { depth }), Err(Errno::EINVAL));
}

#[test]
fn modes_and_flips_are_checked_as_the_kernel_checks_them() {
    let client = Client::new(&lit("navi21"));
    let shown = client.framebuffer(0);
    let small = client.add(ModeFbCmd2 { height: 16, ..Client::command(client.buffer(0)) }).unwrap();
    let with = |change: &dyn Fn(&mut ModeCrtc)| {
        client.show(|request| {
            request.fb_id = shown;
            change(request);
        })
    };
    assert_eq!(with(&|request| request.fb_id = u32::MAX), Err(Errno::EINVAL), "nothing is shown");
    assert_eq!(with(&|request| request.crtc_id = client.connector), Err(Errno::ENOENT));
    assert_eq!(with(&|request| request.fb_id = 1), Err(Errno::ENOENT));
    assert_eq!(with(&|request| request.fb_id = small), Err(Errno::ENOSPC));
    assert_eq!(with(&|request| request.y = 1), Err(Errno::ENOSPC));
    assert_eq!(with(&|request| request.x = 1 << 31), Err(Errno::ERANGE));
    assert_eq!(with(&|request| request.mode[0] ^= 1), Err(Errno::EINVAL), "another clock");
    assert_eq!(with(&|request| request.count_connectors = 0), Err(Errno::EINVAL));
    assert_eq!(with(&|request| request.count_connectors = 9), Err(Errno::EINVAL));
    assert_eq!(with(&|request| request.set_connectors_ptr = 0), Err(Errno::EFAULT));
    assert_eq!(with(&|request| request.mode_valid = 0), Err(Errno::EINVAL));
    assert_eq!(with(&|_| ()), Ok(()));
    assert_eq!(with(&|request| request.fb_id = u32::MAX), Ok(()));
    assert_eq!((client.flip(1, 0), client.flip(small, 0)), (Err(Errno::ENOENT), Err(Errno::ENOSPC)));
    let sixteen = ModeFbCmd2 { pixel_format: u32::from_le_bytes(*b"XB24"), ..Client::command(client.buffer(0)) };
    assert_eq!(client.flip(client.add(sixteen).unwrap(), 0), Err(Errno::EINVAL), "another format");
    let page_flip = ModePageFlip { crtc_id: client.crtc, fb_id: shown, ..ModePageFlip::ZEROED };
    assert_eq!(client.file.send(&mut ModePageFlip { flags: 0x10, ..page_flip }), Err(Errno::EINVAL));
    assert_eq!(client.file.send(&mut ModePageFlip { reserved: 1, ..page_flip }), Err(Errno::EINVAL));
    assert_eq!(client.remove(shown), Ok(()));
    assert_eq!((client.remove(shown), client.crtc().mode_valid), (Err(Errno::ENOENT), 0));
}

/// Every modifier of the chip, drawn by the equations of its tiles.
#[test]
fn a_picture_is_taken_out_of_its_tiles() {
    const WIDE: u32 = 256;
    const SHOWN: (u32, u32) = (200, 150);
    for name in ["vega10", "renoir", "navi10", "navi21", "navi31"] {
        let device = lit_with(name, "200x150");
        let (client, plane, _) = Client::atomic(&device);
        let chip = Chip::new(&ChipRegisters::reported(&device.profile().reported(61))).unwrap();
        // XR24 is the first format.
        let all = in_formats(&client, plane).1.into_iter().filter(|(formats, _)| formats & 1 == 1);
        let tiled = all.map(|(_, modifier)| Modifier::decode(modifier).unwrap());
        let mut count = 0;
        for modifier in tiled.filter(|modifier| *modifier != Modifier::Linear && modifier.dcc().is_none()) {
            count += 1;
            let config = SurfaceConfig {
                modifier: Some(modifier),
                usage: SurfaceUsage::DISABLE_DCC,
                ..SurfaceConfig::new(WIDE, SHOWN.1, 4)
            };
            let layout = SurfaceLayout::new(&chip, &config).unwrap();
            let rows: Vec<u8> =
                (0..WIDE * SHOWN.1).flat_map(|at| ((at % WIDE) | ((at / WIDE) << 12)).to_le_bytes()).collect();
            let mut bytes = vec![0; usize::try_from(layout.total_bytes).unwrap()];
            let pitch = Rows { pitch: WIDE as usize * 4, slice: 0 };
            layout
                .texels(&chip, &config, 0)
                .unwrap()
                .tile(&Region::whole(WIDE, SHOWN.1, 1), &rows, pitch, &mut bytes)
                .unwrap();
            let size = layout.total_bytes.next_multiple_of(4096);
            let handle = client.file.create(size);
            let view = client.file.map_at_offset(client.file.offset(handle).unwrap(), size).unwrap();
            for (at, dword) in bytes.chunks_exact(4).enumerate() {
                view.store(at * 4, u32::from_le_bytes(dword.try_into().unwrap()));
            }
            let fits = ModeFbCmd2 {
                width: SHOWN.0,
                height: SHOWN.1,
                pitches: [WIDE * 4, 0, 0, 0],
                modifier: [modifier.encode(), 0, 0, 0],
                ..Client::command(handle)
            };
            assert_eq!(client.add(ModeFbCmd2 { pitches: [WIDE * 4 + 256, 0, 0, 0], ..fits }), Err(Errno::EINVAL));
            assert_eq!(client.add(ModeFbCmd2 { offsets: [4096, 0, 0, 0], ..fits }), Err(Errno::EINVAL));
            assert_eq!(client.add(ModeFbCmd2 { height: 4096, ..fits }), Err(Errno::EINVAL), "the BO is too small");
            let id = client.add(fits).unwrap_or_else(|errno| panic!("{name}: {modifier:?}: {errno}"));
            client.show(|request| request.fb_id = id).unwrap();
            let picture = device.scanned_out().unwrap();
            let texel = |x: u32, y: u32| {
                let at = 4 * (y * SHOWN.0 + x) as usize;
                u32::from_be_bytes([0, picture.rgba[at], picture.rgba[at + 1], picture.rgba[at + 2]])
            };
            assert!((0..SHOWN.1).all(|y| (0..SHOWN.0).all(|x| texel(x, y) == (x | (y << 12)))), "{name}: {modifier:?}");
        }
        assert!(count >= 2, "{name}: {count} modifiers");
    }
}

/// Every modifier of the chip with codes that the display reads: one block has the colour in its code, one that of its first pixel.
#[test]
fn blocks_that_are_cleared_by_their_codes_are_shown_in_their_colour() {
    const WIDE: u32 = 256;
    const HIGH: u32 = 128;
    for (name, cleared, opposite, first) in [
        ("renoir", 0x40_u8, 0x80, None),
        ("navi10", 0x40, 0x80, Some(0x10)),
        ("navi21", 0x40, 0x80, Some(0x10)),
        ("navi31", 0x08, 0x0a, Some(0x01)),
    ] {
        let device = lit_with(name, "256x128");
        let (client, plane, _) = Client::atomic(&device);
        let chip = Chip::new(&ChipRegisters::reported(&device.profile().reported(61))).unwrap();
        let all = in_formats(&client, plane).1.into_iter().filter(|(formats, _)| formats & 1 == 1);
        let all = all.map(|(_, modifier)| Modifier::decode(modifier).unwrap());
        let mut count = 0;
        for modifier in all.filter(|modifier| modifier.dcc().is_some()) {
            count += 1;
            let usage = SurfaceUsage::SCANOUT;
            let config = SurfaceConfig { modifier: Some(modifier), usage, ..SurfaceConfig::new(WIDE, HIGH, 4) };
            let layout = SurfaceLayout::new(&chip, &config).unwrap();
            let planes = layout.planes(&config);
            let planes = planes.as_slice();
            let image = layout.display_dcc.map_or_else(|| layout.dcc.unwrap().image, |display| display.image).unwrap();
            let meta = image.layout(&chip).unwrap();
            let codes = MetaAddresser::new(&chip, &image, &meta, 0).unwrap();
            let [width, height, _] = meta.compressed_block;
            let size = layout.total_bytes.next_multiple_of(4096);
            let handle = client.file.create(size);
            let view = client.file.map_at_offset(client.file.offset(handle).unwrap(), size).unwrap();
            // Memory has one colour; all blocks are plain but four.
            (0..size as usize / 4).for_each(|at| view.store(at * 4, 0x0011_2233));
            let start = planes[1].offset;
            (0..meta.bytes as usize / 4).for_each(|at| view.store(start as usize + at * 4, 0xffff_ffff));
            let mut changed = vec![(3, 2, cleared, 0xff00_0000_u32), (0, 1, opposite, 0x00ff_ffff), (5, 5, 0x00, 0)];
            changed.extend(first.map(|code| (2, 6, code, 0x00aa_bbcc)));
            for &(x, y, code, _) in &changed {
                let at = (start + codes.address(x * width, y * height, 0, 0).byte) as usize;
                let (dword, shift) = (at & !3, (at & 3) * 8);
                view.store(dword, view.load(dword) & !(0xff << shift) | u32::from(code) << shift);
            }
            if first.is_some() {
                // The first pixel of that block lies where the equations of tiles have it.
                let texels = layout.texels(&chip, &config, 0).unwrap();
                let mut mark = vec![0; layout.total_bytes as usize];
                let region = Region { first: [2 * width, 6 * height, 0], extent: [1, 1, 1], sample: 0 };
                texels.tile(&region, &[0xff; 4], Rows { pitch: 4, slice: 0 }, &mut mark).unwrap();
                let at = mark.iter().position(|byte| *byte == 0xff).unwrap();
                view.store(at, 0x00aa_bbcc);
            }
            let mut command = ModeFbCmd2 { width: WIDE, height: HIGH, modifier: [0; 4], ..Client::command(handle) };
            for (index, plane) in planes.iter().enumerate() {
                command.handles[index] = handle;
                command.offsets[index] = plane.offset as u32;
                command.pitches[index] = plane.stride as u32;
                command.modifier[index] = modifier.encode();
            }
            let id = client.add(command).unwrap_or_else(|errno| panic!("{name}: {modifier:?}: {errno}"));
            client.show(|request| request.fb_id = id).unwrap();
            let picture = device.scanned_out().unwrap();
            for (x, y) in (0..HIGH).flat_map(|y| (0..WIDE).map(move |x| (x, y))) {
                let at = 4 * (y * WIDE + x) as usize;
                let shown = u32::from_be_bytes([0, picture.rgba[at], picture.rgba[at + 1], picture.rgba[at + 2]]);
                let block = changed.iter().find(|(column, row, ..)| (x / width, y / height) == (*column, *row));
                let expected = block.map_or(0x0011_2233, |(.., colour)| colour & 0x00ff_ffff);
                assert_eq!(shown, expected, "{name}: {modifier:?}: pixel {x}, {y}");
            }
        }
        assert!(count >= 1, "{name}: no modifier with DCC");
    }
}

#[test]
fn without_a_display_nothing_is_scanned_out() {
    let device = SimDevice::new(profile("navi21").unwrap(), reference());
    let file = File(device.open_primary(false));
    assert_eq!(file.send(&mut { ModeFbCmd::ZEROED }), Err(Errno::EOPNOTSUPP));
    assert_eq!(file.send(&mut { ModeFbCmd2::ZEROED }), Err(Errno::EOPNOTSUPP));
    assert_eq!(file.send(&mut { ModePageFlip::ZEROED }), Err(Errno::EOPNOTSUPP));
    assert_eq!(device.scanned_out(), None);
}
