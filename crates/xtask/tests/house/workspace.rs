//! The packages of the workspace, as cargo knows them.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

/// A target that cargo builds from one root file.
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) source: PathBuf,
    pub(crate) is_library: bool,
}

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its library and its programs.
    pub(crate) targets: Vec<Target>,
}

/// Asks cargo for all packages.
pub(crate) fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(crate::root().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(read).collect()
}

fn read(package: &Value) -> Package {
    let targets = package["targets"].as_array().unwrap().iter().filter_map(|target| {
        let kinds: Vec<&str> = target["kind"].as_array()?.iter().filter_map(Value::as_str).collect();
        let is_library = kinds.iter().any(|kind| kind.ends_with("lib"));
        (is_library || kinds == ["bin"]).then(|| Target {
            name: target["name"].as_str().unwrap().to_owned(),
            source: std::fs::canonicalize(target["src_path"].as_str().unwrap()).unwrap(),
            is_library,
        })
    });
    Package { name: package["name"].as_str().unwrap().to_owned(), targets: targets.collect() }
}
