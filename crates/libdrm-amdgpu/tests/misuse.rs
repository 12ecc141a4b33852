//! Calls that libdrm leaves undefined, and reports about clients, on the simulator.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use support::{folder, missing, ours, output, recorder, shim};

/// Compiles a program of `tests/c` into a folder that has the library; `None` without a compiler or libdrm's headers.
fn program(name: &str) -> Option<PathBuf> {
    if !Path::new("/usr/include/libdrm/amdgpu.h").exists() {
        missing("no headers of libdrm");
        return None;
    }
    let folder = folder(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name).with_extension("c");
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I/usr/include/libdrm"];
    fs::copy(ours(), folder.join("libdrm_amdgpu.so.1")).unwrap();
    output(Command::new("gcc").args(flags).arg(source).arg("-o").arg(folder.join(name)).args([
        "-ldrm_amdgpu",
        "-lpthread",
        "-ldl",
    ]));
    Some(folder)
}

/// Starts a program on the simulator with this library.
fn run(folder: &Path, name: &str, arguments: &[&Path], variables: &[(&str, &str)]) -> Output {
    Command::new(folder.join(name))
        .args(arguments)
        .env_remove("AMDGPU_SIM_WORLD")
        .env("AMDGPU_SIM", "navi21")
        .env("LD_PRELOAD", shim())
        .env("LD_LIBRARY_PATH", folder)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn nulls_late_frees_forks_threads_and_unloading_have_defined_results() {
    let Some(folder) = program("misuse") else { return };
    let exports = Path::new(env!("CARGO_MANIFEST_DIR")).join("exports");
    let output = run(&folder, "misuse", &[&folder.join("libdrm_amdgpu.so.1"), &exports], &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    assert_eq!(output.stdout, b"all is well\n");
    assert!(!error.contains("panicked"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

/// The seven requests of a chip of GFX10.3 are VERSION twice, ACCEL_WORKING, DEV_INFO, one register, HW_IP_COUNT and HW_IP_INFO. The
/// errors of the last two are ignored.
#[test]
fn an_initialisation_that_fails_leaves_nothing_and_can_be_repeated() {
    let Some(folder) = program("initialise") else { return };
    recorder(&folder);
    let preloaded = format!("{}:{}", folder.join("record.so").display(), shim().display());
    for refused in 1..=9 {
        // The program itself makes the first request.
        let refusal = format!("{} {}", refused + 1, libc::ENOMEM);
        let output = run(&folder, "initialise", &[], &[("AMDGPU_REFUSE", &refusal), ("LD_PRELOAD", &preloaded)]);
        let expected = if refused <= 5 { "-12 0 0 0\n" } else { "0 1 0 0\n" };
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "request {refused}: {output:?}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn leaks_are_reported_and_requests_traced_if_asked_for() {
    let Some(folder) = program("diagnosis") else { return };
    let silent = run(&folder, "diagnosis", &[], &[]);
    assert!(silent.status.success() && silent.stderr.is_empty(), "{silent:?}");
    let text = |output: Output| String::from_utf8(output.stderr).unwrap();

    let leaks = text(run(&folder, "diagnosis", &[], &[("AMDGPU_WINSYS_LEAKS", "1")]));
    for leak in ["BO 1 of 8192 bytes, 1 reference, mapped for the CPU", "1 context", "1 address range"] {
        assert!(leaks.contains(&format!("not freed: {leak}\n")), "{leak}: {leaks}");
    }
    assert_eq!(leaks.lines().count(), 3, "{leaks}");

    let trace = text(run(&folder, "diagnosis", &[], &[("AMDGPU_WINSYS_TRACE", "1")]));
    let names: Vec<_> = trace.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(names[..2], ["VERSION", "VERSION"]);
    assert_eq!(names[names.len() - 3..], ["AMDGPU_GEM_CREATE", "AMDGPU_GEM_MMAP", "AMDGPU_CTX"]);
    assert!(trace.lines().all(|line| line.starts_with("amdgpu-winsys: ") && line.contains(" ok ")), "{trace}");

    let file = folder.join("trace");
    let quiet = text(run(&folder, "diagnosis", &[], &[("AMDGPU_WINSYS_TRACE", file.to_str().unwrap())]));
    assert_eq!((quiet.as_str(), fs::read_to_string(&file).unwrap().lines().count()), ("", names.len()));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_fault_is_told_once_with_what_was_mapped_there() {
    let Some(folder) = program("faults") else { return };
    let silent = run(&folder, "faults", &[], &[]);
    assert_eq!(String::from_utf8_lossy(&silent.stdout), "the page\n", "{silent:?}");
    let ours = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        text.lines().filter(|line| line.starts_with("amdgpu-winsys: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ours(&silent), [""; 0]);
    let told = run(&folder, "faults", &[], &[("AMDGPU_WINSYS_FAULTS", "1")]);
    let lines = ours(&told);
    assert_eq!(lines.len(), 1, "{told:?}");
    for part in [
        "page fault of the graphics hub at 0x",
        "4096 bytes into BO 2, 8192 bytes at 0x",
        "which was unbound 0 changes ago",
    ] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    fs::remove_dir_all(folder).unwrap();
}
