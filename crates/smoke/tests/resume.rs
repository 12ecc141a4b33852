//! Runs that go on after their machine stopped.

mod support;

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

use serde_json::Value;
use support::{Scratch, program};

#[test]
fn a_run_that_was_killed_goes_on_behind_the_check_that_stopped_the_machine() {
    let scratch = Scratch::new("killed");
    let lines = scratch.path("a.jsonl");
    let jsonl = format!("--jsonl={lines}");
    let plan = ["--sim", "navi21", "--filter", r"^bo\.", &jsonl];
    let (json, junit) = (scratch.path("a.json"), scratch.path("a.xml"));
    let reports = [format!("--json={json}"), format!("--junit={junit}")];
    let hanging = [&plan[..], &["--trouble", "bo.metadata=hang", &reports[0], &reports[1]]].concat();
    let mut child = program(&hanging).stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(printed.any(|line| line.contains("pass  bo.map")), "bo.map was not done");
    while !fs::read_to_string(&lines).unwrap().contains(r#""event":"started","id":"bo.metadata""#) {
        std::thread::yield_now();
    }
    // The last of the reports to be written.
    while !fs::read_to_string(&junit).unwrap().contains("while bo.metadata ran") {
        std::thread::yield_now();
    }
    // What a frozen machine leaves.
    child.kill().unwrap();
    child.wait().unwrap();
    let killed: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        (&killed["aborted"], &killed["summary"]["pass"], &killed["summary"]["notrun"]),
        (&true.into(), &2.into(), &2.into())
    );
    assert_eq!(killed["reason"], "the run was killed while bo.metadata ran");
    assert_eq!(killed["results"][1]["id"], "bo.map");
    let killed = fs::read_to_string(&junit).unwrap();
    assert!(killed.contains("<system-err>the run was killed while bo.metadata ran</system-err>"), "{killed}");
    assert!(killed.contains("name=\"map\"") && killed.ends_with("</testsuites>\n"), "{killed}");
    let before: Vec<String> = fs::read_to_string(&lines).unwrap().lines().map(str::to_owned).collect();
    let resumed = program(&[&plan[..], &["--resume", &lines]].concat()).output().unwrap();
    assert_eq!(resumed.status.code(), Some(98), "{resumed:?}");
    let text = String::from_utf8(resumed.stdout).unwrap();
    assert!(text.contains("INCO  bo.metadata") && text.contains("the machine stopped while this check ran"), "{text}");
    assert!(text.ends_with("3 passed, 0 failed, 0 skipped, 1 incomplete\n"), "{text}");
    let events: Vec<Value> =
        fs::read_to_string(&lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids = |event: &str| -> Vec<&str> {
        events.iter().filter(|line| line["event"] == event).map(|line| line["id"].as_str().unwrap()).collect()
    };
    assert_eq!(ids("started"), ["bo.refusals"], "only what was not done runs");
    assert_eq!(ids("result"), ["bo.create", "bo.map", "bo.metadata", "bo.refusals"]);
    let create = before.iter().find(|line| line.contains(r#""event":"result"#)).unwrap();
    let create: Value = serde_json::from_str(create).unwrap();
    assert_eq!(events.iter().find(|line| line["event"] == "result"), Some(&create), "the first result is the old one");
    // Now it has ended.
    let again = program(&[&plan[..4], &["--resume", &lines]].concat()).output().unwrap();
    assert_eq!(again.status.code(), Some(79));
    assert!(String::from_utf8_lossy(&again.stderr).contains("the run has ended"), "{again:?}");
}

#[test]
fn a_run_of_another_gpu_or_plan_is_not_resumed() {
    let scratch = Scratch::new("other");
    let run = program(&["--sim", "navi21", "--filter", r"^bo\.", "--jsonl"]).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    let lines = scratch.path("a.jsonl");
    let begun: Vec<_> = text.lines().filter(|line| !line.contains(r#""event":"ended""#)).collect();
    fs::write(&lines, begun[..4].join("\n")).unwrap();
    for (arguments, reason) in [
        (["--sim", "renoir", "--filter", r"^bo\."], "it is of simulated navi21, and this run of simulated renoir"),
        (["--sim", "navi21", "--filter", r"^va\."], "it is of a plan with bo.create, and this run of a plan with va."),
    ] {
        let refused = program(&[&arguments[..], &["--resume", &lines]].concat()).output().unwrap();
        assert_eq!((refused.status.code(), &refused.stdout[..]), (Some(79), &b""[..]), "{arguments:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(reason), "{refused:?}");
    }
    for wrong in [&["--for", "1h"][..], &["--no-fork"]] {
        let refused = program(&[&["--sim", "navi21", "--resume", &lines], wrong].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(79), "{wrong:?}");
    }
}
