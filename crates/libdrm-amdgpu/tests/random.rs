//! A client that makes random calls, good and hostile ones, with libdrm's library and with ours: it must print the same text, and make
//! the same requests with the same bytes in the same order. `RANDOM_CALLS="FIRST LAST COUNT"` sets the seeds and the calls of each.

mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use support::{comparable, folder, missing, ours, output, recorder, shim, theirs, version};

const SOURCES: [&str; 6] = ["main", "query", "memory", "address", "work", "sync"];

/// Compiles the client and the recorder.
fn build(folder: &Path) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/random");
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I/usr/include/libdrm"];
    let files = SOURCES.map(|file| sources.join(file).with_extension("c"));
    output(
        Command::new("gcc").args(flags).args(files).arg("-o").arg(folder.join("client")).args(["-ldrm_amdgpu", "-ldl"]),
    );
    recorder(folder);
}

/// Runs the client with a library. Returns its text and its requests.
fn run(folder: &Path, library: &Path, chip: &str, [seed, count, age]: [&str; 3]) -> (String, Vec<String>) {
    let place = folder.join("library");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    fs::copy(library, place.join("libdrm_amdgpu.so.1")).unwrap();
    let record = folder.join("record");
    let _ = fs::remove_file(&record);
    let text = output(
        Command::new(folder.join("client"))
            .args([seed, count, age])
            .env_remove("AMDGPU_SIM_WORLD")
            .env("AMDGPU_SIM", chip)
            .env("AMDGPU_RECORD", &record)
            .env("LD_LIBRARY_PATH", &place)
            .env("LD_PRELOAD", format!("{}:{}", folder.join("record.so").display(), shim().display())),
    );
    let record = fs::read_to_string(record).unwrap();
    (text, record.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
}

/// Compares the runs of some seeds.
fn compare(chip: &str, theirs: &Path, folder: &Path) {
    let version = version(theirs);
    let age = if version < 134 { "OLD" } else { "NEW" };
    let range = env::var("RANDOM_CALLS").unwrap_or_else(|_| "1 4 2000".to_owned());
    let range: Vec<u64> = range.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [first, last, count] = range[..] else { panic!("RANDOM_CALLS has three numbers") };
    for seed in first..=last {
        let arguments = [&seed.to_string(), &count.to_string(), age];
        let (expected, their_requests) = run(folder, theirs, chip, arguments);
        let (text, requests) = run(folder, &ours(), chip, arguments);
        for (one, other) in expected.lines().zip(text.lines()) {
            assert_eq!(one, other, "{chip}, seed {seed}: libdrm's line, and ours");
        }
        assert_eq!(expected.len(), text.len());
        let their_requests = comparable(their_requests, version);
        let requests = comparable(requests, 134);
        for (number, (one, other)) in their_requests.iter().zip(&requests).enumerate() {
            assert_eq!(one, other, "{chip}, seed {seed}: request {number} of libdrm, and of ours");
        }
        assert_eq!(their_requests.len(), requests.len());
        assert!(text.lines().count() as u64 > count && requests.len() as u64 > count / 2, "the client ended early");
        // A hung job takes the kernel's time-out, and its error depends on how far the ring had come.
        let hung = text.lines().find(|line| line.contains("settled = -"));
        assert!(text.contains("settled = 0") && hung.is_none(), "{chip}, seed {seed}: a job hung: {hung:?}");
    }
}

#[test]
fn random_calls_answer_and_ask_as_with_libdrm() {
    let Some(theirs) = theirs() else { return };
    if !Path::new("/usr/include/libdrm/amdgpu.h").exists() {
        return missing("no headers of libdrm");
    }
    let folder: PathBuf = folder("random");
    build(&folder);
    // One with NOPs of its own, one with the registers of old families, one without.
    for chip in ["pitcairn", "polaris10", "navi21"] {
        compare(chip, &theirs, &folder);
    }
    fs::remove_dir_all(folder).unwrap();
}
