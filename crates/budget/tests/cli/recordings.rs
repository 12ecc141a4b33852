//! Recordings and captured trees: what was seen is shown again, and nonsense is refused with its line.

use std::fs;

use crate::{
    own_memory::memory_dump,
    sim,
    support::{Directory, golden, run, run_with},
};

#[test]
fn recordings_that_make_no_sense_are_refused_with_their_line() {
    for (text, reason) in [
        ("", "empty"),
        ("nonsense\n", "standard input is not a recording"),
        ("{\"schema\":\"other/1\"}\n", "line 1 of standard input"),
        ("{1}\n", "line 1 of standard input"),
        ("[[[[", "standard input is not a recording"),
    ] {
        let output = run_with(&["--from", "-"], text.as_bytes());
        assert!(output.code == 1 && output.stderr.contains(reason), "{text:?}: {output:?}");
    }
    let deep = "[".repeat(1 << 20);
    assert_eq!(run_with(&["--from", "-"], deep.as_bytes()).code, 1);
    let later = memory_dump().replacen("\"schema\":1", "\"schema\":2", 1);
    for text in ["{}", "nonsense", "{\"schema\":\"amdgpu-va/1\",\"windows\":[]}", &later] {
        assert_eq!(run_with(&["va", "-"], text.as_bytes()).code, 1);
        assert_eq!(run_with(&["export", "--dump", "-"], text.as_bytes()).code, 1);
    }
}

#[test]
fn a_recording_shows_what_was_seen_in_every_command() {
    let directory = Directory::new();
    let file = directory.join("run.jsonl");
    assert_eq!(sim(&["--sim-step", "0", "record", &file, "-n", "20", "--speed", "0"]).code, 0);
    let live = sim(&["--sim-step", "0", "ps"]);
    assert_eq!(run(&["--from", &file, "ps"]).stdout, live.stdout);
    assert_eq!(run(&["replay", &file, "ps", "--speed", "0"]).stdout.matches("(sum: in use)").count(), 20);
    let diff = run(&["diff", &file]);
    assert!(diff.stdout.contains("trainer (new)"), "{}", diff.stdout);
    golden("tests/golden/diff.txt", &diff.stdout);
    let plot = run(&["--from", &file, "plot", "--by", "process"]);
    assert!(plot.stdout.starts_with("<svg") && plot.stdout.contains("3301 game") && plot.stdout.ends_with("</svg>\n"));
    golden("tests/golden/plot.svg", &plot.stdout);
    let png = directory.join("plot.png");
    assert_eq!(run(&["--from", &file, "plot", "--format", "png", "-o", &png]).code, 0);
    assert_eq!(fs::read(png).unwrap().get(..8), Some(&b"\x89PNG\r\n\x1a\n"[..]));
    let braille = run(&["--from", &file, "plot", "--format", "braille", "--ascii"]);
    assert!(braille.code == 0 && braille.stdout.is_ascii() && braille.stdout.lines().count() == 36);
}

#[test]
fn a_captured_tree_shows_the_same_and_no_names() {
    let directory = Directory::new();
    let (with, without) = (directory.join("with"), directory.join("without"));
    assert_eq!(sim(&["capture", &with, "--names"]).code, 0);
    assert_eq!(sim(&["capture", &without]).code, 0);
    assert_eq!(sim(&["capture", &without]).code, 64, "never into a directory with something in it");
    assert_eq!(run(&["--root", &with, "show"]).stdout, sim(&["show"]).stdout);
    let output = run(&["--root", &without, "--json"]).stdout;
    for name in ["game", "trainer", "browser", "compositor", "alice", "bob", "app-"] {
        assert!(!output.contains(name), "{name}");
    }
    let vram = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["gpus"][0]["domains"].clone();
    assert_eq!(vram(&output), vram(&sim(&["--json"]).stdout));
}

#[test]
fn a_process_in_a_container_is_shown_with_it_and_found_by_it() {
    let directory = Directory::new();
    let tree = directory.join("tree");
    assert_eq!(sim(&["capture", &tree, "--names"]).code, 0);
    let id = format!("3f2a1b0c9d8e{}", "0".repeat(52));
    let is_trainer =
        |path: &std::path::Path| fs::read_to_string(path.join("stat")).is_ok_and(|text| text.contains("(trainer)"));
    let processes = fs::read_dir(directory.join("tree/proc")).unwrap().flatten().map(|entry| entry.path());
    let trainer = processes.into_iter().find(|path| is_trainer(path)).expect("the trainer");
    fs::write(trainer.join("cgroup"), format!("0::/system.slice/docker-{id}.scope\n")).unwrap();
    let listed = run(&["--root", &tree, "ps", "--cgroup", "docker:3f2a"]).stdout;
    let rows: Vec<_> = listed.lines().skip(1).collect();
    assert!(matches!(rows.as_slice(), [row] if row.ends_with("trainer in docker:3f2a1b0c9d8e")), "{listed}");
    let json: serde_json::Value = serde_json::from_str(&run(&["--root", &tree, "--json", "ps"]).stdout).unwrap();
    let text = json.to_string();
    assert_eq!(text.matches("\"container\":\"docker:3f2a1b0c9d8e\"").count(), 1, "{text}");
}

#[test]
fn a_crossing_runs_its_command_once() {
    let directory = Directory::new();
    let log = directory.join("log");
    let append = format!("echo $AMDGPU_BUDGET_GPU >>{log}");
    let watched =
        sim(&["--sim-step", "0", "watch", "-n", "20", "--when", "vram.used>50%", "--on-cross", &append, "list"]);
    assert_eq!(watched.code, 0, "{}", watched.stderr);
    assert_eq!(fs::read_to_string(log).unwrap(), "0000:03:00.0\n", "held for many looks, told once");
}

#[test]
fn csv_export_and_doctor_answer() {
    let csv = sim(&["--csv"]).stdout;
    assert!(csv.starts_with("time,gpu,kind,id,metric,value\r\n"));
    assert!(csv.lines().all(|line| line.split(',').count() == 6), "{csv}");
    let vma: serde_json::Value = serde_json::from_str(&sim(&["export"]).stdout).unwrap();
    assert_eq!(vma["General"]["MemoryHeapCount"], 3);
    let doctor = sim(&["doctor"]);
    assert!(
        doctor.code == 0 && doctor.stdout.contains("ok  0000:03:00.0: /dev/dri/renderD128 opens"),
        "{}",
        doctor.stdout
    );
}

/// A recording of simulated time is written in real time, and no larger than was asked for.
#[test]
fn a_recording_does_not_fill_a_disk() {
    let directory = Directory::new();
    let began = std::time::Instant::now();
    let timed = sim(&["record", &directory.join("timed.jsonl"), "-n", "3", "--interval", "0.2"]);
    assert!(timed.code == 0 && began.elapsed().as_millis() >= 400, "{:?}", began.elapsed());
    for (name, keep) in [("plain.jsonl", "2"), ("packed.jsonl.gz", "3"), ("alone.jsonl", "0")] {
        let file = directory.join(name);
        let most = "64KiB";
        let options = ["record", &*file, "-n", "200", "--speed", "0", "--max-size", most, "--keep", keep];
        assert_eq!(sim(&options).code, 0, "{name}");
        let sizes: Vec<u64> = fs::read_dir(directory.path())
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.file_name().to_str().unwrap().starts_with(name))
            .map(|entry| entry.metadata().unwrap().len())
            .collect();
        assert!(sizes.iter().all(|&size| size <= 64 << 10), "{name}: {sizes:?}");
        assert!(sizes.len() <= keep.parse::<usize>().unwrap() + 1, "{name}: {sizes:?}");
        if name != "packed.jsonl.gz" {
            assert_eq!(sizes.len(), keep.parse::<usize>().unwrap() + 1, "{name}: {sizes:?}");
        }
        assert_eq!(run(&["--from", &file, "ps"]).code, 0, "{name}");
    }
}

#[test]
fn looks_at_a_simulated_computer_are_as_far_apart_as_was_asked_for() {
    let looks = |interval: &str| {
        let told = sim(&["record", "-n", "3", "--interval", interval, "--speed", "0", "-"]).stdout;
        let time =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["monotonic_ns"].as_u64().unwrap();
        told.lines().map(time).collect::<Vec<_>>()
    };
    for (interval, nanoseconds) in [("0.05", 50_000_000), ("1", 1_000_000_000), ("2.5", 2_500_000_000)] {
        let gaps: Vec<_> = looks(interval).windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps, [nanoseconds; 2], "{interval}");
    }
}
