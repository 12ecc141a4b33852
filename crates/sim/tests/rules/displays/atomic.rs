//! R156 to R158: atomic commits, blobs, and what commits wait for and tell.

use std::os::fd::AsRawFd;

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    ColorLut, EVENT_FLIP_COMPLETE, MODE_ATOMIC_ALLOW_MODESET, MODE_ATOMIC_NONBLOCK, MODE_ATOMIC_TEST_ONLY,
    MODE_OBJECT_BLOB, MODE_OBJECT_CRTC, MODE_OBJECT_FB, MODE_PAGE_FLIP_EVENT, ModeAtomic, ModeCreateBlob,
    ModeDestroyBlob, ModeGetBlob, ModeObjSetProperty, SW_SYNC_CREATE_FENCE, SW_SYNC_INC, SwSyncCreateFence, client_cap,
};
use zerocopy::{FromBytes, IntoBytes};

use super::{Client, HEIGHT, WIDTH, first_pixel, lit};
use crate::support::{address_mut, ioctl_on, is_readable, owned, sync_file_info};

/// Objects with the properties to set.
pub(super) type Wanted<'w> = &'w [(u32, &'w [(&'w str, u64)])];

const SET: u32 = MODE_ATOMIC_ALLOW_MODESET;
/// Longer than any signal of these tests takes, in ms.
const SOON: u16 = 20_000;

impl Client {
    /// A client that commits atomically, with its primary plane and its cursor.
    pub(super) fn atomic(device: &SimDevice) -> (Self, u32, u32) {
        let client = Self::new(device);
        client.file.may(client_cap::ATOMIC, 1).unwrap();
        let planes = client.file.planes();
        // The client's CRTC is the second one.
        (client, planes[1], planes[planes.len() / 2 + 1])
    }

    fn commit_as(&self, request: ModeAtomic, wanted: Wanted<'_>) -> Result<(), Errno> {
        let mut objects: Vec<u32> = wanted.iter().map(|(object, _)| *object).collect();
        let mut counts: Vec<u32> = wanted.iter().map(|(_, list)| list.len() as u32).collect();
        let pairs = wanted.iter().flat_map(|(object, list)| list.iter().map(move |pair| (*object, pair)));
        let (mut ids, mut values): (Vec<u32>, Vec<u64>) =
            pairs.map(|(object, (name, value))| (self.file.value(object, name).0, *value)).unzip();
        let mut request = ModeAtomic {
            count_objs: objects.len() as u32,
            objs_ptr: address_mut(&mut objects),
            count_props_ptr: address_mut(&mut counts),
            props_ptr: address_mut(&mut ids),
            prop_values_ptr: address_mut(&mut values),
            ..request
        };
        self.file.send(&mut request)
    }

    pub(super) fn commit(&self, flags: u32, wanted: Wanted<'_>) -> Result<(), Errno> {
        self.commit_as(ModeAtomic { flags, user_data: 77, ..ModeAtomic::ZEROED }, wanted)
    }

    pub(super) fn blob(&self, content: &[u8]) -> u32 {
        let mut bytes = content.to_vec();
        let (data, length) = (address_mut(&mut bytes), bytes.len() as u32);
        self.file.told(ModeCreateBlob { data, length, blob_id: 0 }).unwrap().blob_id
    }

    fn mode_blob(&self) -> u64 {
        self.blob(self.mode.as_bytes()).into()
    }

    /// Properties of a plane that fills the display.
    fn whole(&self, framebuffer: u32) -> [(&'static str, u64); 10] {
        [
            ("FB_ID", framebuffer.into()),
            ("CRTC_ID", self.crtc.into()),
            ("SRC_X", 0),
            ("SRC_Y", 0),
            ("SRC_W", u64::from(WIDTH) << 16),
            ("SRC_H", u64::from(HEIGHT) << 16),
            ("CRTC_X", 0),
            ("CRTC_Y", 0),
            ("CRTC_W", WIDTH.into()),
            ("CRTC_H", HEIGHT.into()),
        ]
    }

    /// Sets the mode and shows a framebuffer.
    pub(super) fn set(&self, plane: u32, framebuffer: u32) -> Result<(), Errno> {
        self.commit(
            SET,
            &[
                (self.crtc, &[("MODE_ID", self.mode_blob()), ("ACTIVE", 1)]),
                (self.connector, &[("CRTC_ID", self.crtc.into())]),
                (plane, &self.whole(framebuffer)),
            ],
        )
    }
}

// Checks R156.
#[test]
fn a_commit_sets_a_mode_and_reads_back() {
    for chip in ["navi21", "renoir", "polaris10"] {
        let device = lit(chip);
        let (client, plane, _) = Client::atomic(&device);
        let handle = client.buffer(0x12_34_56);
        let command = amdgpu_winsys::uapi::ModeFbCmd2 { flags: 0, ..Client::command(handle) };
        let framebuffer = client.add(command).unwrap();
        client.set(plane, framebuffer).unwrap();
        assert_eq!(first_pixel(device.scanned_out()), Some([0x12, 0x34, 0x56, 0xff]), "{chip}");
        for (object, name, value) in [
            (plane, "FB_ID", framebuffer.into()),
            (plane, "CRTC_ID", client.crtc.into()),
            (plane, "SRC_H", u64::from(HEIGHT) << 16),
            (plane, "CRTC_W", WIDTH.into()),
            (plane, "IN_FENCE_FD", u64::MAX),
            (client.crtc, "ACTIVE", 1),
            (client.crtc, "OUT_FENCE_PTR", 0),
            (client.connector, "CRTC_ID", client.crtc.into()),
            (client.connector, "DPMS", 0),
        ] {
            assert_eq!(client.file.value(object, name).1, value, "{name}");
        }
        let crtc = client.crtc();
        assert_eq!((crtc.fb_id, crtc.mode_valid), (framebuffer, 1));
        client.commit(0, &[(plane, &[("CRTC_X", (-5_i64).cast_unsigned())])]).unwrap();
        assert_eq!(client.file.value(plane, "CRTC_X").1.cast_signed(), -5);
        client
            .commit(
                SET,
                &[
                    (client.crtc, &[("MODE_ID", 0), ("ACTIVE", 0)]),
                    (client.connector, &[("CRTC_ID", 0)]),
                    (plane, &[("FB_ID", 0), ("CRTC_ID", 0)]),
                ],
            )
            .unwrap();
        assert_eq!((client.crtc().mode_valid, client.file.value(client.connector, "DPMS").1), (0, 3));
        assert_eq!(device.complaints(), [""; 0]);
    }
}

// Checks R156.
#[test]
fn what_the_request_itself_may_not_say() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    let none = ModeAtomic::ZEROED;
    assert_eq!(client.commit(0, &[]), Ok(()), "nothing to do");
    for (request, expected) in [
        (ModeAtomic { flags: 4, ..none }, Errno::EINVAL),
        (ModeAtomic { reserved: 1, ..none }, Errno::EINVAL),
        (ModeAtomic { flags: MODE_ATOMIC_TEST_ONLY | MODE_PAGE_FLIP_EVENT, ..none }, Errno::EINVAL),
        (ModeAtomic { flags: MODE_PAGE_FLIP_EVENT, ..none }, Errno::EINVAL),
    ] {
        assert_eq!(client.commit_as(request, &[]), Err(expected), "{request:?}");
    }
    assert_eq!(client.file.send(&mut ModeAtomic { count_objs: 1, ..none }), Err(Errno::EFAULT));
    let mut encoder = [client.crtc + 100];
    let request = ModeAtomic { count_objs: 1, objs_ptr: address_mut(&mut encoder), ..none };
    assert_eq!(client.file.send(&mut { request }), Err(Errno::ENOENT), "no such object");
    let (mut object, mut count, mut id, mut value) = ([plane], [1], [client.file.value(client.crtc, "ACTIVE").0], [1]);
    let request = ModeAtomic {
        objs_ptr: address_mut(&mut object),
        count_props_ptr: address_mut(&mut count),
        props_ptr: address_mut(&mut id),
        prop_values_ptr: address_mut(&mut value),
        ..request
    };
    assert_eq!(client.file.send(&mut { request }), Err(Errno::ENOENT), "a property of another object");
    client.file.may(client_cap::ATOMIC, 0).unwrap();
    assert_eq!(client.commit(0, &[]), Err(Errno::EINVAL), "the client is not atomic");
}

// Checks R156.
#[test]
fn a_commit_is_refused_as_a_whole() {
    let device = lit("navi21");
    let (client, plane, cursor) = Client::atomic(&device);
    let other = client.file.planes()[0];
    let shown = client.framebuffer(0xff);
    client.set(plane, shown).unwrap();
    let next = client.framebuffer(0xff00);
    let mut short = *client.mode.as_bytes().first_chunk::<64>().unwrap();
    short[0] ^= 1;
    let mut clock = client.mode;
    clock.clock += 1000;
    let (short, clock) = (u64::from(client.blob(&short)), u64::from(client.blob(clock.as_bytes())));
    let table = u64::from(client.blob(&[0; 8 * 100]));
    let (wide, far) = (u64::from(WIDTH) << 16, 0x7fff_ffff_u64);
    let cases: &[(&str, u32, Wanted<'_>, Errno)] = &[
        ("no framebuffer", 0, &[(plane, &[("FB_ID", 9)])], Errno::EINVAL),
        ("no CRTC", 0, &[(plane, &[("CRTC_ID", plane.into())])], Errno::EINVAL),
        ("immutable", 0, &[(plane, &[("type", 1)])], Errno::EINVAL),
        ("out of range", 0, &[(client.crtc, &[("ACTIVE", 2)])], Errno::EINVAL),
        ("a plane without a framebuffer", 0, &[(cursor, &[("CRTC_ID", client.crtc.into())])], Errno::EINVAL),
        ("a plane without a CRTC", 0, &[(cursor, &[("FB_ID", next.into())])], Errno::EINVAL),
        ("a plane of another CRTC", 0, &[(other, &client.whole(next))], Errno::EINVAL),
        ("a format that cursors have not", 0, &[(cursor, &client.whole(next))], Errno::EINVAL),
        ("beyond the framebuffer", 0, &[(plane, &[("SRC_X", 1)])], Errno::ENOSPC),
        ("wider than the framebuffer", 0, &[(plane, &[("SRC_W", wide + 1)])], Errno::ENOSPC),
        ("beyond all numbers", 0, &[(plane, &[("CRTC_X", far)])], Errno::ERANGE),
        ("enlarged too much", 0, &[(plane, &[("SRC_W", 1 << 16)])], Errno::ERANGE),
        ("reduced too much", 0, &[(plane, &[("CRTC_W", 100)])], Errno::ERANGE),
        ("no width", 0, &[(plane, &[("CRTC_W", 0)])], Errno::EINVAL),
        ("modes may not change", 0, &[(client.crtc, &[("ACTIVE", 0)])], Errno::EINVAL),
        ("active without a mode", SET, &[(client.crtc, &[("MODE_ID", 0)])], Errno::EINVAL),
        ("a mode without connectors", SET, &[(client.connector, &[("CRTC_ID", 0)])], Errno::EINVAL),
        ("no primary plane", SET, &[(plane, &[("FB_ID", 0), ("CRTC_ID", 0)])], Errno::EINVAL),
        ("no mode's length", SET, &[(client.crtc, &[("MODE_ID", short)])], Errno::EINVAL),
        ("not the display's mode", SET, &[(client.crtc, &[("MODE_ID", clock)])], Errno::EINVAL),
        ("nothing is plugged in", SET, &[(client.connector + 1, &[("CRTC_ID", client.crtc.into())])], Errno::EINVAL),
        ("a gamma table of 100 entries", 0, &[(client.crtc, &[("GAMMA_LUT", table)])], Errno::EINVAL),
        ("no table's length", 0, &[(client.crtc, &[("GAMMA_LUT", short + 999)])], Errno::EINVAL),
        ("DPMS is for others", 0, &[(client.connector, &[("DPMS", 0)])], Errno::EINVAL),
        ("no descriptor", 0, &[(plane, &[("IN_FENCE_FD", 9999)])], Errno::EINVAL),
    ];
    let good = [("FB_ID", u64::from(next))];
    for (why, flags, wanted, expected) in cases {
        // The first part is right, and is not done either.
        let whole: Vec<_> = [(plane, &good[..])].into_iter().chain(wanted.iter().copied()).collect();
        assert_eq!(client.commit(*flags, &whole), Err(*expected), "{why}");
        assert_eq!(client.commit(*flags | MODE_ATOMIC_TEST_ONLY, &whole), Err(*expected), "tested: {why}");
        assert_eq!(client.file.value(plane, "FB_ID").1, u64::from(shown), "{why}");
    }
    assert_eq!(client.commit(MODE_ATOMIC_TEST_ONLY, &[(plane, &[("FB_ID", next.into())])]), Ok(()));
    assert_eq!(client.file.value(plane, "FB_ID").1, u64::from(shown), "a test changes nothing");
    let idle = client.crtc + 1;
    let event = MODE_PAGE_FLIP_EVENT | SET;
    assert_eq!(client.commit(event, &[(idle, &[("ACTIVE", 0)])]), Err(Errno::EINVAL), "an event of a CRTC that is off");
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0, 0xff, 0xff]));
}

// Checks R157.
#[test]
fn blobs_belong_to_files_and_live_while_they_are_used() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    let other = Client::new(&device);
    let id = client.blob(b"content");
    let get = |client: &Client, blob_id: u32, room: usize| {
        let mut bytes = vec![0_u8; room];
        let request = ModeGetBlob { blob_id, length: room as u32, data: address_mut(&mut bytes) };
        client.file.told(request).map(|answer| (answer.length, bytes))
    };
    assert_eq!(get(&other, id, 7), Ok((7, b"content".to_vec())));
    assert_eq!(get(&other, id, 6), Ok((7, vec![0; 6])), "only as a whole");
    assert_eq!(other.file.send(&mut ModeDestroyBlob { blob_id: id }), Err(Errno::EPERM));
    assert_eq!(client.file.send(&mut ModeDestroyBlob { blob_id: id }), Ok(()));
    assert_eq!(client.file.send(&mut ModeDestroyBlob { blob_id: id }), Err(Errno::ENOENT));
    assert_eq!(get(&client, id, 7), Err(Errno::ENOENT));
    let empty = ModeCreateBlob { data: 0, length: 0, blob_id: 0 };
    assert_eq!(client.file.send(&mut { empty }), Err(Errno::EINVAL));
    assert_eq!(client.file.send(&mut ModeCreateBlob { length: 1, ..empty }), Err(Errno::EFAULT));
    client.set(plane, client.framebuffer(0)).unwrap();
    let mode = client.file.value(client.crtc, "MODE_ID").1 as u32;
    client.file.send(&mut ModeDestroyBlob { blob_id: mode }).unwrap();
    assert_eq!(get(&other, mode, 68).unwrap().1, client.mode.as_bytes(), "the CRTC has it");
    // A mode that was set without properties has a blob too.
    client.show(|request| request.fb_id = u32::MAX).unwrap();
    let mode = client.file.value(client.crtc, "MODE_ID").1 as u32;
    assert_eq!(client.file.send(&mut ModeDestroyBlob { blob_id: mode }), Err(Errno::EPERM), "nobody's");
    let formats = client.file.value(plane, "IN_FORMATS").1 as u32;
    let length = get(&client, formats, 0).unwrap().0;
    let words = get(&client, formats, length as usize).unwrap().1;
    let word = |at: usize| u32::read_from_bytes(&words[at * 4..at * 4 + 4]).unwrap();
    let (count, modifiers, modifiers_at) = (word(2), word(4), word(5));
    assert_eq!((word(0), word(1), word(3)), (1, 0, 24));
    assert_eq!(words.len(), (modifiers_at + modifiers * 24) as usize);
    assert_eq!(&words[24..28], b"XR24");
    let last = u64::read_from_bytes(&words[words.len() - 24..words.len() - 16]).unwrap();
    assert!(count == 20 && modifiers > 2 && modifiers_at.is_multiple_of(8) && last != 0 && last < 1 << count);
    let old = Client::atomic(&lit("polaris10"));
    assert_eq!(old.0.file.properties(old.1, 0).unwrap().iter().find(|(name, _)| name == "IN_FORMATS"), None);
}

// Checks R158.
#[test]
fn a_commit_tells_when_it_is_shown() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    client.set(plane, client.framebuffer(0xff)).unwrap();
    let next = client.framebuffer(0xff00);
    let flags = MODE_ATOMIC_NONBLOCK | MODE_PAGE_FLIP_EVENT;
    let mut fence = [0_i32];
    let address = address_mut(&mut fence);
    let wanted: Wanted<'_> = &[(plane, &[("FB_ID", next.into())]), (client.crtc, &[("OUT_FENCE_PTR", address)])];
    client.commit(flags, wanted).unwrap();
    assert_eq!(client.file.value(plane, "FB_ID").1, u64::from(next), "the new state holds at once");
    let event = client.event();
    let told = (event.kind, event.user_data, event.crtc_id, event.length);
    assert_eq!(told, (EVENT_FLIP_COMPLETE, 77, client.crtc, 32));
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0xff, 0, 0xff]));
    let fence = owned(fence[0]);
    assert!(is_readable(&fence, SOON));
    let (info, fences) = sync_file_info(&device.machine(), &fence, 1).unwrap();
    assert_eq!(info.status, 1);
    assert!(fences[0].driver_name.starts_with(b"amdgpu\0") && fences[0].obj_name.starts_with(b"CRTC:"));
    // A blocking commit is shown when it returns, and its event is there.
    client.commit(MODE_PAGE_FLIP_EVENT, &[(plane, &[("FB_ID", next.into())])]).unwrap();
    assert_eq!(client.file.0.read_event().unwrap().user_data, 77);
    // What is refused leaves no descriptor and no event.
    let mut refused = [5_i32];
    let address = address_mut(&mut refused);
    let wanted: Wanted<'_> = &[(client.crtc, &[("OUT_FENCE_PTR", address)]), (plane, &[("SRC_X", 1)])];
    assert_eq!(client.commit(MODE_PAGE_FLIP_EVENT, wanted), Err(Errno::ENOSPC));
    assert_eq!((refused[0], client.file.0.read_event()), (-1, None));
}

// Checks R158.
#[test]
fn a_plane_waits_for_its_fence() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    client.set(plane, client.framebuffer(0xff)).unwrap();
    let machine = device.machine();
    let timeline = machine.open_sw_sync("tester").unwrap();
    let mut request = SwSyncCreateFence { value: 1, ..SwSyncCreateFence::ZEROED };
    ioctl_on(&machine, &timeline, SW_SYNC_CREATE_FENCE, &mut request).unwrap();
    let fence = owned(request.fence);
    let fd = u64::from(fence.as_raw_fd().unsigned_abs());
    let next = u64::from(client.framebuffer(0xff00));
    let twice: Wanted<'_> = &[(plane, &[("IN_FENCE_FD", fd), ("IN_FENCE_FD", fd)])];
    assert_eq!(client.commit(0, twice), Err(Errno::EINVAL), "one fence a plane");
    let flags = MODE_ATOMIC_NONBLOCK | MODE_PAGE_FLIP_EVENT;
    client.commit(flags, &[(plane, &[("FB_ID", next), ("IN_FENCE_FD", fd)])]).unwrap();
    // Vertical blanks pass it by.
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(client.file.0.read_event(), None);
    assert_eq!(client.commit(flags, &[(plane, &[("FB_ID", next)])]), Err(Errno::EBUSY), "one at a time");
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0, 0xff, 0xff]));
    ioctl_on(&machine, &timeline, SW_SYNC_INC, &mut { 1_u32 }).unwrap();
    assert_eq!(client.flipped(), [77]);
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0xff, 0, 0xff]));
}

// Checks R156.
#[test]
fn properties_are_set_one_at_a_time_too() {
    let device = lit("navi21");
    let (client, plane, _) = Client::atomic(&device);
    client.set(plane, client.framebuffer(0xff)).unwrap();
    let next = u64::from(client.framebuffer(0xff00));
    let set = |obj_id: u32, name: &str, value: u64| {
        let prop_id = client.file.value(obj_id, name).0;
        client.file.send(&mut ModeObjSetProperty { value, prop_id, obj_id, ..ModeObjSetProperty::ZEROED })
    };
    set(plane, "FB_ID", next).unwrap();
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0xff, 0, 0xff]));
    assert_eq!(set(client.connector, "DPMS", 4), Err(Errno::EINVAL));
    set(client.connector, "DPMS", 2).unwrap();
    assert_eq!((client.file.value(client.crtc, "ACTIVE").1, client.crtc().mode_valid), (0, 1));
    assert_eq!(client.file.value(client.connector, "DPMS").1, 3, "it is off or on");
    set(client.connector, "DPMS", 0).unwrap();
    assert_eq!(client.file.value(client.crtc, "ACTIVE").1, 1);
    let table: Vec<ColorLut> = (0..256).map(|_| ColorLut { green: 0x8000, ..ColorLut::ZEROED }).collect();
    set(client.crtc, "GAMMA_LUT", client.blob(table.as_bytes()).into()).unwrap();
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0x80, 0, 0xff]));
    for (obj_id, kind) in [(client.framebuffer(0xff), MODE_OBJECT_FB), (client.blob(b"blob"), MODE_OBJECT_BLOB)] {
        let results = [0, kind, MODE_OBJECT_CRTC].map(|obj_type| {
            let mut set = ModeObjSetProperty { obj_id, obj_type, ..ModeObjSetProperty::ZEROED };
            (client.file.properties(obj_id, obj_type).err(), client.file.send(&mut set).err())
        });
        let [none, missing] = [Errno::EINVAL, Errno::ENOENT].map(|errno| (Some(errno), Some(errno)));
        assert_eq!(results, [none, none, missing], "an object without properties");
    }
    let request = ModeObjSetProperty { obj_id: plane, obj_type: MODE_OBJECT_CRTC, ..ModeObjSetProperty::ZEROED };
    assert_eq!(client.file.send(&mut { request }), Err(Errno::ENOENT), "no CRTC");
    let request = ModeObjSetProperty { obj_id: plane, prop_id: 99, ..ModeObjSetProperty::ZEROED };
    assert_eq!(client.file.send(&mut { request }), Err(Errno::EINVAL), "no property");
}
