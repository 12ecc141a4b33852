//! The generated tables equal their specification under `spec`.
//!
//! `AMDGPU_ISA_WRITE_TABLES=1 cargo test -p amdgpu-isa --test tables` writes them anew.

mod generate;

use std::{fs, path::Path, process::Command};

/// Formats Rust source as the repository's formatter does.
fn formatted(path: &Path, source: &str) -> String {
    let scratch = std::env::temp_dir().join(format!("amdgpu-isa-{}-{}", std::process::id(), path.file_name().unwrap().display()));
    fs::write(&scratch, source).unwrap();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rustfmt.toml");
    let status = Command::new("rustfmt").args(["--edition", "2024", "--config-path"]).arg(config).arg(&scratch).status();
    assert!(status.expect("rustfmt runs").success());
    let text = fs::read_to_string(&scratch).unwrap();
    fs::remove_file(&scratch).unwrap();
    text
}

#[test]
fn the_generated_tables_equal_their_specification() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = std::env::var_os("AMDGPU_ISA_WRITE_TABLES").is_some();
    for (name, source) in generate::files(&root.join("spec")) {
        let path = root.join("src/generated").join(name);
        let source = formatted(&path, &source);
        if write {
            fs::write(&path, &source).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(found == source, "{} differs from its specification", path.display());
    }
}
