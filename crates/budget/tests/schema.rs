//! The output of `--json` matches the shipped schema, for every chip and every kind of trouble.

mod support;

use std::io;

use amdgpu_budget::{
    collect::{CollectOptions, Collector},
    files::{Entry, Files},
    machine::{Machine, Moment, Simulated},
    model::{Resets, Snapshot},
};
use amdgpu_winsys::{uapi::WedgedEvent, winsys::Kernel};
use jsonschema::Validator;
use serde_json::Value;

fn schema() -> Validator {
    let text = include_str!("../schema/amdgpu-budget-1.schema.json");
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

fn check(schema: &Validator, value: &Value, what: &str) {
    let wrong: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{what}: {wrong:#?}");
}

#[test]
fn every_chip_at_every_stage_of_the_script_is_valid() {
    let schema = schema();
    for profile in amdgpu_sim::profiles() {
        for step in [0, 14, 30] {
            let output = support::run(&["--sim", &profile.name, "--sim-step", &step.to_string(), "show", "--json"]);
            assert_eq!(output.code, 0, "{}", output.stderr);
            check(&schema, &serde_json::from_str(&output.stdout).unwrap(), &profile.name);
        }
    }
}

#[test]
fn json_lines_are_valid_one_by_one_and_time_goes_on() {
    let schema = schema();
    let output = support::run(&["--sim", "navi21,renoir", "watch", "--jsonl", "-n", "4"]);
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    for line in &lines {
        check(&schema, line, "watch");
    }
    assert!(lines.is_sorted_by_key(|line| line["monotonic_ns"].as_u64()));
}

#[test]
fn trouble_is_valid_too_and_unknown_is_null() {
    let schema = schema();
    let directory = "sys/class/drm/renderD128/device";
    let troubles: [(&str, Entry); 6] = [
        ("power/runtime_status", Entry::File("suspended\n".to_owned())),
        ("mem_info_vram_used", Entry::File("18446744073709551615\n".to_owned())),
        ("mem_info_vram_used", Entry::File("\u{0}\u{1b}[2J many".to_owned())),
        ("mem_info_vram_total", Entry::Denied),
        ("power/runtime_status", Entry::File("\u{fffd}".repeat(1000))),
        ("mem_info_gtt_total", Entry::File(String::new())),
    ];
    for (name, entry) in troubles {
        let mut machine = Simulated::new("navi21", 14).unwrap();
        machine.files_mut().put_entry(format!("{directory}/{name}"), entry.clone());
        let mut collector = Collector::new(machine, CollectOptions::default());
        let value = serde_json::to_value(collector.look().unwrap().unwrap()).unwrap();
        check(&schema, &value, name);
        if name.starts_with("mem_info") {
            let missing = value["gpus"][0]["missing"].as_array().unwrap();
            assert!(missing.iter().any(|one| one["source"] == name), "{name} is listed with its reason: {missing:?}");
        }
    }
}

#[test]
fn a_recording_gives_back_what_was_seen() {
    let mut collector = Collector::new(Simulated::new("vega10", 9).unwrap(), CollectOptions::default());
    let seen = collector.look().unwrap().unwrap();
    let text = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), seen);
    let from = support::run_with(&["--from", "-", "--json"], text.as_bytes());
    assert_eq!(serde_json::from_str::<Snapshot>(&from.stdout).unwrap(), seen);
}

/// A reader of the schema alone learns what each field is, and its unit.
#[test]
fn every_field_of_the_schema_is_described() {
    fn walk(value: &Value, path: &str, bare: &mut Vec<String>, count: &mut usize) {
        for (name, field) in value["properties"].as_object().into_iter().flatten() {
            *count += 1;
            if field["description"].as_str().is_none_or(|text| text.len() < 6 || !text.ends_with('.')) {
                bare.push(format!("{path}.{name}"));
            }
            walk(field, &format!("{path}.{name}"), bare, count);
        }
        for (name, inner) in value["$defs"].as_object().into_iter().flatten() {
            walk(inner, name, bare, count);
        }
        if value["items"].is_object() {
            walk(&value["items"], path, bare, count);
        }
    }
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-budget-1.schema.json")).unwrap();
    let (mut bare, mut count) = (Vec::new(), 0);
    walk(&schema, "", &mut bare, &mut count);
    assert!(bare.is_empty() && count > 90, "{count}: {bare:?}");
}

#[test]
fn a_gpu_whose_clocks_are_held_back_has_a_warning_with_the_reasons() {
    // Revision 1.3 of gpu_metrics, with the bits of the power limit and of the hot spot.
    let mut metrics = vec![0_u8; 120];
    (metrics[0], metrics[2], metrics[3], metrics[112], metrics[116]) = (120, 1, 3, 1, 0x10);
    let mut machine = Simulated::new("navi21", 14).unwrap();
    let text = String::from_utf8(metrics).unwrap();
    machine.files_mut().put("sys/class/drm/renderD128/device/gpu_metrics", text);
    let snapshot = Collector::new(machine, CollectOptions::default()).look().unwrap().unwrap();
    let reasons = ["power limit (PPT0)", "temperature of the hot spot (TEMP_HOTSPOT)"];
    assert_eq!(snapshot.gpus[0].throttled, reasons);
    let warning = snapshot.warnings.iter().find(|warning| warning.code == "throttled").unwrap();
    assert!(reasons.iter().all(|reason| warning.text.contains(reason)), "{warning:?}");
    check(&schema(), &serde_json::to_value(&snapshot).unwrap(), "throttled");
}

/// A computer whose kernel has told of resets.
struct Told(Simulated, Vec<WedgedEvent>);

impl Machine for Told {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn files(&self) -> &dyn Files {
        self.0.files()
    }

    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Kernel>> {
        self.0.open(node, pci)
    }

    fn resets(&mut self) -> Vec<WedgedEvent> {
        std::mem::take(&mut self.1)
    }

    fn now(&self) -> Moment {
        self.0.now()
    }
}

#[test]
fn a_reset_is_told_with_the_process_whose_job_was_stuck_and_counted() {
    let event = |pci: &str, process| WedgedEvent {
        path: format!("/devices/pci0000:00/{pci}/drm/card0"),
        methods: "none".to_owned(),
        process,
    };
    let game = Some((4711, "game".to_owned()));
    let own = "0000:03:00.0";
    let events = vec![event(own, None), event("0000:0b:00.0", None), event(own, game)];
    let machine = Told(Simulated::new("navi21", 14).unwrap(), events);
    let mut collector = Collector::new(machine, CollectOptions::default());
    for _ in 0..2 {
        let snapshot = collector.look().unwrap().unwrap();
        let expected = Resets { count: 2, pid: Some(4711), process: Some("game".to_owned()) };
        assert_eq!(snapshot.gpus[0].resets, Some(expected));
        let warning = snapshot.warnings.iter().find(|warning| warning.code == "reset").unwrap();
        assert_eq!(
            warning.text,
            "the GPU was reset 2 times while this program runs; the last stuck job was of process 4711 (game)"
        );
        check(&schema(), &serde_json::to_value(&snapshot).unwrap(), "resets");
    }
}
