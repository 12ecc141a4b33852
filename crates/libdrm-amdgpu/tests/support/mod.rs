//! The libraries that the tests load, and the programs that they run.

#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder where cargo puts what it builds for the tests.
pub(crate) fn built() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    test.parent().expect("a folder").to_owned()
}

/// The shared library of this crate.
pub(crate) fn ours() -> PathBuf {
    let library = built().join("libdrm_amdgpu.so");
    assert!(library.exists(), "{} was not built", library.display());
    library
}

/// The preload library of the simulator.
pub(crate) fn shim() -> PathBuf {
    let library = built().join("libamdgpu_sim_shim.so");
    assert!(library.exists(), "{} was not built", library.display());
    library
}

/// The library to compare with: that of the distribution, or the one that `AMDGPU_LIBDRM` names. `None`, with a line that says so,
/// if there is none; an error if `AMDGPU_WINSYS_REQUIRE_C_HEADERS` is set, as CI sets it.
pub(crate) fn theirs() -> Option<PathBuf> {
    let named = env::var_os("AMDGPU_LIBDRM").map(PathBuf::from);
    let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let installed = folders.iter().map(|folder| Path::new(folder).join("libdrm_amdgpu.so.1"));
    let found = named.into_iter().chain(installed).find(|path| path.exists());
    if found.is_none() {
        missing("no libdrm_amdgpu.so.1 to compare with");
    }
    found.and_then(|path| fs::canonicalize(path).ok())
}

/// Says why a test proves nothing here.
pub(crate) fn missing(what: &str) {
    assert!(env::var_os("AMDGPU_WINSYS_REQUIRE_C_HEADERS").is_none(), "{what}");
    println!("not run: {what}");
}

/// Returns the standard output of a program that must succeed.
pub(crate) fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    out.into_owned()
}

/// Compiles the recorder of requests into a folder, as `record.so`.
pub(crate) fn recorder(folder: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/record.c");
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"];
    output(Command::new("gcc").args(flags).arg(source).arg("-o").arg(folder.join("record.so")).arg("-ldl"));
}

/// A new folder for the files of a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("amdgpu-libdrm-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// The second part of the version of a libdrm, by the name of its file; that of this library if the file has none.
pub(crate) fn version(library: &Path) -> u32 {
    let name = library.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix("libdrm_amdgpu.so.1.").and_then(|rest| rest.split('.').next()?.parse().ok()).unwrap_or(134)
}

/// Rewrites requests of an older libdrm to those of 2.4.134, which are the only differences that are allowed:
///
/// * DEV_INFO has 448 bytes instead of 440;
/// * GEM_VA has 64 bytes instead of 40, of which the last 24 are zero;
/// * initialisation asks for the graphics IP, to find out whether addresses are split for sparse memory. The probe asks the same
///   two questions one after the other, so such pairs are left out wherever they are.
///
/// And of ours: on a descriptor of -1 no request is made. The requests that make a descriptor of a sync object and a sync object of a
/// descriptor have 16 bytes here, and since 2.4.125 another 8 of a point, which these functions leave zero. The word of a request for
/// memory of the process in which the kernel returns the handle is what was on libdrm's stack before, and zero here.
pub(crate) fn comparable(requests: Vec<String>, version: u32) -> Vec<String> {
    const BAD_FILE: &str = "05 40 -9 0 0 0 0 0";
    const IP_COUNT: &str = "45 32 0 ADDRESS 300000004 0 0";
    const IP_INFO: &str = "45 32 0 ADDRESS 200000020 0 0";
    let mut list: Vec<String> = Vec::new();
    for mut line in requests.into_iter().filter(|line| line != BAD_FILE) {
        if (line.starts_with("c1 24 ") || line.starts_with("c2 24 "))
            && let Some(rest) = line.strip_suffix(" 0")
        {
            line = rest.replacen(" 24 ", " 16 ", 1);
        }
        if line.starts_with("51 24 ") {
            line.truncate(line.rfind(' ').unwrap_or(line.len()));
        }
        if version < 134 {
            line = line.replace("45 32 0 ADDRESS 16000001b8 0 0", "45 32 0 ADDRESS 16000001c0 0 0");
            if let Some(rest) = line.strip_prefix("48 40 ") {
                line = format!("48 64 {rest} 0 0 0");
            }
        }
        if line == IP_INFO && list.last().is_some_and(|last| last == IP_COUNT) {
            list.pop();
            continue;
        }
        list.push(line);
    }
    list
}
