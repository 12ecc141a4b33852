//! R139 to R141 and R162: what a display engine tells without a display and with one, and dumb buffers.

use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    MODE_CONNECTOR_DISPLAY_PORT, MODE_CONNECTOR_HDMI_A, MODE_DISCONNECTED, MODE_OBJECT_CONNECTOR, MODE_OBJECT_CRTC,
    MODE_OBJECT_ENCODER, MODE_OBJECT_PLANE, ModeCardRes, ModeCreateDumb, ModeCrtc, ModeDestroyDumb, ModeGetBlob,
    ModeGetConnector, ModeGetEncoder, ModeGetPlane, ModeGetProperty, ModeMapDumb, client_cap,
};

use super::{Client, Ids, lit, lit_with};
use crate::support::{File, address_mut, card, device};

fn primary(device: &SimDevice) -> File {
    File(device.open_primary(false))
}

// Checks R139.
#[test]
fn a_display_engine_lists_what_it_has_and_nothing_is_plugged_in() {
    for chip in ["navi21", "renoir"] {
        let device = device(chip);
        let file = primary(&device);
        let [crtcs, encoders, connectors] = file.resources();
        let all = file.told(ModeCardRes::ZEROED).unwrap();
        assert_eq!((all.count_fbs, all.max_width, all.max_height), (0, 16384, 16384));
        for &crtc_id in &crtcs {
            let crtc = file.told(ModeCrtc { crtc_id, mode_valid: 9, ..ModeCrtc::ZEROED }).unwrap();
            assert_eq!((crtc.mode_valid, crtc.fb_id, crtc.gamma_size), (0, 0, 256));
        }
        let mut kinds = Vec::new();
        for &connector_id in &connectors {
            let mut encoder = [0];
            let question = ModeGetConnector { connector_id, count_modes: 9, ..ModeGetConnector::ZEROED };
            let found = file
                .told(ModeGetConnector { encoders_ptr: address_mut(&mut encoder), count_encoders: 1, ..question })
                .unwrap();
            assert_eq!((found.connection, found.count_modes, found.count_encoders), (MODE_DISCONNECTED, 0, 1));
            assert!(encoders.contains(&encoder[0]));
            let encoder = file.told(ModeGetEncoder { encoder_id: encoder[0], ..ModeGetEncoder::ZEROED }).unwrap();
            assert_eq!(encoder.possible_crtcs, (1 << crtcs.len()) - 1);
            kinds.push((found.connector_type, found.connector_type_id));
        }
        assert!(kinds.contains(&(MODE_CONNECTOR_HDMI_A, 1)) && kinds.contains(&(MODE_CONNECTOR_DISPLAY_PORT, 1)));
        assert_eq!(device.complaints(), [""; 0]);
    }
}

// Checks R139.
#[test]
fn unknown_objects_are_enoent_and_short_arrays_stay_within_their_length() {
    let file = primary(&card());
    let [crtcs, encoders, connectors] = file.resources();
    for id in [0, crtcs[0] + 1000, u32::MAX, encoders[0]] {
        assert_eq!(file.told(ModeCrtc { crtc_id: id, ..ModeCrtc::ZEROED }), Err(Errno::ENOENT));
        assert_eq!(file.told(ModeGetConnector { connector_id: id, ..ModeGetConnector::ZEROED }), Err(Errno::ENOENT));
        assert_eq!(file.told(ModeGetPlane { plane_id: id, ..ModeGetPlane::ZEROED }), Err(Errno::ENOENT));
        assert_eq!(file.told(ModeGetProperty { prop_id: id, ..ModeGetProperty::ZEROED }), Err(Errno::ENOENT));
        assert_eq!(file.told(ModeGetBlob { blob_id: id, ..ModeGetBlob::ZEROED }), Err(Errno::ENOENT));
    }
    assert_eq!(file.told(ModeGetEncoder { encoder_id: crtcs[0], ..ModeGetEncoder::ZEROED }), Err(Errno::ENOENT));
    assert_eq!(file.properties(connectors[0], MODE_OBJECT_CRTC), Err(Errno::ENOENT));
    assert_eq!(file.properties(encoders[0], MODE_OBJECT_ENCODER), Err(Errno::EINVAL));
    let mut two = [7; 3];
    let request = ModeCardRes { crtc_id_ptr: address_mut(&mut two), count_crtcs: 2, ..ModeCardRes::ZEROED };
    assert_eq!(file.told(request).unwrap().count_crtcs as usize, crtcs.len());
    assert_eq!(two, [crtcs[0], crtcs[1], 7]);
    let nowhere = ModeCardRes { count_crtcs: 1, ..ModeCardRes::ZEROED };
    assert_eq!(file.told(nowhere), Err(Errno::EFAULT));
}

// Checks R140.
#[test]
fn planes_and_atomic_properties_show_to_those_who_ask() {
    let device = card();
    let (plain, file) = (primary(&device), primary(&device));
    let names = |list: &[(String, u64)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let [crtcs, _, connectors] = file.resources();
    assert_eq!(file.planes(), Ids::new());
    file.may(client_cap::UNIVERSAL_PLANES, 1).unwrap();
    let planes = file.planes();
    assert_eq!(planes.len(), 2 * crtcs.len());
    let kinds = |file: &File| {
        let value = |id| file.properties(id, MODE_OBJECT_PLANE).unwrap().into_iter().find(|(name, _)| name == "type");
        planes.iter().map(|&id| value(id).unwrap().1).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&file).iter().filter(|kind| **kind == 1).count(), crtcs.len(), "a primary plane each");
    assert_eq!(names(&file.properties(planes[0], 0).unwrap()), ["type", "COLOR_ENCODING", "COLOR_RANGE"]);
    file.may(client_cap::ATOMIC, 1).unwrap();
    let seen = names(&file.properties(planes[0], MODE_OBJECT_PLANE).unwrap());
    assert!(["type", "FB_ID", "CRTC_ID", "SRC_X", "CRTC_H"].iter().all(|name| seen.iter().any(|one| one == name)));
    assert_eq!(
        names(&file.properties(crtcs[0], MODE_OBJECT_CRTC).unwrap()),
        ["ACTIVE", "MODE_ID", "OUT_FENCE_PTR", "GAMMA_LUT", "GAMMA_LUT_SIZE"]
    );
    let connector = file.properties(connectors[0], MODE_OBJECT_CONNECTOR).unwrap();
    assert!(connector.contains(&("DPMS".to_owned(), 3)) && connector.contains(&("CRTC_ID".to_owned(), 0)));
    for &plane_id in &planes {
        let mut formats = [0_u32; 16];
        let question = ModeGetPlane { plane_id, ..ModeGetPlane::ZEROED };
        let count = file.told(question).unwrap();
        assert_eq!(count.possible_crtcs.count_ones(), 1);
        file.told(ModeGetPlane { format_type_ptr: address_mut(&mut formats), ..count }).unwrap();
        assert!(formats.contains(&u32::from_le_bytes(*b"AR24")));
    }
    // The other file has asked for nothing.
    assert_eq!(plain.planes(), Ids::new());
    assert_eq!(names(&plain.properties(crtcs[0], 0).unwrap()), ["GAMMA_LUT", "GAMMA_LUT_SIZE"]);
    file.may(client_cap::ATOMIC, 0).unwrap();
    assert_eq!(file.planes(), Ids::new());
}

// Checks R140.
#[test]
fn which_capabilities_a_client_may_have() {
    let file = primary(&card());
    for (capability, most) in [
        (client_cap::STEREO_3D, 1),
        (client_cap::UNIVERSAL_PLANES, 1),
        (client_cap::ATOMIC, 2),
        (client_cap::ASPECT_RATIO, 1),
    ] {
        assert_eq!(file.may(capability, most), Ok(()));
        assert_eq!(file.may(capability, most + 1), Err(Errno::EINVAL));
        assert_eq!(file.may(capability, 0), Ok(()));
    }
    assert_eq!(file.may(client_cap::WRITEBACK_CONNECTORS, 1), Err(Errno::EINVAL), "without atomic mode setting");
    file.may(client_cap::ATOMIC, 1).unwrap();
    assert_eq!(file.may(client_cap::WRITEBACK_CONNECTORS, 1), Ok(()));
    assert_eq!(file.may(client_cap::CURSOR_PLANE_HOTSPOT, 1), Err(Errno::EOPNOTSUPP));
    assert_eq!((file.may(0, 0), file.may(7, 1)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
}

// Checks R207.
#[test]
fn colour_pipelines_need_atomic_mode_setting_and_a_plane_that_has_one() {
    let of = |kernel| primary(&SimDevice::new(profile("navi21").unwrap(), SimOptions::of_kernel(kernel)));
    let (before, file) = (of(KernelRelease::V6_18), of(KernelRelease::V6_19));
    let ask = |file: &File, value| file.may(client_cap::PLANE_COLOR_PIPELINE, value);
    assert_eq!([ask(&file, 0), ask(&file, 1)], [Err(Errno::EINVAL); 2], "without atomic mode setting");
    for file in [&before, &file] {
        file.may(client_cap::ATOMIC, 1).unwrap();
        assert_eq!([ask(file, 2), file.may(8, 0)], [Err(Errno::EINVAL); 2]);
    }
    assert_eq!([ask(&file, 0), ask(&file, 1)], [Ok(()); 2]);
    let older = primary(&SimDevice::new(profile("renoir").unwrap(), SimOptions::of_kernel(KernelRelease::V6_19)));
    older.may(client_cap::ATOMIC, 1).unwrap();
    assert_eq!([ask(&older, 0), ask(&older, 1)], [Err(Errno::EOPNOTSUPP); 2]);
    assert_eq!([ask(&before, 0), ask(&before, 1)], [Err(Errno::EINVAL); 2]);
}

// Checks R141.
#[test]
fn a_dumb_buffer_is_a_bo_with_aligned_rows() {
    for chip in ["navi21", "renoir"] {
        let device = device(chip);
        let file = primary(&device);
        let question = ModeCreateDumb { width: 100, height: 3, bpp: 32, ..ModeCreateDumb::ZEROED };
        let dumb = file.told(question).unwrap();
        assert_eq!((dumb.pitch, dumb.size), (128 * 4, 4096));
        for (bpp, pitch) in [(8, 256), (16, 256), (24, 384), (64, 800)] {
            assert_eq!(file.told(ModeCreateDumb { bpp, ..question }).unwrap().pitch, pitch);
        }
        let offset = file.told(ModeMapDumb { handle: dumb.handle, ..ModeMapDumb::ZEROED }).unwrap().offset;
        let view = file.map_at_offset(offset, dumb.size).unwrap();
        view.store(0, 7);
        assert_eq!(view.load(0), 7);
        drop(view);
        file.told(ModeDestroyDumb { handle: dumb.handle }).unwrap();
        assert_eq!(file.told(ModeDestroyDumb { handle: dumb.handle }), Err(Errno::EINVAL));
        assert_eq!(file.told(ModeMapDumb { handle: dumb.handle, ..ModeMapDumb::ZEROED }), Err(Errno::ENOENT));
        for wrong in [(0, 1, 32), (1, 0, 32), (1, 1, 0), (1 << 31, 1, 32), (1 << 20, 1 << 20, 32), (u32::MAX, 1, 8)] {
            let (width, height, bpp) = wrong;
            let request = ModeCreateDumb { width, height, bpp, ..ModeCreateDumb::ZEROED };
            assert_eq!(file.told(request), Err(Errno::EINVAL), "{wrong:?}");
        }
    }
}

// Checks R293.
#[test]
fn a_dumb_buffer_that_cannot_be_made_or_mapped_leaves_zeros() {
    let file = primary(&device("navi21"));
    for (width, height) in [(0, 1), (1, 0), (1 << 20, 1 << 20)] {
        let request = ModeCreateDumb { width, height, bpp: 32, flags: 5, handle: 7, pitch: 8, size: 9 };
        let mut asked = request;
        assert_eq!(file.send(&mut asked), Err(Errno::EINVAL), "{width}");
        assert_eq!(asked, ModeCreateDumb { handle: 0, pitch: 0, size: 0, ..request }, "{width}");
    }
    let mut map = ModeMapDumb { handle: 77, pad: 5, offset: 9 };
    assert_eq!(file.send(&mut map), Err(Errno::ENOENT));
    assert_eq!(map, ModeMapDumb { handle: 77, pad: 5, offset: 0 });
}

// Checks R162.
#[test]
fn the_edid_of_a_display_has_its_mode_and_its_size() {
    let device = lit("navi21");
    let client = Client::new(&device);
    let blob = |blob_id: u32| {
        let mut bytes = vec![0_u8; 128];
        let request = ModeGetBlob { blob_id, length: 128, data: address_mut(&mut bytes) };
        client.file.told(request).map(|answer| (answer.length, bytes))
    };
    let (_, id) = client.file.value(client.connector, "EDID");
    let (length, edid) = blob(id as u32).unwrap();
    assert_eq!((length, &edid[..8]), (128, &[0, 255, 255, 255, 255, 255, 255, 0][..]));
    assert_eq!(u32::from(u16::from_le_bytes([edid[54], edid[55]])) * 10, client.mode.clock);
    assert_eq!(u16::from(edid[56]) | u16::from(edid[58] >> 4) << 8, client.mode.hdisplay);
    let question = ModeGetConnector { connector_id: client.connector, ..ModeGetConnector::ZEROED };
    let connector = client.file.told(question).unwrap();
    assert_eq!((u32::from(edid[21]), u32::from(edid[22])), (connector.mm_width / 10, connector.mm_height / 10));
    assert_eq!(client.file.value(client.connector + 1, "EDID").1, 0, "nothing is plugged in");
    let large = Client::new(&lit_with("navi21", "7680x4320"));
    assert_eq!(large.file.value(large.connector, "EDID").1, 0, "its fields hold no such mode");
}
