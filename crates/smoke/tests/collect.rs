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

/// A database has the tables of the statements, and answers what the page says with one SELECT.
#[cfg(feature = "sqlite")]
#[test]
fn the_database_answers_what_the_page_says() {
    use rusqlite::{Connection, OpenFlags};

    let scratch = Scratch::new("database");
    let fleet = fleet(&scratch, 300, 1);
    let [page, database] = ["a.html", "fleet.db"].map(|name| scratch.path(name));
    let found = json(&[&fleet, "--html", &page, "--sqlite", &database]);
    let page = scratch.read("a.html");
    let opened = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let count = |query: &str| opened.query_one(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(opened.query_one("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    assert_eq!(count("SELECT COUNT(*) FROM gpus"), found["gpus"].as_i64().unwrap());
    assert_eq!(count("SELECT COUNT(DISTINCT machine) FROM gpus"), found["machines"].as_i64().unwrap());
    assert_eq!(count("SELECT COUNT(*) FROM left_out"), 4);
    let mut compared = 0;
    for failure in found["failures"].as_array().unwrap() {
        let name = failure["name"].as_str().unwrap();
        if ["any check", "stopped run"].contains(&name) {
            continue;
        }
        for finding in failure["findings"].as_array().unwrap() {
            let by_fact =
                "SELECT failed, machines FROM failures_by_fact WHERE check_id = ?1 AND name = ?2 AND value = ?3";
            let terms = [name, finding["fact"].as_str().unwrap(), finding["value"].as_str().unwrap()];
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            let (failed, machines) = opened.query_one(by_fact, terms, pair).unwrap();
            assert_eq!(
                (finding["failed_with"].as_i64(), finding["with"].as_i64()),
                (Some(failed), Some(machines)),
                "{terms:?}"
            );
            let words =
                format!("<td class=\"value\">{}</td><td class=\"figure\">{failed} of {machines}</td>", terms[2]);
            assert!(page.contains(&words), "{terms:?}: {words} in {page}");
            compared += 1;
        }
    }
    assert!(compared >= 1, "{found:#}");
    // The statements make the same tables.
    let of_statements = Connection::open_in_memory().unwrap();
    of_statements.execute_batch(&stdout(&collected(&[&fleet, "--sql"]))).unwrap();
    for table in ["gpus", "plans", "facts", "failures", "left_out", "results", "failures_by_fact"] {
        let rows = |connection: &Connection| {
            let width = connection.prepare(&format!("SELECT * FROM {table}")).unwrap().column_count();
            let order = (1..=width).map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
            let mut query = connection.prepare(&format!("SELECT * FROM {table} ORDER BY {order}")).unwrap();
            let row = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect();
            query.query_map([], row).unwrap().collect::<Result<Vec<Vec<_>>, _>>().unwrap()
        };
        let (own, others) = (rows(&opened), rows(&of_statements));
        assert!(!own.is_empty() && own == others, "{table}: {} and {} rows", own.len(), others.len());
    }
}

/// Existing files stay as they are, and where a file cannot be written there is none, not even a part.
#[cfg(feature = "sqlite")]
#[test]
fn a_database_is_written_whole_or_not_at_all() {
    let scratch = Scratch::new("no-database");
    let report = r#"{"schema": "amdgpu-smoke/1", "version": "0.1.0", "gpu": {"simulated": true, "fallback": false, "location": "x"},
        "results": [], "aborted": false}"#;
    scratch.file("a.json", report);
    let reports = scratch.path("a.json");
    let there = scratch.file("there.db", "precious");
    let (dangling, limited) = (scratch.path("dangling.db"), scratch.path("limited.db"));
    std::os::unix::fs::symlink("/no/such", &dangling).unwrap();
    for (path, words) in
        [(&*there, "already exists"), (&*dangling, "already exists"), ("/no/such/fleet.db", "No such file")]
    {
        let run = output(&["collect", &reports, "--sqlite", path]);
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(79), "{said}");
        assert!(said.contains(path) && said.contains(words) && said.lines().count() == 1, "{said}");
    }
    assert_eq!(scratch.read("there.db"), "precious");
    let program = env!("CARGO_BIN_EXE_amdgpu-smoke");
    let script = "ulimit -f 8; exec \"$0\" collect \"$1\" --sqlite \"$2\"";
    let run = std::process::Command::new("bash").args(["-c", script, program, &reports, &limited]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(79), "{run:?}");
    assert!(said.contains("limited.db: File too large"), "{said}");
    let mut left: Vec<_> = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.json", "dangling.db", "there.db"]);
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn a_program_without_sqlite_says_how_to_get_it() {
    let scratch = Scratch::new("without");
    let run = output(&["collect", scratch.0.to_str().unwrap(), "--sqlite", &scratch.path("fleet.db")]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(79), "{said}");
    assert!(said.contains("--features sqlite") && said.contains("--sql | sqlite3"), "{said}");
    assert!(!scratch.0.join("fleet.db").exists());
}

#[test]
fn reports_of_this_program_name_their_machine_only_as_asked() {
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
