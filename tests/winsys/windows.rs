//! The address windows of real and derived GPUs, against what libdrm 2.4.134 makes of the same kernel answers.

use std::{fs, path::Path};

use amdgpu_winsys::{
    vamgr::{VaLimits, VaManager, VaRequest, VaWindow, Windows},
    winsys::GfxLevel,
};
use serde_json::Value;

/// A device capture, and the reference driver's results for it.
struct Capture {
    name: String,
    device: Value,
    reference: Value,
}

fn json(folder: &str, name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(folder).join(name);
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn captures() -> Vec<Capture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/radv");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    files
        .iter()
        .map(|file| Capture { name: file.clone(), device: json("devices", file), reference: json("radv", file) })
        .collect()
}

/// A number, in decimal or as a hexadecimal string.
fn number(value: &Value) -> u64 {
    match value.as_str() {
        Some(hex) => u64::from_str_radix(hex.strip_prefix("0x").unwrap(), 16).unwrap(),
        None => value.as_u64().unwrap(),
    }
}

impl Capture {
    fn level(&self) -> GfxLevel {
        let name = self.device["gfx_level"].as_str().unwrap();
        GfxLevel::ALL.into_iter().find(|level| level.name() == name).unwrap()
    }

    fn limits(&self) -> VaLimits {
        let info = |key| number(&self.device["dev_info"][key]);
        VaLimits {
            low_offset: info("virtual_address_offset"),
            low_max: info("virtual_address_max"),
            high_offset: info("high_va_offset"),
            high_max: info("high_va_max"),
            alignment: info("virtual_address_alignment"),
            pte_fragment: info("pte_fragment_size"),
            half_for_sparse: VaLimits::halves_for_sparse(self.level()),
        }
    }
}

#[test]
fn the_windows_of_every_capture_are_those_of_libdrm() {
    let captures = captures();
    assert!(captures.len() >= 21, "only {}", captures.len());
    for capture in &captures {
        let windows = Windows::new(&capture.limits()).unwrap();
        let recorded = &capture.reference["libdrm"]["va_windows"];
        for (key, window) in
            [("32", VaWindow::Low32), ("low", VaWindow::Low), ("high_32", VaWindow::High32), ("high", VaWindow::High)]
        {
            let range = windows.range(window);
            let want = (number(&recorded[key]["start"]), number(&recorded[key]["end"]));
            assert_eq!((range.start().as_u64(), range.end()), want, "{}: {window}", capture.name);
        }
    }
}

#[test]
fn the_control_bit_and_the_upper_address_half_of_every_capture_are_those_of_libdrm() {
    for capture in captures() {
        let windows = Windows::new(&capture.limits()).unwrap();
        let libdrm = &capture.reference["libdrm"];
        let bit = libdrm["address_prt_wa_control_bit"].as_u64().map(|bit| u32::try_from(bit).unwrap());
        assert_eq!(windows.prt_control_bit(), bit, "{}", capture.name);
        assert_eq!(u64::from(windows.address32_hi()), number(&libdrm["address32_hi"]), "{}", capture.name);
        assert_eq!(windows.has_high(), number(&capture.device["dev_info"]["high_va_offset"]) != 0, "{}", capture.name);
        let low_alone = Windows::new(&VaLimits { high_offset: 0, high_max: 0, ..capture.limits() });
        assert!(low_alone.is_ok_and(|windows| !windows.has_high()), "{}", capture.name);
    }
}

/// The capture of an allocation of each memory type says which window its address came from.
#[test]
fn a_first_lease_lands_in_the_window_that_the_reference_used() {
    for capture in captures() {
        let manager = VaManager::new(&capture.limits()).unwrap();
        for memory_type in capture.reference["default"]["memoryTypes"].as_array().unwrap() {
            let request = &memory_type["request"];
            let recorded = request["va_window"].as_str().unwrap();
            let wanted = if memory_type["is32bit"].as_bool().unwrap() { VaWindow::High32 } else { VaWindow::High };
            let alignment = number(&request["alignment"]);
            let lease = manager.allocate(VaRequest::new(64 << 10).aligned(alignment).within(wanted)).unwrap();
            let expected = match recorded {
                "32" => VaWindow::Low32,
                "low" => VaWindow::Low,
                "high_32" => VaWindow::High32,
                "high" => VaWindow::High,
                other => panic!("{}: window {other}", capture.name),
            };
            assert_eq!(lease.window(), expected, "{}: {request}", capture.name);
            assert!(lease.start().is_aligned(alignment));
        }
    }
}

/// The reference's own first buffers are few, small and at the bottom: its probes show the alignment rules.
#[test]
fn imported_user_memory_is_aligned_as_in_the_reference() {
    for capture in captures() {
        let manager = VaManager::new(&capture.limits()).unwrap();
        let gart_page = number(&capture.device["dev_info"]["gart_page_size"]);
        for probe in capture.reference["default"]["allocationProbes"].as_array().unwrap() {
            if probe["probe"] != "import host pointer" {
                continue;
            }
            let calls = probe["allocate"].as_array().unwrap();
            let Some(map) = calls.iter().find(|call| call["ioctl"] == "GEM_VA") else { continue };
            let size = number(&probe["allocationSize"]);
            let alignment = manager.user_memory_alignment(size, gart_page.max(4096), capture.level());
            assert!(number(&map["va_address"]).is_multiple_of(alignment), "{}: {map} for {size:#x}", capture.name);
        }
    }
}

/// No buffer of the reference's own is at the top, so a replayable one has the very address.
#[test]
fn a_replayable_lease_has_the_address_that_the_reference_gave_it() {
    let mut compared = 0;
    for capture in captures() {
        for probe in capture.reference["default"]["allocationProbes"].as_array().unwrap() {
            if probe["probe"] != "device address capture/replay" {
                continue;
            }
            let calls = probe["allocate"].as_array().unwrap();
            let of = |ioctl: &str| calls.iter().filter(|call| call["ioctl"] == ioctl).collect::<Vec<_>>();
            let (create, maps) = (of("GEM_CREATE")[0], of("GEM_VA"));
            // Some chips get a guard page mapped behind the buffer, and lease it too.
            let size: u64 = maps.iter().map(|map| number(&map["map_size"])).sum();
            let manager = VaManager::new(&capture.limits()).unwrap();
            let alignment = manager.fragment_alignment(size, number(&create["alignment"]));
            let lease = manager.allocate(VaRequest::new(size).aligned(alignment).highest()).unwrap();
            assert_eq!(lease.start().as_u64(), number(&maps[0]["va_address"]), "{}: {probe}", capture.name);
            compared += 1;
        }
    }
    assert!(compared >= 12, "only {compared} probes");
}
