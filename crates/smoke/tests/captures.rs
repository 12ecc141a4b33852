//! `amdgpu-smoke capture`: a GPU that is captured and simulated again is the same GPU.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use amdgpu_sim::{Profile, SimDevice, SimOptions, profiles};
use amdgpu_smoke::capture;
use amdgpu_winsys::winsys::Device;

fn open(profile: &Profile) -> Device {
    Device::new(SimDevice::new(profile, SimOptions::default()).open()).unwrap()
}

fn run(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke"));
    program.env_remove("RUST_LOG").env_remove("LD_PRELOAD").stdin(Stdio::null()).args(arguments).output().unwrap()
}

/// A file that is removed again.
struct Kept(PathBuf);

impl Kept {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("amdgpu-smoke-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_gpu_that_is_captured_and_simulated_again_is_the_same_gpu() {
    for profile in profiles() {
        let first = open(profile);
        let capture_of_it = capture(&first).unwrap();
        // The machine of the file has a name of its own; the library names the chip.
        assert_eq!(capture_of_it.name, first.info().chip_name().to_lowercase());
        assert_eq!(capture_of_it.dev_info, profile.dev_info);
        assert_eq!(capture_of_it.registers, profile.registers, "{}", profile.name);
        let again = Profile::from_capture(capture_of_it.to_capture()).unwrap();
        let second = open(&again);
        assert_eq!(format!("{:?}", second.info()), format!("{:?}", first.info()));
        assert_eq!(second.memory_info().unwrap(), first.memory_info().unwrap());
        assert_eq!(capture(&second).unwrap().to_capture(), capture_of_it.to_capture());
    }
}

#[test]
fn a_chip_without_copy_engines_is_captured_without_them() {
    let profile = amdgpu_sim::profile("navi10").unwrap();
    let device = Device::new(SimDevice::new(profile, SimOptions::RECORDING).open()).unwrap();
    let again = Profile::from_capture(capture(&device).unwrap().to_capture()).unwrap();
    let options = SimOptions { sdma: true, ..SimOptions::RECORDING };
    let second = Device::new(SimDevice::new(again, options).open()).unwrap();
    assert_eq!(format!("{:?}", second.info()), format!("{:?}", device.info()));
}

#[test]
fn the_program_tests_a_gpu_that_it_captured() {
    let captured = run(&["capture", "--sim", "vangogh"]);
    assert_eq!(captured.status.code(), Some(0), "{}", String::from_utf8_lossy(&captured.stderr));
    let file = Kept::new("vangogh.json", &captured.stdout);
    let again = run(&["capture", "--sim", file.path()]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&captured.stdout));
    let tested = run(&["--sim", file.path(), "--filter", "^(inventory|exec\\.copy)", "--json"]);
    assert_eq!(tested.status.code(), Some(0), "{}", String::from_utf8_lossy(&tested.stderr));
    let report: serde_json::Value = serde_json::from_slice(&tested.stdout).unwrap();
    assert!(report["results"].as_array().unwrap().len() > 5, "{report}");
}

#[test]
fn a_file_that_is_no_capture_is_bad_usage_and_its_fault_is_named() {
    let capture = amdgpu_sim::profile("navi21").unwrap().to_capture();
    let file = Kept::new("bad.json", capture.replace("\"family\": 143", "\"family\": -3").as_bytes());
    for arguments in [&["--sim", file.path()][..], &["capture", "--sim", file.path()]] {
        let output = run(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(79), "{text}");
        assert!(text.contains("bad.json") && text.contains("dev_info.family is a number with a sign, not"), "{text}");
    }
}

#[test]
fn the_inventory_has_mesas_sections_and_names() {
    let output = run(&["inventory", "--sim", "navi33"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.starts_with("Device info:\n    name = NAVI33\n"), "{shown}");
    for line in
        ["Memory info:", "    num_cu = 32", "    memory_bandwidth = 288 GB/s", "    tess_factor_ring_size = 96 KB"]
    {
        assert!(shown.lines().any(|other| other == line), "no {line} in {shown}");
    }
    let unknown = run(&["inventory", "--sim", "voodoo"]);
    assert_eq!(unknown.status.code(), Some(79), "{unknown:?}");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("voodoo"), "{unknown:?}");
}
