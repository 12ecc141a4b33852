//! Several GPUs in one run, each with its own reports.

mod support;

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    process::Stdio,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{Scratch, program};

#[test]
fn each_gpu_has_its_own_report_in_every_format() {
    let scratch = Scratch::new("formats");
    let (json, jsonl) = (format!("--json={}", scratch.path("a.json")), format!("--jsonl={}", scratch.path("a.jsonl")));
    let tap = format!("--tap={}", scratch.path("a.tap"));
    let run = program(&[
        "--sim",
        "navi21,renoir",
        "--filter",
        r"^bo\.",
        &json,
        &jsonl,
        &tap,
        "--junit",
        &scratch.path("a.xml"),
        "--html",
        &scratch.path("a.html"),
        "--igt-results",
        &scratch.path("igt"),
        "--bundle",
        &scratch.path("a.tar"),
    ])
    .output()
    .unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let text = String::from_utf8(run.stdout).unwrap();
    for (chip, other) in [("navi21", "renoir"), ("renoir", "navi21")] {
        let report: Value = serde_json::from_str(&scratch.read(&format!("a.{chip}.json"))).unwrap();
        let gpu = &report["gpu"];
        assert_eq!((&gpu["location"], &gpu["chosen"]), (&chip.into(), &"--sim names it".into()));
        assert_eq!(report["summary"]["pass"], 4);
        for (file, says) in [
            (format!("a.{chip}.jsonl"), "\"event\":\"ended\""),
            (format!("a.{chip}.tap"), "# chosen because --sim names it"),
            (format!("a.{chip}.xml"), "name=\"chosen because\" value=\"--sim names it\""),
            (format!("a.{chip}.html"), "This GPU is simulated: profile"),
            (format!("igt.{chip}/results.json"), "TestrunResult"),
        ] {
            let text = scratch.read(&file);
            assert!(text.contains(says), "{says} in {file}:\n{text}");
            assert!(text.contains(chip) && !text.contains(other), "{file} is not of {chip} alone:\n{text}");
        }
        assert!(scratch.0.join(format!("a.{chip}.tar")).exists());
        assert!(text.contains(&format!("{chip}: pass  bo.map")), "{text}");
        assert!(text.contains(&format!("\n{chip}: exit status 0\n")), "{text}");
    }
    assert!(!scratch.0.join("a.json").exists(), "a report without the name of its GPU");
}

#[test]
fn one_bad_gpu_makes_the_run_fail_and_spoils_no_other_report() {
    let scratch = Scratch::new("bad");
    let json = format!("--json={}", scratch.path("a.json"));
    let run = program(&["--sim", "navi21,nosuchchip", "--filter", r"^bo\.", &json]).output().unwrap();
    assert_eq!(run.status.code(), Some(79), "{run:?}");
    let report: Value = serde_json::from_str(&scratch.read("a.navi21.json")).unwrap();
    assert_eq!(report["summary"]["pass"], 4);
    let broken = program(&["--sim", "navi21,renoir", "--mutate", "lost-metadata", "--filter", r"^bo\."]);
    let mut broken = broken;
    assert_eq!(broken.output().unwrap().status.code(), Some(98));
    for crowd in [&["--json"][..], &["--jsonl"], &["--tap"], &["--record", "/tmp/no"]] {
        let refused = program(&[&["--sim", "navi21,renoir"], crowd].concat()).output().unwrap();
        assert_eq!((refused.status.code(), &refused.stdout[..]), (Some(79), &b""[..]), "{crowd:?}");
    }
}

#[test]
fn the_gpus_are_tested_at_the_same_time_and_an_interrupt_ends_all() {
    let arguments = ["--sim", "navi21,renoir", "--filter", r"^bo\.", "--for", "8h"];
    let mut child = program(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut soaking = BTreeSet::new();
    // Neither ends by itself: both have had rounds only if both run.
    while soaking.len() < 2 {
        let line = lines.next().expect("a run of hours");
        if line.contains(": rounds 2, in ") {
            soaking.insert(line.split(':').next().unwrap().to_owned());
        }
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    let rest: Vec<_> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}");
    assert_eq!(rest.iter().filter(|line| line.ends_with("; the user ended it")).count(), 2, "{rest:?}");
}

#[test]
fn all_gpus_of_a_computer_without_any_are_none() {
    if std::path::Path::new("/dev/dri").exists() {
        eprintln!("not tried: this machine has /dev/dri");
        return;
    }
    let run = program(&["--gpu", "all"]).output().unwrap();
    assert_eq!((run.status.code(), &run.stdout[..]), (Some(77), &b""[..]));
    assert!(String::from_utf8_lossy(&run.stderr).contains("no AMD GPU that is awake"), "{run:?}");
}

#[test]
fn copies_between_gpus_are_a_matrix_in_text_json_and_html() {
    let scratch = Scratch::new("matrix");
    let json = format!("--json={}", scratch.path("a.json"));
    let only = ["--level", "core", "--filter", r"^bandwidth\.peers$"];
    let more = ["--sim", "navi21,renoir", &json, "--html", &scratch.path("a.html")];
    let run = program(&[&only[..], &more].concat()).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let (first, second) = ("navi21 at 0000:03:00.0", "renoir at 0000:04:00.0");
    let report = scratch.json("a.navi21.json");
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert_eq!(validator.iter_errors(&report).map(|error| error.to_string()).collect::<Vec<_>>(), [""; 0]);
    let pairs = report["results"][0]["peers"].as_array().unwrap();
    let names: Vec<_> = pairs.iter().map(|pair| (&pair["engine"], &pair["memory"])).collect();
    assert_eq!(names, [(&first.into(), &second.into()), (&second.into(), &first.into())]);
    for pair in pairs {
        assert!(pair["write"].as_u64() > Some(0) && pair["read"].as_u64() > Some(0), "{pair}");
    }
    let text = String::from_utf8(run.stdout).unwrap();
    let row = regex::Regex::new(&format!(r"navi21: +\| {first}  - +[\d.]+ [MG]B/s / [\d.]+ [MG]B/s\n")).unwrap();
    assert!(row.is_match(&text), "{text}");
    let page = scratch.read("a.navi21.html");
    assert!(page.contains(&format!("<tr><th>{second}</th><td>")) && page.contains("B/s / "), "{page}");
    // The other run leaves it to the first.
    let other = scratch.json("a.renoir.json");
    let result = &other["results"][0];
    assert_eq!(
        (&result["status"], &result["detail"]),
        (&"skip".into(), &"the run of navi21 measures all pairs of GPUs".into())
    );
}
