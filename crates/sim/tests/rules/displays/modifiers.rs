//! The formats and modifiers of planes, as the kernel lists them in IN_FORMATS, and framebuffers of each of them.

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{ModeFbCmd2, ModeGetBlob};
use zerocopy::FromBytes as _;

use super::{Client, lit};
use crate::support::address_mut;

/// The width in pixels, and the height, of the framebuffers.
const EXTENT: (u32, u32) = (1024, 256);
/// Places of the planes of a framebuffer.
const OFFSETS: [u32; 3] = [0, 8 << 20, 12 << 20];

/// Formats, and modifiers with a bit for each format.
pub(super) type InFormats = (Vec<[u8; 4]>, Vec<(u64, u64)>);

/// Reads IN_FORMATS of a plane.
pub(super) fn in_formats(client: &Client, plane: u32) -> InFormats {
    let blob_id = client.file.value(plane, "IN_FORMATS").1 as u32;
    let length = client.file.told(ModeGetBlob { blob_id, length: 0, data: 0 }).unwrap().length;
    let mut bytes = vec![0_u8; length as usize];
    client.file.told(ModeGetBlob { blob_id, length, data: address_mut(&mut bytes) }).unwrap();
    let word = |at: usize| u32::read_from_bytes(&bytes[at..at + 4]).unwrap() as usize;
    let [count, formats_at, modifiers, modifiers_at] = [2, 3, 4, 5].map(|at| word(4 * at));
    let formats = (0..count).map(|at| bytes[formats_at + 4 * at..][..4].try_into().unwrap()).collect();
    let long = |at: usize| u64::read_from_bytes(&bytes[at..at + 8]).unwrap();
    let modifiers = (0..modifiers).map(|at| modifiers_at + 24 * at).map(|at| (long(at), long(at + 16))).collect();
    (formats, modifiers)
}

#[test]
fn planes_have_the_formats_and_modifiers_of_the_kernel() {
    let rgb = "XR24 AR24 RA24 XR30 XB30 AR30 AB30 XR48 XB48 AR48 AB48 XB24 AB24 RG16";
    for (name, expected, more) in [
        ("renoir", Some(include_str!("../../data/planes/renoir.txt")), " NV12 P010 XR4H AR4H XB4H AB4H"),
        ("navi10", Some(include_str!("../../data/planes/navi10.txt")), " NV12 P010 XR4H AR4H XB4H AB4H"),
        ("navi21", Some(include_str!("../../data/planes/navi21.txt")), " NV12 P010 XR4H AR4H XB4H AB4H"),
        // Its display core shows no luma.
        ("vega10", None, " XR4H AR4H XB4H AB4H"),
    ] {
        let (client, plane, _) = Client::atomic(&lit(name));
        let (formats, modifiers) = in_formats(&client, plane);
        let names: Vec<_> = formats.iter().map(|code| str::from_utf8(code).unwrap()).collect();
        assert_eq!(names.join(" "), [rgb, more].concat(), "{name}");
        let Some(expected) = expected else { continue };
        let wide = |code: &[u8; 4]| matches!(&code[2..], b"48" | b"4H");
        let four = |code: &[u8; 4]| matches!(&code[2..], b"24" | b"30");
        let mask = |of: &dyn Fn(&[u8; 4]) -> bool| {
            formats.iter().enumerate().fold(0_u64, |mask, (at, code)| mask | u64::from(of(code)) << at)
        };
        let row = |(bits, modifier): &(u64, u64)| {
            let which = match *bits {
                bits if bits == mask(&|_| true) => "all formats",
                bits if bits == mask(&four) => "only formats of 4 bytes a pixel, one plane",
                bits if bits == mask(&wide) => "only formats of 8 bytes a pixel",
                _ => "others",
            };
            format!("{modifier:#018x}  {which}\n")
        };
        assert_eq!(modifiers.iter().map(row).collect::<String>(), expected, "{name}");
    }
}

/// Returns the numbers of bytes of a pixel of a format's planes.
fn bytes_of(code: [u8; 4]) -> &'static [u32] {
    match &code {
        b"NV12" => &[1, 2],
        b"P010" => &[2, 4],
        b"RG16" => &[2],
        _ if matches!(&code[2..], b"48" | b"4H") => &[8],
        _ => &[4],
    }
}

#[test]
fn a_framebuffer_of_each_format_and_modifier_of_a_plane_can_be_shown() {
    for name in ["renoir", "navi10", "navi21", "navi31", "vega10"] {
        let device = lit(name);
        let (client, plane, _) = Client::atomic(&device);
        let (formats, modifiers) = in_formats(&client, plane);
        let handle = client.file.create(16 << 20);
        for (mask, modifier) in modifiers {
            let is_compressed = modifier >> 13 & 1 == 1;
            let of_dcc = if is_compressed { 1 + (modifier >> 14 & 1) as usize } else { 0 };
            for (index, &code) in formats.iter().enumerate() {
                let bytes = bytes_of(code);
                let planes = bytes.len() + of_dcc;
                let mut command = ModeFbCmd2 {
                    width: EXTENT.0,
                    height: EXTENT.1,
                    pixel_format: u32::from_le_bytes(code),
                    ..Client::command(handle)
                };
                for (at, &offset) in OFFSETS.iter().enumerate().take(planes) {
                    command.handles[at] = handle;
                    command.offsets[at] = offset;
                    command.modifier[at] = modifier;
                    command.pitches[at] = match bytes.get(at) {
                        Some(&bytes) if at == 0 => EXTENT.0 * bytes,
                        Some(&bytes) => EXTENT.0 / 2 * bytes,
                        None => 4096,
                    };
                }
                let what = format!("{name} {} {modifier:#x}", str::from_utf8(&code).unwrap());
                if mask >> index & 1 == 0 {
                    assert_eq!(client.add(command), Err(Errno::EINVAL), "{what}: the plane does not have it");
                    continue;
                }
                let id = client.add(command).unwrap_or_else(|errno| panic!("{what}: {errno}"));
                assert_ne!(id, 0, "{what}");
                let last = planes - 1;
                if last > 0 {
                    let mut few = command;
                    (few.handles[last], few.pitches[last], few.offsets[last], few.modifier[last]) = (0, 0, 0, 0);
                    assert_eq!(client.add(few), Err(Errno::EINVAL), "{what}: a plane is missing");
                    let mut moved = command;
                    moved.offsets[last] += 64;
                    assert_eq!(client.add(moved), Err(Errno::EINVAL), "{what}: a plane is not aligned");
                    let mut beyond = command;
                    beyond.offsets[last] = 16 << 20;
                    assert_eq!(client.add(beyond), Err(Errno::EINVAL), "{what}: a plane is beyond the BO");
                }
                if planes < 4 {
                    let mut many = command;
                    (many.handles[planes], many.modifier[planes]) = (handle, modifier);
                    assert_eq!(client.add(many), Err(Errno::EINVAL), "{what}: it has no such plane");
                }
            }
        }
    }
}

#[test]
fn luma_and_wide_pixels_are_shown_in_colour() {
    let device = lit("navi21");
    let (client, _, _) = Client::atomic(&device);
    let handle = client.file.create(16 << 20);
    let view = client.file.map_at_offset(client.file.offset(handle).unwrap(), 16 << 20).unwrap();
    let mode = &client.mode;
    let (width, height) = (u32::from(mode.hdisplay), u32::from(mode.vdisplay));
    let pitch = (width * 8).next_multiple_of(256);
    let show = |code: &[u8; 4], planes: &[(u32, u32)]| {
        let mut command =
            ModeFbCmd2 { width, height, pixel_format: u32::from_le_bytes(*code), ..Client::command(handle) };
        for (at, (pitch, offset)) in planes.iter().enumerate() {
            (command.handles[at], command.pitches[at], command.offsets[at]) = (handle, *pitch, *offset);
        }
        let id = client.add(command).unwrap();
        client.show(|request| request.fb_id = id).unwrap();
        device.scanned_out().unwrap().rgba[..4].to_vec()
    };
    // Half floats of 1 in red, and 0.
    view.store(0, 0);
    view.store(4, 0x3c00);
    assert_eq!(show(b"XR4H", &[(pitch, 0)]), [255, 0, 0, 255]);
    // Luma and chroma of white.
    view.store(0, 0xebeb_ebeb);
    view.store(8 << 20, 0x8080_8080);
    assert_eq!(show(b"NV12", &[(pitch, 0), (pitch, 8 << 20)]), [255, 255, 255, 255]);
}
