//! R210 and R211: colour pipelines of planes.

use amdgpu_sim::{Features, KernelRelease, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    MODE_CURSOR_BO, MODE_OBJECT_COLOROP, MODE_OBJECT_PLANE, ModeAtomic, ModeCursor, ModeObjSetProperty, client_cap,
};

use super::{Client, first_pixel};

/// A display on a kernel whose planes have pipelines, with a client that sees them.
fn seeing(chip: &str) -> (SimDevice, Client, u32, u32) {
    let device = lit_on(chip, KernelRelease::V7_2);
    let (client, plane, cursor) = Client::atomic(&device);
    client.file.may(client_cap::PLANE_COLOR_PIPELINE, 1).unwrap();
    (device, client, plane, cursor)
}

fn lit_on(chip: &str, kernel: KernelRelease) -> SimDevice {
    let display = "640x480".parse().ok();
    SimDevice::new(profile(chip).unwrap(), SimOptions { display, ..SimOptions::of_kernel(kernel) })
}

impl Client {
    /// The names of an object's properties.
    fn names(&self, object: u32, kind: u32) -> Vec<String> {
        self.file.properties(object, kind).unwrap().into_iter().map(|(name, _)| name).collect()
    }

    /// The operations of a plane's pipeline.
    fn operations(&self, plane: u32) -> Vec<u32> {
        let (property, _) = self.file.value(plane, "COLOR_PIPELINE");
        let (_, names) = self.file.property(property);
        let first = names[1].strip_prefix("Color Pipeline ").unwrap().parse().unwrap();
        let next = |operation: &u32| Some(self.file.value(*operation, "NEXT").1 as u32).filter(|&next| next != 0);
        std::iter::successors(Some(first), next).collect()
    }

    fn try_set(&self, object: u32, name: &str, value: u64) -> Result<(), Errno> {
        self.commit(0, &[(object, &[(name, value)])])
    }
}

// Checks R210.
#[test]
fn a_client_sees_the_pipeline_or_how_luma_is_encoded() {
    let device = lit_on("navi21", KernelRelease::V7_2);
    let (client, plane, cursor) = Client::atomic(&device);
    let seen = |object| {
        let names = client.names(object, MODE_OBJECT_PLANE);
        ["COLOR_ENCODING", "COLOR_RANGE", "COLOR_PIPELINE"].map(|name| names.iter().any(|one| one == name))
    };
    assert_eq!([seen(plane), seen(cursor)], [[true, true, false], [false; 3]]);
    let pipeline = |value| client.file.may(client_cap::PLANE_COLOR_PIPELINE, value);
    pipeline(1).unwrap();
    assert_eq!([seen(plane), seen(cursor)], [[false, false, true], [false; 3]]);
    pipeline(0).unwrap();
    assert_eq!(seen(plane), [true, true, false]);
    // What is hidden can be set all the same.
    let (encoding, value) = client.file.value(plane, "COLOR_ENCODING");
    assert_eq!((value, client.file.property(encoding).1.len()), (1, 3));
    pipeline(1).unwrap();
    let set = |value| {
        let request = ModeObjSetProperty { value, prop_id: encoding, obj_id: plane, ..ModeObjSetProperty::ZEROED };
        client.file.send(&mut { request })
    };
    assert_eq!([set(2), set(3)], [Ok(()), Err(Errno::EINVAL)]);
    // A client that asks for atomic mode setting again, or no longer, still asks for pipelines.
    for (atomic, expected) in [(1, [false, false, true]), (0, [false; 3]), (1, [false, false, true])] {
        client.file.may(client_cap::ATOMIC, atomic).unwrap();
        client.file.may(client_cap::UNIVERSAL_PLANES, 1).unwrap();
        assert_eq!(seen(plane), expected, "atomic {atomic}");
    }
    pipeline(0).unwrap();
    assert_eq!(client.file.value(plane, "COLOR_ENCODING").1, 2);
    for (chip, expected) in [("renoir", [true, true, false]), ("polaris10", [false; 3])] {
        let (older, plane, _) = Client::atomic(&lit_on(chip, KernelRelease::V7_2));
        assert_eq!(older.file.may(client_cap::PLANE_COLOR_PIPELINE, 1), Err(Errno::EOPNOTSUPP), "{chip}");
        let names = older.names(plane, MODE_OBJECT_PLANE);
        let found = ["COLOR_ENCODING", "COLOR_RANGE", "COLOR_PIPELINE"].map(|name| names.iter().any(|one| one == name));
        assert_eq!(found, expected, "{chip}");
    }
}

// Checks R211.
#[test]
fn a_pipeline_is_a_list_of_operations_with_properties() {
    for chip in ["navi21", "navi31"] {
        let (_device, client, plane, _) = seeing(chip);
        let operations = client.operations(plane);
        let shared = ["TYPE", "BYPASS", "NEXT"];
        let own: [&[&str]; 5] = [
            &["CURVE_1D_TYPE"],
            &["SIZE", "LUT1D_INTERPOLATION", "DATA"],
            &["DATA"],
            &["MULTIPLIER"],
            &["SIZE", "LUT3D_INTERPOLATION", "DATA"],
        ];
        let kinds: Vec<u64> = operations.iter().map(|&operation| client.file.value(operation, "TYPE").1).collect();
        assert_eq!(kinds, [0, 3, 2, 0, 1, 4, 0, 1], "{chip}");
        for (&operation, &kind) in operations.iter().zip(&kinds) {
            let expected: Vec<&str> = shared.iter().chain(own[kind as usize]).copied().collect();
            assert_eq!(client.names(operation, MODE_OBJECT_COLOROP), expected, "{chip}: {kind}");
            assert_eq!(client.file.properties(operation, MODE_OBJECT_PLANE), Err(Errno::ENOENT));
            assert_eq!(client.file.value(operation, "BYPASS").1, 1);
        }
        let curves = [0, 3, 6].map(|at| client.file.value(operations[at], "CURVE_1D_TYPE"));
        assert_eq!(curves.map(|(_, curve)| curve), [0, 1, 0], "sRGB and its inverse");
        assert!(curves[0].0 == curves[2].0 && curves[0].0 != curves[1].0, "with other values");
        let sizes = [4, 5, 7].map(|at| client.file.value(operations[at], "SIZE").1);
        assert_eq!(sizes, [4096, 17, 4096]);
        let others = client.operations(client.file.planes()[0]);
        assert!(others.iter().all(|operation| !operations.contains(operation)), "each plane has its own");
    }
}

// Checks R211.
#[test]
fn operations_are_set_by_commits_and_a_blob_of_the_wrong_size_is_einval() {
    let (_device, client, plane, cursor) = seeing("navi21");
    let operations = client.operations(plane);
    let value = |object, name| client.file.value(object, name).1;
    for (at, bytes) in [(2, 96), (4, 4096 * 16), (5, 17 * 17 * 17 * 16)] {
        let [right, short] = [bytes, bytes - 16].map(|bytes| u64::from(client.blob(&vec![0; bytes])));
        let set = |value| client.try_set(operations[at], "DATA", value);
        assert_eq!([set(short), set(0x7fff)], [Err(Errno::EINVAL); 2], "{at}");
        assert_eq!(value(operations[at], "DATA"), 0);
        assert_eq!((set(right), value(operations[at], "DATA")), (Ok(()), right), "{at}");
        assert_eq!((set(0), value(operations[at], "DATA")), (Ok(()), 0), "{at}");
    }
    for (object, name, good, wrong) in [
        (operations[0], "BYPASS", 0, 2),
        (operations[0], "CURVE_1D_TYPE", 4, 5),
        (operations[3], "CURVE_1D_TYPE", 5, 4),
        (operations[4], "LUT1D_INTERPOLATION", 0, 1),
        (plane, "COLOR_PIPELINE", operations[0].into(), operations[1].into()),
        (plane, "COLOR_PIPELINE", 0, plane.into()),
    ] {
        assert_eq!(client.try_set(object, name, wrong), Err(Errno::EINVAL), "{name}");
        assert_eq!((client.try_set(object, name, good), value(object, name)), (Ok(()), good), "{name}");
    }
    let half = 1 << 31;
    assert_eq!((client.try_set(operations[1], "MULTIPLIER", half), value(operations[1], "MULTIPLIER")), (Ok(()), half));
    for name in ["TYPE", "NEXT"] {
        assert_eq!(client.try_set(operations[0], name, 0), Err(Errno::EINVAL), "{name} is fixed");
    }
    // A property of another object.
    let property = client.file.value(plane, "COLOR_PIPELINE").0;
    for object in [client.file.planes()[0], cursor, operations[0]] {
        let (mut objects, mut counts, mut ids, mut values) = ([object], [1_u32], [property], [0_u64]);
        let mut request = ModeAtomic {
            count_objs: 1,
            objs_ptr: crate::support::address_mut(&mut objects),
            count_props_ptr: crate::support::address_mut(&mut counts),
            props_ptr: crate::support::address_mut(&mut ids),
            prop_values_ptr: crate::support::address_mut(&mut values),
            ..ModeAtomic::ZEROED
        };
        assert_eq!(client.file.send(&mut request), Err(Errno::ENOENT));
    }
}

// Checks R211.
#[test]
fn an_equal_value_does_not_pull_the_plane_into_a_commit() {
    use amdgpu_winsys::uapi::MODE_PAGE_FLIP_EVENT;
    let (_device, client, plane, _) = seeing("navi21");
    client.set(plane, client.framebuffer(0xff)).unwrap();
    let operation = client.operations(plane)[0];
    let flip = |value| client.commit(MODE_PAGE_FLIP_EVENT, &[(operation, &[("BYPASS", value)])]);
    assert_eq!(flip(1), Err(Errno::EINVAL), "no CRTC takes part that could send an event");
    assert_eq!(flip(0), Ok(()));
}

/// One, as a number with 31 bits before the point and 32 behind it.
const ONE: u64 = 1 << 32;

/// Returns a blob with a matrix of three rows.
fn matrix(rows: [[u64; 4]; 3]) -> Vec<u8> {
    rows.concat().into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Returns a blob with a table whose entries are made of their numbers.
fn table(entries: u32, entry: impl Fn(u32) -> [u32; 3]) -> Vec<u8> {
    let words = |at| entry(at).into_iter().chain([0]);
    (0..entries).flat_map(words).flat_map(u32::to_le_bytes).collect()
}

// Checks R211.
#[test]
fn a_plane_has_the_colours_that_come_out_of_its_pipeline() {
    let (device, client, plane, _) = seeing("navi21");
    client.set(plane, client.framebuffer(0x40_80_ff)).unwrap();
    let operations = client.operations(plane);
    let shown = || first_pixel(device.scanned_out()).map(|[red, green, blue, _]| [red, green, blue]);
    let plain = Some([0x40, 0x80, 0xff]);
    client.try_set(operations[1], "MULTIPLIER", ONE / 2).unwrap();
    client.try_set(plane, "COLOR_PIPELINE", operations[0].into()).unwrap();
    assert_eq!(shown(), plain, "all of it is bypassed");
    client.try_set(operations[1], "BYPASS", 0).unwrap();
    assert_eq!(shown(), Some([0x20, 0x40, 0x80]), "half of the light");
    client.try_set(plane, "COLOR_PIPELINE", 0).unwrap();
    assert_eq!(shown(), plain, "the pipeline is bypassed");
    client.try_set(plane, "COLOR_PIPELINE", operations[0].into()).unwrap();
    client.try_set(operations[1], "BYPASS", 1).unwrap();

    let with = |at: usize, changes: &[(&str, u64)]| {
        client.commit(0, &[(operations[at], &[changes, &[("BYPASS", 0)]].concat())]).unwrap();
        let found = shown();
        client.try_set(operations[at], "BYPASS", 1).unwrap();
        assert_eq!(shown(), plain);
        found
    };
    let data = |bytes: &[u8]| [("DATA", u64::from(client.blob(bytes)))];
    assert_eq!(with(2, &[]), plain, "a matrix that nobody gave");
    let swap = matrix([[0, 0, ONE, 0], [0, 1 << 63 | ONE, 0, ONE], [ONE, 0, 0, 0]]);
    assert_eq!(with(2, &data(&swap)), Some([0xff, 0x7f, 0x40]), "red and blue change places, and green is turned over");
    let falling = table(4096, |at| [u32::MAX - at * (u32::MAX / 4095); 3]);
    assert_eq!(with(4, &data(&falling)), Some([0xbf, 0x7f, 0x00]));
    let turned = table(17 * 17 * 17, |at| [at / 289, at % 17, at / 17 % 17].map(|place| place * (u32::MAX / 16)));
    assert_eq!(with(5, &data(&turned)), Some([0xff, 0x40, 0x80]), "red is the fastest");
    // Light of sRGB, of PQ, of BT.2020 and of a power.
    for (signal, light) in [(0, [13, 55, 255]), (2, [17, 255, 255]), (4, [20, 67, 255]), (6, [12, 56, 255])] {
        assert_eq!(with(0, &[("CURVE_1D_TYPE", signal)]), Some(light), "{signal}");
        client.commit(0, &[(operations[0], &[("BYPASS", 0)])]).unwrap();
        client.commit(0, &[(operations[3], &[("CURVE_1D_TYPE", signal + 1), ("BYPASS", 0)])]).unwrap();
        assert_eq!(shown(), plain, "{signal} there and back");
        for at in [0, 3] {
            client.try_set(operations[at], "BYPASS", 1).unwrap();
        }
    }
}

// Checks R211.
#[test]
fn a_cursor_has_no_pipeline() {
    let (device, client, plane, cursor) = seeing("navi31");
    let fb = client.framebuffer(0x80_80_80);
    client.set(plane, fb).unwrap();
    let operations = client.operations(plane);
    client.try_set(operations[1], "BYPASS", 0).unwrap();
    client.try_set(plane, "COLOR_PIPELINE", operations[0].into()).unwrap();
    assert_eq!(first_pixel(device.scanned_out()), Some([0, 0, 0, 0xff]), "the factor is 0 until it is set");
    let handle = client.buffer_of((64, 64), 0xff_80_40_20);
    let crtc_id = client.crtc;
    let show = ModeCursor { flags: MODE_CURSOR_BO, crtc_id, width: 64, height: 64, handle, ..ModeCursor::ZEROED };
    client.file.send(&mut { show }).unwrap();
    assert_eq!(first_pixel(device.scanned_out()), Some([0x80, 0x40, 0x20, 0xff]));
    assert_ne!(plane, cursor);
}

// Checks R210.
#[test]
fn kernels_without_the_feature_have_no_pipelines() {
    let options = SimOptions {
        display: "640x480".parse().ok(),
        features: Features::of(KernelRelease::V7_2).difference(Features::COLOR_PIPELINES),
        ..SimOptions::of_kernel(KernelRelease::V7_2)
    };
    let (client, plane, _) = Client::atomic(&SimDevice::new(profile("navi21").unwrap(), options));
    assert_eq!(client.file.may(client_cap::PLANE_COLOR_PIPELINE, 1), Err(Errno::EINVAL));
    assert!(client.names(plane, MODE_OBJECT_PLANE).contains(&"COLOR_RANGE".to_owned()));
    assert_eq!(client.file.properties(128, MODE_OBJECT_COLOROP), Err(Errno::ENOENT));
}
