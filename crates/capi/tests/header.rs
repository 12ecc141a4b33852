//! The header that is checked in is the one that cbindgen makes of the sources, and C and C++ compilers take it without a
//! word.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> PathBuf {
    folder().join("include/amdgpu_winsys.h")
}

/// Returns a folder for the files of a test.
fn scratch(name: &str) -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&scratch).unwrap();
    scratch
}

#[test]
fn the_header_is_that_of_the_sources() {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(folder()).with_config(config).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    if env::var_os("AGW_WRITE_HEADER").is_some() {
        fs::write(header(), &made).unwrap();
    }
    let there = fs::read_to_string(header()).unwrap_or_default();
    assert!(
        there == made,
        "AGW_WRITE_HEADER=1 cargo test -p amdgpu-winsys-c --test header brings the header up to date"
    );
}

/// Compiles a program of nothing but the header and some assertions.
fn compile(compiler: &str, standard: &str, end: &str) {
    let source = scratch("header").join(format!("{standard}.{end}"));
    let text = "#include \"amdgpu_winsys.h\"\nint main(void) { return agw_version() != AGW_VERSION_MINOR; }\n";
    fs::write(&source, text).unwrap();
    let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"];
    let output = Command::new(compiler)
        .arg(format!("-std={standard}"))
        .args(flags)
        .arg("-I")
        .arg(folder().join("include"))
        .arg(&source)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{compiler} {standard}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn c99_c11_and_cpp17_take_the_header_without_a_warning() {
    for standard in ["c99", "c11"] {
        compile("cc", standard, "c");
    }
    compile("c++", "c++17", "cpp");
}
