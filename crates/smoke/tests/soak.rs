//! Soaks: the plan over and over again, with failure rates.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{Scratch, output};

fn program(arguments: &[&str]) -> Command {
    support::program(&[&["--sim", "navi21"], arguments].concat())
}

fn valid(report: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{report:#}");
}

#[test]
fn a_soak_tells_rounds_and_rates_and_keeps_each_first_failure() {
    let scratch = Scratch::new("rates");
    let (json, jsonl) = (format!("--json={}", scratch.path("a.json")), format!("--jsonl={}", scratch.path("a.jsonl")));
    let (tap, bundle) = (format!("--tap={}", scratch.path("a.tap")), scratch.path("a.tar"));
    let broken = ["--mutate", "lost-metadata", "--filter", r"^bo\.", "--seed", "40", "--for", "2s"];
    let run = program(&[&broken[..], &[&json, &jsonl, &tap, "--bundle", &bundle]].concat()).output().unwrap();
    assert_eq!(run.status.code(), Some(98), "{run:?}");
    let report = scratch.json("a.json");
    valid(&report);
    let soak = &report["soak"];
    let rounds = soak["rounds"].as_u64().unwrap();
    assert!(rounds >= 1 && soak["interrupted"] == false && soak["seconds"].as_f64().unwrap() >= 2.0, "{soak:#}");
    assert_eq!(soak["checks"].as_array().unwrap().len(), 4);
    for check in soak["checks"].as_array().unwrap() {
        let (runs, failures) = (check["runs"].as_u64().unwrap(), check["failures"].as_u64().unwrap());
        assert!(runs == rounds || runs == rounds + 1, "{check} in {rounds} rounds");
        let is_broken = check["id"] == "bo.metadata";
        assert_eq!(failures, if is_broken { runs } else { 0 }, "{check}");
        assert_eq!(check["first_failure"]["round"].as_u64(), is_broken.then_some(1), "{check}");
        if is_broken {
            assert_eq!((&check["rate"], &check["first_failure"]["seed"]), (&1.0.into(), &40.into()));
            assert_eq!(check["first_failure"]["result"]["status"], "fail");
        }
    }
    // Every other form has each check once.
    assert_eq!(report["results"].as_array().unwrap().len(), 4);
    let lines = fs::read_to_string(scratch.path("a.jsonl")).unwrap();
    assert_eq!(lines.matches(r#""event":"result""#).count(), 4, "{lines}");
    assert!(lines.contains(r#""event":"round""#), "{lines}");
    let tap = fs::read_to_string(scratch.path("a.tap")).unwrap();
    assert!(tap.contains("\n1..4\n") && tap.matches("\nok ").count() == 3, "{tap}");
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("\nSoak: rounds ") && text.contains("\n3 of 4 checks never failed.\n"), "{text}");
    // The recording is of the first failure, and replays.
    let replayed = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke")).args(["--replay", &bundle]).output().unwrap();
    assert_eq!(replayed.status.code(), Some(98), "{replayed:?}");
}

#[test]
fn an_interrupt_ends_a_soak_with_its_report_and_the_status_of_its_results() {
    let scratch = Scratch::new("interrupt");
    let json = format!("--json={}", scratch.path("a.json"));
    let mut child = program(&["--filter", r"^bo\.", "--for", "8h", &json]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("rounds 2, in ")), "no second round");
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let rest: Vec<_> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}");
    assert!(rest.iter().any(|line| line.starts_with("Soak: ") && line.ends_with("; the user ended it")), "{rest:?}");
    let report = scratch.json("a.json");
    valid(&report);
    assert_eq!((&report["soak"]["interrupted"], &report["aborted"]), (&true.into(), &false.into()));
    assert_eq!(report["summary"]["incomplete"], 0, "the check that was under way does not count");
}

#[test]
fn memory_is_tested_until_it_is_stopped_and_the_report_counts_bits_channels_and_rows() {
    let scratch = Scratch::new("until-stopped");
    let json = format!("--json={}", scratch.path("a.json"));
    let given = ["--until-stopped", "--memory", "8M", "--mutate", "weak-cell", &json];
    let mut child = program(&given).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("rounds 2, in ")), "no second round");
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let rest: Vec<_> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(98), "{rest:?}");
    let report = scratch.json("a.json");
    valid(&report);
    let soak = &report["soak"];
    let rounds = soak["rounds"].as_u64().unwrap();
    assert!(rounds >= 2 && soak["interrupted"] == true && report["aborted"] == false, "{soak:#}");
    assert_eq!((&report["level"], soak["checks"].as_array().unwrap().len()), (&"stress".into(), 1));
    // A cell in each 4 MiB, in bit 6 of the first byte of a dword, wrong in the pattern or in its inverse.
    let cells = &soak["cells"];
    let count = cells["bytes"].as_u64().unwrap();
    // The round that the signal ended may have found nothing yet.
    assert!(count == 2 * rounds || count == 2 * (rounds - 1), "{soak:#}");
    let of = |count: u64, key: &str| serde_json::json!({ key: count });
    assert_eq!((&cells["bits"], &cells["channels"]), (&of(count, "6"), &of(count, "10")), "{cells}");
    // At 0x1a5a44 of a huge page: 16 channels of 2 KiB are 32 KiB.
    assert_eq!(cells["rows"], of(count, &(0x1a_5a44 / 0x8000).to_string()));
    assert_eq!(report["results"][0]["evidence"]["cells"]["bytes"], 2, "of one round");
    let histogram: Vec<_> = rest.iter().filter(|line| line.ends_with(&"#".repeat(32))).collect();
    assert!(histogram.len() >= 3 && rest.iter().any(|line| line.starts_with("Soak: rounds ")), "{rest:#?}");
}

#[test]
fn the_first_round_is_complete_however_short_the_time() {
    let run = program(&["--filter", r"^bo\.", "--for", "0.001s", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["soak"]["rounds"], &report["summary"]["pass"]), (&1.into(), &4.into()));
    for wrong in [&["--for", "8"][..], &["--for", "1h", "--no-fork"], &["--for", "-1s"]] {
        assert_eq!(program(wrong).output().unwrap().status.code(), Some(79), "{wrong:?}");
    }
}

#[test]
fn events_of_the_hardware_are_in_the_report_of_a_soak() {
    let scratch = Scratch::new("events");
    let json = format!("--json={}", scratch.path("r.json"));
    let run =
        ["--sim", "navi21", "--mutate", "aer-correctable", "--filter", r"^exec\.nop\.gfx0$", "--for", "1s", &json];
    let run = output(&run);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let report = scratch.json("r.json");
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&report), "{report:#}");
    let event = &report["soak"]["hardware"][0];
    assert_eq!((&event["round"], &event["check"]), (&1.into(), &"exec.nop.gfx0".into()), "{report:#}");
    assert_eq!(event["first"]["rule"], "aer-correctable");
}
