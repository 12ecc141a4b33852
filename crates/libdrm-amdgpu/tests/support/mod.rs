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
