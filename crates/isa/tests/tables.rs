//! The generated tables equal their specification under `spec`.
//!
//! `AMDGPU_ISA_WRITE_TABLES=1 cargo test -p amdgpu-isa --test tables` writes them anew.

mod generate;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// Formats Rust source as the repository's formatter does.
fn formatted(source: &str) -> String {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rustfmt.toml");
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(config).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = rustfmt.spawn().expect("rustfmt runs");
    let mut input = child.stdin.take().unwrap();
    let text = source.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_generated_tables_equal_their_specification() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = std::env::var_os("AMDGPU_ISA_WRITE_TABLES").is_some();
    for (name, source) in generate::files(&root.join("spec")) {
        let path = root.join("src/generated").join(name);
        let source = formatted(&source);
        if write {
            fs::write(&path, &source).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == source, "{} differs from its specification", path.display());
    }
}
