//! Bandwidths and their comparison with an earlier report.

mod support;

use std::process::{Command, Output};

use serde_json::Value;
use support::{Scratch, output};

/// The bandwidths of one ring of a chip.
fn run(chip: &str, more: &[&str]) -> Output {
    let bandwidths = ["--sim", chip, "--json", "--level", "core", "--filter", r"^bandwidth\.copy\.sdma0$"];
    output(&[&bandwidths, more].concat())
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A report with every bandwidth changed.
fn scaled(report: &Value, change: impl Fn(u64) -> u64) -> String {
    let mut report = report.clone();
    for result in report["results"].as_array_mut().unwrap() {
        for figure in result["bandwidths"].as_array_mut().unwrap() {
            figure["bytes_per_second"] = change(figure["bytes_per_second"].as_u64().unwrap()).into();
        }
    }
    report.to_string()
}

#[test]
fn each_direction_of_an_engine_has_a_figure() {
    let output = run("navi21", &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report = report(&output);
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert_eq!(validator.iter_errors(&report).map(|error| error.to_string()).collect::<Vec<_>>(), [""; 0]);
    let figures = report["results"][0]["bandwidths"].as_array().unwrap();
    let directions: Vec<_> = figures.iter().map(|figure| figure["direction"].as_str().unwrap()).collect();
    assert_eq!(directions, ["upload", "local", "download"]);
    for figure in figures {
        assert_eq!(figure["engine"], "sdma0");
        assert!(figure["bytes_per_second"].as_u64().unwrap() > 0 && figure["bytes"] == 1 << 20, "{figure}");
    }
}

#[test]
fn a_worse_bandwidth_fails_and_names_both_figures() {
    let scratch = Scratch::new("worse");
    let first = report(&run("navi21", &[]));
    // The simulator's speed is that of a shared machine: a factor of a million is more than that.
    let slow = scratch.file("slow.json", &scaled(&first, |rate| rate / 1_000_000));
    let passed = run("navi21", &["--baseline", &slow, "--tolerance", "0"]);
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    assert!(report(&passed)["results"][0]["bandwidths"][0]["baseline"].is_u64());
    let fast = scratch.file("fast.json", &scaled(&first, |rate| rate * 1_000_000));
    let failed = run("navi21", &["--baseline", &fast, "--tolerance", "99%"]);
    assert_eq!(failed.status.code(), Some(98), "{failed:?}");
    let failed = report(&failed);
    let result = &failed["results"][0];
    let detail = result["detail"].as_str().unwrap();
    assert_eq!(result["status"], "fail");
    for part in ["sdma0 upload ", ", baseline ", "tolerance 99 %", "sdma0 download "] {
        assert!(detail.contains(part), "{part} in {detail}");
    }
    // A run in one process compares as well.
    assert_eq!(run("navi21", &["--baseline", &fast, "--no-fork"]).status.code(), Some(98));
}

#[test]
fn a_baseline_of_another_gpu_is_refused_with_both_names() {
    let scratch = Scratch::new("other");
    let first = report(&run("navi21", &[]));
    let own = scratch.file("own.json", &first.to_string());
    let other = run("renoir", &["--baseline", &own]);
    assert_eq!((other.status.code(), &other.stdout[..]), (Some(79), &b""[..]));
    for part in ["own.json: the baseline is of AMD Radeon RX 6800 (NAVI21), simulated navi21", "RENOIR"] {
        assert!(stderr(&other).contains(part), "{part} in {}", stderr(&other));
    }
    let mut card = first.clone();
    card["gpu"]["simulated"] = false.into();
    let card = scratch.file("card.json", &card.to_string());
    let refused = run("navi21", &["--baseline", &card]);
    assert_eq!(refused.status.code(), Some(79));
    let mut broken = first;
    broken["gpu"]["mutation"] = "short-copy".into();
    let broken = scratch.file("broken.json", &broken.to_string());
    let refused = run("navi21", &["--baseline", &broken]);
    assert_eq!(refused.status.code(), Some(79));
    assert!(stderr(&refused).contains("broken by short-copy"), "{}", stderr(&refused));
}

#[test]
fn an_engine_that_only_one_of_both_has_is_named() {
    let scratch = Scratch::new("engines");
    let first = report(&run("navi21", &[]));
    let renamed = |engine: &str| {
        let mut report: Value = serde_json::from_str(&scaled(&first, |_| 1)).unwrap();
        for figure in report["results"][0]["bandwidths"].as_array_mut().unwrap() {
            figure["engine"] = engine.into();
        }
        report
    };
    let mut more: Value = serde_json::from_str(&scaled(&first, |_| 1)).unwrap();
    let extra = renamed("sdma7")["results"][0].clone();
    more["results"].as_array_mut().unwrap().push(extra);
    let gone = report(&run("navi21", &["--baseline", &scratch.file("more.json", &more.to_string())]));
    let result = &gone["results"][0];
    assert_eq!(result["status"], "fail", "{result}");
    let detail = result["detail"].as_str().unwrap();
    assert!(detail.starts_with("the baseline has figures of sdma7, and this GPU has no such ring; "), "{detail}");
    let other = scratch.file("other.json", &renamed("sdma1").to_string());
    let fresh = run("navi21", &["--baseline", &other]);
    assert_eq!(fresh.status.code(), Some(0), "{fresh:?}");
    let result = &report(&fresh)["results"][0];
    assert_eq!(result["status"], "warn", "{result}");
    assert!(result["detail"].as_str().unwrap().starts_with("the baseline has no figures of sdma0; "), "{result}");
}

#[test]
fn a_baseline_that_is_no_report_or_compares_nothing_is_bad_usage() {
    let scratch = Scratch::new("bad");
    let first = report(&run("navi21", &[]));
    let mut empty = first.clone();
    empty["results"] = Value::Array(Vec::new());
    for (name, text, reason) in [
        ("a.json", "", "not a report"),
        ("b.json", "{}", "not a report"),
        ("c.json", &empty.to_string(), "holds no bandwidths"),
        ("d.json", &first.to_string().replace("amdgpu-smoke/1", "amdgpu-smoke/9"), "its schema is"),
    ] {
        let refused = run("navi21", &["--baseline", &scratch.file(name, text)]);
        assert_eq!((refused.status.code(), &refused.stdout[..]), (Some(79), &b""[..]), "{name}");
        assert!(stderr(&refused).contains(reason), "{reason}: {}", stderr(&refused));
    }
    let own = scratch.file("own.json", &first.to_string());
    for wrong in [&["--tolerance", "5"][..], &["--baseline", &own, "--tolerance", "100"], &["--baseline", "/no/such"]] {
        assert_eq!(run("navi21", wrong).status.code(), Some(79), "{wrong:?}");
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke"));
    let nothing = program.args(["--sim", "navi21", "--filter", "bo.map", "--baseline", &own]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(79), "a comparison of nothing is no pass");
    assert!(stderr(&nothing).contains("no bandwidth was measured"), "{}", stderr(&nothing));
}
