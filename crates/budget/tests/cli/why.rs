//! `why`: the answers of the program, with a recording and with a server's memory.

use serde_json::Value;

use crate::{
    server::Served,
    sim,
    support::{Directory, run},
};

fn validate(value: &Value, what: &str) {
    let schema = include_str!("../../schema/amdgpu-budget-why-1.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let wrong: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{what}: {wrong:#?}");
}

#[test]
fn every_chip_and_moment_has_an_answer_that_fits_the_schema() {
    for profile in amdgpu_sim::profiles() {
        for step in ["0", "14", "30"] {
            let output = run(&["--sim", &profile.name, "--sim-step", step, "why", "--json"]);
            assert_eq!(output.code, 0, "{}", output.stderr);
            let value: Value = serde_json::from_str(&output.stdout).unwrap();
            validate(&value, &profile.name);
            let finding = &value["findings"][0];
            if finding["apu"] == true && finding["displaced"] != 0 {
                assert_eq!(finding["causes"], serde_json::json!(["apu"]), "{}", profile.name);
            }
        }
    }
}

#[test]
fn a_recording_tells_who_grew_since() {
    let directory = Directory::new();
    let file = directory.join("r.jsonl");
    assert_eq!(run(&["--sim", "navi21", "--sim-step", "0", "record", "-n", "16", "--speed", "0", &file]).code, 0);
    let output = run(&["--from", &file, "why", "browser", "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    validate(&value, "recording");
    let since = &value["findings"][0]["since"];
    assert_eq!(since["was_in_place"], true, "{value}");
    assert!(since["grew"].as_array().unwrap().iter().any(|one| one["name"] == "browser"), "{since}");
    let text = run(&["--from", &file, "why", "browser"]).stdout;
    assert!(text.contains("when all of it was in VRAM"), "{text}");
    assert!(!sim(&["why", "browser"]).stdout.contains("when all of it"), "no past, no growth");
}

#[test]
fn the_memory_of_a_server_tells_who_grew_since() {
    let served = Served::with("navi21", &["--sim-step", "0"]);
    for _ in 0..17 {
        served.get("/api/snapshot");
    }
    let past: Value = serde_json::from_str(served.get("/api/history").split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(past["schema"], "amdgpu-budget-history/1");
    assert_eq!(past["points"].as_array().unwrap().len(), 4, "every five seconds");
    assert_eq!(past["points"][0]["gpus"][0]["processes"], serde_json::json!([]));
    let output =
        run(&["--sim", "navi21", "--sim-step", "17", "why", "trainer", "--server", served.address(), "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    validate(&value, "server");
    let since = &value["findings"][0]["since"];
    assert_eq!((&since["was_in_place"], &since["grew"][0]["name"]), (&true.into(), &"trainer".into()), "{value}");
    // The present is the server's as well, unless a computer is named: here may be no GPU at all.
    let output = run(&["why", "trainer", "--server", served.address(), "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    validate(&value, "the server's GPUs");
    assert_eq!(value["findings"][0]["since"]["was_in_place"], true, "{value}");
    assert!(value["findings"][0]["displaced"].as_u64() > Some(0), "{value}");
    let all: Value = serde_json::from_str(served.get("/api/why").split_once("\r\n\r\n").unwrap().1).unwrap();
    validate(&all, "the page's");
    assert!(all["findings"].as_array().unwrap().len() > 1, "the GPU, and each process with displaced memory: {all}");
}

#[test]
fn a_server_that_is_none_is_an_error_with_its_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answers = [
        "HTTP/1.1 404 Not Found\r\n\r\n",
        "nonsense",
        "HTTP/1.1 200 OK\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
    ];
    let thread = std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
            std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
        }
    });
    for reason in ["404", "not HTTP", "no history", "ends after 1 bytes"] {
        let output = sim(&["why", "--server", &address]);
        assert_eq!(output.code, 1, "{reason}");
        assert!(output.stderr.contains(&address) && output.stderr.contains(reason), "{reason}: {}", output.stderr);
    }
    thread.join().unwrap();
    assert_eq!(sim(&["why", "--server", &address]).code, 1, "nobody listens");
    assert_eq!(sim(&["why", "nobody"]).code, 1);
    assert_eq!(sim(&["why", "--csv"]).code, 64);
}
