//! Defects that users met, each with the command that showed it.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::Value;
use support::{Scratch, output, program, stdout};

#[test]
fn evidence_shows_what_was_bound_when_the_job_was_recorded_one_operand_a_line() {
    let text = stdout(&output(&["--sim", "navi21", "--mutate", "short-copy:sdma", "--filter", "exec.copy.sdma0"]));
    assert!(!text.contains("unbound") && !text.contains(" ...\n"), "{text}");
    for (operand, times) in [
        ("count 0xfffff (1048576 bytes)", 2),
        ("src_addr 0xffff800100000000 (0 bytes into BO 1, 1048576 bytes at 0xffff800100000000)", 1),
        ("dst_addr 0xffff800100100000 (0 bytes into BO 2, 1048576 bytes at 0xffff800100100000)", 1),
        ("dst_addr 0xffff800100200000 (0 bytes into BO 3, 1048576 bytes at 0xffff800100200000)", 1),
    ] {
        let lines = text.lines().filter(|line| line.trim_start_matches([' ', '|']) == operand).count();
        assert_eq!(lines, times, "{operand} in\n{text}");
    }
    assert!(!text.contains("lines more"), "all of it fits: {text}");
}

#[test]
fn the_clock_check_tells_the_time_of_its_ticks() {
    let report: Value =
        serde_json::from_slice(&output(&["--sim", "navi21", "--json", "--filter", "clock"]).stdout).unwrap();
    let detail = report["results"][0]["detail"].as_str().unwrap();
    let figures = regex::Regex::new(r"^(\d+) ticks, (\d+\.\d) ms at (\d+) kHz$").unwrap();
    let figures = figures.captures(detail).unwrap_or_else(|| panic!("{detail}"));
    let number = |index: usize| figures[index].parse::<f64>().unwrap();
    assert!((number(1) / number(3) - number(2)).abs() < 0.1, "{detail}");
    assert!(number(2) >= 1.0, "the check waits for a millisecond: {detail}");
}

#[test]
fn a_bundle_replays_and_names_its_checks() {
    let scratch = Scratch::new("bundle");
    let bundle = scratch.path("b.tar");
    let broken = ["--sim", "navi21", "--mutate", "lost-metadata", "--filter"];
    let run = output(&[&broken[..], &[r"^(bo|inventory)\.", "--bundle", &bundle]].concat());
    assert_eq!(run.status.code(), Some(98), "{run:?}");
    // The one check that did not pass is replayed unless another is chosen.
    let replayed = output(&["--replay", &bundle, "--json"]);
    assert_eq!(replayed.status.code(), Some(98), "{replayed:?}");
    let report: Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert_eq!(report["results"][0]["id"], "bo.metadata");
    let chosen = output(&["--replay", &bundle, "--check", "inventory.heaps"]);
    assert_eq!(chosen.status.code(), Some(0), "{chosen:?}");
    let missing = output(&["--replay", &bundle, "--check", "bo.map"]);
    assert_eq!(missing.status.code(), Some(79));
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(text.contains("no recording of \"bo.map\"; it has bo.metadata, inventory.clock, "), "{text}");
    let both = output(&[&broken[..], &["^inventory", "--bundle", &bundle]].concat());
    assert_eq!(both.status.code(), Some(0), "{both:?}");
    let several = output(&["--replay", &bundle]);
    assert_eq!(several.status.code(), Some(79));
    assert!(String::from_utf8_lossy(&several.stderr).contains("--check chooses one: inventory.clock, "), "{several:?}");
    assert_eq!(output(&["--check", "bo.map"]).status.code(), Some(79));
}

#[test]
fn a_run_that_was_killed_leaves_its_lines_on_the_disk_and_the_next_one_removes_its_directory() {
    let scratch = Scratch::new("killed");
    let (lines, bundle) = (scratch.path("a.jsonl"), scratch.path("a.tar"));
    let jsonl = format!("--jsonl={lines}");
    let arguments =
        ["--sim", "navi21", "--filter", r"^bo\.", &jsonl, "--bundle", &bundle, "--trouble", "bo.metadata=hang"];
    let mut child = program(&arguments).env("TMPDIR", &scratch.0).stdout(Stdio::piped()).spawn().unwrap();
    let printed = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(printed.map_while(Result::ok).any(|line| line.contains("pass  bo.map")), "bo.map was not done");
    let started = || fs::read_to_string(&lines).unwrap().contains(r#""event":"started","id":"bo.metadata""#);
    while !started() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let directory = scratch.0.join(format!("amdgpu-smoke-{}", child.id()));
    assert!(directory.exists(), "nothing was left that could be swept");
    let last = fs::read_to_string(&lines).unwrap();
    assert!(last.lines().last().unwrap().contains("bo.metadata"), "the guilty check is not named last: {last}");
    let next = ["--sim", "navi21", "--filter", "^bo.map$", "--bundle", &bundle];
    assert_eq!(program(&next).env("TMPDIR", &scratch.0).output().unwrap().status.code(), Some(0));
    assert!(!directory.exists(), "the directory of the killed run is still there");
}

#[test]
fn tap_13_is_accepted_by_prove() {
    let tap = output(&["--sim", "navi21", "--tap", "--tap-version", "13", "--filter", r"^(bo|va)\."]);
    assert!(stdout(&tap).starts_with("TAP version 13\n1..6\n"), "{}", stdout(&tap));
    let Ok(prove) = Command::new("prove").arg("--version").output() else {
        eprintln!("not tried: prove is not installed");
        return;
    };
    assert!(prove.status.success());
    let scratch = Scratch::new("tap");
    let file = scratch.path("r.tap");
    fs::File::create(&file).unwrap().write_all(&tap.stdout).unwrap();
    let judged = Command::new("prove").args(["--exec", "cat", &file]).output().unwrap();
    assert!(judged.status.success(), "{judged:?}");
}

#[test]
fn the_table_of_memory_types_is_that_of_the_check_of_heaps() {
    let has_table = |more: &[&str]| {
        let text = stdout(&output(&[&["--sim", "navi21"], more].concat()));
        let table = "type heap addresses  properties";
        assert!(text.contains("AMD Radeon RX 6800: NAVI21, GFX10_3"), "{text}");
        text.lines().filter(|line| line.starts_with("heap  ") || *line == table).count() == 2
    };
    assert!(has_table(&["--level", "inventory"]));
    assert!(has_table(&["--filter", "heaps"]));
    assert!(!has_table(&["--filter", r"^bo\."]));
    assert!(!has_table(&["--level", "inventory", "--filter", "nothing"]));
}

/// Without the times and positions in columns, which no two runs have in common.
fn plain(line: &str) -> String {
    let times = regex::Regex::new(r"\d+\.\d+ ms").unwrap().replace_all(line, "TIME");
    let ticks = regex::Regex::new(r"\d+ ticks").unwrap().replace_all(&times, "TICKS");
    let rates = regex::Regex::new(r"[\d.]+ [kMGT]?B/s").unwrap().replace_all(&ticks, "RATE");
    rates.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_output_that_the_readme_shows_is_what_the_program_prints() {
    let readme = include_str!("../README.md");
    let mut tried = 0;
    for block in readme.split("```text\n$ amdgpu-smoke ").skip(1) {
        let block = block.split("```").next().unwrap();
        let (arguments, shown) = block.split_once('\n').unwrap();
        let text = stdout(&output(&arguments.split(' ').collect::<Vec<_>>()));
        let mut printed = text.lines().map(plain);
        for line in shown.lines().filter(|line| *line != "...") {
            let line = plain(line);
            assert!(printed.any(|found| found == line), "{arguments}: the README has\n{line}\nand the program\n{text}");
        }
        tried += 1;
    }
    assert!(tried >= 2, "only {tried} excerpts");
}
