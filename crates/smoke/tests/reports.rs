//! The reports of the program, its exit codes, and what it does when it is treated badly.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Output, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{Scratch, output, program, stdout};

/// On navi21, checks of objects only.
fn quick(more: &[&str]) -> Output {
    output(&[&["--sim", "navi21", "--filter", r"^(inventory|bo)\."], more].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn ends_with(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}\n{}", stdout(output), stderr(output));
    assert!(!stderr(output).contains("panicked"), "{}", stderr(output));
}

fn words(output: &Output) -> Vec<(String, String)> {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    report["results"].as_array().unwrap().iter().map(|result| (text(&result["id"]), text(&result["status"]))).collect()
}

fn valid(report: &Value) {
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{report:#}");
}

#[test]
fn every_report_follows_the_shipped_schema() {
    let pass = output(&["--sim", "renoir", "--json", "--filter", r"inventory|order|exec\.copy"]);
    ends_with(&pass, 0);
    valid(&serde_json::from_slice(&pass.stdout).unwrap());
    let fail = output(&["--sim", "navi21", "--json", "--mutate", "short-copy", "--filter", r"exec\.copy"]);
    ends_with(&fail, 98);
    let report: Value = serde_json::from_slice(&fail.stdout).unwrap();
    valid(&report);
    let evidence = &report["results"][0]["evidence"];
    assert_eq!(evidence["difference"]["of"], 1 << 20, "{evidence}");
    assert!(
        evidence["ib"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("DMA_DATA")),
        "{evidence}"
    );
    // A job that is never done: how far its queue came, and the packets there with their fields and objects.
    let stuck = output(&["--sim", "navi21", "--json", "--mutate", "ignored-map", "--filter", r"exec\.write\.gfx0"]);
    ends_with(&stuck, 112);
    let report: Value = serde_json::from_slice(&stuck.stdout).unwrap();
    valid(&report);
    let hang = report["results"][0]["evidence"]["hang"].as_array().unwrap();
    let says = |what: &str| hang.iter().any(|line| line.as_str().unwrap().contains(what));
    assert!(says("stopped in submission 1") && says("IB 0 at 0x") && says(" (256 bytes into BO "), "{hang:#?}");
    let absent = output(&["--gpu", "/dev/urandom", "--json"]);
    ends_with(&absent, 98);
    let report: Value = serde_json::from_slice(&absent.stdout).unwrap();
    valid(&report);
    assert_eq!(report["results"][0]["evidence"]["refusal"]["name"], "EINVAL");
}

/// Every check that a chip has, as `list` and plans name them: no run has to be lucky to find a bad one.
#[test]
fn every_id_of_every_plan_fits_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-1.json")).unwrap();
    let pattern = schema["$defs"]["result"]["properties"]["id"].clone();
    let validator = jsonschema::validator_for(&pattern).unwrap();
    let mut count = 0;
    for chip in stdout(&output(&["--list-profiles"])).lines() {
        let plan = output(&["--sim", chip, "--level", "destructive", "--dry-run"]);
        ends_with(&plan, 0);
        for id in stdout(&plan).lines() {
            assert!(validator.is_valid(&Value::from(id)), "{chip}: {id}");
            count += 1;
        }
    }
    assert!(count > 1000, "{count}");
}

/// Kills a run at its third check, and returns the scratch folder with its reports.
fn killed() -> Scratch {
    let scratch = Scratch::new("killed");
    let path = |name: &str| scratch.path(name);
    let files = [
        format!("--json={}", path("a.json")),
        format!("--tap={}", path("a.tap")),
        format!("--jsonl={}", path("a.jsonl")),
    ];
    let (junit, html, igt, bundle) = (path("a.xml"), path("a.html"), path("igt"), path("a.tar"));
    let more = ["--junit", &junit, "--html", &html, "--igt-results", &igt, "--bundle", &bundle];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let arguments = [&["--sim", "navi21", "--level", "core"][..], &files, &more].concat();
    let mut child = program(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = || fs::read_to_string(path("a.jsonl")).unwrap_or_default().matches(r#""event":"result""#).count();
    let patience = std::time::Instant::now();
    while started() < 3 {
        assert!(patience.elapsed().as_secs() < 60, "no check has ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    scratch
}

#[test]
fn all_reports_of_a_killed_run_are_whole_and_red() {
    let scratch = killed();
    let report = scratch.json("a.json");
    valid(&report);
    assert_eq!(report["aborted"], true);
    let xml = scratch.read("a.xml");
    let attribute = |name: &str| {
        let (_, rest) = xml.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse::<usize>().unwrap()
    };
    assert!(xml.ends_with("</testsuites>\n") && attribute("errors") == 1, "{xml}");
    let cases = xml.matches("<testcase ").count();
    assert!(cases == attribute("tests") && cases > 100, "the whole plan is there: {cases}");
    // The files are replaced one after the other, so the kill may have come between two of them.
    let ended = report["results"].as_array().unwrap().len();
    let not_run = xml.matches("<skipped message=\"not run\"/>").count();
    assert!(ended.abs_diff(cases - 1 - not_run) <= 1, "{ended} of {cases} ended, {not_run} not run");
    let tap = scratch.read("a.tap");
    assert!(tap.lines().last().unwrap().starts_with("Bail out! the run was killed while "), "{tap}");
    assert!(tap.contains(&format!("\n1..{cases}\n")), "{tap}");
    let html = scratch.read("a.html");
    assert!(html.ends_with("</html>\n") && html.contains("Aborted: "), "{html}");
    let igt: Value = serde_json::from_str(&scratch.read("igt/results.json")).unwrap();
    assert_eq!(igt["totals"][""]["abort"], 1);
    let words: Vec<_> =
        igt["tests"].as_object().unwrap().values().map(|test| test["result"].as_str().unwrap()).collect();
    assert_eq!((words.len(), words.iter().filter(|status| **status == "incomplete").count()), (cases, 1));
    let tar = fs::read(scratch.path("a.tar")).unwrap();
    let mut archive = tar::Archive::new(&*tar);
    let mut names: Vec<String> = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if name == "report.json" {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["aborted"], true);
        }
        names.push(name);
    }
    assert!(names.iter().any(|name| name == "report.json"), "{names:?}");
    // The next run of any kind removes what the killed one left.
    assert_eq!(
        output(&["--sim", "navi21", "--filter", "^bo.map$", "--html", &scratch.path("b.html")]).status.code(),
        Some(0)
    );
}

/// A change of a report.
type Change = dyn Fn(&mut Value);

#[test]
fn two_reports_are_compared_and_what_was_better_before_ends_with_1() {
    let scratch = Scratch::new("diff");
    let good = format!("--json={}", scratch.path("good.json"));
    let bad = format!("--json={}", scratch.path("bad.json"));
    let filter = ["--sim", "navi21", "--level", "core", "--filter", r"^bo\.map|exec\.copy|bandwidth"];
    ends_with(&output(&[&filter[..], &[&good]].concat()), 0);
    ends_with(&output(&[&filter[..], &["--mutate", "short-copy:sdma", &bad]].concat()), 98);
    let (good, bad) = (scratch.path("good.json"), scratch.path("bad.json"));
    // Two runs on a busy computer differ in bandwidth.
    let compare =
        |old: &str, new: &str, more: &[&str]| output(&[&["diff", old, new, "--tolerance", "99.99"], more].concat());
    let same = compare(&good, &good, &[]);
    ends_with(&same, 0);
    assert!(stdout(&same).ends_with(": 0 worse, 0 better, 0 other changes\n"), "{}", stdout(&same));
    let worse = compare(&good, &bad, &[]);
    ends_with(&worse, 1);
    assert!(stdout(&worse).contains("WORSE    check     exec.copy.sdma0: pass, then fail: "), "{}", stdout(&worse));
    let better = compare(&bad, &good, &[]);
    ends_with(&better, 0);
    assert!(stdout(&better).contains("better   check     exec.copy.sdma0: fail, then pass"), "{}", stdout(&better));
    // Each part of a report on its own.
    let original: Value = scratch.json("good.json");
    let changed: [(&str, &Change, i32); 7] = [
        ("WORSE    heap", &|report| report["gpu"]["heaps"][0]["size"] = 1.into(), 1),
        ("changed  kernel", &|report| report["gpu"]["kernel"] = "7.2.0".into(), 0),
        ("changed  firmware", &|report| report["gpu"]["firmware"][0][1] = 1.into(), 0),
        ("WORSE    ring", &|report| drop(report["gpu"]["rings"].as_array_mut().unwrap().pop()), 1),
        ("WORSE    run", &|report| report["aborted"] = true.into(), 1),
        ("changed  duration", &|report| report["results"][0]["ms"] = 1e6.into(), 0),
        (
            "WORSE    bandwidth",
            &|report| {
                let results = report["results"].as_array_mut().unwrap();
                let measured = results.iter_mut().find(|result| result["bandwidths"].is_array()).unwrap();
                measured["bandwidths"][0]["bytes_per_second"] = 0.into();
            },
            1,
        ),
    ];
    for (expected, change, code) in changed {
        let mut report = original.clone();
        change(&mut report);
        let path = scratch.file("changed.json", &report.to_string());
        let compared = compare(&good, &path, &[]);
        ends_with(&compared, code);
        assert!(stdout(&compared).contains(expected), "{expected}: {}", stdout(&compared));
    }
    // What another chip lacks is not broken, and a check that fails on it is.
    let mut other = original.clone();
    other["gpu"]["chip"] = "RENOIR".into();
    other["gpu"]["rings"].as_array_mut().unwrap().pop();
    other["gpu"]["heaps"][0]["size"] = 1.into();
    let path = scratch.file("other.json", &other.to_string());
    let compared = compare(&good, &path, &[]);
    ends_with(&compared, 0);
    for expected in ["changed  run       the chips are two: ", "changed  ring", "changed  heap"] {
        assert!(stdout(&compared).contains(expected), "{expected}: {}", stdout(&compared));
    }
    ends_with(&compare(&path, &bad, &[]), 1);
    let json: Value = serde_json::from_slice(&compare(&good, &bad, &["--json"]).stdout).unwrap();
    assert_eq!((&json["schema"], &json["regression"]), (&"amdgpu-smoke-diff/1".into(), &true.into()));
    for wrong in ["/nonexistent", "/dev/null", "/proc/version"] {
        ends_with(&compare(&good, wrong, &[]), 79);
    }
}

#[test]
fn one_run_writes_every_report_and_all_agree() {
    let scratch = Scratch::new("all");
    let path = |name: &str| scratch.path(name);
    let json = format!("--json={}", path("a.json"));
    let (jsonl, tap) = (format!("--jsonl={}", path("a.jsonl")), format!("--tap={}", path("a.tap")));
    let run = quick(&[
        &json,
        &jsonl,
        &tap,
        "--junit",
        &path("a.xml"),
        "--igt-results",
        &path("igt/run"),
        "--bundle",
        &path("a.tar"),
    ]);
    ends_with(&run, 0);
    assert!(stdout(&run).ends_with(" passed, 0 failed, 0 skipped\n"));
    let report: Value = serde_json::from_str(&scratch.read("a.json")).unwrap();
    let ids: Vec<_> =
        report["results"].as_array().unwrap().iter().map(|result| result["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 11);

    let events: Vec<Value> = scratch.read("a.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |event: &str| events.iter().filter(|line| line["event"] == event).count();
    assert_eq!((count("began"), count("planned"), count("ended")), (1, 1, 1));
    assert_eq!((count("started"), count("result")), (11, 11));

    let tap = scratch.read("a.tap");
    assert!(tap.starts_with("TAP version 14\n1..11\n"), "{tap}");
    assert_eq!(tap.lines().filter(|line| line.starts_with("ok ")).count(), 11);

    let xml = scratch.read("a.xml");
    assert_eq!((xml.matches("<testcase ").count(), xml.matches("</testcase>").count()), (11, 11));
    for expected in ["tests=\"11\" failures=\"0\"", "name=\"chip\" value=\"NAVI21\"", "classname=\"bo\" name=\"map\""] {
        assert!(xml.contains(expected), "{expected} in\n{xml}");
    }

    let igt: Value = serde_json::from_str(&scratch.read("igt/run/results.json")).unwrap();
    assert_eq!((&igt["__type__"], &igt["results_version"]), (&"TestrunResult".into(), &10.into()));
    assert_eq!(igt["tests"].as_object().unwrap().len(), 11);
    assert_eq!(igt["tests"]["igt@amdgpu-smoke@bo.map"]["result"], "pass");
    assert_eq!(igt["totals"]["root"]["pass"], 11);

    let mut names = Vec::new();
    let mut recording = Vec::new();
    for entry in tar::Archive::new(fs::File::open(path("a.tar")).unwrap()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        if name == "recordings/inventory.heaps.rec" {
            entry.read_to_end(&mut recording).unwrap();
        }
        names.push(name);
    }
    for name in ["report.json", "report.txt", "device.json", "dmesg.txt"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    // What is packed replays on a machine without the GPU.
    fs::write(path("heaps.rec"), recording).unwrap();
    let replayed = output(&["--replay", &path("heaps.rec"), "--json"]);
    ends_with(&replayed, 0);
    assert_eq!(words(&replayed), [("inventory.heaps".to_owned(), "pass".to_owned())]);
}

/// A report that leaves the machine must not pass for one of hardware.
#[test]
fn every_report_says_that_the_gpu_is_simulated_and_how_it_is_broken() {
    let scratch = Scratch::new("honest");
    let paths = ["a.json", "a.jsonl", "a.tap", "a.xml", "igt"].map(|name| scratch.path(name));
    let [json, jsonl, tap, junit, igt] = &paths;
    let run = output(&[
        "--sim",
        "navi21",
        "--mutate",
        "drop-write:sdma",
        "--filter",
        "^bo.map$",
        &format!("--json={json}"),
        &format!("--jsonl={jsonl}"),
        &format!("--tap={tap}"),
        "--junit",
        junit,
        "--igt-results",
        igt,
    ]);
    ends_with(&run, 0);
    assert!(
        stdout(&run).starts_with("Testing a simulated GPU: navi21, broken by drop-write:sdma\n"),
        "{}",
        stdout(&run)
    );
    let report: Value = serde_json::from_str(&scratch.read("a.json")).unwrap();
    valid(&report);
    let gpu = &report["gpu"];
    assert_eq!((&gpu["simulated"], &gpu["mutation"]), (&true.into(), &"drop-write:sdma".into()));
    assert_eq!(gpu["kernel"], Value::Null, "this computer's kernel did not answer");
    let first: Value = serde_json::from_str(scratch.read("a.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!((&first["gpu"]["simulated"], &first["gpu"]["mutation"]), (&true.into(), &"drop-write:sdma".into()));
    let label = "simulated navi21, broken by drop-write:sdma";
    assert!(scratch.read("a.tap").contains(&format!("\n# {label}\n")), "{}", scratch.read("a.tap"));
    let xml = scratch.read("a.xml");
    for expected in [
        &format!("<testsuite name=\"{label}\"")[..],
        "name=\"simulated\" value=\"true\"",
        "name=\"mutation\" value=\"drop-write:sdma\"",
    ] {
        assert!(xml.contains(expected), "{expected} in\n{xml}");
    }
    let results: Value = serde_json::from_str(&scratch.read("igt/results.json")).unwrap();
    assert!(results["name"].as_str().unwrap().ends_with(label), "{}", results["name"]);
}

#[test]
fn a_bundle_holds_the_recording_of_what_failed() {
    let scratch = Scratch::new("bundle");
    let path = scratch.path("a.tar");
    let run = output(&["--sim", "navi21", "--mutate", "lost-metadata", "--filter", r"^bo\.", "--bundle", &path]);
    ends_with(&run, 98);
    assert!(stdout(&run).contains(&format!("file      {path}")), "{}", stdout(&run));
    let mut archive = tar::Archive::new(fs::File::open(&path).unwrap());
    let names: Vec<_> = archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().into_owned()).collect();
    let recordings: Vec<_> = names.iter().filter(|name| name.starts_with("recordings")).collect();
    assert_eq!(recordings, [&PathBuf::from("recordings/bo.metadata.rec")]);
}

#[test]
fn known_failures_pass_flakes_may_fail_and_an_unexpected_pass_is_reported() {
    let scratch = Scratch::new("lists");
    let mutant = ["--sim", "navi21", "--mutate", "lost-metadata", "--filter", r"^bo\."];
    let run = |more: &[&str]| output(&[&mutant[..], more].concat());
    ends_with(&run(&[]), 98);
    let fails = scratch.file("fails.txt", "# known\n\nbo.metadata,Fail\n");
    let known = run(&["--fails", &fails]);
    ends_with(&known, 0);
    let text = stdout(&known);
    assert!(text.contains("xfail bo.metadata") && text.contains("(ExpectedFail)"), "{text}");
    assert!(text.ends_with("3 passed, 0 failed, 0 skipped, 1 ExpectedFail\n"), "{text}");
    assert!(!text.contains("for the bug report"), "a known failure is no news: {text}");
    ends_with(&run(&["--flakes", &scratch.file("flakes.txt", "bo\\.meta.*\n")]), 0);
    let skipped = run(&["--skips", &scratch.file("skips.txt", "bo\\.metadata\n"), "--json"]);
    ends_with(&skipped, 0);
    assert!(words(&skipped).contains(&("bo.metadata".to_owned(), "skip".to_owned())));
    let improved = run(&["--fails", &scratch.file("improved.txt", "bo.metadata,Fail\nbo.map,Fail\n")]);
    ends_with(&improved, 98);
    let text = stdout(&improved);
    assert!(text.contains("\nUnexpectedImprovement: bo.map; ") && text.contains("XPASS bo.map"), "{text}");
    assert!(!text.contains("\nfailed "), "an improvement is no failure: {text}");
    assert!(text.ends_with("2 passed, 0 failed, 0 skipped, 1 ExpectedFail, 1 UnexpectedImprovement\n"), "{text}");
    let unexpected = run(&["--fails", &scratch.file("more.txt", "bo.metadata,Fail\nbo.map,Fail\n"), "--json"]);
    ends_with(&unexpected, 98);
    let report: Value = serde_json::from_slice(&unexpected.stdout).unwrap();
    valid(&report);
    assert_eq!(report["summary"]["unexpected_pass"], 1);
    // Named after the chip.
    scratch.file("NAVI21-fails.txt", "bo.metadata,Fail\n");
    scratch.file("RENOIR-fails.txt", "nonsense\n");
    ends_with(&run(&["--expectations", scratch.0.to_str().unwrap()]), 0);
}

#[test]
fn lists_that_make_no_sense_are_bad_usage_with_the_line() {
    let scratch = Scratch::new("bad-lists");
    for (option, text, reason) in [
        ("--fails", "bo.map\n", "list:1: \"bo.map\" is not of the form id,Status"),
        ("--fails", "\nbo.map,Pass\n", "list:2: \"Pass\" is no status"),
        ("--skips", "(\n", "list:1: \"(\" is no regular expression"),
        ("--flakes", "bo\n[\n", "list:2: \"[\" is no regular expression"),
    ] {
        let run = quick(&[option, &scratch.file("list", text)]);
        ends_with(&run, 79);
        assert!(stderr(&run).contains(reason), "{reason}: {}", stderr(&run));
        assert_eq!(stdout(&run), "");
    }
    fs::write(scratch.0.join("binary"), [0xff, 0xfe, 0]).unwrap();
    for path in [scratch.path("binary"), scratch.path("missing"), "/".to_owned()] {
        let run = quick(&["--fails", &path]);
        ends_with(&run, 79);
        assert!(stderr(&run).contains(&path), "{}", stderr(&run));
    }
    ends_with(&quick(&["--expectations", &scratch.path("missing")]), 79);
}

#[test]
fn arguments_that_make_no_sense_are_bad_usage() {
    for arguments in [
        &["--filter", "("][..],
        &["--shard", "3/2"],
        &["--repeat", "0"],
        &["--seed", "-1"],
        &["--memory", "much"],
        &["--timeout", "0"],
        &["--sim", "navi21", "--mutate", "nothing"],
        &["--mutate", "drop-write"],
        &["--sim", "navi21", "--json", "--tap"],
        &["completions", "nosuchshell"],
        &["list", "--json"],
    ] {
        let run = output(arguments);
        ends_with(&run, 79);
        assert!(!stderr(&run).is_empty(), "{arguments:?}");
        assert_eq!(stdout(&run), "", "{arguments:?}");
    }
}

#[test]
fn an_output_that_cannot_be_made_is_reported_before_anything_runs() {
    for option in ["--json=", "--jsonl=", "--tap=", "--junit=", "--bundle=", "--igt-results="] {
        let run = quick(&[&format!("{option}/proc/no/such")]);
        ends_with(&run, 79);
        assert!(stderr(&run).contains("/proc/no/such"), "{option}: {}", stderr(&run));
        assert_eq!(stdout(&run), "", "{option}");
    }
}

#[test]
fn a_full_disk_is_reported_and_the_run_is_finished_all_the_same() {
    for option in ["--json=", "--jsonl=", "--tap=", "--junit=", "--bundle="] {
        let run = quick(&[&format!("{option}/dev/full")]);
        ends_with(&run, 79);
        assert!(stderr(&run).contains("/dev/full: No space left"), "{option}: {}", stderr(&run));
        assert!(stdout(&run).ends_with(" passed, 0 failed, 0 skipped\n"), "{option}");
    }
    for arguments in [&["--sim", "navi21", "--filter", "bo"][..], &["list"], &["man"], &["--list-profiles"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run = program(arguments).stdout(full).output().unwrap();
        ends_with(&run, 79);
        assert!(stderr(&run).contains("standard output: No space left"), "{arguments:?}: {}", stderr(&run));
    }
    // A check that failed says more than a report that did not arrive.
    ends_with(&quick(&["--mutate", "lost-metadata", "--junit=/dev/full"]), 98);
}

#[test]
fn what_goes_wrong_with_a_check_is_its_own_affair() {
    let run = output(&[
        "--sim",
        "navi21",
        "--json",
        "--filter",
        r"^bo\.|syncobj|va\.fixed",
        "--inactivity-timeout",
        "3",
        "--grace",
        "300",
        "--trouble",
        "bo.create=hang",
        "--trouble",
        "bo.map=stubborn",
        "--trouble",
        "bo.metadata=abort",
        "--trouble",
        "bo.refusals=silence",
        "--trouble",
        "syncobj.binary=babble",
    ]);
    ends_with(&run, 98);
    let status =
        |id: &str| words(&run).into_iter().find(|(found, _)| found == id).map(|(_, status)| status).unwrap_or_default();
    for (id, expected) in [
        ("bo.create", "timeout"),
        ("bo.map", "timeout"),
        ("bo.metadata", "crash"),
        ("bo.refusals", "crash"),
        ("syncobj.binary", "crash"),
        ("syncobj.timeline", "pass"),
        ("va.fixed", "pass"),
    ] {
        assert_eq!(status(id), expected, "{id}");
    }
    valid(&serde_json::from_slice(&run.stdout).unwrap());
}

#[test]
fn a_check_that_only_says_that_it_is_alive_runs_into_its_own_limit_and_the_run_into_the_runs() {
    let busy = ["--sim", "navi21", "--json", "--filter", r"^bo\.", "--grace", "300", "--trouble", "bo.create=busy"];
    let run = output(&[&busy[..], &["--timeout", "2"]].concat());
    ends_with(&run, 98);
    assert_eq!(words(&run)[0], ("bo.create".to_owned(), "timeout".to_owned()));
    let run = output(&[&busy[..], &["--overall-timeout", "2"]].concat());
    ends_with(&run, 112);
    assert_eq!(words(&run), [("bo.create".to_owned(), "incomplete".to_owned())]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    valid(&report);
    assert_eq!((&report["reason"], &report["summary"]["notrun"]), (&"the run has no time left".into(), &3.into()));
}

#[test]
fn an_interrupt_finishes_the_report() {
    let arguments = ["--sim", "navi21", "--jsonl", "--filter", r"^bo\.", "--grace", "300", "--trouble", "bo.map=hang"];
    let mut child = program(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut event = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    while event() != serde_json::json!({ "event": "started", "id": "bo.map" }) {}
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let result = event();
    assert_eq!((&result["id"], &result["status"]), (&"bo.map".into(), &"incomplete".into()));
    let ended = event();
    assert_eq!((&ended["event"], &ended["aborted"]), (&"ended".into(), &true.into()));
    assert_eq!(ended["reason"], "the user ended the run");
    assert_eq!(child.wait().unwrap().code(), Some(112));
}

#[test]
fn a_dry_run_is_the_plan_and_shards_are_its_parts() {
    let plan = |more: &[&str]| {
        let run = output(&[&["--sim", "navi21", "--dry-run"], more].concat());
        ends_with(&run, 0);
        stdout(&run).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = plan(&["--level", "core"]);
    assert!(whole.contains(&"exec.copy.sdma1".to_owned()) && whole.contains(&"prime.process".to_owned()));
    let mut parts: Vec<_> =
        ["1/3", "2/3", "3/3"].iter().flat_map(|part| plan(&["--level", "core", "--shard", part])).collect();
    parts.sort();
    let mut sorted = whole;
    sorted.sort();
    assert_eq!(parts, sorted);
    assert!(plan(&["--read-only"]).iter().all(|id| id.starts_with("inventory.")));
    assert_eq!(plan(&["--filter", "bo.map", "--repeat", "2"]), ["bo.map", "bo.map"]);
}

#[test]
fn the_level_core_passes_with_any_seed_on_old_and_new_chips() {
    for (chip, seed) in [("pitcairn", "1"), ("vega10", "77"), ("navi31", "4294967295")] {
        let run = output(&["--sim", chip, "--level", "core", "--seed", seed, "--json"]);
        let bad: Vec<_> =
            words(&run).into_iter().filter(|(_, status)| !["pass", "skip"].contains(&&**status)).collect();
        assert!(bad.is_empty(), "{chip}: {bad:?}");
        ends_with(&run, 0);
    }
}

#[test]
fn stress_and_destructive_pass_where_they_can_do_no_harm() {
    let filter = "^stress|^march|^reset.*(gfx0|sdma0)";
    let run = output(&["--sim", "navi21", "--level", "destructive", "--filter", filter, "--memory", "4M", "--json"]);
    let bad: Vec<_> = words(&run).into_iter().filter(|(_, status)| status != "pass").collect();
    assert!(bad.is_empty(), "{bad:?}");
    ends_with(&run, 0);
    assert_eq!(words(&run).len(), 5 + 4 + 8);
}

#[test]
fn man_page_and_completions_name_the_options() {
    let man = stdout(&output(&["man"]));
    assert!(
        man.starts_with(".ie") && man.contains(".TH amdgpu-smoke 1") && man.contains("i\\-accept\\-a\\-gpu\\-reset")
    );
    for section in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
        assert!(man.contains(&format!("\n.SH \"{section}\"\n")), "{section}");
    }
    for code in [0, 77, 79, 98, 112] {
        assert!(man.contains(&format!("\n.TP\n.B {code}\n")), "{code}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = output(&["completions", shell]);
        ends_with(&run, 0);
        assert!(stdout(&run).contains("keep-going"), "{shell}");
    }
}

#[test]
fn the_readme_lists_the_checks_there_are() {
    let readme = include_str!("../README.md");
    let listed = stdout(&output(&["list", "--markdown"]));
    assert!(readme.contains(&listed), "README.md does not hold `amdgpu-smoke list --markdown`");
}
