//! `vulkaninfo` through the Vulkan loader, on every simulated chip, beside what RADV answers on the same.
//!
//! Without `vulkaninfo` the tests say so and pass, unless `AMDGPU_WINSYS_REQUIRE_VULKAN_TOOLS` is set, as CI sets it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Returns the chips to be tested that have answers of RADV.
fn chips() -> Vec<&'static str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/radv");
    let chosen = amdgpu_sim::chosen_profiles().unwrap();
    let names = chosen.into_iter().map(|profile| profile.name.as_str());
    names.filter(|name| folder.join(format!("{name}.json")).exists()).collect()
}

/// Runs `vulkaninfo` with this driver alone, and returns what it prints.
fn vulkaninfo(face: &str, chips: &str, arguments: &[&str]) -> Option<String> {
    let manifest_tool = env!("CARGO_BIN_EXE_amdgpu-winsys-icd-manifest");
    let library = Path::new(manifest_tool).parent().unwrap().join("deps/libvulkan_amdgpu_winsys.so");
    assert!(library.exists(), "{} was not built", library.display());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let manifest = folder.join(format!("vulkaninfo-{face}-{chips}.json"));
    let text = Command::new(manifest_tool).arg(&library).output().unwrap().stdout;
    fs::write(&manifest, text).unwrap();
    let output = Command::new("vulkaninfo")
        .args(arguments)
        .envs([("VK_DRIVER_FILES", &manifest), ("VK_ICD_FILENAMES", &manifest), ("XDG_RUNTIME_DIR", &folder)])
        .envs([("AMDGPU_WINSYS_ICD", face), ("AMDGPU_WINSYS_ICD_SIM", chips)])
        .env_remove("DISPLAY")
        .output();
    let Ok(output) = output else {
        let is_required = std::env::var_os("AMDGPU_WINSYS_REQUIRE_VULKAN_TOOLS").is_some();
        assert!(!is_required, "vulkaninfo is required here");
        eprintln!("skipped: no vulkaninfo");
        return None;
    };
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{chips}: {}: {complaints}", output.status);
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Returns the number in parentheses, or the last one, of a line `name = ...`.
fn number(line: &str) -> u64 {
    let word = line.split('(').nth(1).and_then(|rest| rest.split(')').next());
    let word = word.or_else(|| {
        line.split('=').nth(1)?.split_whitespace().next()?.strip_suffix(':').or(line.split_whitespace().last())
    });
    let word = word.unwrap_or_else(|| panic!("no number in {line}"));
    word.strip_prefix("0x").map_or_else(|| word.parse(), |digits| u64::from_str_radix(digits, 16)).unwrap()
}

/// Returns the numbers of the lines that name something, in the part between two lines.
fn numbers(text: &str, begin: &str, end: &str, name: &str) -> Vec<u64> {
    let part = text.split(begin).nth(1).unwrap_or_else(|| panic!("no {begin}")).split(end).next().unwrap();
    let lines = part.lines().filter(|line| line.trim_start().split([' ', '=']).next() == Some(name));
    lines.map(number).collect()
}

fn radv(chip: &str) -> Value {
    let path = format!("{}/../../tests/data/radv/{chip}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn hex(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
}

#[test]
fn heaps_types_and_queues_are_those_of_radv() {
    for chip in chips() {
        let Some(text) = vulkaninfo("full", chip, &[]) else { return };
        let wanted = &radv(chip)["default"];
        let heaps = wanted["memoryHeaps"].as_array().unwrap();
        let types = wanted["memoryTypes"].as_array().unwrap();
        let list = |all: &[Value], name: &str| all.iter().map(|it| hex(&it[name])).collect::<Vec<_>>();
        let (begin, end) = ("memoryHeaps: count", "memoryTypes: count");
        assert_eq!(numbers(&text, begin, end, "size"), list(heaps, "size"), "{chip}");
        assert_eq!(numbers(&text, begin, end, "budget"), list(heaps, "heapBudget"), "{chip}");
        assert_eq!(numbers(&text, begin, end, "usage"), list(heaps, "heapUsage"), "{chip}");
        let (begin, end) = ("memoryTypes: count", "VkPhysicalDeviceFeatures:");
        let indices: Vec<u64> = types.iter().map(|kind| kind["heapIndex"].as_u64().unwrap()).collect();
        assert_eq!(numbers(&text, begin, end, "heapIndex"), indices, "{chip}");
        assert_eq!(numbers(&text, begin, end, "propertyFlags").len(), types.len(), "{chip}");
        let device = hex(&wanted["properties"]["deviceID"]);
        assert_eq!(
            numbers(&text, "VkPhysicalDeviceProperties:", "VkPhysicalDeviceLimits", "deviceID"),
            [device],
            "{chip}"
        );
        let count = |flags: u64| {
            wanted["queueFamilies"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|family| hex(&family["queueFlags"]) & flags != 0)
                .map(|family| family["queueCount"].as_u64().unwrap())
                .next()
        };
        let counts = numbers(&text, "VkQueueFamilyProperties:", "VkPhysicalDeviceMemoryProperties:", "queueCount");
        assert_eq!(counts.first().copied(), count(1), "{chip}: graphics");
        // RADV shows the compute rings of GFX6 from a later kernel on.
        if chip != "pitcairn" {
            assert_eq!(counts.get(1).copied(), wanted["queueFamilies"][1]["queueCount"].as_u64(), "{chip}: compute");
        }
    }
}

#[test]
fn the_summary_names_every_simulated_gpu() {
    let Some(text) = vulkaninfo("transfer", "navi21,renoir", &["--summary"]) else { return };
    assert_eq!(text.matches("(amdgpu-winsys)").count(), 2, "{text}");
    assert!(text.contains("apiVersion         = 1.1."), "{text}");
}

#[test]
fn what_no_family_is_for_is_not_claimed() {
    let Some(text) = vulkaninfo("transfer", "navi21", &[]) else { return };
    assert!(!text.contains("QUEUE_GRAPHICS") && !text.contains("QUEUE_COMPUTE"), "{text}");
    assert!(text.contains("QUEUE_SPARSE_BINDING"), "{text}");
    for feature in ["geometryShader", "tessellationShader", "shaderFloat64", "multiViewport"] {
        let line = text.lines().find(|line| line.trim_start().starts_with(feature)).unwrap();
        assert!(line.ends_with("false"), "{line}");
    }
}
