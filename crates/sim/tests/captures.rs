//! Captures that do not come with the simulator: chips of other generations, what may be left out, and what is refused.

use std::{fs, path::Path};

use amdgpu_sim::{CaptureError, ChipError, Profile, SimDevice, SimOptions, chip, profile, profiles};
use amdgpu_winsys::winsys::{Device, GfxLevel, Ip};
use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

fn captured(name: &str) -> Value {
    serde_json::from_str(&profile(name).unwrap().to_capture()).unwrap()
}

fn load(capture: &Value) -> Result<Profile, CaptureError> {
    Profile::from_capture(capture.to_string())
}

/// The error of a capture in which one value is another.
fn refused(pointer: &str, value: Value) -> CaptureError {
    let mut capture = captured("polaris10");
    *capture.pointer_mut(pointer).unwrap() = value;
    load(&capture).unwrap_err()
}

/// A chip without a capture: another chip's facts with its own ids and versions. Its sizes are made up.
fn other(like: &str, gfx_level: &str, ids: [u64; 3], version: [u32; 3], flags: u32) -> Value {
    let mut capture = captured(like);
    let [family, external_rev, device_id] = ids;
    capture["name"] = json!(format!("other-{gfx_level}"));
    capture["gfx_level"] = gfx_level.into();
    capture["has_dedicated_vram"] = (flags & 1 == 0).into();
    for (field, value) in [("family", family), ("external_rev", external_rev), ("device_id", device_id)] {
        capture["dev_info"][field] = value.into();
    }
    capture["dev_info"]["ids_flags"] = flags.into();
    for block in ["gfx", "compute"] {
        let block = &mut capture["hw_ip"][block];
        let [major, minor, revision] = version;
        block["hw_ip_version_major"] = major.into();
        block["hw_ip_version_minor"] = minor.into();
        block["ip_discovery_version"] = if major < 9 { 0.into() } else { (major << 16 | minor << 8 | revision).into() };
    }
    for key in ["radv_chip", "family_name", "marketing_name", "hw_ip_count"] {
        capture.as_object_mut().unwrap().remove(key);
    }
    capture
}

#[test]
fn a_capture_that_is_written_is_read_as_the_same_chip() {
    for profile in profiles() {
        let capture = profile.to_capture();
        let read = Profile::from_capture(&capture).unwrap();
        assert_eq!(read, *profile);
        assert_eq!(read.to_capture(), capture);
    }
}

#[test]
fn chips_of_every_generation_are_simulated_from_captures() {
    let bonaire = other("polaris10", "GFX7", [120, 0x14, 0x6649], [7, 2, 0], 0);
    let strix = other("navi31", "GFX11_5", [150, 0x01, 0x150e], [11, 5, 0], 1);
    let navi48 = other("navi31", "GFX12", [152, 0x50, 0x7550], [12, 0, 1], 0);
    for (capture, level, name, sdma) in [
        (bonaire, GfxLevel::Gfx7, "BONAIRE", 2),
        (strix, GfxLevel::Gfx11_5, "GFX1150", 1),
        (navi48, GfxLevel::Gfx12, "GFX1201", 2),
    ] {
        let profile = load(&capture).unwrap();
        assert_eq!(profile.gfx_level, level);
        let gpu = SimDevice::new(&profile, SimOptions::default());
        let device = Device::new(gpu.open()).unwrap();
        let info = device.info();
        assert_eq!((info.gfx_level, info.chip_name(), info.ring_count(Ip::Sdma)), (level, name, sdma));
        assert_eq!(info.has_dedicated_vram, name != "GFX1150");
        assert_eq!(gpu.complaints(), [""; 0]);
    }
}

#[test]
fn what_a_capture_may_leave_out_follows_from_rules() {
    let whole = captured("navi21");
    let mut short = json!({});
    for key in ["dev_info", "memory", "hw_ip", "mmr_regs"] {
        short[key] = whole[key].clone();
    }
    short["hw_ip"] = json!({ "gfx": whole["hw_ip"]["gfx"] });
    short["unknown"] = json!({ "key": [1, null] });
    short["dev_info"].as_object_mut().unwrap().retain(|field, _| field != "mall_size" && field != "cu_ao_bitmap");
    for heap in ["vram", "cpu_accessible_vram", "gtt"] {
        short["memory"][heap] = json!({ "total_heap_size": whole["memory"][heap]["total_heap_size"] });
    }
    let profile = load(&short).unwrap();
    assert_eq!((profile.name.as_str(), profile.gfx_level), ("navi21", GfxLevel::Gfx10_3));
    assert_eq!((profile.dev_info.mall_size, profile.memory_usable_captured, profile.sdma_engines), (0, false, 2));
    let device = Device::new(SimDevice::new(&profile, SimOptions::default()).open()).unwrap();
    assert_eq!((device.info().ring_count(Ip::Compute), device.info().ring_count(Ip::Sdma)), (0, 2));
    let memory = device.memory_info().unwrap();
    assert!(memory.vram.usable_heap_size > 0 && memory.gtt.max_allocation > 0, "{memory:?}");
}

#[test]
fn copy_engines_that_were_captured_are_taken_as_they_are() {
    let mut capture = captured("navi21");
    capture["hw_ip"]["dma"] = json!({ "hw_ip_version_major": 5, "hw_ip_version_minor": 2, "available_rings": "0x1",
        "ib_start_alignment": 256, "ib_size_alignment": 4 });
    let open = |capture: &Value| {
        let profile = load(capture).unwrap();
        Device::new(SimDevice::new(&profile, SimOptions::default()).open()).unwrap().info().ring_count(Ip::Sdma)
    };
    assert_eq!(open(&capture), 1);
    capture["hw_ip"]["dma"]["available_rings"] = json!(0);
    assert_eq!(open(&capture), 0, "a block without rings is none");
    capture["hw_ip"]["dma"] = Value::Null;
    assert_eq!(open(&capture), 2, "what was not captured follows from the rules");
}

#[test]
fn a_key_that_is_missing_is_named() {
    for pointer in [
        "/dev_info",
        "/dev_info/family",
        "/dev_info/virtual_address_max",
        "/memory",
        "/memory/gtt",
        "/memory/vram/total_heap_size",
        "/hw_ip",
        "/hw_ip/gfx/available_rings",
        "/mmr_regs/0/value",
    ] {
        let key = pointer[1..].replace("/0/", "[0]/").replace('/', ".");
        assert_eq!(refused(pointer, Value::Null), CaptureError::Missing { key }, "{pointer}");
    }
}

#[test]
fn nonsense_is_refused_with_its_key_and_the_reason() {
    let cases = [
        ("/schema_version", json!(2), "schema_version is 0x2: only version 1 is known"),
        ("/name", json!(""), "name is \"\": not 1 to 64 characters that can be printed"),
        ("/name", json!("a\nb"), "name is \"a\\nb\": not 1 to 64 characters that can be printed"),
        ("/name", json!(7), "name is a number, not a text"),
        ("/gfx_level", json!("GFX13"), "gfx_level is \"GFX13\": no generation from GFX6 to GFX12"),
        ("/gfx_level", json!("GFX9"), "gfx_level contradicts the versions in hw_ip"),
        ("/has_dedicated_vram", json!(false), "has_dedicated_vram contradicts dev_info.ids_flags"),
        ("/dev_info", json!([]), "dev_info is a list, not an object"),
        ("/dev_info/family", json!(4711), "chip unknown: family 4711, external revision 0x51"),
        ("/dev_info/device_id", json!("0x10000"), "dev_info.device_id is 0x10000: no PCI device id"),
        ("/dev_info/device_id", json!("0x100000000"), "dev_info.device_id is 0x100000000: more than its field holds"),
        ("/dev_info/device_id", json!("67df"), "dev_info.device_id is \"67df\": no 0x and 1 to 16 digits"),
        ("/dev_info/device_id", json!("0x+1"), "dev_info.device_id is \"0x+1\": no 0x and 1 to 16 digits"),
        (
            "/dev_info/device_id",
            json!(-1),
            "dev_info.device_id is a number with a sign, not a number of 64 bits without a sign or fraction",
        ),
        (
            "/dev_info/max_engine_clock",
            json!(1.5),
            "dev_info.max_engine_clock is a number with a fraction or beyond 64 bits, not a number of 64 bits without a \
             sign or fraction",
        ),
        ("/dev_info/num_shader_engines", json!(9), "dev_info.num_shader_engines is 0x9: 1 to 8 have room in cu_bitmap"),
        ("/dev_info/num_shader_engines", json!(0), "dev_info.num_shader_engines is 0x0: 1 to 8 have room in cu_bitmap"),
        ("/dev_info/cu_bitmap", json!([[0, 0, 0, 0]]), "dev_info.cu_bitmap has 1 entries, not 4 to 4"),
        ("/dev_info/wave_front_size", json!(48), "dev_info.wave_front_size is 0x30: a wave has 32 or 64 lanes"),
        ("/dev_info/gart_page_size", json!(4097), "dev_info.gart_page_size is 0x1001: no power of two from a page on"),
        (
            "/dev_info/virtual_address_max",
            json!("0x1000"),
            "dev_info.virtual_address_offset is 0x200000: not below virtual_address_max",
        ),
        ("/dev_info/high_va_offset", json!(4096), "dev_info.high_va_offset is 0x1000: not in the high half"),
        ("/memory/gtt/total_heap_size", json!(0), "memory.gtt.total_heap_size is 0x0: no size of such a heap in bytes"),
        (
            "/memory/vram/total_heap_size",
            json!("0xffffffffffffffff"),
            "memory.vram.total_heap_size is 0xffffffffffffffff: no size of such a heap in bytes",
        ),
        (
            "/memory/cpu_accessible_vram/total_heap_size",
            json!("0x300000000"),
            "memory.cpu_accessible_vram.total_heap_size is 0x300000000: more than memory.vram.total_heap_size",
        ),
        (
            "/hw_ip/gfx/ib_size_alignment",
            json!(33),
            "hw_ip.gfx.ib_size_alignment is 0x21: no power of two of at most 1 MiB",
        ),
        (
            "/hw_ip/compute/available_rings",
            json!("0xffffffff"),
            "hw_ip.compute.available_rings is 0xffffffff: a block has 8 rings for user space at most",
        ),
        ("/hw_ip_count/dma", json!(1_000_000), "hw_ip_count.dma is 0xf4240: the driver has room for 16"),
        ("/mmr_regs", json!([]), "mmr_regs lacks the register at dword 0x263e for instance 0xffffffff"),
        ("/mmr_regs/1/instance", json!(5), "mmr_regs[1].instance is 0x5: no shader engine and array"),
        ("/mmr_regs/0/dword_offset", json!("0x2645"), "mmr_regs[15] contradicts an earlier entry of mmr_regs"),
    ];
    for (pointer, value, message) in cases {
        assert_eq!(refused(pointer, value).to_string(), message);
    }
    let registers = vec![json!({ "dword_offset": 1, "instance": 0, "value": 0 }); 1_000_000];
    assert!(matches!(refused("/mmr_regs", registers.into()), CaptureError::TooLong { .. }));
    let rings = |capture: &mut Value, count: u32| {
        for block in ["gfx", "compute"] {
            capture["hw_ip"][block]["available_rings"] = count.into();
        }
    };
    let mut capture = captured("navi31");
    rings(&mut capture, 0);
    assert!(matches!(load(&capture), Err(CaptureError::Missing { .. })), "a chip without rings");
}

/// Every required field and every part, with each type that it cannot have: the error names it.
#[test]
fn a_field_of_the_wrong_type_is_named() {
    let capture = captured("phoenix");
    let mut all = Vec::new();
    places(&capture, "", &mut all);
    let mut refused = 0;
    for pointer in all.iter().filter(|pointer| !pointer.is_empty()) {
        for wrong in [json!(true), json!(-1), json!("\u{1}"), json!([]), json!({}), json!([[1]])] {
            let mut damaged = capture.clone();
            *damaged.pointer_mut(pointer).unwrap() = wrong.clone();
            let Err(error) = load(&damaged) else { continue };
            refused += 1;
            let path = pointer[1..].split("/hw_ip").next().unwrap();
            let last = path.rsplit('/').next().unwrap();
            let names_it = error.to_string().contains(last)
                || last.parse::<usize>().is_ok()
                || matches!(error, CaptureError::NoRegister { .. } | CaptureError::UnknownChip { .. })
                || matches!(&error, CaptureError::Missing { key } if key.contains(last) || key.contains("ring"))
                || pointer.starts_with("/sysfs/files/");
            assert!(names_it, "{pointer} = {wrong}: {error}");
        }
    }
    assert!(refused > 1000, "only {refused}");
}

#[test]
fn a_tree_of_sysfs_with_holes_or_paths_that_lead_elsewhere_is_refused() {
    let with = |sysfs: Value| {
        let mut capture = captured("navi21");
        capture["sysfs"] = sysfs;
        load(&capture).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(
        with(json!({ "files": { "fw_version/me_fw_version": "0x1\n", "gpu_metrics": { "hex": "78000103" } } })),
        Ok(())
    );
    for (sysfs, message) in [
        (json!([]), "sysfs is a list, not an object"),
        (json!({}), "sysfs.files is missing"),
        (json!({ "complete": "yes", "files": {} }), "sysfs.complete is a text, not true or false"),
        (json!({ "files": { "vbios_version": null } }), "sysfs.files.vbios_version is null, not an object"),
        (json!({ "files": { "vbios_version": {} } }), "sysfs.files.vbios_version.hex is missing"),
        (json!({ "files": { "vbios_version": 7 } }), "sysfs.files.vbios_version is a number, not an object"),
        (
            json!({ "files": { "pp_table": { "hex": "0" } } }),
            "sysfs.files.pp_table.hex is \"0\": no pairs of hexadecimal digits",
        ),
        (
            json!({ "files": { "pp_table": { "hex": "zz" } } }),
            "sysfs.files.pp_table.hex is \"zz\": no pairs of hexadecimal digits",
        ),
        (json!({ "files": { "../x": "" } }), "sysfs.files is \"../x\": no path of a file below the device's directory"),
        (json!({ "files": { "/etc": "" } }), "sysfs.files is \"/etc\": no path of a file below the device's directory"),
        (json!({ "files": { "a//b": "" } }), "sysfs.files is \"a//b\": no path of a file below the device's directory"),
    ] {
        assert_eq!(with(sysfs), Err(message.to_owned()));
    }
    let many: serde_json::Map<String, Value> = (0..3000).map(|index| (format!("f{index}"), json!(""))).collect();
    assert_eq!(with(json!({ "files": many })), Err("sysfs.files has 3000 entries, not 0 to 2048".to_owned()));
}

#[test]
fn a_chip_that_is_known_by_name_alone_is_refused_by_that_name() {
    let of = |family: u64, version: [u32; 3]| {
        let capture = other("gfx1151", "GFX11_5", [family, 0xc1, 0x1586], version, 1);
        load(&capture).unwrap_err().to_string()
    };
    let refused = "no rules of its generation are known, so it is not simulated";
    assert_eq!(of(150, [11, 7, 0]), format!("GFX1170 (graphics IP 11.7.0): {refused}"));
    assert_eq!(of(154, [11, 5, 4]), format!("GC_11_5_4 (graphics IP 11.5.4): {refused}"));
    assert_eq!(of(152, [12, 1, 0]), format!("GFX1210 (graphics IP 12.1.0): {refused}"));
    assert_eq!(of(155, [13, 0, 0]), "chip unknown: family 155, external revision 0xc1");
    assert_eq!(chip("gfx1171").unwrap_err().to_string(), format!("GFX1171 (graphics IP 11.7.1): {refused}"));
}

/// Every chip that the tables know can be simulated from a capture that is no part of the simulator: here with another chip's sizes.
#[test]
fn a_capture_of_any_chip_of_the_tables_opens() {
    let mut seen = std::collections::BTreeSet::new();
    for profile in profiles() {
        let base: Value = serde_json::from_str(&profile.to_capture()).unwrap();
        for revision in 0..0xff_u32 {
            let family = amdgpu_hw::Family::from(profile.dev_info.family);
            let Some(chip) = amdgpu_hw::identify(family, revision) else { continue };
            let mut capture = base.clone();
            capture["dev_info"]["external_rev"] = revision.into();
            for key in ["name", "radv_chip", "hw_ip_count", "sysfs"] {
                capture.as_object_mut().unwrap().remove(key);
            }
            let Ok(profile) = load(&capture) else { continue };
            if !seen.insert(amdgpu_hw::radv_name(chip)) {
                continue;
            }
            let gpu = SimDevice::new(&profile, SimOptions::default());
            let device = Device::new(gpu.open()).unwrap();
            assert_eq!(device.info().chip_name(), amdgpu_hw::radv_name(chip));
            assert_eq!(gpu.complaints(), [""; 0]);
        }
    }
    assert!(seen.len() >= 40, "only {seen:?}");
}

#[test]
fn cards_and_machines_are_found_by_their_names_and_with_changes() {
    for (word, units, vram, gtt) in [
        ("rx7900xt", 84, 20_464, None),
        ("rx7900gre", 80, 16_368, None),
        ("rx6700xt", 40, 12_272, None),
        ("rx6900xt", 80, 16_368, None),
        ("steamdeck", 8, 1024, Some(8128)),
        ("strix-halo-128g", 40, 512, Some(63_968)),
        ("strix-halo-128g:carve-out=4G:gtt=120000M", 40, 4096, Some(120_000)),
        ("navi31:vram=20G:compute-units=84", 84, 20_464, None),
    ] {
        let profile = chip(word).unwrap();
        let memory = profile.memory;
        assert_eq!(profile.dev_info.cu_active_number, units, "{word}");
        let bits: u32 = profile.dev_info.cu_bitmap.iter().flatten().map(|mask| mask.count_ones()).sum();
        assert_eq!(bits, units, "{word}");
        assert_eq!(memory.vram.total_heap_size >> 20, vram, "{word}");
        assert!(gtt.is_none_or(|gtt| gtt == memory.gtt.total_heap_size >> 20), "{word}");
        assert!(Device::new(SimDevice::new(profile, SimOptions::default()).open()).is_ok(), "{word}");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/devices/navi31.json");
    let small = chip(&format!("{path}:bar=256M")).unwrap();
    assert_eq!(small.memory.cpu_accessible_vram.total_heap_size, 256 << 20);
    assert_eq!(chip("navi31:bar=x").unwrap_err().to_string(), "navi31: bar=x: no size such as 256M or 20G");
    assert_eq!(chip("renoir:bar=1G").unwrap_err().to_string(), "renoir: bar: all memory of an APU is visible");
    assert!(matches!(chip("navi31:x"), Err(ChipError::NoSuchChip { name, .. }) if name == "navi31:x"));
}

#[test]
fn what_is_no_json_is_refused() {
    for text in ["", "{", "\"\\ud800\"", "[1,]", "{\"a\":1e999}", "nul"] {
        assert!(matches!(Profile::from_capture(text), Err(CaptureError::Syntax { .. })), "{text}");
    }
    assert!(matches!(Profile::from_capture([0xff, 0xfe]), Err(CaptureError::Syntax { .. })));
    let deep = "[".repeat(500_000);
    assert!(matches!(Profile::from_capture(deep), Err(CaptureError::Syntax { .. })));
    assert!(matches!(Profile::from_capture(vec![b' '; 1 << 21]), Err(CaptureError::TooLong { .. })));
    for text in ["7", "null", "[]", "\"navi21\""] {
        assert!(matches!(Profile::from_capture(text), Err(CaptureError::WrongType { .. })), "{text}");
    }
}

#[test]
fn a_word_is_a_name_or_a_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/devices");
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let found = chip(path.to_str().unwrap()).unwrap();
        assert_eq!(Some(&*found), profile(&found.name), "{}", path.display());
    }
    assert!(matches!(chip("navi99"), Err(ChipError::NoSuchChip { name, .. }) if name == "navi99"));
    assert!(matches!(chip("no-such-file.json"), Err(ChipError::Read { .. })));
    assert!(matches!(chip("/"), Err(ChipError::Read { .. })));
    assert!(matches!(chip("/dev/zero"), Err(ChipError::Capture { source: CaptureError::TooLong { .. }, .. })));
}

/// All places of a document, as JSON pointers.
fn places(value: &Value, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| places(value, &format!("{pointer}/{index}"), found));
        }
        Value::Object(object) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            object.iter().for_each(|(key, value)| places(value, &format!("{pointer}/{}", escaped(key)), found));
        }
        _ => {}
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<u64>(), (0..64_u32).prop_map(|bit| 1 << bit), 0..20_u64];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        number.clone().prop_map(Value::from),
        number.prop_map(|number| format!("{number:#x}").into()),
        ".{0,80}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[0, 0, 0, 0], [1, 2, 3, 4], [0, 0, 0, 0], [5, 6, 7, 8]])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Loaded captures can be opened: what user space would refuse is refused when the capture is read.
    #[test]
    fn a_damaged_capture_is_refused_or_makes_a_gpu_that_opens(
        name in prop::sample::select(vec!["pitcairn", "polaris10", "renoir", "navi31"]),
        damages in prop::collection::vec((any::<Index>(), any_value()), 1..4),
    ) {
        let mut capture = captured(name);
        for (place, value) in damages {
            let mut all = Vec::new();
            places(&capture, "", &mut all);
            // The whole document is rarely worth it.
            *capture.pointer_mut(&all[1.min(all.len() - 1)..][place.index(all.len().max(2) - 1)]).unwrap() = value;
        }
        match load(&capture) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(profile) => {
                prop_assert_eq!(&Profile::from_capture(profile.to_capture()).unwrap(), &profile);
                let gpu = SimDevice::new(&profile, SimOptions::default());
                let device = Device::new(gpu.open());
                prop_assert!(device.is_ok(), "{:?}", device.err());
                prop_assert_eq!(gpu.complaints(), [""; 0]);
            }
        }
    }
}
