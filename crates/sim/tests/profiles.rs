//! Every field of the captures in `data/devices` is what the simulator answers when it plays their recording.
//!
//! Each key of a capture is either compared or named here as something that no request tells; a key that is neither
//! fails the test, so that nothing recorded is overlooked.

use std::{collections::BTreeSet, ffi::c_void, fs, path::Path};

use amdgpu_sim::{Origin, SimDevice, SimKernel, SimOptions, profile, profiles};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Argument, DevInfo, GetCap, HeapInfo, Info, InfoFirmware, InfoHwIp, Layout, MemoryInfo, Version, cap, firmware,
        query,
    },
    winsys::{Device, GpuInfo, Ip, Kernel},
};
use serde_json::Value;
use zerocopy::IntoBytes;

/// Fill pattern of answers, to tell what the kernel leaves alone from what it writes.
const UNTOUCHED: u8 = 0x5a;
/// VRAM that the kernel never counts as usable, bytes.
const RESERVED_VRAM: u64 = 8 << 20;

/// A capture and the simulated device that plays it.
struct Played {
    name: String,
    capture: Value,
    kernel: SimKernel,
}

fn captures() -> Vec<Played> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/devices");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .map(|file| Played::new(file))
        .collect()
}

impl Played {
    fn new(file: &Path) -> Self {
        let capture: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let name = capture["name"].as_str().unwrap().to_owned();
        assert_eq!(file.file_stem().unwrap().to_str(), Some(&*name));
        let profile = profile(&name).unwrap_or_else(|| panic!("no profile {name}"));
        Self { kernel: SimDevice::new(profile, SimOptions::RECORDING).open(), name, capture }
    }

    fn send<A: Argument>(&self, argument: &mut A) -> Result<(), Errno> {
        let pointer = std::ptr::from_mut(argument).cast::<c_void>();
        #[expect(unsafe_code, reason = "the seam is unsafe")]
        // SAFETY: the argument is exclusive and as large as its own request says; the addresses inside are those of
        // buffers of the callers, given with their lengths.
        unsafe { self.kernel.ioctl(A::REQUEST, pointer) }.map(drop)
    }

    /// INFO: the bytes of the answer, which must have exactly this length.
    fn info(&self, question: u32, input: [u32; 4], len: usize) -> Result<Vec<u8>, Errno> {
        let mut out = vec![UNTOUCHED; len + 64];
        let (return_pointer, return_size) = (out.as_mut_ptr().expose_provenance() as u64, out.len() as u32);
        self.send(&mut Info { return_pointer, return_size, query: question, input })?;
        assert!(out[len..].iter().all(|&byte| byte == UNTOUCHED), "{}: a longer answer to {question:#x}", self.name);
        out.truncate(len);
        Ok(out)
    }

    fn text(&self, key: &str) -> &str {
        self.capture[key].as_str().unwrap_or_else(|| panic!("{}: {key} is no text", self.name))
    }
}

/// A number: decimal, or a string that starts with 0x.
fn number(value: &Value) -> u64 {
    match value {
        Value::String(text) => u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap(),
        _ => value.as_u64().unwrap_or_else(|| panic!("no number: {value}")),
    }
}

/// All numbers of a value, however deep it is.
fn numbers(value: &Value) -> Vec<u64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        _ => vec![number(value)],
    }
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The bytes of a structure whose fields a capture gives by their C names: all of them, and no others. Where C has no
/// field of its own, the captures have the given names.
fn image<T: Layout>(fields: &Value, unnamed: &[&str]) -> Vec<u8> {
    let mut unnamed = unnamed.iter();
    let names = T::FIELDS.iter().map(|&(field, _)| if field.is_empty() { unnamed.next().unwrap() } else { field });
    let names: Vec<&str> = names.collect();
    assert_eq!(keys(fields), names.iter().copied().collect(), "{}", T::C_NAME);
    let mut bytes = Vec::with_capacity(T::SIZE);
    for (index, (&field, &(_, offset))) in names.iter().zip(T::FIELDS).enumerate() {
        assert_eq!(bytes.len(), offset, "{field}");
        let end = T::FIELDS.get(index + 1).map_or(T::SIZE, |&(_, next)| next);
        let values = numbers(&fields[field]);
        let width = (end - offset) / values.len();
        for value in values {
            let whole = value.to_le_bytes();
            let (kept, cut) = whole.split_at(width);
            assert!(cut.iter().all(|&byte| byte == 0), "{field}: {value:#x} does not fit");
            bytes.extend_from_slice(kept);
        }
    }
    assert_eq!(bytes.len(), T::SIZE);
    bytes
}

#[test]
fn every_capture_is_a_profile_and_every_profile_a_capture() {
    let captured: Vec<String> = captures().into_iter().map(|played| played.name).collect();
    let mut known: Vec<&str> = profiles().iter().map(|profile| profile.name.as_str()).collect();
    known.sort_unstable();
    assert_eq!(captured, known);
    assert!(captured.len() >= 24, "only {captured:?}");
}

#[test]
fn no_key_of_a_capture_is_overlooked() {
    const COMPARED: [&str; 13] = [
        "name",
        "marketing_name",
        "radv_chip",
        "gfx_level",
        "family_name",
        "has_dedicated_vram",
        "dev_info",
        "dev_info_unrecorded",
        "memory",
        "hw_ip",
        "fw_version",
        "mmr_regs",
        "synthetic",
    ];
    // The file's own form, and where its values come from. `memory_captured` is `memory` with what was in use that day.
    const ABOUT: [&str; 4] = ["schema_version", "marketing_name_source", "memory_source", "memory_captured"];
    // Present in derived captures.
    const DERIVED: [&str; 4] = ["derived", "derived_from", "provenance", "assumed"];
    for played in captures() {
        let mut keys = keys(&played.capture);
        for optional in DERIVED.into_iter().chain(["sysfs"]) {
            keys.remove(optional);
        }
        assert_eq!(keys, COMPARED.into_iter().chain(ABOUT).collect(), "{}", played.name);
        assert_eq!(played.capture["schema_version"], 1);
    }
}

#[test]
fn dev_info_is_the_captured_one() {
    for played in captures() {
        let expected = image::<DevInfo>(&played.capture["dev_info"], &["pad", "userq_ip_mask"]);
        let answer = played.info(query::DEV_INFO, [0; 4], expected.len()).unwrap();
        assert_eq!(answer, expected, "{}", played.name);
        for field in played.capture["dev_info_unrecorded"].as_array().unwrap() {
            let value = &played.capture["dev_info"][field.as_str().unwrap()];
            assert!(numbers(value).iter().all(|&value| value == 0), "{}: {field} was not recorded", played.name);
        }
    }
}

#[test]
fn memory_is_the_captured_one_or_follows_the_kernels_formulas() {
    for played in captures() {
        let captured = &played.capture["memory"];
        assert_eq!(keys(captured), ["vram", "cpu_accessible_vram", "gtt"].into());
        let answer = played.info(query::MEMORY, [0; 4], MemoryInfo::SIZE).unwrap();
        let heaps = ["vram", "cpu_accessible_vram", "gtt"].map(|heap| &captured[heap]);
        let recorded = heaps.map(|heap| image::<HeapInfo>(heap, &[])).concat();
        match played.text("memory_source") {
            "captured" => assert_eq!(answer, recorded, "{}", played.name),
            source if source.starts_with("total_heap_size captured") || source.starts_with("derived:") => {
                let [vram, visible, gtt] = heaps.map(|heap| number(&heap["total_heap_size"]));
                let usable = [vram - RESERVED_VRAM, visible.min(vram - RESERVED_VRAM), gtt];
                let expected = [vram, visible, gtt]
                    .into_iter()
                    .zip(usable)
                    .flat_map(|(total, usable)| [total, usable, 0, usable / 4 * 3]);
                assert_eq!(answer, expected.collect::<Vec<u64>>().as_bytes(), "{}", played.name);
            }
            other => panic!("{}: {other}", played.name),
        }
    }
}

#[test]
fn ip_blocks_are_the_captured_ones() {
    const NAMES: [&str; 10] =
        ["gfx", "compute", "dma", "uvd", "vce", "uvd_enc", "vcn_dec", "vcn_enc", "vcn_jpeg", "vpe"];
    for played in captures() {
        assert_eq!(keys(&played.capture["hw_ip"]), NAMES.into());
        for (name, ip) in NAMES.into_iter().zip(Ip::ALL) {
            let answer = played.info(query::HW_IP_INFO, [ip as u32, 0, 0, 0], InfoHwIp::SIZE).unwrap();
            let count = played.info(query::HW_IP_COUNT, [ip as u32, 0, 0, 0], 4);
            match &played.capture["hw_ip"][name] {
                // Not captured. The recording then plays a chip without it.
                Value::Null => {
                    assert_eq!((answer, count), (vec![0; 32], Err(Errno::EINVAL)), "{}: {name}", played.name);
                }
                block => {
                    let count = count.unwrap();
                    assert_eq!(
                        (answer, count),
                        (image::<InfoHwIp>(block, &[]), vec![1, 0, 0, 0]),
                        "{}: {name}",
                        played.name
                    );
                }
            }
        }
    }
}

#[test]
fn firmware_is_the_captured_one() {
    let captured = [("gfx_me", firmware::GFX_ME), ("gfx_pfp", firmware::GFX_PFP), ("gfx_mec", firmware::GFX_MEC)];
    for played in captures() {
        let versions = &played.capture["fw_version"];
        assert_eq!(keys(versions), captured.iter().map(|&(name, _)| name).collect());
        for (name, kind) in captured {
            let answer = played.info(query::FW_VERSION, [kind, 0, 0, 0], InfoFirmware::SIZE).unwrap();
            assert_eq!(answer, image::<InfoFirmware>(&versions[name], &[]), "{}: {name}", played.name);
        }
    }
}

#[test]
fn registers_are_the_captured_ones_and_no_others() {
    for played in captures() {
        let mut captured = BTreeSet::new();
        for register in played.capture["mmr_regs"].as_array().unwrap() {
            assert_eq!(keys(register), ["name", "dword_offset", "instance", "value"].into());
            let [offset, instance, value] = ["dword_offset", "instance", "value"].map(|key| number(&register[key]));
            let answer = played.info(query::READ_MMR_REG, [offset as u32, 1, instance as u32, 0], 4).unwrap();
            assert_eq!(answer, (value as u32).to_le_bytes(), "{}: {}", played.name, register["name"]);
            captured.insert(offset as u32);
        }
        for absent in (0x2600..0x2700).filter(|offset| !captured.contains(offset)) {
            let answer = played.info(query::READ_MMR_REG, [absent, 1, u32::MAX, 0], 4);
            assert_eq!(answer, Err(Errno::EFAULT), "{}: {absent:#x}", played.name);
        }
    }
}

#[test]
fn names_and_kinds_are_the_captured_ones() {
    for played in captures() {
        let profile = profile(&played.name).unwrap();
        let info = GpuInfo::query(&played.kernel).unwrap();
        assert_eq!(profile.marketing_name, played.text("marketing_name"));
        let newer = amdgpu_hw::newer_radv_name(info.chip).unwrap_or(info.chip_name());
        assert_eq!(newer, played.text("radv_chip"));
        assert_eq!(profile.gfx_level.name(), played.text("gfx_level"));
        assert_eq!(info.gfx_level, profile.gfx_level, "{}", played.name);
        assert_eq!(format!("AMDGPU_FAMILY_{:?}", info.family), played.text("family_name"));
        assert_eq!(info.has_dedicated_vram, played.capture["has_dedicated_vram"], "{}", played.name);
        assert_eq!(profile.is_apu(), !info.has_dedicated_vram, "{}", played.name);
    }
}

/// `synthetic` is what Mesa's no-op shim made up for the recording. Its driver version decides what the recorded RADV
/// did, so the recording plays it. Differences between kernels are not the library's.
#[test]
fn synthetic_values_are_played_where_they_matter() {
    const SYSFS: [&str; 6] = ["uevent", "vendor", "device", "subsystem_vendor", "subsystem_device", "revision"];
    for played in captures() {
        let synthetic = &played.capture["synthetic"];
        assert_eq!(keys(synthetic), ["drm_version", "render_node", "drm_cap", "memory", "sysfs"].into());
        played.compare_version(&synthetic["drm_version"]);
        played.compare_capabilities(&synthetic["drm_cap"]);
        // The totals are the captured ones; the rest is compared, or made up again, as `memory`.
        for heap in ["vram", "cpu_accessible_vram", "gtt"] {
            assert_eq!(synthetic["memory"][heap]["total_heap_size"], played.capture["memory"][heap]["total_heap_size"]);
        }
        // Not behind any request: device numbers and files, the same made-up ones in every capture.
        assert_eq!(keys(&synthetic["render_node"]), ["major", "minor"].into());
        assert_eq!(keys(&synthetic["sysfs"]), SYSFS.into());
    }
}

impl Played {
    fn compare_version(&self, recorded: &Value) {
        let mut name = [UNTOUCHED; 16];
        let address = name.as_mut_ptr().expose_provenance() as u64;
        let mut version = Version { name: address, name_len: name.len() as u64, ..Version::ZEROED };
        self.send(&mut version).unwrap();
        let len = version.name_len as usize;
        assert_eq!(name[..len], *recorded["name"].as_str().unwrap().as_bytes());
        let numbers = ["version_major", "version_minor", "version_patchlevel"].map(|key| number(&recorded[key]));
        let answer = [version.version_major, version.version_minor, version.version_patchlevel];
        assert_eq!(answer.map(i64::from), numbers.map(u64::cast_signed), "{}", self.name);
        // `date` and `desc` are the shim telling what it is.
        assert_eq!(keys(recorded).len(), 6);
    }

    fn compare_capabilities(&self, recorded: &Value) {
        let ask = |capability| {
            let mut question = GetCap { capability, value: 0 };
            self.send(&mut question).map(|()| question.value)
        };
        let same = [
            ("DRM_CAP_SYNCOBJ", cap::SYNCOBJ),
            ("DRM_CAP_SYNCOBJ_TIMELINE", cap::SYNCOBJ_TIMELINE),
            ("DRM_CAP_ADDFB2_MODIFIERS", cap::ADDFB2_MODIFIERS),
        ];
        for (name, capability) in same {
            assert_eq!(ask(capability), Ok(number(&recorded[name])), "{}: {name}", self.name);
        }
        // The shim refuses one and imports only; amdgpu has both.
        assert_eq!((&recorded["DRM_CAP_DUMB_BUFFER"], ask(cap::DUMB_BUFFER)), (&Value::Null, Ok(1)));
        assert_eq!((number(&recorded["DRM_CAP_PRIME"]), ask(cap::PRIME)), (1, Ok(3)));
        assert_eq!(keys(recorded).len(), same.len() + 2);
    }
}

#[test]
fn the_library_opens_every_recording() {
    for played in captures() {
        let (device, captured) =
            (Device::new(played.kernel).unwrap(), played.capture["marketing_name"].as_str().unwrap());
        // The library's table of names is older than that of the captures, which puts the vendor in front of more names.
        let bare = |name: &str| name.trim_start_matches("AMD ").to_owned();
        let (ours, captured) = (bare(&device.info().marketing_name), bare(captured));
        assert!(ours == captured || ours == "Radeon Graphics", "{}: {ours}, not {captured}", played.name);
        assert_eq!(device.info().ring_count(Ip::Sdma), 0, "{}", played.name);
    }
}

/// A derived capture says which values no source tells, and each of them is a value that it has.
#[test]
fn what_a_derived_capture_assumes_is_named() {
    let mut derived = 0;
    for played in captures() {
        let profile = profile(&played.name).unwrap();
        let Origin::Derived { from, assumed } = &profile.origin else {
            assert!(played.capture.get("derived").is_none(), "{}", played.name);
            continue;
        };
        derived += 1;
        let related = amdgpu_sim::profile(from).unwrap_or_else(|| panic!("{}: no {from}", played.name));
        assert_ne!(related.name, profile.name);
        let told = played.capture["provenance"].as_object().unwrap();
        for value in assumed {
            assert!(told.contains_key(value), "{}: {value} has no provenance", played.name);
        }
        for (path, why) in told {
            let is_field =
                path.strip_prefix("dev_info.").is_none_or(|field| !played.capture["dev_info"][field].is_null());
            assert!(is_field && !why.as_str().unwrap().is_empty(), "{}: {path}", played.name);
        }
    }
    assert!(derived >= 8, "only {derived}");
}
