//! `list --facts`: what Mesa prints of a GPU, from the library.

use amdgpu_sim::SimKernel;
use amdgpu_winsys::winsys::Device;
use serde_json::Value;

use crate::{bare_tree, support::run};

#[test]
fn facts_are_those_of_the_library_in_its_order() {
    for chip in ["navi21", "gfx1151", "pitcairn"] {
        let text = run(&["--sim", chip, "list", "--facts"]);
        assert_eq!(text.code, 0, "{}", text.stderr);
        let device = Device::new(SimKernel::open(amdgpu_sim::profile(chip).unwrap())).unwrap();
        let expected: Vec<_> = device.info().radeon_info().iter().map(|field| format!("    {field}")).collect();
        let printed: Vec<_> = text.stdout.lines().filter(|line| line.starts_with("    ")).collect();
        // Sizes of memory are those of the simulated computer.
        let name = |line: &str| line.split(" = ").next().map(str::to_owned);
        assert_eq!(
            printed.iter().map(|line| name(line)).collect::<Vec<_>>(),
            expected.iter().map(|line| name(line)).collect::<Vec<_>>(),
            "{chip}"
        );
        let units = expected.iter().find(|line| line.starts_with("    num_cu = ")).unwrap();
        assert!(printed.contains(&units.as_str()), "{chip}: no {units}");

        let json: Value = serde_json::from_str(&run(&["--sim", chip, "list", "--facts", "--json"]).stdout).unwrap();
        assert_eq!(json["schema"], "amdgpu-budget-facts/1");
        let sections = json["gpus"][0]["facts"].as_object().unwrap();
        let fields: usize = sections.values().map(|fields| fields.as_object().unwrap().len()).sum();
        assert_eq!(fields, printed.len(), "{chip}: a name stands twice in a section");
        assert_eq!(Some(sections["Device info"]["num_cu"].as_str().unwrap()), units.split(" = ").nth(1), "{chip}");
    }
}

#[test]
fn a_gpu_that_sleeps_has_no_facts_and_the_reason() {
    let asleep = bare_tree();
    let root = asleep.path().to_str().unwrap();
    let text = run(&["--root", root, "list", "--facts"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(text.stdout.contains("no facts: it is asleep; --wake wakes it"), "{}", text.stdout);
    let json: Value = serde_json::from_str(&run(&["--root", root, "list", "--facts", "--json"]).stdout).unwrap();
    assert_eq!((&json["gpus"][0]["facts"], json["gpus"][0]["reason"].is_string()), (&Value::Null, true), "{json}");
}

#[test]
fn facts_are_not_in_recordings_and_no_table() {
    for arguments in [["--from", "usage.jsonl", "list", "--facts"], ["--sim", "navi21", "list", "--facts"]] {
        let csv = run(&[&arguments[..], &["--csv"]].concat());
        assert_eq!(csv.code, 64, "{arguments:?}: {}", csv.stderr);
    }
    let recording = run(&["--from", "usage.jsonl", "list", "--facts"]);
    assert!(recording.code == 64 && recording.stderr.contains("no facts"), "{}: {}", recording.code, recording.stderr);
}
