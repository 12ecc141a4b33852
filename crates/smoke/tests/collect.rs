//! `collect`: reports of many machines, of which some fail for a reason that they share.

mod support;

use std::{fs, path::Path, process::Output};

use serde_json::Value;
use support::{
    Scratch,
    fleet::{self, BAD_FIRMWARE, BAD_KERNEL, BAD_SLOT, Plan},
    output, stdout,
};

const CHIPS: [&str; 3] = ["navi21", "renoir", "polaris10"];

/// Writes a fleet of simulated machines whose faults go with a firmware, a kernel and a slot.
fn fleet(scratch: &Scratch, machines: usize, junk: usize) -> String {
    let plan = Plan { chips: &CHIPS, filter: r"^inventory|^bo\.|^exec\.copy", machines, junk, seed: 11 };
    fleet::write(&scratch.0.join("fleet"), &plan).unwrap();
    scratch.path("fleet")
}

fn collected(arguments: &[&str]) -> Output {
    let run = output(&[&["collect"], arguments].concat());
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    assert_eq!(String::from_utf8_lossy(&run.stderr), "");
    run
}

fn json(arguments: &[&str]) -> Value {
    let run = collected(&[arguments, &["--json"]].concat());
    let value: Value = serde_json::from_slice(&run.stdout).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../schema/amdgpu-smoke-collect-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// The findings of a kind of failure, as a fact and its value.
fn findings(value: &Value, name: &str) -> Vec<(String, String)> {
    let failures = value["failures"].as_array().unwrap();
    let failure = failures.iter().find(|failure| failure["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = failure["findings"].as_array().unwrap();
    findings.iter().map(|finding| (text(finding, "fact"), text(finding, "value"))).collect()
}

fn pair(fact: &str, value: &str) -> (String, String) {
    (fact.to_owned(), value.to_owned())
}

/// Number of files left out for a reason.
fn left_out(value: &Value, problem: &str) -> usize {
    value["left_out"].as_array().unwrap().iter().filter(|left| left["problem"] == problem).count()
}

#[test]
fn each_seeded_fault_is_found_with_what_it_goes_with_and_nothing_else() {
    let scratch = Scratch::new("fleet");
    let fleet = fleet(&scratch, 600, 3);
    let found = json(&[&fleet]);
    assert_eq!(findings(&found, "exec.copy"), [pair("firmware sdma", BAD_FIRMWARE)]);
    assert_eq!(findings(&found, "bo.metadata"), [pair("kernel", BAD_KERNEL)]);
    assert_eq!(findings(&found, "stopped run"), [pair("slot", BAD_SLOT)]);
    let mut any = findings(&found, "any check");
    any.sort();
    assert_eq!(any, [pair("firmware sdma", BAD_FIRMWARE), pair("kernel", BAD_KERNEL)]);
    // The counts are those of the files themselves.
    let finding = &found["failures"].as_array().unwrap().iter().find(|failure| failure["name"] == "exec.copy").unwrap()
        ["findings"][0];
    let mut counted = [[0_u64; 2]; 2];
    for machine in 0..600 {
        let report = scratch.json(&format!("fleet/rack{}/node{machine}.json", machine / 100));
        let results = report["results"].as_array().unwrap();
        let copies: Vec<_> =
            results.iter().filter(|result| result["id"].as_str().unwrap().starts_with("exec.copy.")).collect();
        if copies.iter().any(|result| result["status"] != "skip") {
            let has = report["gpu"]["board"]["firmware"]["sdma"] == BAD_FIRMWARE;
            counted[usize::from(has)][usize::from(copies.iter().any(|result| result["status"] == "fail"))] += 1;
        }
    }
    let [[passed_without, failed_without], [passed_with, failed_with]] = counted;
    assert_eq!(finding["failed_with"], failed_with);
    assert_eq!(finding["with"], failed_with + passed_with);
    assert_eq!(finding["failed_without"], failed_without);
    assert_eq!(finding["without"], failed_without + passed_without);
    for (problem, expected) in [("cut-off", 3), ("foreign", 3), ("no-json", 3), ("repeated", 3)] {
        assert_eq!(left_out(&found, problem), expected, "{problem}");
    }
    assert_eq!((&found["gpus"], &found["machines"], &found["other_files"]), (&600.into(), &600.into(), &3.into()));
}

#[test]
fn text_page_and_tables_tell_the_same() {
    let scratch = Scratch::new("outputs");
    let fleet = fleet(&scratch, 200, 1);
    let (page, sql) = (scratch.path("a.html"), scratch.path("a.sql"));
    let run = collected(&[&fleet, "--html", &page, &format!("--sql={sql}")]);
    let text = stdout(&run);
    let first = format!("firmware sdma {BAD_FIRMWARE}: ");
    assert!(text.contains("200 GPUs in 200 machines: ") && text.contains(&first), "{text}");
    for words in ["left out: 1 cut off\n", "junk/half0.json: EOF", "all of them simulated", "killed while"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let page = scratch.read("a.html");
    assert!(page.contains("<h1>200 GPUs in 200 machines</h1>") && page.contains(BAD_FIRMWARE), "{page}");
    for foreign in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<img", "<iframe"] {
        assert!(!page.contains(foreign), "{foreign} in\n{page}");
    }
    let sql = scratch.read("a.sql");
    assert_eq!(sql.matches("INSERT INTO gpus ").count(), 200);
    assert_eq!(sql.matches("INSERT INTO left_out ").count(), 4);
    assert!(sql.starts_with("BEGIN;\n") && sql.ends_with("COMMIT;\n"));
}

#[test]
fn reports_of_this_program_name_their_machine_only_as_they_are_told() {
    let scratch = Scratch::new("named");
    let filter = ["--sim", "navi21", "--filter", r"^bo\.map$"];
    for (file, more) in
        [("one/a.json", &["--machine", "node7"][..]), ("two/a.json", &["--machine", "node7"]), ("b.json", &[])]
    {
        fs::create_dir_all(Path::new(&scratch.path(file)).parent().unwrap()).unwrap();
        let run = output(&[&filter, more, &[&format!("--json={}", scratch.path(file))]].concat());
        assert_eq!(run.status.code(), Some(0), "{run:?}");
    }
    let named = scratch.json("one/a.json");
    assert_eq!(named["machine"], serde_json::json!({ "name": "node7" }));
    assert_eq!(scratch.json("b.json").get("machine"), None);
    assert_eq!(named["gpu"]["board"]["device"], "1002:73bf");
    let found = json(&[scratch.0.to_str().unwrap()]);
    assert_eq!((&found["gpus"], &found["unnamed"]), (&2.into(), &1.into()));
    assert_eq!(left_out(&found, "repeated"), 1);
}

#[test]
fn a_simulated_gpu_does_not_count_beside_a_real_one() {
    let scratch = Scratch::new("mixed");
    let text = r#"{"schema": "amdgpu-smoke/1", "version": "0.1.0", "gpu": {"simulated": SIM, "fallback": false, "location": "x"},
        "results": [], "aborted": false}"#;
    scratch.file("a.json", &text.replace("SIM", "false"));
    scratch.file("b.json", &text.replace("SIM", "true"));
    let found = json(&[scratch.0.to_str().unwrap()]);
    assert_eq!((&found["gpus"], left_out(&found, "simulated")), (&1.into(), 1));
}

#[test]
fn no_file_is_fatal() {
    let scratch = Scratch::new("hostile");
    scratch.file("empty.json", "");
    scratch.file("deep.json", &"[".repeat(100_000));
    fs::write(scratch.0.join("bytes.json"), [0xff, 0xfe, 0]).unwrap();
    let large = fs::File::create(scratch.0.join("large.json")).unwrap();
    large.set_len(1 << 40).unwrap();
    nix::unistd::mkfifo(&scratch.0.join("pipe.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("/nothing", scratch.0.join("dangling.json")).unwrap();
    std::os::unix::fs::symlink(".", scratch.0.join("circle")).unwrap();
    scratch.file("<script>.json", r#"{"schema": "<b>"}"#);
    let page = scratch.path("page.html");
    let run = output(&["collect", scratch.0.to_str().unwrap(), "--json", "--html", &page]);
    assert_eq!(run.status.code(), Some(77), "{run:?}");
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    for (problem, expected) in [("cut-off", 1), ("no-json", 1), ("too-large", 1), ("unreadable", 2), ("foreign", 2)] {
        assert_eq!(left_out(&found, problem), expected, "{problem}: {found:#}");
    }
    assert!(!scratch.read("page.html").contains("<script>"));
    for wrong in [
        &["collect"][..],
        &["collect", "/no/such"],
        &["collect", scratch.0.to_str().unwrap(), "--html", "/no/such/page"],
    ] {
        assert_eq!(output(wrong).status.code(), Some(79), "{wrong:?}");
    }
}
