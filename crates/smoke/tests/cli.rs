//! The program as its users run it: arguments, exit codes, and what is on standard output.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke"));
    command.env_remove("RUST_LOG").env_remove("LD_PRELOAD").stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}\n{}", output.status, stderr(output)))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stdout(output)))
}

fn results(report: &Value) -> impl Iterator<Item = (&str, &str, &str)> {
    report["results"].as_array().unwrap().iter().map(|result| {
        let field = |key: &str| result[key].as_str().unwrap_or_else(|| panic!("{key} of {result}"));
        (field("id"), field("status"), field("detail"))
    })
}

/// The whole plan on one chip: nothing fails, and each ring was tried.
fn passes(chip: &str) {
    let output = output(&["--sim", chip, "--json"]);
    let report = json(&output);
    let bad: Vec<_> = results(&report).filter(|(_, status, _)| !["pass", "skip"].contains(status)).collect();
    assert_eq!(bad, [], "{chip}");
    assert_eq!(code(&output), 0, "{chip}: {}", stderr(&output));
    assert_eq!(report["gpu"]["simulated"], true);
    assert_eq!(report["gpu"]["stand_in"], false, "{chip}: the simulator is taken for a kernel that only pretends");
    let passed: Vec<_> = results(&report).filter(|&(_, status, _)| status == "pass").map(|(id, ..)| id).collect();
    let rings = report["gpu"]["rings"].as_array().unwrap();
    assert!(rings.len() >= 3, "{chip}: only {rings:?}");
    for ring in rings.iter().map(|ring| ring.as_str().unwrap()) {
        for check in ["exec.nop", "exec.write", "exec.fill", "exec.copy", "exec.fence", "exec.many"] {
            let id = format!("{check}.{ring}");
            assert!(passed.contains(&id.as_str()), "{chip}: {id} did not pass");
        }
    }
}

#[test]
fn the_whole_plan_passes_on_every_chip() {
    let chosen = amdgpu_sim::chosen_profiles().unwrap();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(profile) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            passes(&profile.name);
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
}

#[test]
fn profiles_are_listed_one_a_line() {
    let output = output(&["--list-profiles"]);
    assert_eq!(code(&output), 0);
    let mut listed: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    listed.sort();
    let known: Vec<&str> = amdgpu_sim::profiles().iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(listed, known);
}

#[test]
fn checks_are_listed_with_what_they_prove() {
    let output = output(&["--list-checks"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for id in ["inventory.open", "va.windows", "bo.map", "exec.copy.RING", "order.syncobj", "leak.objects"] {
        let line = text.lines().find(|line| line.split(' ').next() == Some(id));
        assert!(line.is_some_and(|line| line.len() > 40), "{id} in\n{text}");
    }
    let inventory = stdout(&self::output(&["--list-checks", "--level", "inventory"]));
    assert!(inventory.lines().all(|line| line.starts_with("inventory.")), "{inventory}");
}

#[test]
fn bad_usage_is_79_and_says_why_on_stderr() {
    let cases: [&[&str]; 9] = [
        &["--replay", "/nonexistent"],
        &["--replay", "/dev/null"],
        &["--replay", "/dev/null", "--sim", "navi21"],
        &["--nonsense"],
        &["surplus"],
        &["--sim"],
        &["--sim", "navi99"],
        &["--sim", "navi21", "--gpu", "0"],
        &["--list-profiles", "--sim", "navi21"],
    ];
    for arguments in cases {
        let output = output(arguments);
        assert_eq!(code(&output), 79, "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for (argument, expected) in [("--help", "--list-profiles"), ("--version", env!("CARGO_PKG_VERSION"))] {
        let output = output(&[argument]);
        assert_eq!(code(&output), 0, "{argument}");
        assert!(stdout(&output).contains(expected), "{argument}");
    }
}

#[test]
fn a_word_that_is_no_subcommand_is_called_so() {
    let output = output(&["--sim", "navi21", "foo"]);
    assert_eq!(code(&output), 79);
    assert!(stderr(&output).contains("unexpected argument 'foo'"), "{}", stderr(&output));
}

#[test]
fn a_gpu_that_is_not_there_is_77() {
    for gpu in ["4711", "/dev/dri/renderD999", "ffff:ff:1f.7", "no such thing"] {
        let output = output(&["--gpu", gpu, "--json"]);
        assert_eq!(code(&output), 77, "{gpu}");
        assert_eq!(stdout(&output), "", "{gpu}");
        assert!(stderr(&output).contains(gpu), "{}", stderr(&output));
    }
}

#[test]
fn a_path_that_is_no_amdgpu_node_is_bad_usage_and_no_broken_card() {
    for (path, what) in
        [("/dev/null", "it has no DRM driver"), ("/etc/passwd", "it is no device"), ("/proc", "it is no device")]
    {
        let output = output(&["--gpu", path, "--json"]);
        assert_eq!((code(&output), stdout(&output).as_str()), (79, ""), "{path}");
        let line = stderr(&output);
        assert!(line.contains(&format!("{path} is not a DRM render node of amdgpu ({what})")), "{line}");
    }
}

/// The device of random numbers is no GPU either, and refuses with another error than the kernel has for unknown requests.
#[test]
fn a_node_that_refuses_its_version_fails_to_open_and_says_why() {
    let output = output(&["--gpu", "/dev/urandom", "--json"]);
    assert_eq!(code(&output), 98);
    let report = json(&output);
    let opened: Vec<_> = results(&report).collect();
    let [("inventory.open", "fail", evidence)] = opened[..] else { panic!("{opened:?}") };
    assert!(evidence.starts_with("opening the device: VERSION: EINVAL"), "{evidence}");
}

/// Each size is copied up and down on each chip's rings, and what arrives is compared.
#[test]
fn copies_of_all_sizes_and_the_bar_are_measured() {
    for chip in ["navi21", "renoir", "polaris10"] {
        let output = output(&["--sim", chip, "--level", "stress", "--filter", r"^bandwidth\.(sizes|bar)", "--json"]);
        assert_eq!(code(&output), 0, "{chip}: {}", stdout(&output));
        let report = json(&output);
        let all: Vec<_> = results(&report).collect();
        let result = |id: &str| all.iter().find(|result| result.0 == id).map(|result| (result.1, result.2));
        let Some(("pass", sizes)) = result("bandwidth.sizes.sdma0") else { panic!("{chip}: {all:?}") };
        assert!(sizes.starts_with("up ") && sizes.contains("4 KiB ") && sizes.contains("; down "), "{sizes}");
        let Some(("pass", bar)) = result("bandwidth.bar") else { panic!("{chip}: {all:?}") };
        assert!(bar.starts_with("stores ") && bar.contains("/s, loads "), "{bar}");
    }
}

#[test]
fn a_filter_that_fits_nothing_skips_everything() {
    let output = output(&["--sim", "navi21", "--filter", "no.such.check"]);
    assert_eq!(code(&output), 77);
    assert!(stdout(&output).ends_with("No check of the level quick fits the filter.\n0 passed, 0 failed, 0 skipped\n"));
}

#[test]
fn a_filter_that_fits_only_deeper_levels_names_them() {
    for (filter, hint) in [
        ("march", "4 checks fit at --level stress."),
        ("transfer.odd|march.modulo", "1 check fits at --level core, 1 check fits at --level stress."),
        (r"reset\.hang\.sdma1", "1 check fits at --level destructive."),
    ] {
        let output = output(&["--sim", "navi21", "--filter", filter]);
        assert_eq!(code(&output), 77);
        let expected = format!("No check of the level quick fits the filter. {hint}\n");
        assert!(stdout(&output).contains(&expected), "{filter}: {}", stdout(&output));
    }
}

#[test]
fn the_report_in_json_follows_its_schema() {
    let report = json(&output(&["--sim", "renoir", "--json", "--level", "inventory"]));
    assert_eq!(report["schema"], "amdgpu-smoke/1");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["level"], "inventory");
    assert_eq!(report["aborted"], false);
    let gpu = &report["gpu"];
    let known = [("location", "renoir"), ("chip", "RENOIR"), ("gfx_level", "GFX9")];
    for (key, value) in known {
        assert_eq!(gpu[key], value, "{key}");
    }
    assert_eq!((&gpu["simulated"], &gpu["fallback"]), (&true.into(), &false.into()));
    for key in ["name", "driver"] {
        assert!(gpu[key].is_string(), "{key}");
    }
    let heap = &gpu["heaps"][0];
    assert!(heap["size"].is_u64() && heap["flags"].is_array() && heap["kind"].is_string(), "{heap}");
    let memory_type = &gpu["memory_types"][0];
    assert!(memory_type["heap"].is_u64() && memory_type["properties"].is_array(), "{memory_type}");
    for (id, status, _) in results(&report) {
        assert!(id.starts_with("inventory."), "{id} is more than inventory");
        assert!(["pass", "skip"].contains(&status), "{id}: {status}");
    }
    assert!(report["results"][0]["ms"].is_number());
    let counted: u64 =
        ["pass", "fail", "skip", "crash"].iter().map(|status| report["summary"][status].as_u64().unwrap()).sum();
    assert_eq!(counted, results(&report).count() as u64);
}

#[test]
fn the_report_for_people_begins_with_what_is_tested_and_ends_with_the_count() {
    let output = output(&["--sim", "navi21"]);
    let text = stdout(&output);
    assert_eq!(text.lines().next(), Some("Testing a simulated GPU: navi21"));
    assert!(text.contains("15.75 GiB  invisible VRAM"), "{text}");
    assert!(!text.contains('\x1b'), "colours in a pipe");
    assert!(text.lines().all(|line| line.trim_end() == line), "blanks at the end of a line");
    let last = text.lines().last().unwrap();
    assert!(last.contains(" passed, 0 failed, ") && last.ends_with(" skipped"), "{last}");
}

#[test]
fn without_a_radeon_nothing_is_tested_unless_the_simulator_may_stand_in() {
    if Path::new("/dev/dri").exists() {
        eprintln!("not tried: this machine has /dev/dri");
        return;
    }
    for level in ["inventory", "destructive"] {
        let refused = output(&["--level", level, "--i-accept-a-gpu-reset"]);
        assert_eq!((code(&refused), stdout(&refused).as_str()), (77, ""), "no hardware, no pass");
        assert!(stderr(&refused).contains("--or-simulated"), "{}", stderr(&refused));
    }
    let output = output(&["--or-simulated", "--level", "inventory"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).starts_with("No Radeon here: testing a simulated GPU, "));
}

#[test]
fn read_only_lowers_any_level_to_inventory() {
    let report = json(&output(&["--sim", "navi21", "--json", "--level", "destructive", "--read-only"]));
    assert_eq!(report["level"], "inventory");
    assert!(results(&report).all(|(id, ..)| id.starts_with("inventory.")));
}

#[test]
fn logs_go_to_stderr_and_leave_the_report_alone() {
    let mut command = program();
    command.args(["--sim", "navi21", "--json", "--filter", "bo.map"]).env("RUST_LOG", "amdgpu_winsys=trace");
    let output = command.output().unwrap();
    assert_eq!(json(&output)["summary"]["pass"], 1);
    assert!(stderr(&output).contains("BO opened"), "{}", stderr(&output));
}

#[test]
fn a_reader_who_leaves_early_gets_no_panic() {
    for format in [&["--sim", "navi21"][..], &["--sim", "navi21", "--json"], &["--list-checks"]] {
        let mut child = program().args(format).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{format:?}");
        assert!(!stderr(&output).contains("panicked"), "{format:?}: {}", stderr(&output));
    }
}

/// A place for a recording, removed afterwards.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("amdgpu-smoke-{}-{name}.rec", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A report without what no two runs have in common, and without sensors, which are not recorded.
fn without_times(output: &Output) -> Value {
    let mut report = json(output);
    for result in report["results"].as_array_mut().unwrap() {
        result["ms"].take();
        result.as_object_mut().unwrap().remove("hardware");
    }
    report["gpu"].as_object_mut().unwrap().remove("watched");
    report["made"].take();
    // A replay is not of the computer on which it runs.
    report.as_object_mut().unwrap().remove("machine");
    report
}

#[test]
fn a_recorded_run_replays_without_the_simulator_to_the_same_report() {
    for chip in ["navi21", "pitcairn"] {
        let scratch = Scratch::new(chip);
        let recorded = output(&["--sim", chip, "--json", "--record", scratch.path()]);
        assert_eq!(code(&recorded), 0, "{chip}: {}\n{}", stdout(&recorded), stderr(&recorded));
        let replayed = output(&["--replay", scratch.path(), "--json"]);
        assert_eq!(code(&replayed), 0, "{chip}: {}\n{}", stdout(&replayed), stderr(&replayed));
        assert_eq!(without_times(&replayed), without_times(&recorded), "{chip}");
    }
}

#[test]
fn a_replay_takes_level_and_filter_from_the_recording() {
    let scratch = Scratch::new("filter");
    let recorded =
        output(&["--sim", "renoir", "--filter", "heaps", "--level", "inventory", "--record", scratch.path()]);
    assert_eq!(code(&recorded), 0);
    let report = json(&output(&["--replay", scratch.path(), "--json"]));
    assert_eq!((&report["level"], &report["gpu"]["location"]), (&"inventory".into(), &"renoir".into()));
    let ids: Vec<_> = results(&report).map(|(id, ..)| id).collect();
    assert_eq!(ids, ["inventory.heaps"]);
}

#[test]
fn a_damaged_recording_is_refused_with_the_place_and_the_reason() {
    let scratch = Scratch::new("damaged");
    output(&["--sim", "navi21", "--level", "inventory", "--record", scratch.path()]);
    let whole = fs::read(&scratch.0).unwrap();
    fs::write(&scratch.0, &whole[..whole.len() - 20]).unwrap();
    let cut = output(&["--replay", scratch.path(), "--json"]);
    assert_eq!(code(&cut), 112);
    assert!(stderr(&cut).contains("cut off at byte"), "{}", stderr(&cut));
    let dumped = output(&["--dump", scratch.path()]);
    assert_eq!(code(&dumped), 79);
    assert!(stdout(&dumped).contains("AMDGPU_INFO") && stderr(&dumped).contains("cut off at byte"), "{dumped:?}");
    let mut flipped = whole;
    // The first record's bytes begin behind the header and its frame.
    flipped[12 + 8] ^= 0x40;
    fs::write(&scratch.0, &flipped).unwrap();
    let output = output(&["--replay", scratch.path()]);
    assert_eq!((code(&output), stdout(&output)), (79, String::new()));
    assert!(stderr(&output).contains("damaged at byte "), "{}", stderr(&output));
}

#[test]
fn a_dump_shows_what_was_tested_and_every_call() {
    let scratch = Scratch::new("dump");
    output(&["--sim", "navi21", "--filter", "exec.copy.sdma0", "--record", scratch.path()]);
    let dumped = output(&["--dump", scratch.path()]);
    assert_eq!(code(&dumped), 0);
    let text = stdout(&dumped);
    for line in ["note location: navi21", "    0 f0 t0 open", "AMDGPU_CS ", "dwords changed", "f0 t0 close", "end"] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

const SHIM: &str = "libamdgpu_noop_drm_shim.so";

/// Returns `true` if Mesa's no-op shim is installed where the loader looks.
fn shim_is_installed() -> bool {
    let mut directories = vec!["/usr/lib".into(), "/usr/lib64".into()];
    let inner = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    directories.extend(inner.filter(|path| path.is_dir()));
    directories.iter().any(|directory: &std::path::PathBuf| directory.join(SHIM).exists())
}

/// A kernel that takes every request and executes nothing: what needs no GPU passes, the rest says what is wrong.
#[test]
fn on_a_kernel_that_executes_nothing_every_failure_says_so() {
    if !shim_is_installed() {
        eprintln!("not tried: {SHIM} is not installed");
        return;
    }
    for chip in ["navi21", "pitcairn", "renoir"] {
        let output = program().args(["--json"]).env("LD_PRELOAD", SHIM).env("AMDGPU_GPU_ID", chip).output().unwrap();
        assert_eq!(code(&output), 98, "{chip}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!(report["gpu"]["stand_in"], true, "{chip}");
        assert_eq!(report["aborted"], false, "{chip}");
        let mut failed = 0;
        for (id, status, detail) in results(&report) {
            assert!(["pass", "fail", "skip"].contains(&status), "{chip}: {id}: {status}: {detail}");
            if status == "fail" {
                failed += 1;
                assert!(detail.contains("nothing executed"), "{chip}: {id}: {detail}");
            }
            let runs_jobs = ["exec.", "order.", "shader.", "draw."].iter().any(|group| id.starts_with(group));
            let wants_context = runs_jobs || id == "leak.objects";
            assert_eq!(status == "fail", wants_context, "{chip}: {id}: {status}");
        }
        assert!(failed > 0, "{chip}");
        let passed: Vec<_> = results(&report).filter(|&(_, status, _)| status == "pass").map(|(id, ..)| id).collect();
        for id in ["inventory.open", "inventory.heaps", "va.windows", "bo.create", "bo.map", "memory.types"] {
            assert!(passed.contains(&id), "{chip}: {id} did not pass");
        }
    }
}

/// The kernel below the recorder need not be the simulator: here it is a node that a preloaded library fakes.
#[test]
fn a_render_node_is_recorded_and_replayed_too() {
    if !shim_is_installed() {
        eprintln!("not tried: {SHIM} is not installed");
        return;
    }
    let scratch = Scratch::new("node");
    let arguments = ["--json", "--filter", "o", "--record", scratch.path()];
    let recorded = program().args(arguments).env("LD_PRELOAD", SHIM).env("AMDGPU_GPU_ID", "renoir").output().unwrap();
    let replayed = output(&["--json", "--replay", scratch.path()]);
    assert_eq!(code(&replayed), code(&recorded), "{}", stderr(&replayed));
    assert_eq!(without_times(&replayed), without_times(&recorded));
    assert_eq!(json(&replayed)["gpu"]["stand_in"], true);
}

/// Names that others wrote, or that a shell completed, do not reach the terminal as they are.
#[test]
fn hostile_names_are_visible() {
    let hostile = "x\x1b]0;title\x07\x1b[8m\u{9b}2J\u{7f}\u{202e}";
    for arguments in [
        &["--sim", hostile][..],
        &["--gpu", hostile],
        &["--sim", "navi21", "--json", hostile, "--baseline", hostile],
        &["--sim", "navi21", "--html", "no-such-folder\x1b[2J/x"],
        &["--replay", hostile],
        &[hostile],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_amdgpu-smoke")).args(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(said.contains("[U+001B]") || said.contains("\\u{1b}"), "{arguments:?}: {said:?}");
        let is_hidden = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!said.contains(is_hidden), "{arguments:?}: {said:?}");
    }
}
