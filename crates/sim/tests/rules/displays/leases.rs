//! R164 to R167: leases of display objects.

use std::os::fd::AsFd;

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    CrtcGetSequence, DROP_MASTER, MODE_ATOMIC_TEST_ONLY, MODE_CURSOR_MOVE, MODE_OBJECT_CRTC, MODE_OBJECT_PLANE,
    ModeAtomic, ModeCreateLease, ModeCrtc, ModeCursor, ModeGetEncoder, ModeGetLease, ModeGetPlane, ModeListLessees,
    ModeObjGetProperties, ModePageFlip, ModeRevokeLease, ModeSetPlane, SET_MASTER, VBLANK_RELATIVE, WaitVblank,
    client_cap,
};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::{Client, Ids, lit};
use crate::support::{File, address, address_mut, card, owned};

/// A lessee: its number and its file.
#[derive(Debug)]
struct Lessee {
    number: u32,
    file: File,
}

impl File {
    fn lease_with(&self, objects: &[u32], flags: i32) -> Result<Lessee, Errno> {
        let flags = flags.cast_unsigned();
        let (object_ids, object_count) = (address(objects), objects.len() as u32);
        let created = self.told(ModeCreateLease { object_ids, object_count, flags, ..ModeCreateLease::ZEROED })?;
        let descriptor = owned(created.fd.cast_signed());
        let closes = FdFlag::from_bits_retain(fcntl(&descriptor, FcntlArg::F_GETFD).unwrap());
        assert_eq!(closes.contains(FdFlag::FD_CLOEXEC), flags & libc::O_CLOEXEC.cast_unsigned() != 0);
        let file = File(self.0.take_lessee(descriptor.as_fd()).unwrap().expect("the file of the descriptor"));
        assert!(self.0.take_lessee(descriptor.as_fd()).unwrap().is_none(), "it is taken once");
        Ok(Lessee { number: created.lessee_id, file })
    }

    fn lease(&self, objects: &[u32]) -> Result<Lessee, Errno> {
        self.lease_with(objects, 0)
    }

    fn lessees(&self) -> Result<Ids, Errno> {
        let mut ids = [0; 8];
        let lessees_ptr = address_mut(&mut ids);
        let listed = self.told(ModeListLessees { count_lessees: 8, pad: 0, lessees_ptr })?;
        Ok(ids[..listed.count_lessees as usize].to_vec())
    }

    fn leased(&self) -> Result<Ids, Errno> {
        let mut ids = [0; 128];
        let objects_ptr = address_mut(&mut ids);
        let listed = self.told(ModeGetLease { count_objects: 128, pad: 0, objects_ptr })?;
        Ok(ids[..listed.count_objects as usize].to_vec())
    }

    fn revoke(&self, lessee_id: u32) -> Result<(), Errno> {
        self.told(ModeRevokeLease { lessee_id }).map(drop)
    }

    fn request(&self, request: amdgpu_winsys::uapi::Request) -> Result<(), Errno> {
        self.null(request)
    }
}

/// A master that sees all planes, and objects of the display engine.
struct Engine {
    file: File,
    crtcs: Ids,
    encoders: Ids,
    connectors: Ids,
    planes: Ids,
}

impl Engine {
    fn new(device: &SimDevice) -> Self {
        let file = File(device.open_primary(false));
        file.may(client_cap::UNIVERSAL_PLANES, 1).unwrap();
        let [crtcs, encoders, connectors] = file.resources();
        let planes = file.planes();
        Self { file, crtcs, encoders, connectors, planes }
    }

    /// The second CRTC with its planes, and the first connector.
    fn second(&self) -> [u32; 4] {
        [self.crtcs[1], self.connectors[0], self.planes[1], self.planes[self.crtcs.len() + 1]]
    }
}

// Checks R164.
#[test]
fn a_lease_is_a_crtc_a_connector_and_a_plane_that_exist_and_are_free() {
    let device = card();
    let engine = Engine::new(&device);
    let file = &engine.file;
    let [crtc, connector, plane, cursor] = engine.second();
    for (objects, errno) in [
        (&[crtc, connector][..], Errno::EINVAL),
        (&[crtc, plane], Errno::EINVAL),
        (&[connector, plane], Errno::EINVAL),
        (&[crtc, connector, plane, engine.encoders[0]], Errno::EINVAL),
        (&[crtc, connector, plane, 1], Errno::EINVAL),
        (&[crtc, connector, plane, 9999], Errno::ENOENT),
        (&[crtc, 9999, engine.encoders[0]], Errno::ENOENT),
        (&[crtc, connector, plane, crtc], Errno::ENOSPC),
    ] {
        assert_eq!(file.lease(objects).unwrap_err(), errno, "{objects:?}");
    }
    let unknown = [libc::O_APPEND, i32::MIN].map(|flag| file.lease_with(&[crtc, connector, plane], flag).unwrap_err());
    assert_eq!(unknown, [Errno::EINVAL; 2]);
    let bad = ModeCreateLease { object_ids: 0, object_count: 3, ..ModeCreateLease::ZEROED };
    assert_eq!(file.told(bad), Err(Errno::EFAULT));
    for (object_count, errno) in [(1 << 20, Errno::EFAULT), ((1 << 20) + 1, Errno::ENOMEM), (u32::MAX, Errno::ENOMEM)] {
        let many = ModeCreateLease { object_ids: 0, object_count, ..ModeCreateLease::ZEROED };
        assert_eq!(file.told(many), Err(errno), "{object_count}");
    }
    assert_eq!((file.lessees(), device.census().files), (Ok(vec![]), 1), "nothing came of it");

    let first = file.lease_with(&[crtc, connector, plane], libc::O_CLOEXEC | libc::O_NONBLOCK).unwrap();
    let [other_crtc, other_connector] = [engine.crtcs[0], engine.connectors[1]];
    let taken = file.lease(&[other_crtc, connector, engine.planes[0]]).unwrap_err();
    assert_eq!(taken, Errno::EBUSY, "the connector is leased");
    let second = file.lease(&[other_crtc, other_connector, engine.planes[0], cursor]).unwrap();
    let empty = file.lease(&[]).unwrap();
    assert_eq!([first.number, second.number, empty.number], [1, 2, 3]);
    drop(first);
    assert_eq!(file.lease(&[crtc, connector, plane]).unwrap().number, 1, "the lowest free number");
}

// Checks R164.
#[test]
fn a_client_that_does_not_see_planes_leases_those_of_its_crtcs() {
    let engine = Engine::new(&card());
    let [crtc, connector, plane, cursor] = engine.second();
    engine.file.may(client_cap::UNIVERSAL_PLANES, 0).unwrap();
    let lessee = engine.file.lease(&[crtc, connector]).unwrap();
    assert_eq!(lessee.file.leased(), Ok(vec![plane, cursor, crtc, connector]));
    drop(lessee);
    assert_eq!(engine.file.lease(&[crtc, connector, plane]).unwrap_err(), Errno::ENOSPC, "it is there twice");
}

// Checks R164.
#[test]
fn only_a_master_leases_and_a_lessee_does_not() {
    let device = card();
    let engine = Engine::new(&device);
    let objects = engine.second();
    let lessee = engine.file.lease(&objects).unwrap();
    let lessee = &lessee.file;
    lessee.may(client_cap::UNIVERSAL_PLANES, 1).unwrap();
    assert_eq!(lessee.lease(&objects).unwrap_err(), Errno::EINVAL);
    let bad = ModeCreateLease { object_ids: 0, object_count: 3, ..ModeCreateLease::ZEROED };
    assert_eq!(lessee.told(bad), Err(Errno::EINVAL), "before its objects are looked at");
    let (guest, render) = (File(device.open_primary(false)), File(device.open()));
    for other in [&guest, &render] {
        assert_eq!(other.lease(&[]).unwrap_err(), Errno::EACCES);
        assert_eq!((other.lessees(), other.leased()), (Err(Errno::EACCES), Err(Errno::EACCES)));
        assert_eq!(other.revoke(1), Err(Errno::EACCES));
    }
    assert_eq!([lessee.request(SET_MASTER), lessee.request(DROP_MASTER)], [Err(Errno::EACCES); 2]);
    assert_eq!(guest.resources()[0], engine.crtcs, "a file that is no lessee's sees everything");
}

// Checks R164.
#[test]
fn a_lessee_of_an_administrator_cannot_take_or_drop_the_mastery() {
    let device = card();
    let file = File(device.open_primary(true));
    let lessee = file.lease(&[]).unwrap().file;
    assert_eq!(lessee.request(SET_MASTER), Ok(()), "it is master already, as part of its lessor");
    assert_eq!(lessee.request(DROP_MASTER), Err(Errno::EINVAL));
    file.request(DROP_MASTER).unwrap();
    assert_eq!(lessee.request(SET_MASTER), Err(Errno::EINVAL));
    assert_eq!(file.request(SET_MASTER), Ok(()));
}

// Checks R165.
#[test]
fn a_lessee_sees_its_objects_alone() {
    let engine = Engine::new(&card());
    let objects @ [crtc, connector, plane, cursor] = engine.second();
    let lessee = engine.file.lease(&objects).unwrap().file;
    assert_eq!(lessee.resources(), [vec![crtc], engine.encoders.clone(), vec![connector]]);
    lessee.may(client_cap::UNIVERSAL_PLANES, 1).unwrap();
    assert_eq!(lessee.planes(), [plane, cursor]);
    let encoder = ModeGetEncoder { encoder_id: engine.encoders[0], ..ModeGetEncoder::ZEROED };
    let masks = [&engine.file, &lessee].map(|file| file.told(encoder).unwrap().possible_crtcs);
    assert_eq!(masks, [(1 << engine.crtcs.len()) - 1, 1], "counted among its own");
    let own = ModeGetPlane { plane_id: plane, ..ModeGetPlane::ZEROED };
    let masks = [&engine.file, &lessee].map(|file| file.told(own).unwrap().possible_crtcs);
    assert_eq!(masks, [2, 1]);
    let (other_crtc, other_plane) = (engine.crtcs[0], engine.planes[0]);
    let unknown = [
        lessee.told(ModeCrtc { crtc_id: other_crtc, ..ModeCrtc::ZEROED }).map(drop),
        lessee.told(ModeGetPlane { plane_id: other_plane, ..ModeGetPlane::ZEROED }).map(drop),
        lessee.properties(other_crtc, MODE_OBJECT_CRTC).map(drop),
        lessee.told(ModeObjGetProperties { obj_id: engine.connectors[1], ..ModeObjGetProperties::ZEROED }).map(drop),
        lessee.properties(other_plane, MODE_OBJECT_PLANE).map(drop),
        lessee.told(CrtcGetSequence { crtc_id: other_crtc, ..CrtcGetSequence::ZEROED }).map(drop),
    ];
    assert_eq!(unknown, [Err(Errno::ENOENT); 6]);
    let all = engine.file.leased().unwrap();
    let known = [&engine.crtcs, &engine.planes, &engine.encoders, &engine.connectors];
    assert!(known.into_iter().flatten().all(|id| all.contains(id)), "the owner has everything");
}

// Checks R165.
#[test]
fn a_lessee_shows_pictures_on_its_objects_alone() {
    let device = lit("navi21");
    let engine = Engine::new(&device);
    let [crtc, connector, plane, cursor] = engine.second();
    let with_plane = engine.file.lease(&[crtc, connector, plane]).unwrap();
    let mode = Client::mode_of(&with_plane.file, connector);
    let lessee = Client { file: with_plane.file, crtc, connector, mode };
    lessee.light(0x11_22_33);
    assert_eq!(super::first_pixel(device.scanned_out()), Some([0x11, 0x22, 0x33, 0xff]));
    lessee.file.told(WaitVblank { kind: VBLANK_RELATIVE, sequence: 1, ..WaitVblank::ZEROED }).unwrap();
    let move_cursor = ModeCursor { flags: MODE_CURSOR_MOVE, crtc_id: crtc, ..ModeCursor::ZEROED };
    assert_eq!(lessee.file.told(move_cursor), Err(Errno::EACCES), "the cursor was not leased");
    assert_eq!(lessee.show(|request| request.crtc_id = engine.crtcs[0]), Err(Errno::ENOENT));
    let mut others = [engine.connectors[1]];
    let other_connector = |request: &mut ModeCrtc| request.set_connectors_ptr = address_mut(&mut others);
    assert_eq!(lessee.show(other_connector), Err(Errno::ENOENT));
    let other_plane = ModeSetPlane { plane_id: engine.planes[0], ..ModeSetPlane::ZEROED };
    assert_eq!(lessee.file.told(other_plane), Err(Errno::ENOENT));
    // By a property of its own plane, and of a plane that is not its own.
    lessee.file.may(client_cap::ATOMIC, 1).unwrap();
    let property = lessee.file.value(plane, "CRTC_ID").0;
    let set = |object: u32, value: u32| {
        let (objects, counts, properties, values) = ([object], [1_u32], [property], [u64::from(value)]);
        lessee.file.told(ModeAtomic {
            flags: MODE_ATOMIC_TEST_ONLY,
            count_objs: 1,
            objs_ptr: address(&objects),
            count_props_ptr: address(&counts),
            props_ptr: address(&properties),
            prop_values_ptr: address(&values),
            ..ModeAtomic::ZEROED
        })
    };
    assert_eq!(set(plane, engine.crtcs[0]).map(drop), Err(Errno::EACCES));
    assert_eq!(set(cursor, crtc).map(drop), Err(Errno::ENOENT));
    assert_eq!(set(plane, crtc).map(drop), Ok(()));
}

// Checks R165.
#[test]
fn a_lessee_does_not_see_what_feeds_its_connector_or_plane_from_outside() {
    let device = lit("navi21");
    let engine = Engine::new(&device);
    let [crtc, connector, ..] = engine.second();
    let mode = Client::mode_of(&engine.file, connector);
    let (encoder_id, planes) = (engine.encoders[0], engine.planes.clone());
    let owner = Client { file: engine.file, crtc: engine.crtcs[0], connector, mode };
    owner.light(0);
    let lessee = owner.file.lease(&[crtc, connector, planes[0]]).unwrap().file;
    let fed_by = |file: &File| {
        let encoder = file.told(ModeGetEncoder { encoder_id, ..ModeGetEncoder::ZEROED }).unwrap();
        let plane = file.told(ModeGetPlane { plane_id: planes[0], ..ModeGetPlane::ZEROED }).unwrap();
        (encoder.crtc_id, plane.crtc_id)
    };
    assert_eq!([fed_by(&owner.file), fed_by(&lessee)], [(owner.crtc, owner.crtc), (0, 0)]);
}

// Checks R165.
#[test]
fn without_its_primary_plane_a_crtc_can_only_be_turned_off() {
    let device = lit("navi21");
    let engine = Engine::new(&device);
    let [crtc, connector, _, cursor] = engine.second();
    let lessee = engine.file.lease(&[crtc, connector, cursor]).unwrap().file;
    let mode = Client::mode_of(&lessee, connector);
    let lessee = Client { file: lessee, crtc, connector, mode };
    let framebuffer = lessee.framebuffer(0);
    assert_eq!(lessee.show(|request| request.fb_id = framebuffer), Err(Errno::EACCES));
    let flip = ModePageFlip { crtc_id: crtc, fb_id: framebuffer, ..ModePageFlip::ZEROED };
    assert_eq!(lessee.file.told(flip), Err(Errno::EACCES));
    assert_eq!(lessee.show(|request| (request.mode_valid, request.count_connectors) = (0, 0)), Ok(()));
}

// Checks R166.
#[test]
fn lists_of_lessees_and_objects_are_as_long_as_there_is_room() {
    let engine = Engine::new(&card());
    let file = &engine.file;
    let objects @ [crtc, connector, plane, cursor] = engine.second();
    let lessee = file.lease(&objects).unwrap();
    let _empty = file.lease(&[]).unwrap();
    assert_eq!(file.lessees(), Ok(vec![lessee.number]), "one without objects counts as revoked");
    assert_eq!((lessee.file.lessees(), lessee.file.leased()), (Ok(vec![]), Ok(vec![plane, cursor, crtc, connector])));
    let mut ids = [0_u32; 3];
    let objects_ptr = address_mut(&mut ids);
    let listed = lessee.file.told(ModeGetLease { count_objects: 2, pad: 0, objects_ptr }).unwrap();
    assert_eq!((listed.count_objects, ids), (4, [plane, cursor, 0]));
    let counted = file.told(ModeListLessees { count_lessees: 0, pad: 0, lessees_ptr: 0 }).unwrap();
    assert_eq!(counted.count_lessees, 1);
    assert_eq!(file.told(ModeListLessees { count_lessees: 1, pad: 0, lessees_ptr: 0 }), Err(Errno::EFAULT));
    assert_eq!(file.told(ModeListLessees { pad: 1, ..ModeListLessees::ZEROED }), Err(Errno::EINVAL));
    assert_eq!(file.told(ModeGetLease { pad: 1, ..ModeGetLease::ZEROED }), Err(Errno::EINVAL));
}

// Checks R167.
#[test]
fn a_revoked_lease_has_no_objects_and_stays_a_lease() {
    let engine = Engine::new(&card());
    let file = &engine.file;
    let objects @ [crtc, ..] = engine.second();
    let lessee = file.lease(&objects).unwrap();
    let other = file.lease(&[]).unwrap();
    assert_eq!(file.revoke(9), Err(Errno::ENOENT));
    for number in [lessee.number, other.number] {
        assert_eq!(lessee.file.revoke(number), Err(Errno::EACCES), "it is the lessor's");
    }
    assert_eq!(file.revoke(lessee.number), Ok(()));
    assert_eq!((file.lessees(), lessee.file.leased()), (Ok(vec![]), Ok(vec![])));
    assert_eq!(lessee.file.resources()[0], Ids::new());
    assert_eq!(lessee.file.told(ModeCrtc { crtc_id: crtc, ..ModeCrtc::ZEROED }), Err(Errno::ENOENT));
    assert_eq!(file.revoke(lessee.number), Ok(()), "once more");
    let again = file.lease(&objects).unwrap();
    assert_eq!(again.number, 3, "the numbers of open files are not free");
    drop((lessee, again));
    assert_eq!(file.revoke(1), Err(Errno::ENOENT), "its file is closed");
}

// Checks R167.
#[test]
fn leases_follow_the_mastery_of_their_lessor_and_end_with_it() {
    let device = card();
    let engine = Engine::new(&device);
    let lessee = engine.file.lease(&engine.second()).unwrap().file;
    engine.file.request(DROP_MASTER).unwrap();
    assert_eq!(lessee.leased(), Err(Errno::EACCES));
    let other = File(device.open_primary(false));
    assert_eq!(lessee.leased(), Err(Errno::EACCES), "another is master");
    assert_eq!(other.lessees(), Ok(vec![]), "and its lessees are others");
    drop(other);
    engine.file.request(SET_MASTER).unwrap();
    assert_eq!(lessee.leased().map(|ids| ids.len()), Ok(4));
    let Engine { file, crtcs, .. } = engine;
    drop(file);
    assert_eq!((lessee.leased(), lessee.resources()[0].len()), (Err(Errno::EACCES), 0));
    let next = File(device.open_primary(false));
    assert_eq!((next.resources()[0].clone(), next.lessees()), (crtcs, Ok(vec![])));
}

// Checks R164.
#[test]
fn a_descriptor_that_is_closed_takes_its_file_with_it() {
    let device = card();
    let engine = Engine::new(&device);
    let objects = engine.second();
    let request = ModeCreateLease { object_ids: address(&objects), object_count: 4, ..ModeCreateLease::ZEROED };
    drop(owned(engine.file.told(request).unwrap().fd.cast_signed()));
    let next = engine.file.lease(&[]).unwrap();
    assert_eq!((next.number, device.census().files), (2, 2), "the first one's file is gone");
    let stranger = std::fs::File::open("/dev/null").unwrap();
    assert!(engine.file.0.take_lessee(stranger.as_fd()).unwrap().is_none());
}
