//! A client that calls every function, on the simulator, with libdrm's library and with ours: it must print the same text, and make
//! the same requests with the same bytes in the same order.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use support::{comparable, folder, missing, ours, output, recorder, shim, theirs, version};

const CLIENT: [&str; 6] = ["probe", "queries", "buffers", "addresses", "submissions", "syncobjs"];

/// The compiled programs, and what a run of the client leaves.
struct Bench {
    folder: PathBuf,
}

impl Bench {
    /// Compiles the client and the recorder; `None` without a compiler or libdrm's headers.
    fn new(name: &str) -> Option<Self> {
        let folder = folder(name);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
        if !Path::new("/usr/include/libdrm/amdgpu.h").exists() {
            missing("no headers of libdrm");
            return None;
        }
        let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I/usr/include/libdrm"];
        let files = CLIENT.map(|file| sources.join(file).with_extension("c"));
        output(Command::new("gcc").args(flags).args(files).arg("-o").arg(folder.join("client")).arg("-ldrm_amdgpu"));
        recorder(&folder);
        Some(Self { folder })
    }

    /// Runs the client with a library, and refuses a request if `refusal` is its number and an errno. Returns the client's text, and
    /// its requests.
    fn run(&self, chip: &str, library: &Path, refusal: &str) -> (String, Vec<String>) {
        let place = self.folder.join("library");
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        fs::copy(library, place.join("libdrm_amdgpu.so.1")).unwrap();
        let record = self.folder.join("record");
        let _ = fs::remove_file(&record);
        let preloaded = format!("{}:{}", self.folder.join("record.so").display(), shim().display());
        let text = output(
            Command::new(self.folder.join("client"))
                .env_remove("AMDGPU_SIM_WORLD")
                .env("AMDGPU_SIM", chip)
                .env("AMDGPU_RECORD", &record)
                .env("AMDGPU_REFUSE", refusal)
                .env("LD_LIBRARY_PATH", &place)
                .env("LD_PRELOAD", preloaded),
        );
        let record = fs::read_to_string(record).unwrap();
        let (loaded, requests): (Vec<_>, Vec<_>) = record.lines().partition(|line| line.starts_with('#'));
        assert_eq!(loaded, [format!("# {}/libdrm_amdgpu.so.1", place.display())]);
        (text, requests.into_iter().map(str::to_owned).collect())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn compare(chip: &str) {
    let Some(theirs) = theirs() else { return };
    let Some(bench) = Bench::new(chip) else { return };
    let version = version(&theirs);
    let (expected, their_requests) = bench.run(chip, &theirs, "");
    let (text, requests) = bench.run(chip, &ours(), "");
    // Since 2.4.125 an APU without entry in the table has the name of its processor.
    let is_same = |(one, other): (&str, &str)| one == other || version < 125 && one.starts_with("  name: ");
    for (number, pair) in expected.lines().zip(text.lines()).enumerate() {
        assert!(is_same(pair), "{chip}, line {}: libdrm printed\n{}\nours\n{}", number + 1, pair.0, pair.1);
    }
    assert_eq!(expected.lines().count(), text.lines().count());
    assert!(text.lines().count() > 800, "the client ended early");

    let their_requests = comparable(their_requests, version);
    let requests = comparable(requests, 134);
    for (number, (one, other)) in their_requests.iter().zip(&requests).enumerate() {
        assert_eq!(one, other, "{chip}, request {number} of libdrm, and of ours");
    }
    assert_eq!(their_requests.len(), requests.len());
    assert!(requests.len() > 300, "the recorder missed requests");
}

#[test]
fn every_function_answers_and_asks_as_that_of_libdrm_on_gfx10_3() {
    compare("navi21");
}

#[test]
fn every_function_answers_and_asks_as_that_of_libdrm_on_gfx8_with_its_registers() {
    compare("polaris10");
}

#[test]
fn every_function_answers_and_asks_as_that_of_libdrm_on_an_apu() {
    compare("renoir");
}

/// A signal, or a kernel that is busy, is nothing that a client sees: the request is made once more.
#[test]
fn requests_that_are_interrupted_or_met_a_busy_kernel_are_repeated() {
    let Some(bench) = Bench::new("repeated") else { return };
    let (expected, requests) = bench.run("navi21", &ours(), "");
    let mut refused = 0;
    // Past the requests of the client itself, about the descriptor of /dev/null.
    for number in (3..requests.len()).step_by(31) {
        let errno = [libc::EINTR, libc::EAGAIN][number % 2];
        let (text, repeated) = bench.run("navi21", &ours(), &format!("{} {errno}", number + 1));
        assert!(text == expected, "request {number} with errno {errno} was {}", requests[number]);
        assert_eq!(repeated.len(), requests.len() + 1, "request {number}: {}", requests[number]);
        refused += 1;
    }
    assert!(refused > 10);
}
