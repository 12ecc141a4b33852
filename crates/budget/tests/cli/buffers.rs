//! `buffers`: the buffers of simulated processes.

use serde_json::Value;

use crate::support::run;

fn buffers(release: &str, arguments: &[&str]) -> crate::support::Output {
    run(&[&["--sim", "navi21", "--sim-linux", release, "buffers"], arguments].concat())
}

#[test]
fn the_sums_of_the_buffers_are_what_the_process_requested() {
    let schema = include_str!("../../schema/amdgpu-budget-buffers-1.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    for release in ["6.18", "7.2"] {
        let output = buffers(release, &["3301", "--json"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let value: Value = serde_json::from_str(&output.stdout).unwrap();
        let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!((&value["name"], value["files"].as_array().unwrap().len()), (&"game".into(), 1));
        let listed = value["files"][0]["buffers"].as_array().unwrap();
        let in_vram = listed.iter().filter(|buffer| buffer["domains"].as_array().unwrap().contains(&"vram".into()));
        let sum: u64 = in_vram.map(|buffer| buffer["size"].as_u64().unwrap()).sum();
        let snapshot = run(&["--sim", "navi21", "--sim-linux", release, "--json"]);
        let snapshot: Value = serde_json::from_str(&snapshot.stdout).unwrap();
        let processes = snapshot["gpus"][0]["processes"].as_array().unwrap();
        let game = processes.iter().find(|process| process["pid"] == 3301).unwrap();
        assert_eq!(game["requested"]["vram"].as_u64(), Some(sum), "{game}");
        for buffer in listed {
            let ranges = buffer["ranges"].as_array().unwrap();
            assert_eq!(ranges.len(), 1, "{buffer}");
            assert!(ranges[0]["size"].as_u64() >= buffer["size"].as_u64(), "{buffer}");
        }
    }
}

#[test]
fn text_has_a_row_for_each_buffer_and_the_sums() {
    let output = buffers("7.2", &["1187", "--units", "MiB"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("process 1187 compositor, GPU 0000:03:00.0, descriptor 12, client "), "{}", lines[0]);
    assert_eq!(lines.iter().filter(|line| line.contains(" 0x")).count(), lines.len() - 3, "{}", output.stdout);
    assert!(output.stdout.contains("sum by preferred domain: "), "{}", output.stdout);
    // One file of two descriptors is listed once.
    assert_eq!(lines.iter().filter(|line| line.starts_with("process ")).count(), 1);
}

#[test]
fn what_cannot_be_listed_has_a_reason_and_a_status() {
    for (release, arguments, code, reason) in [
        ("6.12", &["3301"][..], 77, "Linux 6.18 and later do"),
        ("7.2", &["99"], 1, "there is no process 99"),
        ("7.2", &["3301", "--gpu", "0000:ff:00.0"], 69, "--gpu takes PCI addresses here"),
        ("7.2", &["3301", "--csv"], 64, "buffers prints no CSV"),
        ("7.2", &["game"], 64, "invalid value 'game'"),
    ] {
        let output = buffers(release, arguments);
        assert_eq!(output.code, code, "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains(reason), "{arguments:?}: {}", output.stderr);
    }
    let own = run(&["buffers", &std::process::id().to_string()]);
    assert_eq!(own.code, 1, "{}", own.stderr);
    assert!(own.stderr.contains("has no open file of an amdgpu GPU"), "{}", own.stderr);
}
