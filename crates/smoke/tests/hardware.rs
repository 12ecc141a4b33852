//! The watch on the hardware's state around each check, in all reports.

mod support;

use serde_json::Value;
use support::{Scratch, output, stdout};

const NOP: &str = r"^exec\.nop\.gfx0$";

fn valid(report: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{report:#}");
}

/// Returns exit status, text, and the result of the one check that ran on a GPU with this error.
fn broken(error: &str, more: &[&str]) -> (Option<i32>, String, Value) {
    let scratch = Scratch::new("hardware");
    let json = format!("--json={}", scratch.path("r.json"));
    let run = output(&[&["--sim", "navi21", "--mutate", error, "--filter", NOP, &json], more].concat());
    let report = scratch.json("r.json");
    valid(&report);
    // JSON on a file leaves the text on standard output.
    (run.status.code(), stdout(&run), report["results"][0].clone())
}

#[test]
fn an_uncorrectable_error_fails_its_check_and_names_the_counter() {
    for (error, rule, expected) in [
        ("ras-uncorrectable", "ras-uncorrectable", "new uncorrectable RAS error: ras/umc_err_count ue 0, then "),
        ("aer-fatal", "aer-fatal", "new fatal PCIe error: aer_dev_fatal of 0000:03:00.0 0, then "),
    ] {
        let (status, text, result) = broken(error, &[]);
        assert_eq!((status, &result["status"]), (Some(98), &"fail".into()), "{text}");
        assert_eq!(result["hardware"]["events"][0]["rule"], rule, "{result:#}");
        assert!(result["detail"].as_str().unwrap().contains(expected), "{result:#}");
        // At the check and in the summary.
        assert!(text.matches(expected).count() >= 3, "{text}");
        assert!(text.contains("--- hardware ---\nexec.nop.gfx0: new "), "{text}");
    }
}

#[test]
fn other_events_are_warnings_unless_they_are_to_fail() {
    for (error, rule, expected) in [
        ("ras-correctable", "ras-correctable", "new corrected RAS error: ras/umc_err_count ce 0, then "),
        ("aer-nonfatal", "aer-nonfatal", "new uncorrectable PCIe error, not fatal: aer_dev_nonfatal of "),
        ("aer-correctable", "aer-correctable", "new corrected PCIe error: aer_dev_correctable of "),
        ("narrow-link", "link-width", "PCIe link became narrower: 0000:03:00.0 x16, then x8"),
        ("overheating", "temperature", "critical temperature: edge 100 °C, limit 100 °C"),
    ] {
        let (status, text, result) = broken(error, &[]);
        assert_eq!((status, &result["status"]), (Some(0), &"warn".into()), "{text}");
        assert_eq!(result["hardware"]["events"][0]["rule"], rule, "{result:#}");
        assert!(text.contains(expected), "{text}");
        let (status, text, result) = broken(error, &["--strict-hardware"]);
        assert_eq!((status, &result["status"]), (Some(98), &"fail".into()), "{text}");
    }
}

#[test]
fn a_healthy_gpu_has_figures_and_no_events() {
    for chip in ["navi21", "renoir", "pitcairn"] {
        let run = output(&["--sim", chip, "--json", "--strict-hardware", "--filter", NOP]);
        assert_eq!(run.status.code(), Some(0), "{run:?}");
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        valid(&report);
        let hardware = &report["results"][0]["hardware"];
        assert!(hardware["before"]["edge_mc"].is_i64() && hardware["after"]["power_uw"].is_i64(), "{report:#}");
        assert_eq!(hardware.get("events"), None, "{report:#}");
    }
}

#[test]
fn the_sources_are_listed_once_with_those_that_are_missing() {
    let text = stdout(&output(&["--sim", "renoir", "--filter", r"^(va|bo)\."]));
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("Watched around each check: ")).collect();
    assert_eq!(
        lines,
        ["Watched around each check: temperature (edge), power, clocks, PCIe link, AER counters; \
          not fan (no sensor), RAS counters (memory without ECC, or no files), kernel log (the GPU is simulated)"]
    );
    let unknown = output(&["--gpu", "/dev/urandom", "--json"]);
    let report: Value = serde_json::from_slice(&unknown.stdout).unwrap();
    assert_eq!(report["gpu"].get("watched"), None, "there is nothing to watch: {report:#}");
}

#[test]
fn every_format_has_the_events_and_the_figures() {
    let scratch = Scratch::new("formats");
    let path = |name: &str| scratch.path(name);
    let (tap, jsonl) = (format!("--tap={}", path("r.tap")), format!("--jsonl={}", path("r.jsonl")));
    let (junit, html, igt) = (path("r.xml"), path("r.html"), path("igt"));
    let run = ["--sim", "navi21", "--mutate", "ras-correctable", "--filter", NOP, &tap, &jsonl];
    let run = output(&[&run[..], &["--junit", &junit, "--html", &html, "--igt-results", &igt]].concat());
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let expected = "new corrected RAS error: ras/umc_err_count ce 0, then ";
    for name in ["r.tap", "r.xml", "r.html", "igt/results.json"] {
        let text = scratch.read(name);
        assert!(text.contains(expected), "{name}: {text}");
        let figures =
            if name == "r.html" { "aria-label=\"Temperature, power and clock during the run\"" } else { "edge " };
        assert!(text.contains(figures), "{name}: {text}");
    }
    assert!(scratch.read("r.tap").contains("\n# watched around each check: temperature (edge, junction, mem), power,"));
    let xml = scratch.read("r.xml");
    assert!(xml.contains("name=\"watched\" value=\"temperature") && xml.contains("name=\"hardware events\""), "{xml}");
    assert!(scratch.read("r.jsonl").contains("\"rule\":\"ras-correctable\""));
}

#[test]
fn a_run_in_one_process_a_recording_and_a_bundle_are_watched_too() {
    let scratch = Scratch::new("alone");
    let (recording, bundle) = (scratch.path("r.rec"), scratch.path("r.tar"));
    let fatal = ["--sim", "navi21", "--mutate", "ras-uncorrectable", "--filter", NOP];
    for more in [&["--no-fork"][..], &["--record", &recording], &["--bundle", &bundle]] {
        let run = output(&[&fatal[..], more].concat());
        assert_eq!(run.status.code(), Some(98), "{more:?}: {run:?}");
        assert!(stdout(&run).contains("new uncorrectable RAS error"), "{more:?}: {run:?}");
    }
    // A recording has what the kernel was asked, and no sensors.
    assert_eq!(output(&["--replay", &recording]).status.code(), Some(0));
}
